"""The lake: typed tables, an atomic Parquet store, and the conventions that all stages share."""

import os
import sys
from contextlib import suppress

if sys.flags.optimize > 1:
    # Checked here because declarations read their docstrings when they are imported.
    sys.stderr.write("python -OO is not supported: it leaves out docstrings, which metrics and tables show\n")
    sys.exit(2)

# Polars' allocator returns memory after half a second and then requests it again, which costs a fifteenth of all time.
os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:10000,muzzy_decay_ms:10000")

if "sqlalchemy" not in sys.modules:
    # dataframely would load sqlalchemy if a chunker installed it: half a second per process, for nothing used here.
    sys.modules["sqlalchemy"] = None  # type: ignore[assignment]  # marks the module as not installed
    # If dataframely is not installed, the stage reports it.
    with suppress(ModuleNotFoundError):
        import dataframely  # noqa: F401  # imported only to load it
    del sys.modules["sqlalchemy"]

# Make polars run joins in the order written. It would reorder them by guessed sizes and might begin with a join on one
# column alone: as every pool has a `cand:0`, time and memory grew with the square of the items.
with suppress(ModuleNotFoundError):
    from polars.lazyframe import opt_flags

    opt_flags.DEFAULT_QUERY_OPT_FLAGS.join_order = False
