"""`python -m report`: the lake as a site, and as files for other tools."""

import atexit
import gc

from lake.errors import check_libraries

# Nearly all objects of a build live until it ends; collecting garbage as often as usual took a tenth of its time.
gc.set_threshold(100_000, 20, 100)
# Skip Python's last collection at exit.
atexit.register(gc.freeze)

if __name__ == "__main__":
    check_libraries("report")
    # Imported after the check: these imports need the libraries.
    from lake.console import run
    from report.commands import app

    run(app, "report")
