"""From the lake's items and chunks to runs, scores and aggregates: all rankings and scores are computed here."""

import os

# Set here because both variables are read once, when numpy and polars are imported. One process per core multiplies
# small matrices: BLAS threads would wait for one another longer than they work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# The data read at once is bounded by rows; for thousands of small plans streaming costs more than it saves.
os.environ.setdefault("POLARS_ENGINE_AFFINITY", "in-memory")
