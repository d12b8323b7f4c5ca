"""Where what was seen lies: as files, lines, bytes and symbols, each on an axis of its item's own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from evaluate.score.contexts.intervals import ranges
from lake.catalog.protocol import ContextRules
from lake.exact import Integers, Mask
from lake.tables import LINES, RANKING


class Rows(NamedTuple):
    """What was seen, row by row, by a walk, or by an item where it is gold; steps are from 1.

    What is not `is_lines` names a file alone; `is_whole` is a view from `start` on to the end of the file; `is_file`
    names its file beside its lines: what names none does, and so does a ranking's result.
    """

    walk: Integers
    step: Integers
    rank: Integers
    file: Integers
    start: Integers
    end: Integers
    is_lines: Mask
    is_whole: Mask
    is_file: Mask

    def where(self, mask: Mask) -> Rows:
        """Some of the rows."""
        return Rows(**{name: column[mask] for name, column in self._asdict().items()})

    def at_once(self) -> Rows:
        """The same rows, all of one step."""
        return self._replace(step=np.ones_like(self.walk))


def context_rows(frame: pl.LazyFrame, walk: str) -> Rows:
    """Rows of a frame with file, line_start and line_end, and part, step and rank unless it is gold."""
    is_gold = "part" not in frame.collect_schema()
    has_start, has_end = (pl.col(f"line_{side}").is_not_null() for side in ("start", "end"))
    is_result = pl.lit(value=False) if is_gold else pl.col("part").is_in([RANKING, LINES])
    rows = frame.select(
        pl.col("file"),
        walk=walk,
        step=pl.lit(1, pl.Int64) if is_gold else "step",
        rank=pl.lit(0, pl.Int64) if is_gold else "rank",
        start=pl.col("line_start").fill_null(0),
        end=pl.col("line_end").fill_null(0),
        is_lines=has_start & has_end,
        is_whole=has_start & ~has_end,
        is_file=~(has_start & has_end) | is_result,
    ).collect()
    return Rows(**{name: column.to_numpy() for name, column in rows.to_dict().items()})


def concatenated(*several: Rows) -> Rows:
    """Rows one above the other."""
    return Rows(*(np.concatenate(columns) for columns in zip(*several, strict=True)))


@dataclass(frozen=True)
class NamedFiles:
    """The files that anything names, by item; row i of every column is file i.

    `text` is its content, -1 where the repository has no such file; `is_open`, the last line has no end. `starts` are
    the bytes at which each content's lines start, and its length, `nws` the non-whitespace characters of each, 0 after
    the last; `first_start` is where a content's lines begin in both.
    """

    item: Integers
    text: Integers
    n_lines: Integers
    n_bytes: Integers
    is_open: Mask
    starts: Integers
    nws: Integers
    first_start: Integers

    @classmethod
    def of(cls, files: pl.DataFrame, texts: pl.DataFrame) -> NamedFiles:
        """Files, by item, and their contents; `text` is the row of a file's content."""
        ends, nws = pl.concat_list("line_starts", "n_bytes"), pl.concat_list("line_nws", pl.lit(0, pl.Int64))
        columns = files.lazy().select(
            "item",
            pl.col("text").fill_null(-1),
            pl.col("n_lines", "n_bytes").fill_null(0),
            is_open=pl.col("flags").list.contains("no-final-newline").fill_null(value=False),
        )
        lengths = texts.lazy().select(n=ends.list.len().cast(pl.Int64))
        lines = texts.lazy().select(starts=ends, nws=nws).explode("starts", "nws").drop_nulls()
        known, of_texts, of_lines = pl.collect_all([columns, lengths, lines])
        n_places = of_texts["n"].to_numpy()
        return cls(
            **{name: column.to_numpy() for name, column in [*known.to_dict().items(), *of_lines.to_dict().items()]},
            first_start=np.cumsum(n_places) - n_places,
        )

    @property
    def is_there(self) -> Mask:
        """Which of them the repository has."""
        return self.text >= 0

    def line_start(self, file: Integers, line: Integers) -> Integers:
        """The byte at which a line starts; that of the line after the last is the file's length."""
        return self.starts[self.first_start[self.text[file]] + np.minimum(line, self.n_lines[file])]

    def axis(self, length: Integers, n_items: int) -> FileAxis:
        """An axis on which every file is as long as is said."""
        before = np.concatenate(([0], np.cumsum(length + 1)))
        of_item = before[np.searchsorted(self.item, np.arange(n_items + 1))]
        return FileAxis(before[:-1] - of_item[self.item], np.diff(of_item))

    def nws_of(self, file: Integers, line: Integers) -> Integers:
        """The non-whitespace characters of a line of a file that is there; 0 of the line after the last."""
        return self.nws[self.first_start[self.text[file]] + np.minimum(line, self.n_lines[file])]


