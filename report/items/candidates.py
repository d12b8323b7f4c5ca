"""Where systems ranked the candidates of an item: the gold one, and the first few."""

from __future__ import annotations

import polars as pl

from lake.store import Lake
from report.items.roster import Roster

TOP, MANY, TOP_OF_MANY = 5, 1_000_000, 1
"""So many candidates are named of each answer; of this many answers and more only so many, which a site has room for.

An answer then takes 2 bytes: 12 MB in all for 192,000 items and 20 systems."""

_NUMBER = pl.col("path").str.strip_prefix("cand:").cast(pl.Int64, strict=False)


def candidates_by_item(lake: Lake, roster: Roster, items: pl.DataFrame, gold: pl.DataFrame) -> pl.DataFrame:
    """What a shard says of candidates, one row per item.

    There are item, n_candidates, gold (candidates), and for each run that was asked run and answer: the rank of the
    gold, 0 where it has none, whether the primary metric calls that right (1, 0; -1 where it has no value), then the
    first candidates.
    """
    top = TOP_OF_MANY if items.height * len(roster.runs) >= MANY else TOP
    pools = items.lazy().select("item_id", "item")
    golden = gold.lazy().select("item", "path").unique()
    by_run = [_of_run(lake, roster, number, top, pools, golden) for number in range(len(roster.runs))]
    answers = pl.concat([pl.DataFrame(schema=_SCHEMA), *by_run]).sort("item", "run")
    by_item = answers.lazy().group_by("item", maintain_order=True).agg("run", "answer")
    candidates = gold.lazy().group_by("item").agg(gold="candidate")
    return (
        items.lazy()
        .select("item", "n_candidates")
        .join(candidates, on="item", how="left")
        .join(by_item, on="item", how="left")
        .with_columns(pl.col("gold", "run", "answer").fill_null([]))
        .sort("item")
        .collect()
    )


_SCHEMA = {"item": pl.Int64(), "run": pl.Int64(), "answer": pl.List(pl.Int64())}


def _of_run(
    lake: Lake, roster: Roster, number: int, top: int, pools: pl.LazyFrame, golden: pl.LazyFrame
) -> pl.DataFrame:
    """What one run says: the columns of _SCHEMA. A run at a time, since all rankings of many items are too much."""
    run_id = roster.runs[number].run_id
    folders = {"benchmark": roster.benchmark, "run_id": run_id}
    hits = lake.scan("hits", **folders).filter(part="ranking")
    ranked = hits.join(pools, on="item_id").select("item", "path", "rank")
    # A candidate that is returned in several chunks stands where the first of them does.
    first = pl.col("rank") == pl.col("rank").min().over("item", "path")
    named = ranked.filter(pl.col("rank") <= top, first).sort("item", "rank").select("item", candidate=_NUMBER)
    found = ranked.join(golden, on=["item", "path"], how="semi").group_by("item").agg(pl.col("rank").min())
    granularity, metric, k = roster.board.primary.measure
    scores = lake.scan("scores", protocol=roster.board.protocol.name, **folders)
    right = scores.filter(granularity=granularity, metric=metric, k=k).select("item_id", "value")
    head = [pl.col("rank").fill_null(0), pl.col("value").round().fill_null(-1).cast(pl.Int64)]
    return (
        lake.scan("run_items", **folders)
        .join(pools, on="item_id")
        .join(right, on="item_id", how="left")
        .join(found, on="item", how="left")
        .join(named.group_by("item", maintain_order=True).agg("candidate"), on="item", how="left")
        .select("item", run=pl.lit(number, pl.Int64), answer=pl.concat_list(*head, pl.col("candidate").fill_null([])))
        .collect()
    )
