"""Scores of gathered contexts: a protocol's metrics over the sizes of sets, and its rules for special cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from evaluate.metrics import Metric, metrics_of, size_at
from evaluate.score.contexts.gold_sets import N_RANKED_STEPS, RANKED_BUDGET, VIEW, GoldSets
from evaluate.score.contexts.intervals import SetSizes, summed
from evaluate.score.contexts.material import ContextRuns, Material, load_material, load_runs, rules_of
from evaluate.score.coverage import CutOff
from evaluate.score.metric_values import cut_offs_of, label, lengthen, measure_sets
from evaluate.selection import ItemPart
from lake.catalog.protocol import GRANULARITIES, ContextRules, Protocol
from lake.exact import Floats, Integers, Mask
from lake.tables import FINAL, LINES, RANKING, STEP, table

_ITEMS_AT_ONCE = 200
"""The number of items to score together: the lines of all files that runs name for them are in memory."""
_CASE = ["run_id", "item_id"]


class Scored(NamedTuple):
    """Rows of `scores` (without `protocol` and its hash) and of `step_scores`."""

    scores: pl.DataFrame
    steps: pl.DataFrame


def score_contexts(protocol: Protocol, material: Material, runs: ContextRuns, *, with_steps: bool = True) -> Scored:
    """Score all runs at once under a protocol of contexts."""
    rules, requested = rules_of(protocol), metrics_of(protocol)
    sets = GoldSets(material, runs, rules)
    sizes, of_steps = _sizes(sets, [(cut, k) for cut, k in cut_offs_of(requested) if k])
    wide = sets.cases.select(*_CASE, "is_ranking", is_known=pl.col("status").is_not_null())
    wide = wide.hstack(sizes).hstack(_edited(sets.cases, material, runs, rules))
    if rules.edits == "gold context":
        wide = wide.with_columns(pl.col("n_gold").alias("n_gold/editloc"))
    steps = _step_rows(wide, of_steps) if with_steps else pl.DataFrame()
    ruled = {label(metric, k): _ruled(metric, k, rules) for metric, k in requested}
    measured = measure_sets(wide.lazy(), requested).with_columns(**ruled)
    # Sums are null where the value is.
    sums = (pl.when(pl.col(name).is_not_null()).then(pl.col(f"{name}/n", f"{name}/d")) for name in ruled)
    return Scored(lengthen(measured.with_columns(sums), requested, key=_CASE).collect(), steps)


def score_part(item_part: ItemPart, protocol: Protocol, names: Sequence[str]) -> Scored:
    """Score some runs on a part of a lake's items, each run on the items that it was asked."""
    runs, scored_items = load_runs(item_part, protocol, names), list[Scored]()
    # Without items the result is an empty frame with the right columns.
    for first in range(0, max(1, item_part.items.height), _ITEMS_AT_ONCE):
        items = item_part.items.slice(first, _ITEMS_AT_ONCE)
        wanted = items.lazy().select("item_id")
        some = ContextRuns(
            *pl.collect_all(rows.lazy().join(wanted, on="item_id", how="semi", maintain_order="left") for rows in runs)
        )
        scored = score_contexts(protocol, load_material(replace(item_part, items=items), protocol, some), some)
        # An item that a run was not asked has no row of `run_items`, and gets no score.
        answered = some.run_items.lazy()
        kept = (rows.lazy().join(answered, on=_CASE, how="semi", maintain_order="left") for rows in scored)
        scored_items.append(Scored(*pl.collect_all(kept)))
    return Scored(*(pl.concat(frames) for frames in zip(*scored_items, strict=True)))


