"""What each run held after every step, in the end, and within budgets: sizes for all cases at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from evaluate.metrics.declaration import size_at
from evaluate.score.contexts.extents import Rows, joined, rows_of
from evaluate.score.contexts.ground import GRANULARITIES, N_RANKED_STEPS, Answers, Ground
from evaluate.score.contexts.intervals import Integers, Mask, Sizes
from lake.naming import FINAL, LINES, RANKING, STEP

RANKED_BUDGET = 8_000
"""Non-whitespace characters: where a ranking is cut to stand beside an agent's final context."""


@dataclass(frozen=True)
class Gathered:
    """Sizes for every case: every run and item.

    Attributes:
        answered: Which cases have an answer; the others are errors where the rules have such.
        n_steps: How many steps each case has, as the rules count them.
        steps: Per granularity, after every step of the cases.
        finals: Per granularity, of the final contexts.
        cut: Per cut-off, as columns name it, of the lines up to it.
    """

    answered: Mask
    n_steps: Integers
    steps: Mapping[str, Sizes]
    finals: Mapping[str, Sizes]
    cut: Mapping[str, Sizes]


def gather(ground: Ground, budgets: Sequence[int], n_lines: Sequence[int]) -> Gathered:
    """Measure everything that some runs gathered; lines also within budgets of characters and lines."""
    cases, files = ground.cases, ground.files
    ends = rows_of(_ends(ground), "case")
    is_ranking = cases["is_ranking"].to_numpy()
    cut_at = {*budgets, *([RANKED_BUDGET] if is_ranking.any() else [])}
    paid = ground.within(ends, sorted(cut_at)) if cut_at else {}
    taken = ground.within(ends, n_lines, in_lines=True) if n_lines else {}
    cut = {size_at("", "budget", k): paid[k] for k in budgets} | {size_at("", "lines", k): taken[k] for k in n_lines}
    final = ends.where(~is_ranking[ends.walk])
    if is_ranking.any():
        ranked = paid[RANKED_BUDGET]
        final = joined(final, ranked.where(is_ranking[ranked.walk]))
    final = final.at_once()
    answered = np.full(cases.height, fill_value=ground.rules.failed == "zero")
    answered[final.walk[files.is_there[final.file]]] = True
    in_steps, one_each = _steps(ground, final), np.ones(cases.height, np.int64)
    in_the_end = Answers(one_each, final, _names(ground, FINAL))
    nothing = in_the_end.named.clear()
    return Gathered(
        answered=answered,
        n_steps=in_steps.n_steps,
        steps={one: ground.sizes(one, in_steps) for one in GRANULARITIES},
        finals={one: ground.sizes(one, in_the_end) for one in GRANULARITIES},
        cut={name: ground.sizes("line", Answers(one_each, rows.at_once(), nothing)) for name, rows in cut.items()},
    )


def _ends(ground: Ground) -> pl.DataFrame:
    """What the cases answered, of rankings everything in its order."""
    has_lines = ground.seen.lazy().filter(part=LINES).select("run").unique()
    seen = _shown(ground).lazy()
    by_rank = seen.filter(part=RANKING).join(has_lines, on="run", how="anti")
    return pl.concat([seen.filter(pl.col("part").is_in([FINAL, LINES])), by_rank]).collect()


def _steps(ground: Ground, final: Rows) -> Answers:
    """How many steps each case has, what they saw and what they named."""
    n_steps = ground.cases["n_steps"].to_numpy().copy()
    is_ranked = (pl.col("part") == RANKING) & (pl.col("rank") <= N_RANKED_STEPS)
    seen = _shown(ground).filter((pl.col("part") == STEP) | is_ranked)
    step = pl.when(pl.col("part") == RANKING).then("rank").otherwise("step")
    rows, names = rows_of(seen.with_columns(step=step), "case"), _names(ground, STEP)
    if ground.rules.no_steps == "final":
        stood = n_steps == 0
        n_steps[stood] = 1
        rows = joined(rows, final.where(stood[final.walk]))
        more = _names(ground, FINAL)
        names = pl.concat([names, more.filter(pl.Series(stood)[more["walk"]])])
    return Answers(n_steps, rows, names)


def _shown(ground: Ground) -> pl.DataFrame:
    """What was seen of files and lines; a named symbol names its file where the rules say so."""
    return ground.seen if ground.rules.files_of_spans else ground.seen.filter(pl.col("symbol").is_null())


def _names(ground: Ground, part: str) -> pl.DataFrame:
    step = pl.lit(1, pl.Int64) if part == FINAL else pl.col("step")
    named = ground.seen.filter(pl.col("symbol").is_not_null(), part=part)
    there = pl.Series(ground.files.is_there[named["file"].to_numpy()], dtype=pl.Boolean)
    return named.filter(there).select("symbol", "file", walk="case", step=step)
