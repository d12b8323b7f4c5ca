"""`python -m evaluate`: run systems on what the lake holds, and score them. Says at once where nothing has changed."""

from __future__ import annotations

from lake.unchanged import say_again

if __name__ == "__main__":
    say_again("evaluate")
    # Imported when needed: it takes longer than all that is to be done where nothing has changed.
    from evaluate.commands import app
    from lake.console import run

    run(app, "evaluate")
