"""`python -m ingest`: read benchmarks into the lake."""

from lake.errors import check_libraries

if __name__ == "__main__":
    check_libraries("ingest")
    # Imported only after the check that the libraries are installed.
    from ingest.commands import app
    from lake.console import run

    run(app, "ingest")
