"""The query's own file, walked back from the hole: what an editor already has open."""

from __future__ import annotations

from functools import partial

import numpy as np

from evaluate.retrievers import BASELINE, Floats, Pool, Queries, Retriever, Scan


def score(pool: Pool, queries: Queries) -> Floats:
    """The line a chunk starts at, for the chunks of the query's file that start before the hole; nothing else."""
    path = np.array(pool.path, dtype=object)
    target = np.array(queries.target_path, dtype=object)
    before = (path[None, :] == target[:, None]) & (pool.line_start[None, :] < queries.target_line[:, None])
    return np.where(before, pool.line_start[None, :].astype(np.float64), np.nan)


OWN_FILE = Retriever(
    name="own-file",
    title="Own file",
    meaning="The chunks of the query's own file that start before the hole, the nearest first, and nothing else. It "
    "looks at no word of the query.",
    index=partial(Scan, score=score),
    tags=(BASELINE,),
)
