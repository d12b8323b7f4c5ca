"""How items are grouped and averaged: a protocol's slices, the headline slice, and the average of each metric."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

import polars as pl

from evaluate.metrics import Metric
from lake.averages import Aggregate
from lake.catalog.protocol import Protocol
from lake.errors import Exit, GoldspanError, did_you_mean

_Of = TypeVar("_Of")
_Board = TypeVar("_Board")

MEASURE = ["granularity", "metric", "k"]
SLICE = ["slice", "slice_value"]
"""The columns that identify a measure, and those that identify one value of a slice."""
WHOLE_SLICE = ("all", "all")


class Slice(NamedTuple):
    """A division of the items by some columns, which its name joins with `/`; `all` has none.

    If items are in several strata, each is divided separately (`context/level`), unless it is not `per_stratum`. One
    that `splits` exists only if its last column has at least two values. If `is_resampled`, a board may open with it.
    """

    name: str
    per_stratum: bool = True
    splits: bool = False
    is_resampled: bool = False

    @property
    def columns(self) -> list[str]:
        """The columns that divide the items."""
        return [] if self.name == "all" else self.name.split("/")


_BY_CANDIDATES = "subset/split/level"
"""RepoBench-R's subsets name neither split nor level; for items without candidates the subset is enough."""
_SLICES = (
    Slice("all", is_resampled=True),
    Slice("subset", per_stratum=False, is_resampled=True),
    Slice("level"),
    Slice("repo"),
    *(Slice(name, splits=True) for name in ("language", "difficulty", "band")),
    Slice("subset/split", per_stratum=False, splits=True),
    Slice(_BY_CANDIDATES, per_stratum=False, is_resampled=True),
)
"""The slices of protocols that score no contexts, as named if all items are in one stratum."""
_OF_CONTEXTS = (
    Slice("all", is_resampled=True),
    *(Slice(name, splits=True) for name in ("source", "difficulty", "language")),
    Slice("repo"),
)
"""The slices of protocols that score contexts. Sources are no strata here: one benchmark was made of them."""
UNSLICED = (Slice("all"),)
"""All items together, whatever their strata."""


def protocol_slices(protocol: Protocol) -> tuple[Sequence[Slice], Sequence[str]]:
    """The slices of a protocol's scores, and its strata: columns whose values are never averaged together."""
    if protocol.context is None:
        # Several contexts of one target, train and test, v1 and v1.1.
        return _SLICES, ("context", "split", "source")
    # The verified subset is part of the full one.
    return _OF_CONTEXTS, ("subset",)


def in_slice(items: pl.LazyFrame, slice_: str, value: str) -> pl.LazyFrame:
    """The items in one value of a slice; `slice_` names the columns whose values are joined in `value`."""
    return items.filter(slice_value(slice_) == value)


def slice_value(slice_: str) -> pl.Expr:
    """The value that an item has in a slice, null without a band; see :func:`in_slice`."""
    if slice_ == "all":
        return pl.lit("all")
    columns = [_band() if name == "band" else pl.col(name).fill_null("none") for name in slice_.split("/")]
    return pl.concat_str(columns, separator="/")


def slice_items(
    items: pl.LazyFrame, slices: Sequence[Slice], strata: Sequence[str]
) -> tuple[pl.DataFrame, list[tuple[pl.DataFrame, bool]]]:
    """The kinds of items (kind, item_id), equal in all columns that matter; each slice's kinds, and if resampled."""
    columns = sorted({"repo", "band", *strata, *(column for slice_ in slices for column in slice_.columns)})
    known, absent = items.collect_schema().names(), pl.lit(None, pl.String)
    band = _band() if "n_candidates" in known else absent
    selected = [(pl.col(name) if name in known else band if name == "band" else absent).alias(name) for name in columns]
    kinds = items.select("item_id", *selected).group_by(columns).agg("item_id").with_row_index("kind").collect()
    several = [column for column in strata if kinds[column].n_unique() > 1]
    # Items without a value are a stratum too.
    of_kinds = kinds.lazy().drop("item_id").with_columns(pl.col(several).fill_null("none"))
    every, resampled = list[pl.LazyFrame](), list[bool]()
    for slice_ in slices:
        name, by = slice_.name, slice_.columns
        if slice_.splits and kinds[by[-1]].n_unique() < 2:
            continue
        if slice_.per_stratum and several:
            name, by = "/".join([*several, *([name] if by else [])]), [*several, *by]
        of = of_kinds.filter(pl.col("band").is_not_null()) if name == _BY_CANDIDATES else of_kinds
        value = pl.concat_str(by, separator="/") if by else pl.lit("all")
        every.append(of.with_columns(slice=pl.lit(name), slice_value=value).filter(pl.col("slice_value").is_not_null()))
        resampled.append(slice_.is_resampled)
    nothing = kinds.clear().select("kind", "repo", slice=pl.lit(""), slice_value=pl.lit(""))
    # A slice with a value that mixes strata is left out.
    return kinds.select("kind", "item_id"), [(nothing, True)] + [
        (rows[nothing.columns], is_resampled)
        for rows, is_resampled in zip(pl.collect_all(every), resampled, strict=True)
        if len({*rows["slice_value"]})
        == len({*zip(rows["slice_value"], *(rows[stratum] for stratum in strata), strict=True)})
    ]


def _band() -> pl.Expr:
    # By the minimum number of candidates.
    bands = {20: "20+", 15: "15-19", 10: "10-14", 5: "5-9", 1: "1-4"}
    return pl.coalesce(pl.when(pl.col("n_candidates") >= n).then(pl.lit(band)) for n, band in bands.items())


def slice_of(
    protocol: Protocol, aggregates: pl.LazyFrame, name: str = "", items: pl.LazyFrame | None = None
) -> tuple[str, str]:
    """The slice named as `column=value`; without a name, the first to show (that has any of `items`, if given).

    That is the protocol's headline; if it was not scored, `all`; else the first subset.
    """
    known = aggregates.select(SLICE).unique().sort(SLICE).collect().rows()
    slice_, _, value = name.partition("=")
    if name and (slice_, value or slice_) not in known:
        hint = did_you_mean(name, [f"{column}={of}" for column, of in known])
        raise UnknownSliceError(f"unknown slice of {protocol.name} {name!r}", hint=hint, code=Exit.USAGE)
    if name:
        return slice_, value or slice_
    headline = protocol.headline or WHOLE_SLICE
    order = [headline, WHOLE_SLICE, *(where for where in known if where[0] == "subset")]
    scored = [where for where in order if where in known] or [headline]
    if items is None:
        return scored[0]
    return next((where for where in scored if in_slice(items, *where).head(1).collect().height), scored[0])


class UnknownSliceError(GoldspanError):
    """A slice that a board does not have."""


def with_slice(boards: Iterable[_Of], read: Callable[[_Of], _Board]) -> list[_Board]:
    """The results of `read` for the boards that have the requested slice; an error if none of them has it."""
    having, lacking = list[_Board](), list[UnknownSliceError]()
    for board in boards:
        try:
            having.append(read(board))
        except UnknownSliceError as error:
            lacking.append(error)
    if lacking and not any(having):
        raise lacking[0]
    return having


def average_of(protocol: Protocol, metric: Metric) -> Aggregate:
    """How a metric is averaged under a protocol: like its primary metric; without sums, or of steps, over items."""
    average = protocol.primary.aggregate
    return "macro" if average == "micro" and (metric.micro == "undefined" or metric.is_of_steps) else average
