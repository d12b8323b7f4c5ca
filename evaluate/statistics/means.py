"""Means over items, ratios of sums and means of repositories' means, for every slice that may be pooled."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from evaluate.statistics.bootstrap import item_intervals
from evaluate.statistics.mean_intervals import bounds_of, ends_of
from lake.catalog.unit import FEWEST_REPOS, ITEM, REPOSITORY
from lake.exact import exact_sum, from_steps, steps
from lake.naming import DONE
from lake.tables import table

STRATA = ("context", "split", "source")
"""Columns whose values are never pooled into one mean: contexts of one target, train with test, v1 with v1.1."""

_WHOLE = ("all", "all")
_METRIC = ["run_id", "protocol", "granularity", "metric", "k"]
_SLICE = ["slice", "slice_value"]
_OF = ["measure", *_SLICE]
_SUMMED = ("value", "numerator", "denominator")
_PRODUCTS = {
    "squares": ("value", "value"),
    "above_above": ("numerator", "numerator"),
    "above_below": ("numerator", "denominator"),
    "below_below": ("denominator", "denominator"),
}
"""Sums of what items' numbers are times each other, for intervals over items."""
_LATER = ("share_of_oracle",)
"""The oracle's share is made by comparing runs, not here."""

_CANDIDATES = {1: "1-4", 5: "5-9", 10: "10-14", 15: "15-19", 20: "20+"}
"""The fewest candidates of a band → its name."""


@dataclass(frozen=True)
class Slice:
    """A part of the items: those alike in some columns; the value joins theirs with `/`.

    Args:
        name: The slice's name.
        columns: What its items have in common; none for the whole.
        per_stratum: It mixes strata, so where the items lie in several it is taken within each, under a compound name
            (`context/level`). Other slices are left out where they would mix any.
        splits: It exists only where it tells items apart that the columns before its last do not.
        of: It holds only items that have a value there.
        is_resampled: Its items are resampled. So are slices that a board may open with: that costs most by far.
    """

    name: str
    columns: tuple[str, ...]
    per_stratum: bool = True
    splits: bool = False
    of: str = ""
    is_resampled: bool = False


SLICES = (
    Slice("all", (), is_resampled=True),
    Slice("subset", ("subset",), per_stratum=False, is_resampled=True),
    Slice("level", ("level",)),
    Slice("repo", ("repo",)),
    Slice("language", ("language",), splits=True),
    Slice("difficulty", ("difficulty",), splits=True),
    Slice("band", ("band",), splits=True),
    Slice("subset/split", ("subset", "split"), per_stratum=False, splits=True),
    # RepoBench-R's subsets say neither split nor level; where an item has no candidates the subset says it all.
    Slice("subset/split/level", ("subset", "split", "level"), per_stratum=False, of="band", is_resampled=True),
)
"""Every slice there is, where the items lie in one stratum."""


def aggregate(
    scores: pl.LazyFrame,
    items: pl.LazyFrame,
    run_items: pl.LazyFrame | None = None,
    *,
    slices: Sequence[Slice] = SLICES,
    strata: Sequence[str] = STRATA,
    of_nothing: Mapping[str, float] | None = None,
    opens_with: tuple[str, str] = _WHOLE,
    over_items: bool = False,
) -> pl.LazyFrame:
    """Scores over slices of the items: the rows of table `aggregates`, sorted by its key.

    A metric's micro is null where it keeps no sums or has no value at any item; item_low and item_high are null where
    the slice is not resampled.

    Args:
        scores: Rows of table `scores`, of any number of runs and protocols.
        items: The scorable items: item_id, repo and the columns that slices and strata name, as far as they have them;
            `band` is made of n_candidates.
        run_items: Rows of table `run_items`, for counting failed items; without it none is counted.
        slices: Which slices.
        strata: The columns whose values are never pooled.
        of_nothing: Metric → its micro where the denominators sum to 0; 0 for every other.
        opens_with: The slice and value that are shown first. Only their items and the whole are resampled, where that
            is among the slices; else all that may be shown first.
        over_items: The unit is the item however many repositories there are.
    """
    columns = {column for slice_ in slices for column in (*slice_.columns, slice_.of) if column}
    kinds = _kinds(items, sorted(columns | {"repo", *strata}))
    # Text is compared once: from here on a metric of a run, a kind of items and a repository of a slice are numbers.
    measures = scores.select(_METRIC).unique().with_row_index("measure").collect().lazy()
    scored = (
        _with_failures(scores, measures, run_items)
        .join(measures, on=_METRIC)
        .join(kinds.lazy().select("kind", "item_id").explode("item_id"), on="item_id")
        .select("measure", "kind", "failed", *_SUMMED)
    )
    # Rows are summed once per kind of items, alike in everything; the kinds are then summed per slice.
    sums = scored.group_by("measure", "kind").agg(
        *(steps(pl.col(name)).sum() for name in _SUMMED),
        *(steps(pl.col(one) * pl.col(other)).sum().alias(name) for name, (one, other) in _PRODUCTS.items()),
        pl.col("value").count().alias("n"),
        pl.len().alias("n_items"),
        pl.col("failed").sum().alias("n_failed"),
        (pl.col("value").is_null() & ~pl.col("failed")).sum().alias("n_not_applicable"),
        pl.col("numerator").count().alias("n_sums"),
    )
    values = scored.drop_nulls("value").group_by("measure", "kind", "value").agg(count=pl.len())
    cells, distinct = pl.collect_all([sums, values])
    held = _sliced(kinds.drop("item_id"), slices, strata)
    means = _means(cells.lazy(), pl.concat([of for of, _ in held]), bounds_of(measures), over_items=over_items)
    drawn = _counted(distinct, _resampled(held, opens_with))
    declared = table("aggregates")
    later = [pl.lit(None, declared.columns[name]).alias(name) for name in _LATER]
    nothing = pl.col("metric").replace_strict(of_nothing or {}, default=0.0, return_dtype=pl.Float64)
    micro = pl.when(pl.col("micro").is_nan()).then(nothing).otherwise("micro").alias("micro")
    whole = (
        means.lazy()
        .join(item_intervals(drawn, _OF).lazy(), on=_OF, how="left")
        .join(measures, on="measure")
        .with_columns(*later, micro)
    )
    return whole.select(*declared.columns).sort(declared.key)


