"""`python -m report`: the lake as a site, and as files for other tools."""

from __future__ import annotations

from lake.hints import check_libraries

if __name__ == "__main__":
    check_libraries("report")
    # Imported when the libraries are known to be there.
    from lake.console import run
    from report.commands import app

    run(app, "report")
