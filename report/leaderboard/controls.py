"""What a leaderboard's view can be switched by: metric, cut-off, what is counted, kind of system, items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from report.leaderboard.board import Board
from report.leaderboard.columns import Column
from report.parameters import WHOLE
from report.shown import visible
from report.slices import in_numbers_order, place_of, title_of

_LEVELS = ("line", "file", "symbol", "span")
"""What metrics count, in the order in which a switch has them; others follow as they come."""


@dataclass(frozen=True)
class Controls:
    """The choices of a board; of what a form submits its value and its words.

    Attributes:
        metrics: A column of each metric, whatever its cut-off.
        levels: What they count, where that can be switched.
        cut_title: What its cut-offs are.
        cuts: Every cut-off of any metric.
        kinds: Kinds of systems, baselines aside.
        slices: See :func:`slices_of`.
    """

    metrics: Sequence[Column]
    levels: Sequence[tuple[str, str]]
    cut_title: str
    cuts: Sequence[tuple[str, str]]
    kinds: Sequence[str]
    slices: Sequence[Mapping[str, object]]


def controls_of(board: Board) -> Controls:
    """The choices that a board has."""
    metrics = list({column.metric: column for column in reversed(board.columns)}.values())[::-1]
    levels = dict.fromkeys((*_LEVELS, *board.granularities))
    cuts = sorted({column.k for column in board.columns if column.k})
    budgets = {column.k for column in board.columns if column.in_characters}
    with_cuts = {column.metric for column in board.columns if column.k}
    has_whole = any(not column.k and column.metric in with_cuts for column in board.columns)
    words = [(str(cut), f"{cut // 1000}k" if cut in budgets and cut % 1000 == 0 else str(cut)) for cut in cuts]
    return Controls(
        metrics=metrics,
        levels=[(name, name) for name in levels if name in board.granularities],
        cut_title="Budget" if budgets == set(cuts) else "Cut-off" if budgets else "Results",
        cuts=[*([("", "final")] if has_whole else []), *words],
        kinds=sorted({row.run.kind for row in board.every if not row.run.baseline}),
        slices=slices_of(board),
    )


def slices_of(board: Board) -> list[dict[str, object]]:
    """The slices to choose from: each with its values, their items and the items that the primary metric applies to."""
    in_board = pl.col("run_id").is_in([row.run.run_id for row in board.every])
    asked = pl.col("n_items") - pl.col("n_not_applicable")
    sizes = (
        board.facts.aggregates.filter(in_board, protocol=board.protocol.name, **board.primary.where)
        .group_by("slice", "slice_value")
        .agg(pl.col("n_items").max(), asked=asked.max())
    )
    values: dict[str, dict[str, tuple[int, int]]] = {}
    for name, value, *of in sizes.iter_rows():
        values.setdefault(name, {})[value] = (of[0], of[1])
    # What holds the very items of another adds nothing to choose from.
    kept = [name for name in values if len(values[name]) > 1 or name in (WHOLE, board.slice[0])]
    return [
        {
            "name": name,
            "title": title_of(name),
            "values": [[visible(value), *values[name][value]] for value in in_numbers_order(values[name])],
            "n_values": board.slice_size(name)[0],
            "n_items": board.slice_size(name)[1],
        }
        for name in sorted(kept, key=lambda name: (name != board.slice[0], name != WHOLE, place_of(name)))
    ]
