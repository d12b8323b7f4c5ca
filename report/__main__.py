"""`python -m report`: the lake as a site, and as files for other tools. Says at once where nothing has changed."""

from __future__ import annotations

from lake.hints import check_libraries
from lake.unchanged import say_again

if __name__ == "__main__":
    check_libraries("report")
    say_again("report")
    # Imported when needed: it takes longer than all that is to be done where nothing has changed.
    from lake.console import run
    from report.commands import app

    run(app, "report")
