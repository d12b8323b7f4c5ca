"""`python -m ingest`: bring benchmarks into the lake. Says at once where nothing has changed."""

from __future__ import annotations

from lake.hints import check_libraries
from lake.unchanged import say_again

if __name__ == "__main__":
    check_libraries("ingest")
    say_again("ingest")
    # Imported when needed: it takes longer than all that is to be done where nothing has changed.
    from ingest.commands import app
    from lake.console import run

    run(app, "ingest")
