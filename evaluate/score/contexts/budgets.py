"""What of an answer fits into a budget: walked in its order, every line counted once, cut at a line's end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaluate.score.contexts.extents import Files, Rows, axis_of
from evaluate.score.contexts.intervals import Integers, Spans, Walks, pieces


def within(
    rows: Rows, files: Files, budgets: Sequence[int], item: Integers, n_items: int, *, in_lines: bool = False
) -> dict[int, Rows]:
    """The lines that each budget pays for, as rows: no line twice, `rank` that of the first row that holds it.

    The answer is walked in its order, the lines of a row in theirs. A line costs its non-whitespace characters; the
    first that would exceed the budget ends the walk. Blank lines cost nothing.

    Args:
        rows: Answers, their `walk` the case; lines as given, taken as far as the file has them.
        files: The files.
        budgets: In non-whitespace characters, or in lines.
        item: Each case's item.
        n_items: How many items there are.
        in_lines: Every line costs 1.
    """
    axis = axis_of(files, files.n_lines, n_items)
    start = np.clip(rows.start, 0, files.n_lines[rows.file])
    end = np.where(rows.is_whole, files.n_lines[rows.file], np.clip(rows.end, 0, files.n_lines[rows.file]))
    has_lines = (rows.is_lines | rows.is_whole) & (start < end)
    first = axis.first[rows.file]
    walks = Walks(n_steps=np.zeros_like(item), length=axis.length[item])
    held = pieces(walks, Spans(rows.walk, rows.rank, first + start, first + end).where(has_lines))
    order = np.lexsort((held.start, held.step, held.walk))
    held = Spans(*(column[order] for column in held))
    # The files of an item lie one behind the other on its axis, as its files do among all.
    base = np.concatenate(([0], np.cumsum(axis.length)))
    file = np.searchsorted(base[files.item] + axis.first, base[item[held.walk]] + held.start, side="right") - 1
    held = held._replace(start=held.start - axis.first[file], end=held.end - axis.first[file])
    before = np.arange(len(files.nws) + 1) if in_lines else np.concatenate(([0], np.cumsum(files.nws)))
    offset = files.first_start[files.text[file]]
    total = np.cumsum(before[offset + held.end] - before[offset + held.start])
    spent = np.concatenate(([0], total))[:-1]
    spent -= spent[np.searchsorted(held.walk, held.walk)]
    return {budget: _paid(held, file, offset, before, budget - spent) for budget in budgets}


def _paid(held: Spans, file: Integers, offset: Integers, before: Integers, left: Integers) -> Rows:
    """Of each piece, whose lines are its file's, those that what is left pays for."""
    has_left = left >= 0
    held, file, offset, left = held.where(has_left), file[has_left], offset[has_left], left[has_left]
    affordable = np.searchsorted(before, before[offset + held.start] + left, side="right") - 1 - offset
    end = np.minimum(held.end, affordable)
    is_paid = end > held.start
    walk, rank, start, _ = held.where(is_paid)
    named = np.full(len(walk), fill_value=True)
    return Rows(walk, np.ones_like(walk), rank, file[is_paid], start, end[is_paid], named, ~named, named)
