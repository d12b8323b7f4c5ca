"""`python -m evaluate`: run systems on what the lake holds, and score them."""

from lake.errors import check_libraries

if __name__ == "__main__":
    check_libraries("evaluate")
    # Imported when the libraries are known to be there.
    from evaluate.commands import app
    from lake.console import run

    run(app, "evaluate")