class FileAxis(NamedTuple):
    """The files of each item end to end, a place apart: where each begins, and how long each item's axis is."""

    first: Integers
    length: Integers


class Extent(NamedTuple):
    """Half-open ranges within files, and the rows they are from. One that ends before its start counts negative."""

    row: Integers
    start: Integers
    end: Integers


def file_extents(rows: Rows, files: NamedFiles, rules: ContextRules, *, is_gold: bool = False) -> Extent:
    """The files that rows name: each is one place. The gold's are those of its lines, be they there or not."""
    names_file = np.full(len(rows.file), fill_value=is_gold or rules.files_of_spans) | rows.is_file
    counted = np.full(len(rows.file), fill_value=is_gold or rules.unresolved_files == "counted")
    row = np.flatnonzero(names_file & (counted | files.is_there[rows.file]))
    return Extent(row, np.zeros_like(row), np.zeros_like(row) + 1)


def line_extents(rows: Rows, files: NamedFiles, rules: ContextRules, *, is_gold: bool = False) -> Extent:
    """The lines that rows name. Gold lines count as they are, also where there is no such file."""
    if rules.ranges == "published":
        has_lines = rows.is_lines & (is_gold | (files.is_there[rows.file] & (rows.start >= 0) & (rows.end >= 1)))
        row = np.flatnonzero(has_lines)
        return Extent(row, rows.start[row], rows.end[row])
    return lines_within(rows, files, np.flatnonzero((rows.is_lines | rows.is_whole) & files.is_there[rows.file]))


def lines_within(rows: Rows, files: NamedFiles, row: Integers) -> Extent:
    """The lines that some of the rows name, as far as their files have them."""
    n_lines = files.n_lines[rows.file[row]]
    start = np.clip(rows.start[row], 0, n_lines)
    end = np.where(rows.is_whole[row], n_lines, np.clip(rows.end[row], 0, n_lines))
    return Extent(row, start, np.maximum(start, end))


def byte_extents(rows: Rows, files: NamedFiles, rules: ContextRules) -> Extent:
    """The bytes of the lines that rows name."""
    if rules.ranges == "clamped":
        row, start, end = line_extents(rows, files, rules)
        file = rows.file[row]
        return Extent(row, files.line_start(file, start), files.line_start(file, end))
    row = np.flatnonzero(rows.is_lines & files.is_there[rows.file])
    # A text that ends in a newline, as one without a line, has an empty line at its end: published splitting.
    n_lines = files.n_lines[rows.file] + ~files.is_open[rows.file]
    start, end = np.maximum(rows.start, 0), np.minimum(rows.end, n_lines)
    row = row[start[row] < end[row]]
    file, first, after = rows.file[row], start[row], end[row]
    begin = files.line_start(file, first)
    return Extent(row, begin, np.maximum(files.line_start(file, after), begin + 1))


