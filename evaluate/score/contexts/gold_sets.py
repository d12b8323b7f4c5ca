"""Answers compared with their items' gold: sizes of the sets of files, symbols, bytes and lines, and of the overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from evaluate.score.contexts.extents import (
    ContentDefinitions,
    Extent,
    FileAxis,
    NamedFiles,
    Rows,
    byte_extents,
    context_rows,
    file_extents,
    line_extents,
    lines_within,
)
from evaluate.score.contexts.intervals import NEVER, SetSizes, Spans, Walks, held_since, held_spans, ranges, sizes
from evaluate.score.contexts.material import ContextRuns, Material
from lake.catalog.protocol import ContextRules
from lake.exact import Integers

N_RANKED_STEPS = 20
"""The number of first results that are a ranking's steps; a shorter ranking keeps its last state for the rest."""
RANKED_BUDGET = 8_000
"""Non-whitespace characters: where a ranking is cut to be compared with an agent's final context."""
FARTHEST = 1 << 32
"""No file has this many lines: larger line numbers are clipped to it."""


@dataclass(frozen=True)
class Answers:
    """The views of some walks; `named_symbols` (walk, step, file, symbol) are symbols they name in existing files."""

    n_steps: Integers
    rows: Rows
    named_symbols: pl.DataFrame


