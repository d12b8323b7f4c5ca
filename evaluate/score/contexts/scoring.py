"""Scores of gathered contexts: a protocol's metrics over the sizes of sets, and what its rules say of the odd cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from evaluate.metrics import Metric, metrics_of
from evaluate.metrics.declaration import size_at
from evaluate.score.contexts.gathering import Gathered, gather
from evaluate.score.contexts.ground import GRANULARITIES, Ground
from evaluate.score.contexts.intervals import Integers
from evaluate.score.contexts.material import Material, Runs, rules_of
from lake.catalog.protocol import ContextRules, Protocol
from lake.tables import table

Floats = npt.NDArray[np.float64]

_CASE = ["run_id", "item_id"]
_LINE = ["item_id", "path", "line"]


class Scored(NamedTuple):
    """What scoring some runs gave: the columns of `scores` and of `step_scores` but for `protocol` and its hash.

    Every run, item and metric has a score; cases that are errors have no steps.
    """

    scores: pl.DataFrame
    steps: pl.DataFrame


def score_contexts(protocol: Protocol, material: Material, runs: Runs, *, with_steps: bool = True) -> Scored:
    """Score runs under a protocol of contexts, all at once; their steps as well, unless nobody asks for them."""
    rules = rules_of(protocol)
    cuts = ("results", "budget", "lines")
    depths, *budgets = (sorted({k for metric, k in metrics_of(protocol) if metric.cut == cut and k}) for cut in cuts)
    ground = Ground.of(material, runs, rules)
    gathered = gather(ground, *budgets)
    wide = _wide(ground, gathered, depths).hstack(_edited(ground.cases, material, runs, rules))
    if rules.edits == "gold context":
        wide = wide.with_columns(pl.col("n_gold").alias("n_gold/editloc"))
    steps = _step_rows(ground.cases, gathered) if with_steps else pl.DataFrame()
    return Scored(_scores(protocol, ground.cases, wide, gathered.answered), steps)


def _edited(cases: pl.DataFrame, material: Material, runs: Runs, rules: ContextRules) -> pl.DataFrame:
    """The sizes of the sets of edited lines, a row for every case, and has_edits: whether there is anything to measure.

    There is nothing of a system that never edits, or of an item without any patch.
    """
    known = cases.lazy().select(*_CASE, "has_patch", "has_gold_patch")
    own, every = runs.edits.lazy().select(*_CASE, "path", "line"), [*_CASE, "path", "line"]
    if rules.edits == "gold patch":
        predicted, gold = own, material.gold_edits.lazy()
        n_gold = gold.select(_LINE).unique().group_by("item_id").agg(pl.len().alias("n_gold/editloc"))
        has_edits = pl.col("has_patch").any().over("run_id")
        hits = predicted.join(gold, on=_LINE, how="semi")
    else:
        lent = known.filter(~pl.col("has_patch")).join(material.gold_edits.lazy(), on="item_id")
        predicted = pl.concat([own, lent.select(every)])
        n_gold = pl.LazyFrame(schema={"item_id": pl.String, "n_gold/editloc": pl.UInt32})
        has_edits = pl.col("has_patch") | pl.col("has_gold_patch")
        inside = (pl.col("line") >= pl.col("line_start")) & (pl.col("line") < pl.col("line_end"))
        hits = predicted.join(material.gold.lazy(), on=["item_id", "path"]).filter(inside)
    found = known.join(n_gold, on="item_id", how="left", maintain_order="left")
    sizes = {"n_pred/editloc@0": predicted, "n_hit/editloc@0": hits}
    for name, lines in sizes.items():
        counted = lines.select(every).unique().group_by(_CASE).agg(pl.len().alias(name))
        found = found.join(counted, on=_CASE, how="left", maintain_order="left")
    counts = pl.col("n_gold/editloc", *sizes).fill_null(0).cast(pl.Int64)
    return found.select(counts, has_edits=has_edits).collect()


def _wide(ground: Ground, gathered: Gathered, depths: Sequence[int]) -> pl.DataFrame:
    """One row per case, with the columns that metrics read."""
    columns: dict[str, Integers | Floats] = {"n_steps": gathered.n_steps}
    for granularity in GRANULARITIES:
        finals, steps = gathered.finals[granularity], gathered.steps[granularity]
        columns[f"n_gold/{granularity}"] = finals.n_gold
        columns[f"n_pred/{granularity}@0"], columns[f"n_hit/{granularity}@0"] = finals.n_pred, finals.n_hit
        for k in depths:
            columns[f"n_pred/{granularity}@{k}"] = _after(gathered.n_steps, steps.n_cumulative, k)
            columns[f"n_hit/{granularity}@{k}"] = _after(gathered.n_steps, steps.n_cumulative_hit, k)
        columns[f"n_seen/{granularity}"] = _total(gathered.n_steps, steps.n_pred)
        columns[f"n_union/{granularity}"] = _after(gathered.n_steps, steps.n_cumulative, 0)
        columns[f"auc/{granularity}"] = _auc(gathered, granularity, ground.rules)
    columns["n_gold"] = gathered.finals["line"].n_gold
    for cut_off, size in {size_at("", "budget", 0): gathered.finals["line"], **gathered.cut}.items():
        columns[f"n_returned{cut_off}"], columns[f"n_both{cut_off}"] = size.n_pred, size.n_hit
    return pl.DataFrame(columns).with_columns(is_known=ground.cases["status"].is_not_null())


def _after(n_steps: Integers, amount: Integers, k: int) -> Integers:
    """An amount after each case's first k steps, or after all; 0 for a case without any."""
    first = np.cumsum(n_steps) - n_steps
    n = np.minimum(n_steps, k) if k else n_steps
    return np.where(n > 0, np.append(amount, 0)[first + n - 1], 0)


