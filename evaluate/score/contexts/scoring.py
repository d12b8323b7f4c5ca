"""Scores of gathered contexts: a protocol's metrics over the sizes of sets, and what its rules say of the odd cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from evaluate.metrics import Metric, metrics_of
from evaluate.metrics.declaration import size_at
from evaluate.score.contexts.edits import edited
from evaluate.score.contexts.gathered import Material, Runs
from evaluate.score.contexts.gathering import Gathered, gather
from evaluate.score.contexts.intervals import Integers, Sizes
from evaluate.score.contexts.sets import GRANULARITIES
from lake.catalog.context_rules import ContextRules
from lake.catalog.protocol import Protocol
from lake.tables import table

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Scored:
    """What scoring some runs gave.

    Attributes:
        scores: The columns of table `scores` but for `protocol` and its hash; a row for every run, item and metric.
        steps: Those of `step_scores` but for `protocol`.
    """

    scores: pl.DataFrame
    steps: pl.DataFrame


def score_contexts(protocol: Protocol, material: Material, runs: Runs, *, with_steps: bool = True) -> Scored:
    """Score runs under a protocol of contexts, all at once.

    Args:
        protocol: One with rules of contexts.
        material: The items and what their repositories hold, as the protocol reads them.
        runs: The runs.
        with_steps: Their steps are asked for as well.
    """
    rules = rules_of(protocol)
    cuts = ("results", "budget", "lines")
    depths, *budgets = (sorted({k for metric, k in metrics_of(protocol) if metric.cut == cut and k}) for cut in cuts)
    gathered = gather(material, runs, rules, *budgets)
    edits = edited(gathered.cases, material, runs, rules)
    scores = _scores(protocol, _wide(gathered, edits, rules, depths), gathered)
    return Scored(scores, step_rows(gathered) if with_steps else pl.DataFrame())


def rules_of(protocol: Protocol) -> ContextRules:
    """The protocol's rules of contexts.

    Raises:
        ValueError: It has none.
    """
    if protocol.context is None:
        message = f"{protocol.name} scores no contexts"
        raise ValueError(message)
    return protocol.context


def _wide(gathered: Gathered, edits: pl.DataFrame, rules: ContextRules, depths: Sequence[int]) -> pl.DataFrame:
    """One row per case, with the columns that metrics read."""
    columns: dict[str, Integers | Floats] = {"n_steps": gathered.n_steps}
    for granularity in GRANULARITIES:
        finals, steps = gathered.finals[granularity], gathered.steps[granularity]
        columns[f"n_gold/{granularity}"] = finals.n_gold
        columns[f"n_pred/{granularity}@0"], columns[f"n_hit/{granularity}@0"] = finals.n_pred, finals.n_hit
        for k in depths:
            held, shared = (_after(gathered, size, k) for size in (steps.n_cumulative, steps.n_cumulative_hit))
            columns[f"n_pred/{granularity}@{k}"], columns[f"n_hit/{granularity}@{k}"] = held, shared
        columns[f"n_seen/{granularity}"] = _total(gathered, steps.n_pred)
        columns[f"n_union/{granularity}"] = _after(gathered, steps.n_cumulative, 0)
        columns[f"auc/{granularity}"] = _auc(gathered, granularity, rules)
    columns["n_gold"] = gathered.finals["line"].n_gold
    for cut_off, size in {size_at("", "budget", 0): gathered.finals["line"], **gathered.at_budget}.items():
        columns[f"n_returned{cut_off}"], columns[f"n_both{cut_off}"] = size.n_pred, size.n_hit
    n_gold = edits["n_gold"].to_numpy() if rules.edits == "gold patch" else gathered.finals["line"].n_gold
    columns["n_gold/editloc"] = n_gold
    columns["n_pred/editloc@0"], columns["n_hit/editloc@0"] = edits["n_pred"].to_numpy(), edits["n_hit"].to_numpy()
    columns["has_edits"] = edits["has_edits"].to_numpy()
    columns["is_known"] = gathered.cases["status"].is_not_null().to_numpy()
    return pl.DataFrame(columns)


def _after(gathered: Gathered, amount: Integers, k: int) -> Integers:
    """An amount after each case's first k steps, or after all; 0 for a case without any."""
    first = np.concatenate(([0], np.cumsum(gathered.n_steps)))
    n = np.minimum(gathered.n_steps, k) if k else gathered.n_steps
    return np.where(n > 0, np.append(amount, 0)[first[:-1] + n - 1], 0)


def _total(gathered: Gathered, amount: Integers) -> Integers:
    """An amount added up over each case's steps."""
    before = np.concatenate(([0], np.cumsum(amount)))
    first = np.concatenate(([0], np.cumsum(gathered.n_steps)))
    return before[first[1:]] - before[first[:-1]]


