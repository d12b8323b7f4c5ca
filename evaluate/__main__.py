"""`python -m evaluate`: run systems on what the lake holds, and score them. Says at once where nothing has changed."""

from __future__ import annotations

import os

from lake.hints import check_libraries
from lake.unchanged import say_again

if __name__ == "__main__":
    check_libraries("evaluate")
    say_again("evaluate")
    # A process per core multiplies small matrices: threads of its own would wait for one another longer than they work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Imported when needed: it takes longer than all that is to be done where nothing has changed.
    from evaluate.commands import app
    from lake.console import run

    run(app, "evaluate")
