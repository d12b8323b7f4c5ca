"""What the first results of a random order cover of the gold on the mean, in closed form.

A place of the gold that m of a pool's n chunks hold is missed by the first k of a random order where none of the m is
among them: with chance C(n - m, k) / C(n, k). The mean of a sum is the sum of the means, so it does not matter that the
places of a file or a definition come together, nor whether chunks overlap.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from evaluate.metrics import Metric, metrics_of
from evaluate.score.contexts.extents import rows_of
from evaluate.score.contexts.gathered import N_RANKED_STEPS, Material, Runs, number
from evaluate.score.contexts.gathering import RANKED_BUDGET, ground_of
from evaluate.score.contexts.intervals import Integers, holders
from evaluate.score.contexts.sets import GRANULARITIES, Answers
from lake.catalog.context_rules import ContextRules
from lake.catalog.protocol import Protocol
from lake.tables import table

Floats = npt.NDArray[np.float64]

_COLUMNS = ("run_id", "item_id", "granularity", "metric", "k", "value", "numerator")


def has_closed_form(metric: Metric, k: int) -> bool:
    """Whether a metric's mean over all orders is worked out: coverage of the first k results, and its mean over steps.

    Precision, F1 and redundancy are ratios of two drawn numbers, and what a budget pays for hangs on all before it.
    """
    what = metric.name.rpartition("_")[2]
    return metric.shape == "gathered" and (what == "auc" or (what == "coverage" and k > 0))


def expected_coverage(
    protocol: Protocol, rules: ContextRules, material: Material, pools: Runs, sizes: pl.DataFrame
) -> pl.DataFrame:
    """The means of the metrics with a closed form, for every run and item with gold.

    Args:
        protocol: The metrics.
        rules: Its rules.
        material: The items.
        pools: A run for each way to cut the pools: of each item's pool the chunks in files of its gold, ranked 1, 2, 3.
        sizes: run_id, item_id, n (the pool's chunks), n_first: those that an order may begin with and be an answer.

    Returns:
        run_id, item_id, granularity, metric, k, value, numerator.
    """
    numbered = number(material, pools)
    ground = ground_of(material, numbered, rules)
    rows = rows_of(numbered.seen.sort("case", "rank").with_columns(step="rank"), "case")
    cases = numbered.cases.join(sizes, on=["run_id", "item_id"], how="left", maintain_order="left")
    n, n_first = (cases[name].fill_null(0).to_numpy() for name in ("n", "n_first"))
    answers = Answers(np.bincount(rows.walk, minlength=cases.height), rows, numbered.seen.clear())
    is_first = is_begun(rules, ground.files.nws_of(rows.file, rows.start))
    columns = table("scores").columns
    frames = [pl.DataFrame(schema={name: columns[name] for name in _COLUMNS})]
    for granularity in GRANULARITIES:
        walk, length, n_holding, n_first_holding = holders(*ground.laid(granularity, answers), is_first)
        missed = _missed(n[walk], n_first[walk], n_holding, n_first_holding)
        n_gold = np.bincount(walk, weights=length, minlength=cases.height)
        hits = [np.bincount(walk, weights=length * (1 - at_k), minlength=cases.height) for at_k in missed]
        for metric, k in metrics_of(protocol):
            if metric.granularity == granularity and has_closed_form(metric, k):
                hit = hits[k - 1] if k else np.mean(hits, axis=0)
                share = np.divide(hit, n_gold, out=np.zeros_like(hit), where=n_gold > 0)
                named = {"granularity": pl.lit(granularity), "metric": pl.lit(metric.name), "k": pl.lit(k, pl.Int64)}
                one = cases.select("run_id", "item_id", **named, value=pl.Series(share), numerator=pl.Series(hit))
                frames.append(one.filter(pl.Series(n_gold > 0)))
    return pl.concat(frames)


def is_begun(rules: ContextRules, n_nws: Integers) -> npt.NDArray[np.bool_]:
    """Whether an order that begins with a chunk is an answer: where failed ones are left out, its first line must fit.

    Args:
        rules: The rules.
        n_nws: The non-whitespace characters of each chunk's first line.
    """
    return np.full(len(n_nws), fill_value=rules.failed == "zero") | (n_nws <= RANKED_BUDGET)


def _missed(n: Integers, n_first: Integers, special: Integers, special_first: Integers) -> list[Floats]:
    """The chance that none of the special chunks is among the first k of an order, for every k up to N_RANKED_STEPS.

    Args:
        n: How many chunks there are.
        n_first: How many of them an order may begin with.
        special: How many are special.
        special_first: How many of those an order may begin with.
    """
    missed = np.divide(n_first - special_first, n_first, out=np.ones(len(n)), where=n_first > 0)
    chances = []
    for left in (n - drawn for drawn in range(1, N_RANKED_STEPS + 1)):
        chances.append(missed)
        # Where no chunk is left, nothing more is drawn.
        missed = missed * np.divide(np.maximum(left - special, 0), left, out=np.ones(len(n)), where=left > 0)
    return chances
