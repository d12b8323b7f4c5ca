"""`python -m report`: the lake as a site, and as files for other tools."""

import atexit
import gc

from lake.errors import check_libraries

# Nearly all that a build makes stays until it ends: looking for what can be freed took a tenth of its time.
gc.set_threshold(100_000, 20, 100)
# Nor is it looked for once more where Python ends.
atexit.register(gc.freeze)

if __name__ == "__main__":
    check_libraries("report")
    # Imported when the libraries are known to be there.
    from lake.console import run
    from report.commands import app

    run(app, "report")
