"""Tables `ranks` and `boards`: what every reader of a leaderboard shows, worked out once.

Pages, their scripts, exports, `evaluate table` and the gate read them: order, averages, states and differences are
decided here. Places follow the verdicts of table `comparisons`, so the two never disagree. They are adjusted for many
pairs in the headline slice alone; in other slices they are exploratory, as their verdicts are.
"""

import polars as pl

from evaluate.metrics import metric_named
from evaluate.statistics.slices import MEASURE, SLICE, average_of, headline_slice
from lake.averages import AVERAGES, FEWEST_ITEMS, average_columns
from lake.catalog.protocol import MAX_VALUES, Protocol
from lake.catalog.references import reference_of
from lake.tables import table
from lake.verdict import BETTER, FEWER_ITEMS, LIMITED, WORSE, both_ways

_WHERE = [*MEASURE, *SLICE]


def rank_runs(protocol: Protocol, rows: pl.DataFrame, comparisons: pl.DataFrame) -> pl.DataFrame:
    """The ranked runs of every slice by the primary metric: rows of table `ranks`.

    - rank: 1 and how many have a better number.
    - rank_low: 1 and how many are better by the verdict; rank_high: how many there are, less those that are worse.
    - tie_group: the best system not yet in a group opens one, and all that are not yet in one and cannot be told from
      it are its members; a group may have gaps, where a system between two of it is told from the best.
    """
    metric = metric_named(protocol.primary.metric)
    ranked = rows.filter("is_primary", "is_ranked").with_columns(
        protocol=pl.lit(protocol.name),
        number=pl.col(average_of(protocol, metric)) * (-1 if metric.direction == "lower" else 1),
        too_few=pl.col("n") < FEWEST_ITEMS,
        exploratory=~pl.col("is_headline"),
    )
    among = ranked.select(*_WHERE, "run_id")
    both = both_ways(comparisons.lazy()).collect()
    for side in ("run_a", "run_b"):
        both = both.join(among, left_on=[*_WHERE, side], right_on=[*_WHERE, "run_id"], how="semi")
    n_told_apart = both.group_by(*_WHERE, run_id="run_b").agg(
        n_better=(pl.col("verdict") == WORSE).sum(), n_worse=(pl.col("verdict") == BETTER).sum()
    )
    placed = ranked.join(n_told_apart, on=[*_WHERE, "run_id"], how="left").with_columns(
        rank=pl.col("number").rank("min", descending=True).over(_WHERE),
        rank_low=1 + pl.col("n_better").fill_null(0),
        rank_high=pl.len().over(_WHERE) - pl.col("n_worse").fill_null(0),
    )
    shown = pl.when(~pl.col("too_few")).then(pl.col("rank", "rank_low", "rank_high"))
    groups = _tie_groups(placed.filter(~pl.col("too_few")), both)
    full = placed.join(groups, on=[*_WHERE, "run_id"], how="left").with_columns(shown)
    return full.select(pl.col(name).cast(kind) for name, kind in table("ranks").columns.items())


def _tie_groups(ranked: pl.DataFrame, both: pl.DataFrame) -> pl.DataFrame:
    """Where and run_id, with the tie group."""
    apart = both.filter(pl.col("verdict").is_in([BETTER, WORSE])).select(*_WHERE, "run_a", "run_b")
    told_apart = set(apart.iter_rows())
    rows: list[tuple[object, ...]] = []
    for where, group in ranked.sort("rank", "run_id").group_by(_WHERE, maintain_order=True):
        left, number = group["run_id"].to_list(), 0
        while left:
            number += 1
            members = [run_id for run_id in left if (*where, left[0], run_id) not in told_apart]
            rows += [(*where, run_id, number) for run_id in members]
            left = [run_id for run_id in left if run_id not in set(members)]
    kinds = {name: kind for name, kind in table("ranks").columns.items() if name in (*_WHERE, "run_id", "tie_group")}
    return pl.DataFrame(rows, schema=kinds, orient="row")


_VIEW = [*SLICE, "average", "column"]


