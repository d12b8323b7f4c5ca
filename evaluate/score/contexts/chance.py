"""What rankings in a random order are worth on the mean: in closed form where there is one, else of seeded orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from evaluate.metrics import metrics_of
from evaluate.rank.pools import load_axis
from evaluate.score.contexts.closed import expected_coverage, is_begun
from evaluate.score.contexts.gathered import N_RANKED_STEPS, RANKING, Material, Runs
from evaluate.score.contexts.gathering import RANKED_BUDGET
from evaluate.score.contexts.loading import load_material
from evaluate.score.contexts.scoring import rules_of, score_contexts
from evaluate.score.coverage import CutOff
from evaluate.score.random_orders import N_ORDERS, draw
from evaluate.selection import ItemPart
from lake.catalog.protocol import Protocol
from lake.exact import exact_sum
from lake.lines import LineAxis
from lake.searched import POOL, files_of
from lake.store import Lake
from lake.tables import table

POOLS_AT_ONCE = 10
"""How many pools are ordered and scored together: what memory must hold."""

_SCORE = ["run_id", "item_id", "granularity", "metric", "k"]
_SUMS = ("value", "numerator", "denominator")


def expected_contexts(
    lake: Lake, asked: ItemPart, protocols: Sequence[Protocol], chunkers: Mapping[str, str]
) -> dict[str, pl.DataFrame]:
    """The mean scores of all orders of each pool; where only drawing tells, of those that other benchmarks draw too.

    Args:
        lake: Where from.
        asked: The items.
        protocols: The rules.
        chunkers: Run, which stands for all orders → who cut what is ordered.

    Returns:
        By protocol the columns of table `scores` but for `protocol` and its hash.
    """
    kinds = table("scores").columns
    nothing = pl.DataFrame(schema={name: kinds[name] for name in (*_SCORE, *_SUMS)})
    found = {protocol.name: [nothing] for protocol in protocols}
    for first in range(0, len(asked.pool_ids) if protocols and chunkers else 0, POOLS_AT_ONCE):
        pool_ids = asked.pool_ids[first : first + POOLS_AT_ONCE]
        some = replace(asked, described=asked.described.filter(pl.col("pool_id").is_in(pool_ids.implode())))
        axis = load_axis(lake, pool_ids, asked.files)
        pools = pl.concat([_chunks(lake, some, run_id, chunker) for run_id, chunker in chunkers.items()])
        orders = _orders(some, pools, axis, protocols, list(chunkers))
        for protocol in protocols:
            found[protocol.name].append(_expected(lake, some, protocol, orders, pools, axis, list(chunkers)))
    return {name: pl.concat(frames) for name, frames in found.items()}


def _chunks(lake: Lake, asked: ItemPart, run_id: str, chunker: str) -> pl.DataFrame:
    """run_id and the columns of POOL: what a run orders."""
    files = files_of(lake, asked.pool_ids, asked.files).select("pool_id", "path", "sha256")
    chunks = lake.scan("chunks", chunker=chunker).filter(pl.col("n_nws") > 0)
    return files.join(chunks, on="sha256").select(*POOL, run_id=pl.lit(run_id)).collect()


def _orders(
    asked: ItemPart, pools: pl.DataFrame, axis: LineAxis, protocols: Sequence[Protocol], names: Sequence[str]
) -> Runs:
    """The heads of the orders of each pool, each order as a run of its own: its number and the run it is one of."""
    cuts = [(metric, k) for protocol in protocols for metric, k in metrics_of(protocol)]
    budgets = {RANKED_BUDGET, *(k for metric, k in cuts if metric.cut == "budget" and k)}
    cut_offs: list[CutOff] = [("results", N_RANKED_STEPS), *(("budget", k) for k in sorted(budgets))]
    heads = [
        draw(of_run.lazy(), axis, cut_offs).with_columns(run_id=pl.format("{} {}", "order", pl.lit(run_id)))
        for (run_id,), of_run in pools.group_by("run_id", maintain_order=True)
    ]
    hits = asked.described.select("item_id", "pool_id").join(pl.concat(heads), on="pool_id")
    return _as_runs(asked, hits, [f"{order} {name}" for name in names for order in range(N_ORDERS)])


def _as_runs(asked: ItemPart, ordered: pl.DataFrame, names: Sequence[str]) -> Runs:
    """Rankings, of which are given run_id, item_id, path, line_start, line_end and rank."""
    absent = {"path_given": pl.String, "symbol": pl.String}
    hits = ordered.with_columns(
        *(pl.lit(None, kind).alias(name) for name, kind in absent.items()),
        part=pl.lit(RANKING),
        step=pl.lit(0, pl.Int64),
    )
    answered = asked.described.select("item_id").join(pl.DataFrame({"run_id": names}), how="cross")
    answered = answered.with_columns(
        status=pl.lit("done"), n_steps=pl.lit(None, pl.Int64), has_patch=pl.lit(None, pl.Boolean)
    )
    edits = pl.DataFrame(schema={"run_id": pl.String, "item_id": pl.String, "path": pl.String, "line": pl.Int64})
    return Runs.of(names, answered, hits, edits)


def _expected(
    lake: Lake,
    asked: ItemPart,
    protocol: Protocol,
    orders: Runs,
    pools: pl.DataFrame,
    axis: LineAxis,
    names: Sequence[str],
) -> pl.DataFrame:
    material = load_material(lake, asked, protocol, rules_of(protocol), orders)
    of_orders = score_contexts(protocol, material, orders, with_steps=False).scores.lazy()
    means = [(exact_sum(pl.col(name)) / pl.col(name).count()).alias(name) for name in _SUMS]
    drawn = of_orders.with_columns(run_id=pl.col("run_id").str.splitn(" ", 2).struct[1]).group_by(_SCORE).agg(means)
    closed = _closed(asked, protocol, material, pools, axis, names)
    exact = closed.lazy().rename({name: f"exact_{name}" for name in ("value", "numerator")})
    # Where no order has a value, as where there is no gold, there is none to expect.
    values = [
        pl.when(pl.col(name).is_not_nan()).then(pl.coalesce(f"exact_{name}", name)).alias(name)
        for name in ("value", "numerator")
    ]
    joined = drawn.join(exact, on=_SCORE, how="left").with_columns(*values, pl.col("denominator").fill_nan(None))
    return joined.select(*_SCORE, *_SUMS).collect()


def _closed(
    asked: ItemPart, protocol: Protocol, material: Material, pools: pl.DataFrame, axis: LineAxis, names: Sequence[str]
) -> pl.DataFrame:
    """What needs no drawing, from the chunks in files of gold alone."""
    rules = rules_of(protocol)
    of_items = asked.described.select("item_id", "pool_id")
    gold = material.gold.join(of_items, on="item_id").select("item_id", "pool_id", "path").unique()
    ranked = (
        gold.join(pools, on=["pool_id", "path"])
        .sort("run_id", "item_id", "path", "chunk_no")
        .with_columns(rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("run_id", "item_id"))
    )
    files = material.files.join(gold, on=["pool_id", "path"], how="semi")
    texts, definitions = (one.join(files, on="sha256", how="semi") for one in (material.texts, material.definitions))
    narrow = replace(material, files=files, texts=texts, definitions=definitions)
    first_lines = pools.lazy().select("run_id", "pool_id", "path", "line_start", line_end=pl.col("line_start") + 1)
    begun = axis.place(first_lines.with_columns(pool="pool_id")).select("run_id", "pool", n_nws=axis.n_nws()).collect()
    begun = begun.with_columns(is_first=is_begun(rules, begun["n_nws"].to_numpy()))
    sizes = begun.group_by("run_id", pool_id="pool").agg(n=pl.len(), n_first=pl.col("is_first").sum())
    sizes = of_items.join(sizes, on="pool_id").with_columns(pl.col("n", "n_first").cast(pl.Int64)).drop("pool_id")
    return expected_coverage(protocol, rules, narrow, _as_runs(asked, ranked, names), sizes)
