"""Metrics that read no ranking: what a pool allows, and RepoCoder's of a completion against the lines it stands for."""

from __future__ import annotations

import polars as pl

from evaluate.metrics.declaration import Ratio, metric

_ONE = pl.lit(1.0)


@metric(
    "reachable", granularity="item", micro="equals macro", shape="pooled",
    formula=("1 if any chunk of the pool is relevant, else 0",),
)  # fmt: skip
def reachable(k: int) -> Ratio:
    """Whether any chunk of the pool is relevant: 1 or 0. Cutting alone decides; no ranking can do better."""
    return Ratio(pl.col("n_relevant") > 0, _ONE)


@metric("boundary_similarity", granularity="item", micro="undefined", shape="pooled", is_undefined_null=True)
def boundary_similarity(k: int) -> Ratio:
    """How like the gold snippet the best of its own chunks is: 1 where a chunker leaves it whole.

    It needs no ranking. No value where the pool does not hold the snippet as a candidate.
    """
    return Ratio(pl.col("boundary"), pl.col("boundary").is_not_null())


@metric(
    "em", title="Exact match", granularity="completion", micro="equals macro", shape="completed",
    formula=("1 if the lines are equal, else 0",),
)  # fmt: skip
def em(k: int) -> Ratio:
    """Whether the completion says exactly the target's lines: stripped, without blanks, cut to as many."""
    return Ratio(pl.col("is_exact"), _ONE)


@metric(
    "es", title="Edit similarity", granularity="completion", micro="undefined", shape="completed",
    formula=("1 − ", "edit distance", "length of the longer"),
)  # fmt: skip
def es(k: int) -> Ratio:
    """One minus the edit distance over the longer length, of the same lines joined by newlines; 0 for no answer."""
    return Ratio(pl.col("similarity"), _ONE)