def board_rows(
    protocol: Protocol,
    runs: pl.DataFrame,
    kind: str,
    *,
    aggregates: pl.DataFrame,
    ranks: pl.DataFrame,
    comparisons: pl.DataFrame,
    characters: pl.DataFrame,
) -> pl.DataFrame:
    """The board of one task's runs under one protocol: rows of table `boards`.

    `runs` are the task's rows of table `runs`, the other frames those runs' rows of the tables they are called after.
    `kind` is the declared benchmark by whose rules the task is scored; it says which system is the reference.
    """
    opening = headline_slice(protocol, aggregates.lazy())
    shown = _largest(aggregates).drop("protocol", "share_of_oracle").join(_columns(protocol, aggregates), on=MEASURE)
    shown = shown.join(runs.select("run_id", "system", "task", "status", "limit"), on="run_id")
    n_asked = (pl.col("n_items") - pl.col("n_not_applicable")).max().over(*MEASURE, *SLICE)
    incomplete = pl.when(pl.col("status") != "complete").then("status")
    fewer = pl.when(pl.col("n") < n_asked).then(pl.lit(FEWER_ITEMS)).otherwise(pl.lit(""))
    shown = shown.with_columns(
        state=pl.when(pl.col("limit").is_not_null()).then(pl.lit(LIMITED)).otherwise(pl.coalesce(incomplete, fewer)),
        of_items=pl.col("n_items").max().over(SLICE),
        is_opening=(pl.col("slice") == opening[0]) & (pl.col("slice_value") == opening[1]),
    )
    rows = pl.concat(_averaged(shown, average) for average in AVERAGES)
    oracle = aggregates.select(*MEASURE, *SLICE, "run_id", "share_of_oracle", average=pl.lit("macro"))
    rows = rows.join(oracle, on=[*MEASURE, *SLICE, "run_id", "average"], how="left")
    directed = pl.col("value") * pl.when("lower_is_better").then(1).otherwise(-1)
    rows = rows.sort(*_VIEW, pl.col("state") != "", directed, "system", "run_id", nulls_last=True)
    rows = rows.with_columns(place=pl.int_range(1, pl.len() + 1).over(_VIEW))
    places = ranks.select(*SLICE, "run_id", "rank", "rank_low", "rank_high", "tie_group", "too_few")
    places = places.with_columns(is_primary=True, is_shown=True)
    rows = rows.join(places, on=[*SLICE, "run_id", "is_primary", "is_shown"], how="left")
    read = characters.select("run_id", "k", *SLICE, "read").unique(["run_id", "k", *SLICE])
    rows = rows.join(read, on=["run_id", "k", *SLICE], how="left")
    rows = _with_differences(rows, kind, comparisons).with_columns(protocol=pl.lit(protocol.name))
    return rows.select(pl.col(name).cast(kind) for name, kind in table("boards").columns.items())


def _largest(aggregates: pl.DataFrame) -> pl.DataFrame:
    values = aggregates.group_by(SLICE).agg(pl.col("n_items").max())
    ordered = values.sort("n_items", "slice_value", descending=[True, False])
    largest = ordered.group_by("slice", maintain_order=True).head(MAX_VALUES)
    return aggregates.join(largest, on=SLICE, how="semi", maintain_order="left")


def _columns(protocol: Protocol, rows: pl.DataFrame) -> pl.DataFrame:
    """The measures, each a column: the primary metric, then the others in the protocol's order."""
    primary = protocol.primary
    order = {metric: position for position, (metric, _) in enumerate(protocol.metrics)}
    first = (primary.granularity, primary.metric, primary.k)
    measures: list[tuple[str, str, int]] = rows.select(MEASURE).unique().rows()
    measures.sort(key=lambda of: (of != first, order.get(of[1], len(order)), of[1], of[0], of[2]))
    names = [(metric, k) for _, metric, k in measures]
    columns = []
    for position, (granularity, metric, k) in enumerate(measures):
        name = f"{metric}@{k}" if k else metric
        columns.append({
            "granularity": granularity, "metric": metric, "k": k, "position": position,
            "column": name if names.count((metric, k)) == 1 else f"{granularity} {name}",
            "own": average_of(protocol, metric_named(metric)),
            "lower_is_better": metric_named(metric).direction == "lower",
            "is_primary": (granularity, metric, k) == first,
        })  # fmt: skip
    kinds = {"position": pl.Int64(), "column": pl.String(), "own": pl.String()}
    kinds |= dict.fromkeys(("lower_is_better", "is_primary"), pl.Boolean())
    return pl.DataFrame(columns, {**{name: rows.schema[name] for name in MEASURE}, **kinds})


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
    both = both_ways(comparisons.lazy()).filter(run_a=reference)
    compared = both.select(
        *MEASURE, *SLICE, "delta", run_id="run_b", delta_low="low", delta_high="high", is_shown=True
    ).collect()
    rows = rows.join(compared, on=[*MEASURE, *SLICE, "run_id", "is_shown"], how="left")
    others = rows.filter(pl.col("run_id") == reference).select(*_VIEW, "n", beside="value")
    rows = rows.join(others, on=[*_VIEW, "n"], how="left")
    apart = pl.when(pl.col("run_id") != reference).then(pl.col("value") - pl.col("beside"))
    return rows.with_columns(delta=pl.coalesce("delta", apart))
