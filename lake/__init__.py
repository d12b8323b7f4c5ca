"""What is stored: typed tables, an atomic Parquet store and the conventions every stage shares."""

import os
import sys
from contextlib import suppress

if sys.flags.optimize > 1:
    # Here, because declarations read their docstrings as they are imported.
    sys.stderr.write("python -OO is not supported: it leaves out docstrings, which metrics and tables show\n")
    sys.exit(2)

# Polars' allocator gives memory back after half a second, and then asks for it again: a fifteenth of all time.
os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:10000,muzzy_decay_ms:10000")

if "sqlalchemy" not in sys.modules:
    # dataframely loads it where a chunker's library brought it, which nothing here needs: half a second per process.
    sys.modules["sqlalchemy"] = None  # type: ignore[assignment]  # Python's way to say that there is none
    # Where it is not installed, the stage says so.
    with suppress(ModuleNotFoundError):
        import dataframely  # noqa: F401  # for the sake of loading it
    del sys.modules["sqlalchemy"]

# Joins are carried out as written. Polars would reorder them by guessed sizes, and begin where one column alone is
# shared: as every pool has a `cand:0`, time and memory grew with the square of the items.
with suppress(ModuleNotFoundError):
    from polars.lazyframe import opt_flags

    opt_flags.DEFAULT_QUERY_OPT_FLAGS.join_order = False
