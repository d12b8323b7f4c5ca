"""What of an answer fits into a budget: walked in its order, every line counted once, cut at a line's end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaluate.score.contexts.extents import Axis, Files, Rows, axis_of
from evaluate.score.contexts.intervals import Integers, Spans, Walks, pieces, ranges


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
    offset = np.concatenate(([0], np.cumsum(axis.length)))[item[held.walk]]
    n_places = int(axis.length.sum())
    before = np.arange(n_places + 1) if in_lines else _spent_before(files, axis)
    cost = before[offset + held.end] - before[offset + held.start]
    total = np.cumsum(cost)
    spent = total - cost
    of_walk = np.searchsorted(held.walk, held.walk)
    spent -= spent[of_walk]
    return {budget: _paid(held, offset, before, budget - spent, files, axis, item) for budget in budgets}


def _paid(
    held: Spans, offset: Integers, before: Integers, left: Integers, files: Files, axis: Axis, item: Integers
) -> Rows:
    """Of each piece the lines that what is left pays for."""
    has_left = left >= 0
    held, offset, left = held.where(has_left), offset[has_left], left[has_left]
    affordable = np.searchsorted(before, before[offset + held.start] + left, side="right") - 1 - offset
    end = np.minimum(held.end, affordable)
    paid = held._replace(end=end).where(end > held.start)
    # The files of an item lie one behind the other on its axis, as its files do among all.
    base = np.concatenate(([0], np.cumsum(axis.length)))
    file = np.searchsorted(base[files.item] + axis.first, base[item[paid.walk]] + paid.start, side="right") - 1
    named = np.full(len(file), fill_value=True)
    start, stop = (side - axis.first[file] for side in (paid.start, paid.end))
    return Rows(paid.walk, np.ones_like(file), paid.step, file, start, stop, named, ~named, named)


def _spent_before(files: Files, axis: Axis) -> Integers:
    """The non-whitespace characters before each place of all items' axes laid end to end, and before their end."""
    # The axes end to end are the files end to end, each with a place behind its last line, which costs nothing.
    _, line = ranges(files.first_start[files.text], files.first_start[files.text] + files.n_lines + 1)
    cost = np.where(np.repeat(files.is_there, files.n_lines + 1), files.nws[line], 0)
    return np.concatenate(([0], np.cumsum(cost)))