def _auc(gathered: Gathered, granularity: str, rules: ContextRules) -> Floats:
    """The mean over each case's steps of the share of gold that had been seen; 0 without steps."""
    sizes = gathered.steps[granularity]
    case = np.repeat(np.arange(gathered.cases.height), gathered.n_steps)
    with np.errstate(invalid="ignore"):
        share = sizes.n_cumulative_hit / sizes.n_gold[case]
    # The published code takes all of no gold as covered, but for lines.
    none = 1.0 if rules.empty_gold == "covered" and granularity != "line" else 0.0
    share = np.where(sizes.n_gold[case] == 0, none, share)
    return np.bincount(case, weights=share, minlength=gathered.cases.height) / np.maximum(gathered.n_steps, 1)


def _scores(protocol: Protocol, wide: pl.DataFrame, gathered: Gathered) -> pl.DataFrame:
    rules, requested = rules_of(protocol), metrics_of(protocol)
    ratios = [metric.at(k) for metric, k in requested]
    sums = wide.select(
        *(ratio.numerator.cast(pl.Float64).alias(f"{place}/n") for place, ratio in enumerate(ratios)),
        *(ratio.denominator.cast(pl.Float64).alias(f"{place}/d") for place, ratio in enumerate(ratios)),
    )
    is_ranking = gathered.cases["is_ranking"].to_numpy()
    values, tops, bottoms = [], [], []
    for place, (metric, k) in enumerate(requested):
        numerator = np.broadcast_to(sums[f"{place}/n"].to_numpy(), is_ranking.shape)
        denominator = np.broadcast_to(sums[f"{place}/d"].to_numpy(), is_ranking.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(denominator == 0, 0.0, numerator / denominator)
        value = _ruled(value, metric, k, wide, rules)
        if k and metric.cut == "results":
            value = np.where(is_ranking, value, np.nan)
        value = np.where(gathered.answered, value, np.nan)
        values.append(value)
        counts = ~np.isnan(value) & metric.stores_sums
        tops.append(np.where(counts, numerator, np.nan))
        bottoms.append(np.where(counts, denominator, np.nan))
    n_cases = gathered.cases.height
    names = pl.DataFrame(
        [(metric.granularity, metric.name, k) for metric, k in requested],
        schema={"granularity": pl.String, "metric": pl.String, "k": pl.Int64},
        orient="row",
    )
    row = np.arange(n_cases * len(requested))
    whose = gathered.cases.select("run_id", "item_id")[row % n_cases]
    numbers = {"value": values, "numerator": tops, "denominator": bottoms}
    columns = [pl.Series(name, np.concatenate(found)).fill_nan(None) for name, found in numbers.items()]
    return pl.concat([whose, names[row // n_cases], pl.DataFrame(columns)], how="horizontal")


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
        of_lines = size_at("n_returned", metric.cut, k)
        returned = of_lines if granularity == "line" else f"n_pred/{granularity}@{k}"
        # Published sizes may be less than none, where ranges are reversed.
        value = np.where(wide[returned].to_numpy() <= 0, rules.empty_prediction, value)
    if rules.empty_gold == "no value":
        return np.where(n_gold == 0, np.nan, value)
    return np.where(n_gold == 0, 1.0, value) if what == "coverage" else value


def step_rows(gathered: Gathered) -> pl.DataFrame:
    """The columns of table `step_scores` but for `protocol`, by granularity, run and item.

    Cases that are errors have no rows.
    """
    case = np.repeat(np.arange(gathered.cases.height), gathered.n_steps)
    first = np.cumsum(gathered.n_steps) - gathered.n_steps
    step = np.arange(len(case)) - first[case] + 1
    kept = gathered.answered[case]
    whose = gathered.cases.select("run_id", "item_id")[case[kept]]
    frames = [
        pl.concat([whose, _sizes(gathered.steps[granularity], granularity, case, step, kept)], how="horizontal")
        for granularity in GRANULARITIES
    ]
    columns = [name for name in table("step_scores").columns if name != "protocol"]
    return pl.concat(frames).select(columns)


def _sizes(sizes: Sizes, granularity: str, case: Integers, step: Integers, kept: npt.NDArray[np.bool_]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "granularity": pl.repeat(granularity, int(kept.sum()), eager=True),
            "step": step[kept],
            "n_gold": sizes.n_gold[case[kept]],
            "n_pred": sizes.n_pred[kept],
            "n_hit": sizes.n_hit[kept],
            "n_cumulative": sizes.n_cumulative[kept],
            "n_cumulative_hit": sizes.n_cumulative_hit[kept],
        }
    )