def _edited(cases: pl.DataFrame, material: Material, runs: ContextRuns, rules: ContextRules) -> pl.DataFrame:
    """The sizes of the sets of edited lines, and has_edits (whether there is anything to measure); one row per case."""
    known, line = cases.lazy().select(*_CASE, "has_patch", "has_gold_patch"), [*_CASE, "path", "line"]
    predicted, gold = runs.edits.lazy().select(line), known.join(material.gold_edits.lazy(), on="item_id")
    if rules.edits == "gold patch":
        has_edits = pl.col("has_patch").any().over("run_id")
        sets = {"n_gold/editloc": gold, "n_hit/editloc@0": predicted.join(gold, on=line, how="semi")}
    else:
        has_edits = pl.col("has_patch") | pl.col("has_gold_patch")
        predicted = pl.concat([predicted, gold.filter(~pl.col("has_patch")).select(line)])
        inside = (pl.col("line") >= pl.col("line_start")) & (pl.col("line") < pl.col("line_end"))
        sets = {"n_hit/editloc@0": predicted.join(material.gold.lazy(), on=["item_id", "path"]).filter(inside)}
    sets["n_pred/editloc@0"] = predicted
    for name, lines in sets.items():
        counted = lines.select(line).unique().group_by(_CASE).agg(pl.len().alias(name))
        known = known.join(counted, on=_CASE, how="left", maintain_order="left")
    return known.select(pl.col(*sets).fill_null(0).cast(pl.Int64), has_edits=has_edits).collect()


def _sizes(sets: GoldSets, cut_offs: Sequence[CutOff]) -> tuple[pl.DataFrame, Mapping[str, SetSizes]]:
    """The columns that metrics read, one row per case; and by granularity the sizes of the sets of all steps."""
    seen, part, n_cases = sets.seen.lazy(), pl.col("part"), sets.cases.height
    # The cases' answers: for a ranking all results in order, by its order for lines if it has one.
    is_end = part.is_in([FINAL, LINES]) | ((part == RANKING) & ~(part == LINES).any().over("run"))
    ends = seen.filter(is_end)
    of_case = pl.lit(sets.cases["is_ranking"]).gather(pl.col("case"))
    ranked: CutOff = ("budget", RANKED_BUDGET)
    of_lines, depths = [of for of in cut_offs if of[0] != "results"], [k for cut, k in cut_offs if cut == "results"]
    has_rankings = sets.cases["is_ranking"].any()
    taken = sets.within(ends, list(dict.fromkeys([*of_lines, ranked] if has_rankings else of_lines)))
    finals = [ends.filter(~of_case).select(VIEW).with_columns(step=pl.lit(1, pl.Int64))]
    final = pl.concat([*finals, taken[ranked].filter(of_case)] if has_rankings else finals).collect().lazy()
    answered = np.full(n_cases, fill_value=sets.rules.failed == "zero")
    answered[sets.existing(sets.shown(final)).select(pl.col("case").unique()).collect()["case"].to_numpy()] = True
    # A ranking's first results are its steps.
    is_ranked = (part == RANKING) & (pl.col("rank") <= N_RANKED_STEPS)
    views = seen.filter((part == STEP) | is_ranked).with_columns(step=pl.when(is_ranked).then("rank").otherwise("step"))
    numbers = sets.cases["n_steps"]
    if sets.rules.no_steps == "final":
        views = pl.concat([views.select(VIEW), final.filter(pl.lit(numbers).gather(pl.col("case")) == 0)])
        numbers = numbers.replace(0, 1)
    n_steps, one_each, views = numbers.to_numpy(), np.ones(n_cases, np.int64), views.collect().lazy()
    case, of_steps = np.repeat(np.arange(n_cases), n_steps), dict[str, SetSizes]()
    columns: dict[str, Integers | Floats | Mask] = {"n_steps": n_steps, "is_answered": answered}
    cut = {size_at("", "budget", 0): sets.sizes("line", one_each, final)}
    cut |= {size_at("", *cut_off): sets.sizes("line", one_each, taken[cut_off]) for cut_off in of_lines}
    for granularity in GRANULARITIES:
        whole = cut[size_at("", "budget", 0)] if granularity == "line" else sets.sizes(granularity, one_each, final)
        columns[f"n_gold/{granularity}"] = whole.n_gold
        columns[f"n_pred/{granularity}@0"], columns[f"n_hit/{granularity}@0"] = whole.n_pred, whole.n_hit
        of_steps[granularity] = steps = sets.sizes(granularity, n_steps, views)
        for k in depths:
            columns[f"n_pred/{granularity}@{k}"] = _after(n_steps, steps.n_cumulative, k)
            columns[f"n_hit/{granularity}@{k}"] = _after(n_steps, steps.n_cumulative_hit, k)
        columns[f"n_seen/{granularity}"] = summed(case, steps.n_pred, n_cases)
        columns[f"n_union/{granularity}"] = _after(n_steps, steps.n_cumulative, 0)
        # The published code counts empty gold as covered, except for lines.
        none = 1.0 if sets.rules.empty_gold == "covered" and granularity != "line" else 0.0
        n_gold = steps.n_gold[case]
        share = np.where(n_gold == 0, none, steps.n_cumulative_hit / np.maximum(n_gold, 1))
        columns[f"auc/{granularity}"] = np.bincount(case, share, n_cases) / np.maximum(n_steps, 1)
    columns["n_gold"] = columns["n_gold/line"]
    for cut_off, size in cut.items():
        columns[f"n_returned{cut_off}"], columns[f"n_both{cut_off}"] = size.n_pred, size.n_hit
    return pl.DataFrame(columns), of_steps


