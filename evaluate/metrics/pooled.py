"""Metrics of a pool: what its chunks allow, whatever ranks them."""

from __future__ import annotations

import polars as pl

from evaluate.metrics.declaration import Ratio, metric

_ONE = pl.lit(1.0)


@metric("reachable", title="Reachable", ks=(0,), granularity="item", micro="equals macro", shape="pooled")
def reachable(k: int) -> Ratio:
    """Whether any chunk of the pool is relevant: 1 or 0. Cutting alone decides; no ranking can do better."""
    del k
    return Ratio(pl.col("n_relevant") > 0, _ONE)


@metric(
    "boundary_similarity",
    title="Boundary similarity",
    ks=(0,),
    granularity="item",
    micro="undefined",
    shape="pooled",
    is_undefined_null=True,
)
def boundary_similarity(k: int) -> Ratio:
    """How like the gold snippet the best of its own chunks is: 1 where a chunker leaves it whole.

    It needs no ranking. No value where the pool does not hold the snippet as a candidate.
    """
    del k
    return Ratio(pl.col("boundary"), pl.col("boundary").is_not_null())
