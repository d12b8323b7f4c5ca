"""What of an answer fits into a budget: walked in its order, every line counted once, cut at a line's end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from evaluate.score.contexts.extents import Axis, Files, Rows, axis_of
from evaluate.score.contexts.intervals import Integers, Spans, Walks, pieces, ranges


def within(
    rows: Rows, files: Files, costs: pl.DataFrame | None, budgets: Sequence[int], item: Integers, n_items: int
) -> dict[int, Rows]:
    """The lines that each budget pays for, as rows: no line twice, `rank` that of the first row that holds it.

    The answer is walked in its order, the lines of a row in theirs. A line costs its non-whitespace characters; the
    first that would exceed the budget ends the walk. Blank lines cost nothing.

    Args:
        rows: Answers, their `walk` the case; lines as given, taken as far as the file has them.
        files: The files.
        costs: text (its number), n_nws (list of Int64); None where every line costs 1.
        budgets: In non-whitespace characters, or in lines.
        item: Each case's item.
        n_items: How many items there are.
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
    before = np.arange(n_places + 1) if costs is None else _spent_before(files, axis, costs)
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
    affordable = np.searchsorted(before, before[offset + held.start] + left, side="right") - 1 - offset
    end = np.where(left >= 0, np.minimum(held.end, affordable), held.start)
    paid = held._replace(end=end).where(end > held.start)
    # The files of an item lie one behind the other on its axis, as its files do among all.
    base = np.concatenate(([0], np.cumsum(axis.length)))
    file = np.searchsorted(base[files.item] + axis.first, base[item[paid.walk]] + paid.start, side="right") - 1
    named = np.full(len(file), fill_value=True)
    start, stop = (side - axis.first[file] for side in (paid.start, paid.end))
    return Rows(paid.walk, np.ones_like(file), paid.step, file, start, stop, named, ~named, named)


def _spent_before(files: Files, axis: Axis, costs: pl.DataFrame) -> Integers:
    """The non-whitespace characters before each place of all items' axes laid end to end, and before their end."""
    per_line = costs.select(pl.col("text"), pl.col("n_nws").list.len().cast(pl.Int64).alias("n"), "n_nws")
    text = per_line["text"].to_numpy()
    n_texts = 1 + int(max(files.text.max(initial=-1), text.max(initial=-1)))
    n, first = np.zeros(n_texts, np.int64), np.zeros(n_texts, np.int64)
    n[text] = per_line["n"].to_numpy()
    first[text] = np.cumsum(n[text]) - n[text]
    flat = per_line["n_nws"].explode().drop_nulls().to_numpy()
    spent = np.zeros(int(axis.length.sum()) + 1, np.int64)
    there = np.flatnonzero(files.is_there)
    row, line = ranges(np.zeros_like(there), n[files.text[there]])
    file = there[row]
    base = np.concatenate(([0], np.cumsum(axis.length)))
    place = base[files.item[file]] + axis.first[file] + line
    spent[place + 1] = flat[first[files.text[file]] + line]
    return np.cumsum(spent)
