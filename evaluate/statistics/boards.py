"""Table `boards`: what every reader of a leaderboard shows, worked out once.

Pages, their scripts, exports and `evaluate table` read it: order, averages, states and differences are decided here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from lake.catalog.protocol import AVERAGES, MAX_VALUES, average_columns
from lake.catalog.references import reference_of
from lake.tables import table
from lake.verdict import FEWER_ITEMS, LIMITED, mirrored

_MEASURE = ["granularity", "metric", "k"]
_SLICE = ["slice", "slice_value"]
_VIEW = [*_SLICE, "average", "column"]
_KINDS = {"granularity": pl.String(), "metric": pl.String(), "k": pl.Int64()}


def board_rows(
    protocol: Mapping[str, Any],
    metrics: pl.DataFrame,
    runs: pl.DataFrame,
    kind: str,
    *,
    aggregates: pl.DataFrame,
    ranks: pl.DataFrame,
    comparisons: pl.DataFrame,
    characters: pl.DataFrame,
) -> pl.DataFrame:
    """The board of one task's runs under one protocol: rows of table `boards`.

    Args:
        protocol: The protocol's row of table `protocols`.
        metrics: Rows of table `metrics`.
        runs: The task's rows of table `runs`.
        kind: The declared benchmark by whose rules the task is scored; it says which system is the reference.
        aggregates: The runs' rows of that table under the protocol.
        ranks: Likewise.
        comparisons: Likewise, of pairs of these runs.
        characters: Likewise.
    """
    opening = _opening(protocol["headline"], aggregates)
    shown = _largest(aggregates).drop("protocol", "share_of_oracle")
    shown = shown.join(_columns(protocol, metrics, shown), on=_MEASURE)
    shown = shown.join(runs.select("run_id", "system", "task", "status", "limit"), on="run_id")
    n_asked = (pl.col("n_items") - pl.col("n_not_applicable")).max().over(*_MEASURE, *_SLICE)
    incomplete = pl.when(pl.col("status") != "complete").then("status")
    fewer = pl.when(pl.col("n") < n_asked).then(pl.lit(FEWER_ITEMS)).otherwise(pl.lit(""))
    shown = shown.with_columns(
        state=pl.when(pl.col("limit").is_not_null()).then(pl.lit(LIMITED)).otherwise(pl.coalesce(incomplete, fewer)),
        of_items=pl.col("n_items").max().over(_SLICE),
        is_opening=(pl.col("slice") == opening[0]) & (pl.col("slice_value") == opening[1]),
    )
    rows = pl.concat(_averaged(shown, average) for average in AVERAGES)
    oracle = aggregates.select(*_MEASURE, *_SLICE, "run_id", "share_of_oracle", average=pl.lit("macro"))
    rows = rows.join(oracle, on=[*_MEASURE, *_SLICE, "run_id", "average"], how="left")
    directed = pl.col("value") * pl.when("lower_is_better").then(1).otherwise(-1)
    rows = rows.sort(*_VIEW, pl.col("state") != "", directed, "system", "run_id", nulls_last=True)
    rows = rows.with_columns(place=pl.int_range(1, pl.len() + 1).over(_VIEW))
    places = ranks.select(*_SLICE, "run_id", "rank", "rank_low", "rank_high", "tie_group", "too_few")
    places = places.with_columns(is_primary=True, is_shown=True)
    rows = rows.join(places, on=[*_SLICE, "run_id", "is_primary", "is_shown"], how="left")
    read = characters.select("run_id", "k", *_SLICE, "read").unique(["run_id", "k", *_SLICE])
    rows = rows.join(read, on=["run_id", "k", *_SLICE], how="left")
    rows = _with_differences(rows, kind, comparisons).with_columns(protocol=pl.lit(protocol["name"]))
    return rows.select(pl.col(name).cast(kind) for name, kind in table("boards").columns.items())


def _opening(headline: Mapping[str, str], aggregates: pl.DataFrame) -> tuple[str, str]:
    """The slice that a board opens on: the headline; where that was not scored all, else the first subset."""
    known = set(aggregates.select(_SLICE).unique().iter_rows())
    wanted, whole = (headline["slice"], headline["slice_value"]), ("all", "all")
    subsets = sorted(where for where in known if where[0] == "subset")
    return next((where for where in (wanted, whole, *subsets) if where in known), wanted)


def _largest(aggregates: pl.DataFrame) -> pl.DataFrame:
    values = aggregates.group_by(_SLICE).agg(pl.col("n_items").max())
    ordered = values.sort("n_items", "slice_value", descending=[True, False])
    largest = ordered.group_by("slice", maintain_order=True).head(MAX_VALUES)
    return aggregates.join(largest, on=_SLICE, how="semi", maintain_order="left")


def _columns(protocol: Mapping[str, Any], metrics: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """The measures, each a column: the primary metric, then the others in the protocol's order.

    `own` is how a column is averaged: as the primary metric is. Where that is the ratio of sums, metrics that have none
    and those of a run's steps are averaged over items.
    """
    primary = protocol["primary"]
    order = {each["metric"]: place for place, each in enumerate(protocol["metrics"])}
    facts = {name: rest for name, *rest in metrics.select("name", "direction", "micro", "of_steps").iter_rows()}
    measures = [tuple(row) for row in rows.select(_MEASURE).unique().iter_rows()]
    first = (primary["granularity"], primary["metric"], primary["k"])
    measures.sort(key=lambda of: (of != first, order.get(of[1], len(order)), of[1], of[0], of[2]))
    names = [(metric, k) for _, metric, k in measures]
    columns = []
    for position, (granularity, metric, k) in enumerate(measures):
        name = f"{metric}@{k}" if k else metric
        direction, micro, of_steps = facts.get(metric, ["higher", "ratio", False])
        has_no_ratio = primary["aggregate"] == "micro" and (micro == "none" or of_steps)
        columns.append({
            "granularity": granularity, "metric": metric, "k": k, "position": position,
            "column": name if names.count((metric, k)) == 1 else f"{granularity} {name}",
            "own": "macro" if has_no_ratio else primary["aggregate"],
            "lower_is_better": direction == "lower",
            "is_primary": (granularity, metric, k) == first,
        })  # fmt: skip
    kinds = {"position": pl.Int64(), "column": pl.String(), "own": pl.String()}
    return pl.DataFrame(columns, {**_KINDS, **kinds, "lower_is_better": pl.Boolean(), "is_primary": pl.Boolean()})


def _averaged(rows: pl.DataFrame, average: str) -> pl.DataFrame:
    value, low, high = map(pl.col, average_columns(average))
    return rows.with_columns(
        average=pl.lit(average), value=value, low=low, high=high, is_shown=pl.col("own") == average
    )


def _with_differences(rows: pl.DataFrame, kind: str, comparisons: pl.DataFrame) -> pl.DataFrame:
    """The rows with their difference to the reference: as compared; else of two numbers over as many items."""
    heads = rows.filter("is_opening", "is_primary", "is_shown")
    runs = heads.filter(system=reference_of(kind, heads["system"])).sort(pl.col("state") != "", "run_id")
    reference = runs["run_id"][0] if runs.height else ""
    both = pl.concat([comparisons.lazy(), mirrored(comparisons.lazy())]).filter(run_a=reference)
    compared = both.select(
        *_MEASURE, *_SLICE, "delta", run_id="run_b", delta_low="low", delta_high="high", is_shown=True
    ).collect()
    rows = rows.join(compared, on=[*_MEASURE, *_SLICE, "run_id", "is_shown"], how="left")
    others = rows.filter(pl.col("run_id") == reference).select(*_VIEW, "n", beside="value")
    rows = rows.join(others, on=[*_VIEW, "n"], how="left")
    apart = pl.when(pl.col("run_id") != reference).then(pl.col("value") - pl.col("beside"))
    return rows.with_columns(delta=pl.coalesce("delta", apart))