@dataclass(frozen=True)
class ContentDefinitions:
    """The definitions of some contents, by content (`text`) and place; row i of every column is definition i.

    `end` is after the last byte that a span may hold to overlap it, `symbol` which it defines, counted within the
    content; `names` has text, symbol, name, and `whole`: what a name is compared with first.
    """

    text: Integers
    start: Integers
    end: Integers
    symbol: Integers
    is_first: Mask
    n_symbols: Integers
    names: pl.LazyFrame

    @classmethod
    def of(cls, definitions: pl.DataFrame, texts: pl.DataFrame, rules: ContextRules) -> ContentDefinitions:
        """Definitions as a protocol's rules tell them apart; the number of a content is its row in `texts`."""
        node = pl.format("{}-{} {}", "byte_start", "byte_end", "kind")
        is_qualified = rules.symbol_identity == "qualified name"
        name = pl.coalesce("qualified_name", node) if is_qualified else node
        reach = pl.col("byte_end") + (1 if rules.overlap == "touching" else 0)
        ordered = (
            definitions.lazy()
            .join(texts.lazy().select("sha256").with_row_index("text"), on="sha256")
            .with_columns(pl.col("text").cast(pl.Int64), reach=reach, is_same=name)
            .filter(pl.col("reach") > pl.col("byte_start"))
            .sort("text", "byte_start", "byte_end", "kind")
            .with_row_index("row")
            .with_columns(first=pl.col("row").min().over("text", "is_same"))
            .with_columns(is_first=pl.col("row") == pl.col("first"))
            .with_columns(symbol=(pl.col("is_first").cum_sum().cast(pl.Int64) - 1).gather(pl.col("first")))
            .with_columns(symbol=pl.col("symbol") - pl.col("symbol").min().over("text"))
            .collect()
        )
        text, symbol = ordered["text"].to_numpy(), ordered["symbol"].to_numpy()
        n_symbols = np.zeros(texts.height, np.int64)
        np.maximum.at(n_symbols, text, symbol + 1)
        return cls(
            text=text,
            start=ordered["byte_start"].to_numpy(),
            end=ordered["reach"].to_numpy(),
            symbol=symbol,
            is_first=ordered["is_first"].to_numpy(),
            n_symbols=n_symbols,
            names=ordered.lazy().select("text", "symbol", "name", whole="qualified_name" if is_qualified else "name"),
        )

    def overlapped(self, text: Integers, spans: Extent) -> Extent:
        """The symbols that spans of bytes, none of them empty, overlap in their contents, as ranges of their numbers.

        Those that begin inside a span follow one another, and so do their symbols, but for symbols that have another
        definition further up; those that hold the span's first byte are looked up one by one.
        """
        if not len(self.text):
            none = np.zeros(0, np.int64)
            return Extent(none, none, none)
        start, end = self._place(text, spans.start), self._place(text, spans.end)
        begun, over = np.searchsorted(self._begins, start, side="right"), np.searchsorted(self._begins, end)
        before = self._n_first[np.searchsorted(self.text, text)]
        first, after = self._n_first[begun] - before, self._n_first[over] - before
        again = np.flatnonzero(~self.is_first)
        row_again, index = ranges(np.searchsorted(again, begun), np.searchsorted(again, over))
        row_around, around = self._around(start)
        row = np.concatenate([np.arange(len(text)), row_again, row_around])
        single = np.concatenate([self.symbol[again[index]], self.symbol[around]])
        return Extent(
            spans.row[row], np.concatenate([first, single]), np.concatenate([np.maximum(first, after), single + 1])
        )

    @cached_property
    def _begins(self) -> Integers:
        return self._place(self.text, self.start)

    @cached_property
    def _n_first(self) -> Integers:
        return np.concatenate(([0], np.cumsum(self.is_first)))

    def _place(self, text: Integers, byte: Integers) -> Integers:
        """The contents' bytes on one axis; what lies behind all definitions of any lies behind those of its own."""
        width = int(self.end.max()) + 2
        position: Integers = text * width + np.minimum(byte, width - 1)
        return position

    @cached_property
    def _held(self) -> tuple[Integers, Integers, Integers]:
        """Where definitions start or end on that axis, what holds the places from each on, and where that begins."""
        ends = self._place(self.text, self.end)
        cuts = np.sort(np.concatenate([self._begins, ends]))
        cuts = cuts[np.diff(cuts, prepend=-1) > 0]
        definition, piece = ranges(np.searchsorted(cuts, self._begins), np.searchsorted(cuts, ends))
        n_held = np.bincount(piece, minlength=len(cuts))
        return cuts, definition[np.argsort(piece, kind="stable")], np.concatenate(([0], np.cumsum(n_held)))

    def _around(self, position: Integers) -> tuple[Integers, Integers]:
        """The definitions that hold each place: rows of `place`, and the definitions."""
        cuts, definition, first = self._held
        at = np.searchsorted(cuts, position, side="right") - 1
        # What lies before the first cut lies in no definition, as what lies behind the last.
        row, number = ranges(np.where(at < 0, 0, first[at]), np.where(at < 0, 0, first[at + 1]))
        return row, definition[number]

    def meant(self, given: pl.DataFrame) -> pl.DataFrame:
        """The symbols that names mean: those of exactly that name, else those called by what follows its last dot.

        From row, text, symbol (the name) to row and `number`; a name may mean several symbols, or none.
        """
        spoken = given.lazy().select("row", "text", said=pl.col("symbol").str.strip_chars())
        names = self.names.rename({"symbol": "number"})
        exactly = spoken.join(names, left_on=["text", "said"], right_on=["text", "whole"]).select("row", "number")
        others = spoken.join(exactly, on="row", how="anti").with_columns(pl.col("said").str.split(".").list.last())
        loosely = others.join(names, left_on=["text", "said"], right_on=["text", "name"]).select("row", "number")
        return pl.concat([exactly, loosely]).unique().sort("row", "number").collect()
