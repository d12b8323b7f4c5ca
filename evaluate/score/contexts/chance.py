"""Expected scores of rankings in random order: in closed form where there is one, else the mean of seeded orders.

With probability C(n - m, k) / C(n, k), the first k chunks of a random order miss a place of the gold that m of a pool's
n chunks contain. The mean of a sum is the sum of the means, so it does not matter that the places of a file or a
definition come together, nor whether chunks overlap.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from evaluate.metrics import metrics_of
from evaluate.rank.pools import load_axis, split_pools
from evaluate.score.contexts.gold_sets import N_RANKED_STEPS, RANKED_BUDGET, GoldSets
from evaluate.score.contexts.material import ContextRuns, Material, load_material, rules_of
from evaluate.score.contexts.scoring import score_contexts
from evaluate.score.coverage import CutOff
from evaluate.score.random_orders import N_ORDERS, draw
from evaluate.selection import ItemPart
from lake.catalog.protocol import GRANULARITIES, Protocol
from lake.exact import exact_sum
from lake.pools import POOL, chunks_of, files_of
from lake.tables import DONE, RANKING
from lake.tables.evaluated import Scores

_FILES_AT_ONCE = 20_000
"""The approximate number of files of the pools that are ordered and scored together: limited by memory."""

_SCORE = ["item_id", "granularity", "metric", "k"]
_SUMS = ["value", "numerator", "denominator"]


def expected_contexts(item_part: ItemPart, protocol: Protocol, run_id: str, chunker: str) -> pl.DataFrame:
    """The mean scores over all orders of each pool: columns of `scores` without protocol and its hash."""
    means = [Scores.create_empty().select(*_SCORE, *_SUMS)]
    budgets = [k for metric, k in metrics_of(protocol) if metric.cut == "budget"]
    cut_offs: list[CutOff] = [("results", N_RANKED_STEPS), ("budget", max([RANKED_BUDGET, *budgets]))]
    mean_of_orders = [(exact_sum(pl.col(name)) / pl.col(name).count()).alias(name) for name in _SUMS]
    # If no order has a value (as without gold), there is no expectation.
    known = [
        pl.when(pl.col(name).is_not_nan()).then(pl.coalesce(f"{name}_exact", name)).alias(name)
        for name in ("value", "numerator")
    ]
    for pool_ids in split_pools(item_part.lake, item_part.pool_ids, _FILES_AT_ONCE):
        some = replace(item_part, items=item_part.items.filter(pl.col("pool_id").is_in(pool_ids.implode())))
        axis, files = load_axis(item_part.lake, pool_ids), files_of(item_part.lake, pool_ids).collect()
        cut = chunks_of(item_part.lake, chunker, files.select("sha256").unique(), with_blank=False)
        pools = files.lazy().join(cut, on="sha256").select(*POOL).collect()
        # The heads of the orders of each pool, each order as a run named by its number.
        heads = draw(pools.lazy(), axis, cut_offs).lazy().with_columns(run_id=pl.col("order").cast(pl.String))
        hits = some.items.lazy().select("item_id", "pool_id").join(heads, on="pool_id")
        orders = _as_runs(some.items, hits, [str(order) for order in range(N_ORDERS)])
        material = load_material(some, protocol, orders)
        drawn = score_contexts(protocol, material, orders, with_steps=False).scores.lazy()
        # The exact expectations are from the chunks in gold files alone.
        of_items = some.items.lazy().select("item_id", "pool_id")
        gold = material.gold.lazy().join(of_items, on="item_id").select("item_id", "pool_id", "path").unique()
        ranked = (
            gold.join(pools.lazy(), on=["pool_id", "path"])
            .sort("item_id", "path", "chunk_no")
            .with_columns(run_id=pl.lit(""), rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("item_id"))
        )
        first_lines = pools.lazy().with_columns(line_end=pl.col("line_start") + 1, pool="pool_id")
        begun = axis.place(first_lines).select("pool", is_first=_is_begun(protocol, axis.n_nws()))
        sizes = begun.group_by(pool_id="pool").agg(n=pl.len(), n_first=pl.col("is_first").sum())
        n_chunks = of_items.join(sizes, on="pool_id").select("item_id", pl.col("n", "n_first").cast(pl.Int64)).collect()
        exact = expected_coverage(protocol, material, _as_runs(some.items, ranked, [""]), n_chunks).lazy()
        both = drawn.group_by(_SCORE).agg(mean_of_orders).join(exact, on=_SCORE, how="left", suffix="_exact")
        means.append(both.select(*_SCORE, *known, pl.col("denominator").fill_nan(None)).collect())
    return pl.concat(means).with_columns(run_id=pl.lit(run_id))


def expected_coverage(protocol: Protocol, material: Material, pools: ContextRuns, sizes: pl.DataFrame) -> pl.DataFrame:
    """The mean coverage of the first k results, and of its mean over k: _SCORE, value, numerator of items with gold.

    Other metrics are ratios of two random numbers, or depend on all chunks before. `pools` is one run: for each item,
    the chunks of its pool in its gold files, ranked. `sizes` has item_id, n (the pool's chunks), and n_first (those
    that can begin an order that counts as an answer).
    """
    sets = GoldSets(material, pools, rules_of(protocol))
    views = sets.seen.sort("case", "rank").with_columns(step="rank").lazy()
    cases = sets.cases.join(sizes, on="item_id", how="left", maintain_order="left")
    n, n_first = (cases[name].fill_null(0).to_numpy() for name in ("n", "n_first"))
    n_steps = np.bincount(sets.seen["case"].to_numpy(), minlength=cases.height)
    first_lines = views.select("case", "rank", "line_start", pool_id=0, path="file", line_end=pl.col("line_start") + 1)
    begun = sets.axis.place(first_lines).sort("case", "rank").select(_is_begun(protocol, sets.axis.n_nws()))
    is_first = begun.collect().to_series().to_numpy()
    frames: list[pl.LazyFrame] = [Scores.create_empty(lazy=True).select(*_SCORE, "value", "numerator")]
    for granularity in GRANULARITIES:
        walk, length, n_holding, n_first_holding = sets.holders(granularity, n_steps, views, is_first)
        n_gold, hits, certain = np.bincount(walk, weights=length, minlength=cases.height), [], np.ones(len(walk))
        has_gold = n_gold > 0
        of_items = pl.LazyFrame(cases["item_id"].filter(pl.Series(has_gold)))
        # The probability that no chunk that holds a piece is among the first k.
        first = n_first[walk]
        missed = np.divide(first - n_first_holding, first, out=certain.copy(), where=first > 0)
        for k in range(1, N_RANKED_STEPS + 1):
            hits.append(np.bincount(walk, weights=length * (1 - missed), minlength=cases.height))
            left = n[walk] - k
            # Where no chunk is left, nothing more is drawn.
            missed = missed * np.divide(np.maximum(left - n_holding, 0), left, out=certain.copy(), where=left > 0)
        for metric, k in metrics_of(protocol):
            name = metric.name
            if name == f"{granularity}_auc" or (k and metric.cut == "results" and name == f"{granularity}_coverage"):
                hit = hits[k - 1] if k else np.mean(hits, axis=0)
                values = of_items.with_columns(
                    granularity=pl.lit(granularity),
                    metric=pl.lit(name),
                    k=pl.lit(k, pl.Int64),
                    value=pl.Series(hit[has_gold] / n_gold[has_gold]),
                    # Without any gold, numpy counts whole numbers.
                    numerator=pl.Series(hit[has_gold], dtype=pl.Float64),
                )
                frames.append(values)
    return pl.concat(frames).collect()


def _as_runs(items: pl.DataFrame, ordered: pl.LazyFrame, names: Sequence[str]) -> ContextRuns:
    """Runs made of rankings; `ordered` has run_id, item_id, path, line_start, line_end and rank."""
    absent = pl.lit(None, pl.String)
    unknown = {"n_steps": pl.lit(None, pl.Int64), "has_patch": pl.lit(None, pl.Boolean)}
    hits = ordered.with_columns(path_given=absent, symbol=absent, part=pl.lit(RANKING), step=pl.lit(0, pl.Int64))
    answers = items.lazy().select("item_id", status=pl.lit(DONE), is_ranking=True, **unknown)
    run_items = answers.join(pl.LazyFrame({"run_id": names}), how="cross")
    edits = pl.LazyFrame(schema={"run_id": pl.String, "item_id": pl.String, "path": pl.String, "line": pl.Int64})
    return ContextRuns(*pl.collect_all([run_items, hits, edits]))


def _is_begun(protocol: Protocol, n_nws: pl.Expr) -> pl.Expr:
    """Whether orders that begin with chunks of such first lines count as answers, if failures are left out."""
    return pl.lit(rules_of(protocol).failed == "zero") | (n_nws <= RANKED_BUDGET)
