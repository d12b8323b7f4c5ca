"""`python -m ingest`: bring benchmarks into the lake."""

from lake.errors import check_libraries

if __name__ == "__main__":
    check_libraries("ingest")
    # Imported when the libraries are known to be there.
    from ingest.commands import app
    from lake.console import run

    run(app, "ingest")
