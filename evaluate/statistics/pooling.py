"""How the scores of a protocol are pooled: over which slices, what a ratio of nothing is, and how near a bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from evaluate.metrics import metrics, metrics_of
from evaluate.statistics.means import SLICES, STRATA, Slice, aggregate
from lake.catalog.protocol import Protocol

WHOLE = (Slice("all", ()),)

_OF_CONTEXTS = (
    Slice("all", (), is_resampled=True),
    Slice("source", ("source",), splits=True),
    Slice("language", ("language",), splits=True),
    Slice("repo", ("repo",)),
)
"""Which items are pooled. The sources an instance is from are no strata here: one benchmark was made of them."""

_STRATA_OF_CONTEXTS = ("subset",)
"""Verified is a part of full: the two are never pooled."""


_MEASURED = ["granularity", "metric", "k", "slice", "slice_value"]
GREEDY = "line_f1"
"""The one metric of line sets whose bound the oracle makes; it may miss other sets' best."""


def pooled(
    protocol: Protocol, scores: pl.LazyFrame, items: pl.LazyFrame, run_items: pl.LazyFrame | None = None
) -> pl.LazyFrame:
    """The rows of table `aggregates` that scores under a protocol make; see `aggregate`."""
    slices, strata = slices_of(protocol)
    return aggregate(
        scores,
        items,
        run_items,
        slices=slices,
        strata=strata,
        of_nothing=of_nothing(protocol),
        opens_with=protocol.headline or ("all", "all"),
        over_items=protocol.over_items,
    )


def slices_of(protocol: Protocol) -> tuple[Sequence[Slice], Sequence[str]]:
    """Over which slices a protocol's scores are pooled, and which columns' values never are."""
    return (SLICES, STRATA) if protocol.context is None else (_OF_CONTEXTS, _STRATA_OF_CONTEXTS)


def pooled_whole(protocol: Protocol, scores: pl.LazyFrame, items: pl.LazyFrame) -> pl.LazyFrame:
    """The same of one slice that is known to be poolable: all of the items."""
    return aggregate(
        scores, items, slices=WHOLE, strata=(), of_nothing=of_nothing(protocol), over_items=protocol.over_items
    )


def of_nothing(protocol: Protocol) -> dict[str, float]:
    """Metric → what its sums make where there is nothing to divide by, as the protocol has it for one item."""
    if protocol.context is None:
        return {}
    covered = 1.0 if protocol.context.empty_gold == "covered" else 0.0
    shares = {"precision": protocol.context.empty_prediction, "coverage": covered}
    names = {metric.name for metric, _ in metrics_of(protocol)}
    return {name: shares[what] for name in names if (what := name.rpartition("_")[2]) in shares}


def with_share_of_oracle(aggregates: pl.LazyFrame, oracles: pl.LazyFrame, bounds: Mapping[str, str]) -> pl.LazyFrame:
    """The aggregates with `share_of_oracle`: macro over the oracle's macro.

    Null for a run without an oracle, where the oracle's is 0 or null, and for metrics that the oracle does not bound.
    `bounds` is run → the oracle over the same chunks.
    """
    bounded = [
        one.name
        for one in metrics().values()
        if (one.shape == "ranked" and one.direction == "higher") or one.name == GREEDY
    ]
    bound = oracles.filter(pl.col("metric").is_in(bounded), pl.col("macro") > 0)
    pairs = pl.LazyFrame(list(bounds.items()), {"bounded": pl.String, "run_id": pl.String}, orient="row")
    of_run = bound.select("run_id", *_MEASURED, bound="macro").join(pairs, on="run_id").drop("run_id")
    key = ["run_id", *_MEASURED]
    return (
        aggregates.join(of_run.rename({"bounded": "run_id"}), on=key, how="left", maintain_order="left")
        .with_columns(share_of_oracle=pl.col("macro") / pl.col("bound"))
        .drop("bound")
    )
