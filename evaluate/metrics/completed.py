"""Metrics of a completion against the lines it stands for: RepoCoder's exact match and edit similarity."""

from __future__ import annotations

import polars as pl

from evaluate.metrics.declaration import Ratio, metric

_ONE = pl.lit(1.0)


@metric("em", title="Exact match", ks=(0,), granularity="completion", micro="equals macro", shape="completed")
def em(k: int) -> Ratio:
    """Whether the completion says exactly the target's lines: stripped, without blanks, cut to as many."""
    del k
    return Ratio(pl.col("is_exact"), _ONE)


@metric("es", title="Edit similarity", ks=(0,), granularity="completion", micro="undefined", shape="completed")
def es(k: int) -> Ratio:
    """One minus the edit distance over the longer length, of the same lines joined by newlines; 0 for no answer."""
    del k
    return Ratio(pl.col("similarity"), _ONE)