def _total(n_steps: Integers, amount: Integers) -> Integers:
    """An amount added up over each case's steps."""
    before, end = np.concatenate(([0], np.cumsum(amount))), np.cumsum(n_steps)
    total: Integers = before[end] - before[end - n_steps]
    return total


def _auc(gathered: Gathered, granularity: str, rules: ContextRules) -> Floats:
    """The mean over each case's steps of the share of gold that had been seen; 0 without steps."""
    sizes, n_steps = gathered.steps[granularity], gathered.n_steps
    case = np.repeat(np.arange(len(n_steps)), n_steps)
    with np.errstate(invalid="ignore"):
        share = sizes.n_cumulative_hit / sizes.n_gold[case]
    # The published code takes all of no gold as covered, but for lines.
    none = 1.0 if rules.empty_gold == "covered" and granularity != "line" else 0.0
    share = np.where(sizes.n_gold[case] == 0, none, share)
    return np.bincount(case, weights=share, minlength=len(n_steps)) / np.maximum(n_steps, 1)


def _scores(
    protocol: Protocol, cases: pl.DataFrame, wide: pl.DataFrame, answered: npt.NDArray[np.bool_]
) -> pl.DataFrame:
    rules, requested = rules_of(protocol), metrics_of(protocol)
    sides = [side for metric, k in requested for side in (metric.at(k).numerator, metric.at(k).denominator)]
    sums = wide.select(side.cast(pl.Float64).alias(str(place)) for place, side in enumerate(sides))
    is_ranking, whose, frames = cases["is_ranking"].to_numpy(), cases.select(_CASE), list[pl.DataFrame]()
    for place, (metric, k) in enumerate(requested):
        numerator, denominator = (
            np.broadcast_to(sums[str(2 * place + side)].to_numpy(), is_ranking.shape) for side in (0, 1)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(denominator == 0, 0.0, numerator / denominator)
        has_value = answered & (is_ranking if k and metric.cut == "results" else True)
        value = np.where(has_value, _ruled(value, metric, k, wide, rules), np.nan)
        counts = ~np.isnan(value) & metric.stores_sums
        numbers = {
            "value": value,
            "numerator": np.where(counts, numerator, np.nan),
            "denominator": np.where(counts, denominator, np.nan),
        }
        named = {"granularity": pl.lit(metric.granularity), "metric": pl.lit(metric.name), "k": pl.lit(k, pl.Int64)}
        columns = {name: pl.Series(array).fill_nan(None) for name, array in numbers.items()}
        frames.append(whose.with_columns(**named, **columns))
    return pl.concat(frames)


def _ruled(value: Floats, metric: Metric, k: int, wide: pl.DataFrame, rules: ContextRules) -> Floats:
    """Values with what the rules say of empty gold, empty predictions and what does not apply (NaN)."""
    granularity, what = metric.granularity, metric.name.rpartition("_")[2]
    if what == "steps":
        # Nobody knows how many steps were taken for an item that a run passed over.
        return np.where(wide["is_known"].to_numpy(), value, np.nan)
    n_gold = wide[f"n_gold/{granularity}"].to_numpy()
    if what == "redundancy":
        nothing = np.nan if rules.no_steps == "nothing" else 0.0
        return np.where(wide[f"n_seen/{granularity}"].to_numpy() <= 0, nothing, value)
    if granularity == "editloc":
        n_pred, n_hit = (wide[f"{size}/editloc@0"].to_numpy() for size in ("n_pred", "n_hit"))
        if rules.edits == "gold context":
            # Published: recall and precision are one number, the share of the edited lines inside the gold's ranges.
            value = np.divide(n_hit, n_pred, out=np.zeros(len(n_pred)), where=n_pred > 0)
            return np.where(wide["has_edits"].to_numpy(), value, np.nan)
        return np.where(wide["has_edits"].to_numpy() & (n_gold > 0), value, np.nan)
    if what == "precision":
        is_line = granularity == "line"
        returned = size_at("n_returned", metric.cut, k) if is_line else f"n_pred/{granularity}@{k}"
        # Published sizes may be less than none, where ranges are reversed.
        value = np.where(wide[returned].to_numpy() <= 0, rules.empty_prediction, value)
    if rules.empty_gold == "no value":
        return np.where(n_gold == 0, np.nan, value)
    return np.where(n_gold == 0, 1.0, value) if what == "coverage" else value


def _step_rows(cases: pl.DataFrame, gathered: Gathered) -> pl.DataFrame:
    n_steps = gathered.n_steps
    case = np.repeat(np.arange(cases.height), n_steps)
    step = np.arange(len(case)) - (np.cumsum(n_steps) - n_steps)[case] + 1
    kept = gathered.answered[case]
    whose = cases.select(_CASE)[case[kept]].with_columns(step=pl.Series(step[kept]))
    frames = [
        whose.with_columns(
            pl.lit(granularity).alias("granularity"),
            *(pl.Series(name, (size[case] if name == "n_gold" else size)[kept]) for name, size in sizes.items()),
        )
        for granularity, sizes in ((one, gathered.steps[one]._asdict()) for one in GRANULARITIES)
    ]
    return pl.concat(frames).select(name for name in table("step_scores").columns if name != "protocol")
