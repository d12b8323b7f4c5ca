"""The baselines: the pool in random order, the file open in the editor, and the best possible order of the chunks."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np

from evaluate.retrievers import BASELINE, POOLS_AT_ONCE, Floats, Pool, PoolScores, Queries, Retriever, Scan
from lake.exact import Mask


def alike(pool: Pool, queries: Queries) -> Floats:
    """Zero for every chunk, so that the task's seeded tie rule orders the pool."""
    return np.zeros((len(queries), pool.places.shape[1]))


def nearest_before(pool: Pool, queries: Queries) -> Floats:
    """The start line of the chunks in the query's file that start before the hole; NaN for all others."""
    path = np.array(pool.path, dtype=object)
    target = np.array(queries.target_path, dtype=object)
    before = (path[None, :] == target[:, None]) & (pool.line_start[None, :] < queries.target_line[:, None])
    return np.where(before, pool.line_start[None, :].astype(np.float64), np.nan)


def by_gold(pool: Pool, queries: Queries) -> PoolScores:
    """Scores by overlap with the gold (or by similarity to it), and for line sets the ones of a greedy covering."""
    if queries.gains:
        return PoolScores(pool.spread(np.concatenate(queries.gains).reshape(-1, len(pool))))
    # With pools side by side, each chunk belongs to one query only.
    shape = (1 if pool.side_by_side else len(queries), len(pool))
    overlaps, covering = np.zeros(shape), np.full(shape, np.nan)
    rows_of = defaultdict[tuple[int, str], list[int]](list)
    for row, file in enumerate(zip(pool.owner.tolist(), pool.path, strict=True)):
        rows_of[file].append(row)
    for query, spans in enumerate(queries.gold):
        own, row = (query, 0) if pool.side_by_side else (0, query)
        grade = {span.path: span.grade for span in spans}
        # The lines of the files with gold, end to end, and on them the positions of the chunks that share some.
        gold, places = np.zeros(0, np.bool_), dict[int, slice]()
        for path in sorted(grade):
            here = [(span.line_start, span.line_end) for span in spans if span.path == path]
            chunks = np.array(rows_of[own, path], np.int64)
            start, end = pool.line_start[chunks], pool.line_end[chunks]
            of_file = np.zeros(max([*(last for _, last in here), int(end.max(initial=0))]), np.bool_)
            for first, last in here:
                of_file[first:last] = True
            before = np.concatenate(([0], np.cumsum(of_file)))
            n_gold = before[end] - before[start]
            shares = np.flatnonzero(n_gold)
            n_either = (end - start)[shares] + before[-1] - n_gold[shares]
            overlaps[row, chunks[shares]] = n_gold[shares] / n_either * grade[path]
            for chunk, first, last in zip(*(each[shares].tolist() for each in (chunks, start, end)), strict=True):
                places[chunk] = slice(len(gold) + first, len(gold) + last)
            if any(first == last for first, last in here):
                # An empty gold text shares no line with itself.
                overlaps[row, chunks[end == 0]] = grade[path]
            gold = np.append(gold, of_file)
        for rank, chunk in enumerate(_greedy(places, gold)):
            covering[row, chunk] = -rank
    return PoolScores(pool.spread(overlaps), lines=pool.spread(covering))


def _greedy(places: Mapping[int, slice], gold: Mask) -> Iterator[int]:
    """Chunks in order of gold lines per added line, as long as each raises the F1 of the union."""
    n_gold, n_both, n_returned = int(gold.sum()), 0, 0
    is_new, left = np.ones(len(gold), np.bool_), dict(places)
    while left:
        is_new_gold = is_new & gold
        n_new = {row: (int(is_new_gold[at].sum()), int(is_new[at].sum())) for row, at in left.items()}
        best = max(left, key=lambda row: (n_new[row][0] / max(n_new[row][1], 1), n_new[row][0], -row))
        n_new_both, n_new_returned = n_new[best]
        # 2(I + g) / (G + R + n) > 2I / (G + R), in integers.
        if (n_both + n_new_both) * (n_gold + n_returned) <= n_both * (n_gold + n_returned + n_new_returned):
            return
        yield best
        is_new[left.pop(best)] = False
        n_both, n_returned = n_both + n_new_both, n_returned + n_new_returned


RANDOM = Retriever(
    name="random",
    title="Random",
    meaning="The pool in random order: what chance scores. Scores are expectations over all orders, in closed form; "
    "at budgets, and for ratios of sets of lines, they are means over 100 seeded orders.",
    index=partial(Scan, score=alike),
    tags=(BASELINE,),
    is_chance=True,
    n_side_by_side=POOLS_AT_ONCE,
)

OWN_FILE = Retriever(
    name="own-file",
    title="Own file",
    meaning="The chunks of the query's own file that start before the hole, nearest first, and nothing else. The "
    "query's text is not used.",
    index=partial(Scan, score=nearest_before),
    tags=(BASELINE,),
)

ORACLE = Retriever(
    name="oracle",
    title="Oracle",
    meaning="What the best retriever over the same chunks could score. It is shown the gold: for ranked metrics, the "
    "chunks that overlap most come first; for sets of lines, it greedily adds the chunk with the most new gold per "
    "line, as long as F1 rises.",
    index=partial(Scan, score=by_gold),
    tags=(BASELINE,),
    needs="gold",
    version=4,
    n_side_by_side=POOLS_AT_ONCE,
)