@dataclass(frozen=True)
class GoldSets:
    """The answers of some runs and the gold that they are compared with, with numbers in place of names.

    `cases` has a row for every run and item, whose position is the case's number: run_id, item_id, item (its number),
    has_gold_patch, status (null if the run skipped the item), n_steps, has_patch and is_ranking. `seen` has all hits,
    each with case, run and file. The walks of the gold are items.
    """

    rules: ContextRules
    cases: pl.DataFrame
    seen: pl.DataFrame
    files: NamedFiles
    definitions: ContentDefinitions
    gold: Rows
    n_items: int

    @classmethod
    def of(cls, material: Material, runs: ContextRuns, rules: ContextRules) -> GoldSets:
        """Number the cases and the named files, and refer to them by number."""
        items = material.items.lazy().with_columns(item=pl.int_range(pl.len()))
        of_cases = _cases(items, runs)
        hits = runs.hits.lazy().select(
            *("run_id", "item_id", "part", "step", "rank", "path", "symbol"),
            pl.col("line_start", "line_end").clip(-FARTHEST, FARTHEST),
            given=pl.when(pl.col("path").is_null()).then("path_given"),
        )
        gold = material.gold.lazy().select("item_id", "path", "line_start", "line_end", given=pl.lit(None, pl.String))
        texts = material.texts.lazy().drop("line_starts", "line_nws").with_columns(text=pl.int_range(pl.len()))
        file_key = ["item_id", "path", "given"]
        files = (
            pl.concat([frame.select(file_key) for frame in (hits, gold)])
            .unique()
            .join(items.select("item_id", "pool_id", "item"), on="item_id")
            .join(material.files.lazy(), on=["pool_id", "path"], how="left")
            .join(texts, on="sha256", how="left")
            .sort("item", "path", "given")
            .with_columns(file=pl.int_range(pl.len()))
            .collect()
        )
        known = files.lazy().select(*file_key, "item", "file")
        case = of_cases.select("run_id", "item_id", case=pl.int_range(pl.len()))
        n_items, lines = material.items.height, ("file", "line_start", "line_end")
        of_runs = hits.join(case, on=["run_id", "item_id"]).with_columns(run=pl.col("case") // max(1, n_items))
        cases, seen, of_gold = pl.collect_all(
            [
                of_cases,
                of_runs.join(known, on=file_key, nulls_equal=True).select(
                    "case", "run", "part", "step", "rank", "symbol", *lines
                ),
                gold.join(known, on=file_key, nulls_equal=True).select("item", *lines).sort("item"),
            ]
        )
        definitions = ContentDefinitions.of(material.definitions, material.texts, rules)
        of_files = NamedFiles.of(files, material.texts)
        return cls(rules, cases, seen, of_files, definitions, context_rows(of_gold.lazy(), "item"), n_items)

    @property
    def item(self) -> Integers:
        """The item of each case."""
        return self.cases["item"].to_numpy()

    def within(self, rows: Rows, budgets: Sequence[int], *, in_lines: bool = False) -> dict[int, Rows]:
        """The lines that each budget pays for, as rows: no line twice, `rank` is that of the first row to contain it.

        A line costs its non-whitespace characters, or 1 if budgets are `in_lines`; the first line that would exceed the
        budget ends the walk.
        """
        files, item = self.files, self.item
        axis = files.axis(files.n_lines, self.n_items)
        row, start, end = lines_within(rows, files, np.flatnonzero(rows.is_lines | rows.is_whole))
        first = axis.first[rows.file[row]]
        walks = Walks(n_steps=np.zeros_like(item), length=axis.length[item])
        spans = held_spans(walks, Spans(rows.walk[row], rows.rank[row], first + start, first + end))
        order = np.lexsort((spans.start, spans.step, spans.walk))
        spans = Spans(*(column[order] for column in spans))
        # An item's files are in the same order on its axis as among all files.
        base = np.concatenate(([0], np.cumsum(axis.length)))
        file = np.searchsorted(base[files.item] + axis.first, base[item[spans.walk]] + spans.start, side="right") - 1
        spans = spans._replace(start=spans.start - axis.first[file], end=spans.end - axis.first[file])
        before = np.arange(len(files.nws) + 1) if in_lines else np.concatenate(([0], np.cumsum(files.nws)))
        offset = files.first_start[files.text[file]]
        total = np.cumsum(before[offset + spans.end] - before[offset + spans.start])
        spent = np.concatenate(([0], total))[:-1]
        spent -= spent[np.searchsorted(spans.walk, spans.walk)]
        return {budget: _paid(spans, file, offset, before, budget - spent) for budget in budgets}

    def sizes(self, granularity: str, answers: Answers) -> SetSizes:
        """The sizes of the sets that the walks, one for every case, hold at one of the GRANULARITIES."""
        walks, spans, gold = self.laid(granularity, answers)
        set_sizes = sizes(walks, spans, gold)
        if granularity == "line" and self.rules.ranges == "published":
            set_sizes = _with_reversed(walks, spans, set_sizes)
        return set_sizes

    def laid(self, granularity: str, answers: Answers) -> tuple[Walks, Spans, Spans]:
        """The sets that the walks, one for every case, hold and their gold, as spans at one of the GRANULARITIES."""
        answered, wanted = self._extent(granularity, answers.rows), self._extent(granularity, self.gold, is_gold=True)
        length = np.zeros(len(self.files.item), np.int64)
        for rows, extent in ((answers.rows, answered), (self.gold, wanted)):
            np.maximum.at(length, rows.file[extent.row], np.maximum(extent.start, extent.end))
        if granularity == "symbol":
            length = np.where(self.files.is_there, self.definitions.n_symbols[self.files.text], 0)
        axis = self.files.axis(length, self.n_items)
        walks = Walks(answers.n_steps, axis.length[self.item])
        spans = _placed(answers.rows, answered, axis)
        if granularity == "symbol":
            spans = self._with_named(walks, spans, answers.named_symbols, axis)
        gold = _placed(self.gold, wanted, axis)
        order = np.argsort(gold.walk, kind="stable")
        first = np.searchsorted(gold.walk[order], np.arange(self.n_items + 1))
        # Repeat the items' gold for each of their walks.
        walk, position = ranges(first[self.item], first[self.item + 1])
        row = order[position]
        return walks, spans, Spans(walk, np.ones_like(walk), gold.start[row], gold.end[row])

    def _extent(self, granularity: str, rows: Rows, *, is_gold: bool = False) -> Extent:
        if granularity == "file":
            return file_extents(rows, self.files, self.rules, is_gold=is_gold)
        if granularity == "line":
            return line_extents(rows, self.files, self.rules, is_gold=is_gold)
        spans = byte_extents(rows, self.files, self.rules)
        if granularity == "span":
            return spans
        return self.definitions.overlapped(self.files.text[rows.file[spans.row]], spans)

    def _with_named(self, walks: Walks, spans: Spans, named_symbols: pl.DataFrame, axis: FileAxis) -> Spans:
        """The symbols, with the named ones in addition to the others or in place of all others of their step."""
        if named_symbols.is_empty():
            return spans
        walk, step, file = (named_symbols[column].to_numpy() for column in ("walk", "step", "file"))
        if self.rules.named_symbols == "in place":
            spoken = np.unique(walks.slot(walk, step))
            spans = spans.where(~np.isin(walks.slot(spans.walk, spans.step), spoken))
        given = named_symbols.select("symbol", text=self.files.text[file]).with_row_index("row")
        meant = self.definitions.meant(given)
        row = meant["row"].to_numpy()
        number = axis.first[file[row]] + meant["number"].to_numpy()
        more = Spans(walk[row], step[row], number, number + 1)
        return Spans(*(np.concatenate(columns) for columns in zip(spans, more, strict=True)))


def _cases(items: pl.LazyFrame, runs: ContextRuns) -> pl.LazyFrame:
    names = pl.LazyFrame({"run_id": runs.names}, schema={"run_id": pl.String})
    answered = runs.run_items.lazy().select("run_id", "item_id", "status", "n_steps", "has_patch")
    return (
        names.with_columns(is_ranking=pl.col("run_id").is_in(list(runs.rankings)))
        .join(items.drop("pool_id"), how="cross", maintain_order="left_right")
        .join(answered, on=["run_id", "item_id"], how="left", maintain_order="left")
        .with_columns(
            pl.col("has_patch").fill_null(value=False),
            n_steps=pl.when("is_ranking").then(N_RANKED_STEPS).otherwise(pl.col("n_steps").fill_null(0)),
        )
    )


def _paid(spans: Spans, file: Integers, offset: Integers, before: Integers, left: Integers) -> Rows:
    """The lines of each piece that its remaining budget (`left`) pays for."""
    has_left = left >= 0
    spans, file, offset, left = spans.where(has_left), file[has_left], offset[has_left], left[has_left]
    affordable = np.searchsorted(before, before[offset + spans.start] + left, side="right") - 1 - offset
    end = np.minimum(spans.end, affordable)
    is_paid = end > spans.start
    walk, rank, start, _ = spans.where(is_paid)
    every = np.full(len(walk), fill_value=True)
    return Rows(walk, np.ones_like(walk), rank, file[is_paid], start, end[is_paid], every, ~every, every)


def _placed(rows: Rows, extent: Extent, axis: FileAxis) -> Spans:
    first = axis.first[rows.file[extent.row]]
    return Spans(rows.walk[extent.row], rows.step[extent.row], first + extent.start, first + extent.end)


def _with_reversed(walks: Walks, spans: Spans, set_sizes: SetSizes) -> SetSizes:
    """The sizes with reversed ranges (which end before they start), each counting a negative number of lines.

    They are united as in the published code: a reversed range that starts inside or directly after a range of its step
    belongs to that one and adds nothing; any other counts separately, every time it is named.
    """
    turned = spans.where(spans.end < spans.start)
    if not len(turned.walk):
        return set_sizes
    slot = walks.slot(turned.walk, turned.step)
    n_lines = turned.end - turned.start
    before = turned.start - 1
    # Each slot becomes a walk of one step.
    alone = Walks(np.ones(int(walks.first_slot[-1]), np.int64), np.repeat(walks.length, walks.n_steps))
    in_step = Spans(walks.slot(spans.walk, spans.step), np.ones_like(spans.step), spans.start, spans.end)
    n_pred = np.where(held_since(alone, in_step, slot, before) == NEVER, n_lines, 0)
    since = held_since(walks, spans, turned.walk, before)
    enters, leaves = since > turned.step, (since > turned.step) & (since != NEVER)
    change = walks.by_slot(slot[enters], n_lines[enters])
    change -= walks.by_slot(walks.slot(turned.walk[leaves], since[leaves]), n_lines[leaves])
    return set_sizes._replace(
        n_pred=set_sizes.n_pred + walks.by_slot(slot, n_pred), n_cumulative=set_sizes.n_cumulative + walks.up_to(change)
    )
