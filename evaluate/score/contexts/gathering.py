"""What each run held after every step, in the end, and within budgets: sizes for all cases at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from evaluate.metrics.declaration import size_at
from evaluate.score.contexts.budgets import within
from evaluate.score.contexts.definitions import Definitions
from evaluate.score.contexts.extents import Files, Rows, joined, rows_of
from evaluate.score.contexts.gathered import (
    FINAL,
    LINES,
    N_RANKED_STEPS,
    RANKING,
    STEP,
    Material,
    Numbered,
    Runs,
    number,
)
from evaluate.score.contexts.intervals import Integers, Mask, Sizes
from evaluate.score.contexts.sets import GRANULARITIES, Answers, Ground
from lake.catalog.context_rules import ContextRules

RANKED_BUDGET = 8_000
"""Non-whitespace characters: where a ranking is cut to stand beside an agent's final context."""


@dataclass(frozen=True)
class Gathered:
    """Sizes for every case: every run and item.

    Attributes:
        cases: run_id, item_id, item, status, n_steps, has_patch, is_ranking; a case's number is its row.
        answered: Which cases have an answer; the others are errors where the rules have such.
        n_steps: How many steps each case has, as the rules count them.
        steps: Per granularity the sizes after every step of the cases, by case.
        finals: Per granularity the sizes of the final contexts, one for each case.
        at_budget: Per budget, as columns name it, the sizes of the lines it pays for, one for each case.
    """

    cases: pl.DataFrame
    answered: Mask
    n_steps: Integers
    steps: dict[str, Sizes]
    finals: dict[str, Sizes]
    at_budget: dict[str, Sizes]


def gather(
    material: Material, runs: Runs, rules: ContextRules, budgets: Sequence[int], n_lines: Sequence[int] = ()
) -> Gathered:
    """Measure everything that some runs gathered.

    Args:
        material: The items.
        runs: The runs.
        rules: How contexts are read.
        budgets: At which lines are measured, in non-whitespace characters.
        n_lines: At which they are measured in lines.
    """
    numbered = number(material, runs)
    ground = ground_of(material, numbered, rules)
    cases, item, files = numbered.cases, ground.item, ground.files
    ends = rows_of(_ends(numbered, rules), "case")
    is_ranking = cases["is_ranking"].to_numpy()
    cut_at = {*budgets, *([RANKED_BUDGET] if is_ranking.any() else [])}
    paid = within(ends, files, sorted(cut_at), item, ground.n_items) if cut_at else {}
    taken = within(ends, files, n_lines, item, ground.n_items, in_lines=True) if n_lines else {}
    cut = {size_at("", "budget", k): paid[k] for k in budgets} | {size_at("", "lines", k): taken[k] for k in n_lines}
    final = ends.where(~is_ranking[ends.walk])
    if is_ranking.any():
        ranked = paid[RANKED_BUDGET]
        final = joined(final, ranked.where(is_ranking[ranked.walk]))
    final = final.named(final.walk, np.ones_like(final.walk))
    answered = np.full(cases.height, fill_value=rules.failed == "zero")
    answered[final.walk[files.is_there[final.file]]] = True
    n_steps, step_rows, step_names = _steps(numbered, rules, final)
    one_each = np.ones(cases.height, np.int64)
    in_steps = Answers(n_steps, step_rows, step_names)
    in_the_end = Answers(one_each, final, _names(numbered, FINAL))
    nothing = in_the_end.named.clear()
    return Gathered(
        cases=cases,
        answered=answered,
        n_steps=n_steps,
        steps={one: ground.sizes(one, in_steps) for one in GRANULARITIES},
        finals={one: ground.sizes(one, in_the_end) for one in GRANULARITIES},
        at_budget={
            name: ground.sizes("line", Answers(one_each, _at_once(rows), nothing)) for name, rows in cut.items()
        },
    )


def ground_of(material: Material, numbered: Numbered, rules: ContextRules) -> Ground:
    """What the cases are held against."""
    return Ground(
        rules=rules,
        files=Files.of(numbered.files, numbered.texts),
        definitions=Definitions.of(material.definitions, numbered.texts, rules),
        gold=rows_of(numbered.gold, "item"),
        item=numbered.cases["item"].to_numpy(),
        n_items=material.items.height,
    )


def _ends(numbered: Numbered, rules: ContextRules) -> pl.DataFrame:
    """What the cases answered, of rankings everything in its order."""
    has_lines = numbered.seen.lazy().filter(pl.col("part") == LINES).select("run").unique()
    seen = _shown(numbered, rules).lazy()
    by_rank = seen.filter(pl.col("part") == RANKING).join(has_lines, on="run", how="anti")
    return pl.concat([seen.filter(pl.col("part").is_in([FINAL, LINES])), by_rank]).collect()


def _steps(numbered: Numbered, rules: ContextRules, final: Rows) -> tuple[Integers, Rows, pl.DataFrame]:
    """How many steps each case has, what they saw and what they named."""
    n_steps = numbered.cases["n_steps"].to_numpy().copy()
    is_ranked = (pl.col("part") == RANKING) & (pl.col("rank") <= N_RANKED_STEPS)
    seen = _shown(numbered, rules).filter((pl.col("part") == STEP) | is_ranked)
    step = pl.when(pl.col("part") == RANKING).then("rank").otherwise("step")
    rows, names = rows_of(seen.with_columns(step=step), "case"), _names(numbered, STEP)
    if rules.no_steps == "final":
        stood = n_steps == 0
        n_steps[stood] = 1
        rows = joined(rows, final.where(stood[final.walk]))
        more = _names(numbered, FINAL)
        names = pl.concat([names, more.filter(pl.Series(stood)[more["walk"]])])
    return n_steps, rows, names


def _shown(numbered: Numbered, rules: ContextRules) -> pl.DataFrame:
    """What was seen of files and lines; a named symbol names its file where the rules say so."""
    return numbered.seen if rules.files_of_spans else numbered.seen.filter(pl.col("symbol").is_null())


def _names(numbered: Numbered, part: str) -> pl.DataFrame:
    there = numbered.files.select("is_there").with_row_index("file").with_columns(pl.col("file").cast(pl.Int64))
    step = pl.lit(1, pl.Int64) if part == FINAL else pl.col("step")
    return (
        numbered.seen.filter(pl.col("symbol").is_not_null(), pl.col("part") == part)
        .join(there.filter("is_there"), on="file", how="semi")
        .select("symbol", "file", walk="case", step=step)
    )


def _at_once(rows: Rows) -> Rows:
    return rows.named(rows.walk, np.ones_like(rows.walk))
