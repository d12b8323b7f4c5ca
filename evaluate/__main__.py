"""`python -m evaluate`: run systems on what the lake holds, and score them."""

from __future__ import annotations

import os

from lake.hints import check_libraries

if __name__ == "__main__":
    check_libraries("evaluate")
    # A process per core multiplies small matrices: threads of its own would wait for one another longer than they work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What is read together is bounded by rows, and of some thousand small plans streaming costs more than it saves.
    os.environ.setdefault("POLARS_ENGINE_AFFINITY", "in-memory")
    # Imported when the libraries are known to be there.
    from evaluate.commands import app
    from lake.console import run

    run(app, "evaluate")
