"""The number that stands for a run under a protocol: over which slice of the items, averaged how."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from evaluate.metrics import Metric
from evaluate.statistics.slices import in_slice
from lake.catalog.protocol import Aggregate, Protocol
from lake.errors import unknown_name

WHOLE = ("all", "all")


def headline_slice(protocol: Protocol, aggregates: pl.LazyFrame) -> tuple[str, str]:
    """The slice that is shown first: the protocol's headline, where that was not scored all, else the first subset."""
    return next(_opening(protocol, aggregates), protocol.headline or WHOLE)


def _opening(protocol: Protocol, aggregates: pl.LazyFrame) -> Iterator[tuple[str, str]]:
    """The slices that a protocol may be shown by, the one that is shown first before the others."""
    known = set(aggregates.select("slice", "slice_value").unique().collect().iter_rows())
    order = [protocol.headline or WHOLE, WHOLE, *sorted(where for where in known if where[0] == "subset")]
    return (where for where in order if where in known)


def average_of(protocol: Protocol, metric: Metric) -> Aggregate:
    """How a metric is averaged under a protocol: as its primary is.

    Where that is the ratio of sums, metrics that have none and those of a run's steps are averaged over items.
    """
    average = protocol.primary.aggregate
    return "macro" if average == "micro" and (metric.micro == "undefined" or metric.is_of_steps) else average


def slice_of(
    protocol: Protocol, aggregates: pl.LazyFrame, name: str, items: pl.LazyFrame | None = None
) -> tuple[str, str]:
    """The slice that is named as `column=value`, or the one that the protocol shows first; of those with such items."""
    if not name:
        shown = headline_slice(protocol, aggregates)
        if items is None:
            return shown
        holding = (
            where for where in _opening(protocol, aggregates) if in_slice(items, *where).head(1).collect().height
        )
        return next(holding, shown)
    known = aggregates.select("slice", "slice_value").unique().sort("slice", "slice_value").collect().rows()
    slice_, _, value = name.partition("=")
    if (slice_, value or slice_) not in known:
        raise unknown_name(name, f"slice of {protocol.name}", [f"{column}={of}" for column, of in known])
    return slice_, value or slice_