def _after(n_steps: Integers, amount: Integers, k: int) -> Integers:
    """An amount after each case's first k steps, or after all if k is 0; 0 for a case without steps."""
    n = np.minimum(n_steps, k) if k else n_steps
    return np.where(n > 0, np.append(amount, 0)[np.cumsum(n_steps) - n_steps + n - 1], 0)


def _ruled(metric: Metric, k: int, rules: ContextRules) -> pl.Expr:
    """A metric's value by the rules for empty gold, empty predictions and cases that it does not apply to (null)."""
    granularity, what = metric.granularity, metric.name.rpartition("_")[2]
    value, n_gold = pl.col(label(metric, k)), pl.col(f"n_gold/{granularity}")
    has_value = pl.col("is_answered")
    if k and metric.cut == "results":
        has_value &= pl.col("is_ranking")
    if what == "steps":
        # The number of steps is unknown for an item that a run skipped.
        has_value &= pl.col("is_known")
    elif what == "redundancy":
        nothing = pl.lit(None if rules.no_steps == "nothing" else 0.0, pl.Float64)
        value = pl.when(pl.col(f"n_seen/{granularity}") <= 0).then(nothing).otherwise(value)
    elif granularity == "editloc":
        has_value &= pl.col("has_edits")
        if rules.edits == "gold patch":
            has_value &= n_gold > 0
        else:
            # Published: recall and precision are one number, the share of the edited lines that are inside gold ranges.
            n_hit, n_pred = (pl.col(f"{size}/editloc@0") for size in ("n_hit", "n_pred"))
            value = pl.when(n_pred > 0).then(n_hit / n_pred).otherwise(0.0)
    else:
        if what == "precision":
            is_line = granularity == "line"
            returned = size_at("n_returned", metric.cut, k) if is_line else f"n_pred/{granularity}@{k}"
            # Published sizes may be negative, as ranges may be reversed.
            value = pl.when(pl.col(returned) <= 0).then(rules.empty_prediction).otherwise(value)
        if rules.empty_gold == "no value":
            has_value &= n_gold != 0
        elif what == "coverage":
            value = pl.when(n_gold == 0).then(1.0).otherwise(value)
    return pl.when(has_value).then(value)


def _step_rows(cases: pl.DataFrame, of_steps: Mapping[str, SetSizes]) -> pl.DataFrame:
    n_steps = cases["n_steps"].to_numpy()
    case = np.repeat(np.arange(cases.height), n_steps)
    step = np.arange(len(case)) - (np.cumsum(n_steps) - n_steps)[case] + 1
    kept = cases["is_answered"].to_numpy()[case]
    whose = {**cases.select(_CASE)[case[kept]].to_dict(), "step": pl.Series(step[kept])}
    frames = []
    for granularity in GRANULARITIES:
        sizes = of_steps[granularity]._asdict()
        sizes["n_gold"] = sizes["n_gold"][case]
        columns = {**whose, **{name: pl.Series(size[kept]) for name, size in sizes.items()}}
        frames.append(pl.LazyFrame(columns).with_columns(granularity=pl.lit(granularity)))
    return pl.concat(frames).select(name for name in table("step_scores").columns if name != "protocol").collect()
