"""`python -m evaluate`: run systems on the lake's items and score them."""

from lake.errors import check_libraries

if __name__ == "__main__":
    check_libraries("evaluate")
    # Imported only after the check for the libraries.
    from evaluate.commands import app
    from lake.console import run

    run(app, "evaluate")