def in_slice(items: pl.LazyFrame, slice_: str, value: str) -> pl.LazyFrame:
    """The items that a value of a slice holds; a slice is named by the columns whose values its value joins."""
    return items.join(in_slice_of(items, slice_).filter(slice_value=value), on="item_id", how="semi")


def in_slice_of(items: pl.LazyFrame, slice_: str) -> pl.LazyFrame:
    """Which value of a slice holds each item that one does: item_id, slice_value; see :func:`in_slice`."""
    if slice_ == "all":
        return items.select("item_id", slice_value=pl.lit("all"))
    columns = [_band() if name == "band" else pl.col(name).fill_null("none") for name in slice_.split("/")]
    return items.select("item_id", slice_value=pl.concat_str(columns, separator="/"))


def _means(cells: pl.LazyFrame, held: pl.DataFrame, bounds: pl.LazyFrame, *, over_items: bool) -> pl.DataFrame:
    """The numbers of every measure and value of a slice.

    `cells` has measure, kind, and sums over the items of each kind; `held` the kinds that each value of a slice holds:
    kind, repo, slice, slice_value; `bounds` measure, lowest, highest.
    """
    groups = held.lazy().group_by(*_SLICE, "repo").agg("kind").with_row_index("group").collect().lazy()
    counts = ("n", "n_items", "n_failed", "n_not_applicable", "n_sums")
    by_repo = (
        cells.join(groups.select("group", "kind").explode("kind"), on="kind")
        .group_by("measure", "group")
        .agg(pl.col(*_SUMMED, *_PRODUCTS, *counts).sum())
        .join(groups.drop("kind"), on="group")
        .with_columns(repo_mean=pl.when(pl.col("n") > 0).then(from_steps(pl.col("value")) / pl.col("n")))
        .collect()
        .lazy()
    )
    means = by_repo.group_by(_OF).agg(
        (from_steps(pl.col("value").sum()) / pl.col("n").sum()).alias("macro"),
        (exact_sum(pl.col("repo_mean")) / pl.col("repo_mean").count()).alias("by_repo"),
        _micro(),
        *(pl.col(name).sum().cast(pl.Int64) for name in counts[:-1]),
        (pl.col("n") > 0).sum().cast(pl.Int64).alias("n_repos"),
    )
    is_of_items = pl.lit(over_items) | (pl.col("n_repos") < FEWEST_REPOS)
    means = means.with_columns(unit=pl.when(is_of_items).then(pl.lit(ITEM)).otherwise(pl.lit(REPOSITORY)))
    means = means.with_columns(pl.when(pl.col("n") > 0).then(pl.col(pl.Float64))).collect().lazy()
    for end in ends_of(by_repo, means.join(bounds, on="measure")):
        means = means.join(end, on=_OF, how="left")
    return means.collect()


