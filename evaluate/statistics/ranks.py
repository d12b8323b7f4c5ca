"""Table `ranks`: the place of every ranked system, how far it is certain, and whom it cannot be told from.

Places follow the verdicts of table `comparisons`, so the two never disagree. They are adjusted for many pairs in the
headline slice alone; in other slices they are exploratory, as their verdicts are.
"""

from __future__ import annotations

import polars as pl

from evaluate.metrics import metric_named
from evaluate.statistics.slices import MEASURE, SLICE, average_of
from lake.catalog.protocol import Protocol
from lake.catalog.unit import FEWEST_ITEMS
from lake.tables import table
from lake.verdict import BETTER, WORSE, mirrored

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
    both = pl.concat([comparisons.lazy(), mirrored(comparisons.lazy())]).collect()
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
