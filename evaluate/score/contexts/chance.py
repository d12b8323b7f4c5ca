"""What rankings in a random order are worth on the mean: seeded orders of each pool, scored like any ranking."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from evaluate.metrics import metrics_of
from evaluate.rank.pools import load_axis
from evaluate.score.contexts.gathered import N_RANKED_STEPS, RANKING, Runs
from evaluate.score.contexts.gathering import RANKED_BUDGET
from evaluate.score.contexts.loading import load_material
from evaluate.score.contexts.scoring import rules_of, score_contexts
from evaluate.score.random_orders import draw
from evaluate.selection import ItemPart
from lake.catalog.protocol import Protocol
from lake.exact import exact_sum
from lake.searched import files_of
from lake.store import Lake

POOLS_AT_ONCE = 25
"""How many pools are ordered and scored together: what memory must hold."""

_SCORE = ["item_id", "granularity", "metric", "k"]
_SUMS = ("value", "numerator", "denominator")


def expected_contexts(lake: Lake, asked: ItemPart, protocol: Protocol, run_id: str, chunker: str) -> pl.DataFrame:
    """The mean scores of the seeded orders of each pool, the very orders that other benchmarks' means are of.

    Args:
        lake: Where from.
        asked: The items.
        protocol: The rules.
        run_id: The run that stands for all orders.
        chunker: Who cut what is ordered.

    Returns:
        The columns of table `scores` but for `protocol` and its hash.
    """
    budgets = {RANKED_BUDGET, *(k for metric, k in metrics_of(protocol) if metric.cut == "budget" and k)}
    whole = [(exact_sum(pl.col(name)) / pl.col(name).count()).alias(name) for name in _SUMS]
    means = []
    for first in range(0, len(asked.pool_ids), POOLS_AT_ONCE):
        pool_ids = asked.pool_ids[first : first + POOLS_AT_ONCE]
        some = replace(asked, described=asked.described.filter(pl.col("pool_id").is_in(pool_ids.implode())))
        axis = load_axis(lake, pool_ids, asked.files)
        heads = draw(_chunks(lake, some, chunker), axis, budgets=sorted(budgets), n_results=N_RANKED_STEPS)
        means.append(_scores(lake, some, protocol, heads).group_by(_SCORE).agg(whole))
    return pl.concat(means).with_columns(pl.col(_SUMS).fill_nan(None), run_id=pl.lit(run_id))


def _chunks(lake: Lake, asked: ItemPart, chunker: str) -> pl.LazyFrame:
    files = files_of(lake, asked.pool_ids, asked.files).select("pool_id", "path", "sha256")
    chunks = lake.scan("chunks", chunker=chunker).filter(pl.col("n_nws") > 0)
    where = ("pool_id", "path", "chunk_no", "line_start", "line_end")
    return files.join(chunks, on="sha256").select(where)


def _scores(lake: Lake, asked: ItemPart, protocol: Protocol, heads: pl.DataFrame) -> pl.DataFrame:
    """The scores of all orders, each as a run of its own."""
    order = pl.col("order").cast(pl.String)
    items = asked.described.lazy().select("item_id", "pool_id")
    absent = {"path_given": pl.String, "symbol": pl.String}
    hits = (
        items.join(heads.lazy(), on="pool_id")
        .with_columns(run_id=order, part=pl.lit(RANKING), step=pl.lit(0, pl.Int64))
        .with_columns(pl.lit(None, kind).alias(name) for name, kind in absent.items())
        .collect()
    )
    names = heads["order"].unique().sort().cast(pl.String)
    answered = asked.described.select("item_id").join(names.to_frame("run_id"), how="cross")
    answered = answered.with_columns(
        status=pl.lit("done"), n_steps=pl.lit(None, pl.Int64), has_patch=pl.lit(None, pl.Boolean)
    )
    edits = pl.DataFrame(schema={"run_id": pl.String, "item_id": pl.String, "path": pl.String, "line": pl.Int64})
    runs = Runs(tuple(names), answered, hits, edits)
    material = load_material(lake, asked, protocol, rules_of(protocol), runs)
    return score_contexts(protocol, material, runs).scores