def _resampled(held: Sequence[tuple[pl.DataFrame, bool]], opens_with: tuple[str, str]) -> pl.DataFrame:
    """What is resampled: resampling costs more than all other means together."""
    every = pl.concat([of for of, is_resampled in held if is_resampled])
    first, whole = (
        (pl.col("slice") == name) & (pl.col("slice_value") == value) for name, value in (opens_with, _WHOLE)
    )
    return every.filter(~first.any() | first | whole)


def _counted(distinct: pl.DataFrame, held: pl.DataFrame) -> pl.DataFrame:
    """How often each value occurs in each value of a slice."""
    return distinct.join(held, on="kind").group_by(*_OF, "value").agg(pl.col("count").sum().cast(pl.Int64))


def _with_failures(scores: pl.LazyFrame, measures: pl.LazyFrame, run_items: pl.LazyFrame | None) -> pl.LazyFrame:
    """The scores with `failed`: whether the run did not answer the item, or has no value of any metric there."""
    of_run = ["run_id", "protocol"]
    n_measures = measures.group_by(of_run).agg(n_measures=pl.len())
    valueless = scores.filter(pl.col("value").is_null()).group_by(*of_run, "item_id").agg(n_null=pl.len())
    empty = valueless.join(n_measures, on=of_run).filter(pl.col("n_null") == pl.col("n_measures"))
    failed = scores.join(
        empty.select(*of_run, "item_id", is_empty=pl.lit(value=True)), on=[*of_run, "item_id"], how="left"
    ).with_columns(failed=pl.col("is_empty").fill_null(value=False))
    if run_items is None:
        return failed
    answered = run_items.filter(pl.col("status") == DONE).select("run_id", "item_id", is_done=pl.lit(value=True))
    return failed.join(answered, on=["run_id", "item_id"], how="left").with_columns(
        failed=pl.col("failed") | pl.col("is_done").is_null()
    )


def _kinds(items: pl.LazyFrame, columns: Sequence[str]) -> pl.DataFrame:
    """The kinds of items: kind (a number), the columns (a null one where the items lack it), item_id (a list)."""
    held = items.collect_schema().names()
    absent = pl.lit(None, pl.String)
    band = _band() if "n_candidates" in held else absent
    named = [(pl.col(name) if name in held else band if name == "band" else absent).alias(name) for name in columns]
    return items.select("item_id", *named).group_by(columns).agg("item_id").with_row_index("kind").collect()


def _band() -> pl.Expr:
    n = pl.col("n_candidates")
    bands = [pl.when(n >= fewest).then(pl.lit(name)) for fewest, name in sorted(_CANDIDATES.items(), reverse=True)]
    return pl.coalesce(bands)


def _sliced(kinds: pl.DataFrame, slices: Sequence[Slice], strata: Sequence[str]) -> list[tuple[pl.DataFrame, bool]]:
    """Which kinds of items each slice holds (kind, repo, slice, slice_value), and whether they are resampled.

    At least one frame, be it empty.
    """
    several = [column for column in strata if kinds[column].n_unique() > 1]
    # An item without a value lies in a stratum too.
    kinds = kinds.with_columns(pl.col(several).fill_null("none"))
    every, resampled = list[pl.LazyFrame](), list[bool]()
    for slice_ in slices:
        name, columns = slice_.name, list(slice_.columns)
        if slice_.splits and kinds[columns[-1]].n_unique() < 2:
            continue
        if slice_.per_stratum and several:
            name, columns = "/".join([*several, *([name] if columns else [])]), [*several, *columns]
        of = kinds.lazy().filter(pl.col(slice_.of).is_not_null()) if slice_.of else kinds.lazy()
        value = pl.concat_str(columns, separator="/") if columns else pl.lit("all")
        every.append(of.with_columns(slice=pl.lit(name), slice_value=value).filter(pl.col("slice_value").is_not_null()))
        resampled.append(slice_.is_resampled)
    columns = ["kind", "repo", "slice", "slice_value"]
    nothing = pl.DataFrame(schema={name: kinds.schema.get(name, pl.String()) for name in columns})
    # What holds items of several strata is no slice.
    return [(nothing, True)] + [
        (held.select(columns), is_resampled)
        for held, is_resampled in zip(pl.collect_all(every), resampled, strict=True)
        if len({*held["slice_value"]}) == len({*zip(held["slice_value"], *(held[one] for one in strata), strict=True)})
    ]


def _micro() -> pl.Expr:
    """Sum over sum; NaN where the denominators sum to 0, or to less, as published sizes of reversed ranges may."""
    numerator, denominator = (from_steps(pl.col(name).sum()) for name in _SUMMED[1:])
    ratio = pl.when(denominator <= 0).then(math.nan).otherwise(numerator / denominator)
    return pl.when(pl.col("n_sums").sum() > 0).then(ratio).alias("micro")
