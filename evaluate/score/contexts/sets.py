"""Sizes of the sets of files, symbols, bytes and lines that answers are, beside those of their items' gold."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from evaluate.score.contexts.definitions import Definitions
from evaluate.score.contexts.extents import Axis, Extent, Files, Rows, axis_of, bytes_of, files_of, lines_of
from evaluate.score.contexts.intervals import NEVER, Integers, Sizes, Spans, Walks, held_since, ranges, sizes
from lake.catalog.context_rules import ContextRules

GRANULARITIES = ("file", "symbol", "span", "line")
"""What contexts are sets of; a span is bytes."""


@dataclass(frozen=True)
class Answers:
    """What some walks hold.

    Attributes:
        n_steps: How many steps each walk has.
        rows: What they saw.
        named: walk, step, file, symbol: definitions they named by name, in files that are there.
    """

    n_steps: Integers
    rows: Rows
    named: pl.DataFrame


@dataclass(frozen=True)
class Ground:
    """What answers are held against.

    Attributes:
        rules: The protocol's rules.
        files: The files that anything names.
        definitions: What their contents define.
        gold: The gold; its walks are items.
        item: Each walk's item.
        n_items: How many items there are.
    """

    rules: ContextRules
    files: Files
    definitions: Definitions
    gold: Rows
    item: Integers
    n_items: int

    def sizes(self, granularity: str, answers: Answers) -> Sizes:
        """The sizes of what the walks hold; arguments as for :meth:`laid`."""
        walks, spans, gold = self.laid(granularity, answers)
        found = sizes(walks, spans, gold)
        if granularity == "line" and self.rules.ranges == "published":
            found = _with_reversed(walks, spans, found)
        return found

    def laid(self, granularity: str, answers: Answers) -> tuple[Walks, Spans, Spans]:
        """What the walks hold and what they should, as sets of files, symbols, bytes or lines.

        Args:
            granularity: One of GRANULARITIES.
            answers: The walks, one for every row of `item`.
        """
        held, should = self._extent(granularity, answers.rows), self._extent(granularity, self.gold, is_gold=True)
        length = np.zeros(len(self.files.item), np.int64)
        for rows, extent in ((answers.rows, held), (self.gold, should)):
            np.maximum.at(length, rows.file[extent.row], np.maximum(extent.start, extent.end))
        if granularity == "symbol":
            length = np.where(self.files.is_there, self.definitions.n_symbols[self.files.text], 0)
        axis = axis_of(self.files, length, self.n_items)
        walks = Walks(answers.n_steps, axis.length[self.item])
        spans = _placed(answers.rows, held, axis)
        if granularity == "symbol":
            spans = self._with_named(walks, spans, answers.named, axis)
        return walks, spans, self._gold_of_walks(_placed(self.gold, should, axis))

    def _extent(self, granularity: str, rows: Rows, *, is_gold: bool = False) -> Extent:
        if granularity == "file":
            return files_of(rows, self.files, self.rules, is_gold=is_gold)
        if granularity == "line":
            return lines_of(rows, self.files, self.rules, is_gold=is_gold)
        spans = bytes_of(rows, self.files, self.rules)
        if granularity == "span":
            return spans
        return self.definitions.overlapped(self.files.text[rows.file[spans.row]], spans)

    def _gold_of_walks(self, gold: Spans) -> Spans:
        """The gold of the items as that of the walks."""
        order = np.argsort(gold.walk, kind="stable")
        first = np.searchsorted(gold.walk[order], np.arange(self.n_items + 1))
        walk, place = ranges(first[self.item], first[self.item + 1])
        row = order[place]
        return Spans(walk, np.ones_like(walk), gold.start[row], gold.end[row])

    def _with_named(self, walks: Walks, spans: Spans, named: pl.DataFrame, axis: Axis) -> Spans:
        """The symbols with those that were named: beside the others, or in place of all others of their step."""
        if named.is_empty():
            return spans
        walk, step, file = (named[column].to_numpy() for column in ("walk", "step", "file"))
        if self.rules.named_symbols == "in place":
            spoken = np.unique(walks.slot(walk, step))
            spans = spans.where(~np.isin(walks.slot(spans.walk, spans.step), spoken))
        asked = named.select("symbol", text=self.files.text[file]).with_row_index("row")
        meant = self.definitions.meant(asked)
        row, number = meant["row"].to_numpy(), axis.first[file[meant["row"].to_numpy()]] + meant["number"].to_numpy()
        more = Spans(walk[row], step[row], number, number + 1)
        return Spans(*(np.concatenate(columns) for columns in zip(spans, more, strict=True)))


def _placed(rows: Rows, extent: Extent, axis: Axis) -> Spans:
    first = axis.first[rows.file[extent.row]]
    return Spans(rows.walk[extent.row], rows.step[extent.row], first + extent.start, first + extent.end)


def _with_reversed(walks: Walks, spans: Spans, found: Sizes) -> Sizes:
    """The sizes with ranges that end before they start, each counting as many lines less than none.

    As the published code unites ranges: one that starts at most a line behind what another before it holds is part of
    that one and adds nothing; any other stands alone, every time it is named.
    """
    turned = spans.where(spans.end < spans.start)
    if not len(turned.walk):
        return found
    slot = walks.slot(turned.walk, turned.step)
    n_lines = turned.end - turned.start
    before = turned.start - 1
    # Each slot as a walk of its own, of one step.
    alone = Walks(np.ones(int(walks.first_slot[-1]), np.int64), np.repeat(walks.length, walks.n_steps))
    in_step = Spans(walks.slot(spans.walk, spans.step), np.ones_like(spans.step), spans.start, spans.end)
    n_pred = np.where(held_since(alone, in_step, slot, before) == NEVER, n_lines, 0)
    since = held_since(walks, spans, turned.walk, before)
    enters, leaves = since > turned.step, (since > turned.step) & (since != NEVER)
    change = walks.by_slot(slot[enters], n_lines[enters])
    change -= walks.by_slot(walks.slot(turned.walk[leaves], since[leaves]), n_lines[leaves])
    return replace(
        found,
        n_pred=found.n_pred + walks.by_slot(slot, n_pred),
        n_cumulative=found.n_cumulative + walks.up_to(change),
    )
