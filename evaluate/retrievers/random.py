"""Chance: every chunk scores the same, so the task's seeded tie rule alone orders the pool."""

from __future__ import annotations

from functools import partial

import numpy as np

from evaluate.retrievers import BASELINE, Floats, Pairs, Pool, Queries, Retriever, Scan


def score(pool: Pool, queries: Queries) -> Floats:
    """Zero for everything."""
    return np.zeros((len(queries), len(pool)))


def score_pairs(pairs: Pairs) -> Floats:
    """The same for many small pools."""
    return np.zeros(len(pairs))


RANDOM = Retriever(
    name="random",
    title="Random",
    meaning="The pool in random order: what chance scores. Its numbers are the expectation over all orders, in closed "
    "form; for what a budget pays for, and for ratios of sets of lines, the mean of 100 seeded orders.",
    index=partial(Scan, score=score),
    tags=(BASELINE,),
    is_chance=True,
    pairs=score_pairs,
)
