"""The lake's items and chunks → runs, scores, aggregates: every ranking and every number is made here."""

import os

# Here, because both are read once, when numpy and polars are imported.
# A process per core multiplies small matrices: threads of its own would wait for one another longer than they work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# What is read together is bounded by rows, and of some thousand small plans streaming costs more than it saves.
os.environ.setdefault("POLARS_ENGINE_AFFINITY", "in-memory")
