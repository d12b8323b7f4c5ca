"""What looks at no word of the query: the pool in any order, and what an editor already has open."""

from __future__ import annotations

from functools import partial

import numpy as np

from evaluate.retrievers import BASELINE, POOLS_AT_ONCE, Floats, Pool, Queries, Retriever, Scan


def alike(pool: Pool, queries: Queries) -> Floats:
    """Zero for everything, so that the task's seeded tie rule alone orders the pool."""
    return np.zeros((len(queries), pool.places.shape[1]))


def nearest_before(pool: Pool, queries: Queries) -> Floats:
    """The line a chunk starts at, for the chunks of the query's file that start before the hole; nothing else."""
    path = np.array(pool.path, dtype=object)
    target = np.array(queries.target_path, dtype=object)
    before = (path[None, :] == target[:, None]) & (pool.line_start[None, :] < queries.target_line[:, None])
    return np.where(before, pool.line_start[None, :].astype(np.float64), np.nan)


RANDOM = Retriever(
    name="random",
    title="Random",
    meaning="The pool in random order: what chance scores. Its numbers are the expectation over all orders, in closed "
    "form; for what a budget pays for, and for ratios of sets of lines, the mean of 100 seeded orders.",
    index=partial(Scan, score=alike),
    tags=(BASELINE,),
    is_chance=True,
    n_side_by_side=POOLS_AT_ONCE,
)

OWN_FILE = Retriever(
    name="own-file",
    title="Own file",
    meaning="The chunks of the query's own file that start before the hole, the nearest first, and nothing else. It "
    "looks at no word of the query.",
    index=partial(Scan, score=nearest_before),
    tags=(BASELINE,),
)
