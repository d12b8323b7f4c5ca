"""The positions of what was seen, as files, lines, bytes and symbols, each on a separate axis per item."""

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
    """The views of walks (or the gold of items: then `walk` is the item), one per row; steps count from 1.

    `is_lines`: the row has a start and an end line. `is_whole`: it reaches from `start` to the end of the file.
    `is_file`: it names the file itself, as rows without lines and results of rankings do.
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
        """The rows for which `mask` is true."""
        return Rows(**{name: column[mask] for name, column in self._asdict().items()})

    def at_once(self) -> Rows:
        """The same rows, all in step 1."""
        return self._replace(step=np.ones_like(self.walk))


def context_rows(frame: pl.LazyFrame, walk: str) -> Rows:
    """The rows of a frame with file, line_start and line_end; it also has part, step and rank unless it is gold."""
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
    """All rows of several sets, one after the other."""
    return Rows(*(np.concatenate(columns) for columns in zip(*several, strict=True)))


@dataclass(frozen=True)
class NamedFiles:
    """The files that hits or gold name, sorted by item; row i of every column is file i.

    `text` is the index of its content, -1 if the repository has no such file; `is_open`: the last line has no newline.
    `starts` has the bytes at which each content's lines start, then its length; `nws` the non-whitespace characters of
    each line, then 0; `first_start` is the index of a content's first line in both.
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
        """The files, and their contents; column `text` of `files` is the row of the content in `texts`."""
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
        """A mask of the files that the repository has."""
        return self.text >= 0

    def line_start(self, file: Integers, line: Integers) -> Integers:
        """The byte at which a line starts; for the line after the last, the file's length."""
        return self.starts[self.first_start[self.text[file]] + np.minimum(line, self.n_lines[file])]

    def axis(self, length: Integers, n_items: int) -> FileAxis:
        """An axis on which each file has a given length."""
        before = np.concatenate(([0], np.cumsum(length + 1)))
        of_item = before[np.searchsorted(self.item, np.arange(n_items + 1))]
        return FileAxis(before[:-1] - of_item[self.item], np.diff(of_item))

    def nws_of(self, file: Integers, line: Integers) -> Integers:
        """The non-whitespace characters in a line of an existing file; 0 for the line after the last."""
        return self.nws[self.first_start[self.text[file]] + np.minimum(line, self.n_lines[file])]


class FileAxis(NamedTuple):
    """The files of each item end to end, one place apart: where each file begins, and the length of an item's axis."""

    first: Integers
    length: Integers


class Extent(NamedTuple):
    """Half-open ranges within files, and the row of each. A range that ends before its start has a negative size."""

    row: Integers
    start: Integers
    end: Integers


def file_extents(rows: Rows, files: NamedFiles, rules: ContextRules, *, is_gold: bool = False) -> Extent:
    """The files that rows name, one place each. Gold names the files of its lines, whether or not they exist."""
    names_file = np.full(len(rows.file), fill_value=is_gold or rules.files_of_spans) | rows.is_file
    counted = np.full(len(rows.file), fill_value=is_gold or rules.unresolved_files == "counted")
    row = np.flatnonzero(names_file & (counted | files.is_there[rows.file]))
    return Extent(row, np.zeros_like(row), np.zeros_like(row) + 1)


def line_extents(rows: Rows, files: NamedFiles, rules: ContextRules, *, is_gold: bool = False) -> Extent:
    """The lines that rows name. Under published ranges gold lines count unchanged, even if there is no such file."""
    if rules.ranges == "published":
        has_lines = rows.is_lines & (is_gold | (files.is_there[rows.file] & (rows.start >= 0) & (rows.end >= 1)))
        row = np.flatnonzero(has_lines)
        return Extent(row, rows.start[row], rows.end[row])
    return lines_within(rows, files, np.flatnonzero((rows.is_lines | rows.is_whole) & files.is_there[rows.file]))


def lines_within(rows: Rows, files: NamedFiles, row: Integers) -> Extent:
    """The lines that some of the rows name, clipped to their files."""
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
    # The published code sees an empty last line in a text that ends in a newline or has no line.
    n_lines = files.n_lines[rows.file] + ~files.is_open[rows.file]
    start, end = np.maximum(rows.start, 0), np.minimum(rows.end, n_lines)
    row = row[start[row] < end[row]]
    file, first, after = rows.file[row], start[row], end[row]
    begin = files.line_start(file, first)
    return Extent(row, begin, np.maximum(files.line_start(file, after), begin + 1))


@dataclass(frozen=True)
class ContentDefinitions:
    """The definitions in some contents, sorted by content (`text`) and position; row i of every column is definition i.

    A span overlaps a definition if it has a byte from `start` to before `end`. `symbol` is the number of the symbol
    that it defines, within the content; `names` has text, symbol, name, and `whole`: the name to compare first.
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
        """Definitions, distinguished by a protocol's rules; the number of a content is its row in `texts`."""
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
        """The symbols that non-empty spans of bytes overlap in their contents, as ranges of symbol numbers.

        Definitions that begin inside a span are consecutive, and so are their symbols, except for symbols with an
        earlier definition; definitions that contain the span's first byte are looked up one by one.
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
        """The contents' bytes on one axis; bytes behind all definitions of any content share one place per content."""
        width = int(self.end.max()) + 2
        position: Integers = text * width + np.minimum(byte, width - 1)
        return position

    @cached_property
    def _held(self) -> tuple[Integers, Integers, Integers]:
        """The cuts of that axis (starts and ends of definitions), each piece's definitions, and where these begin."""
        ends = self._place(self.text, self.end)
        cuts = np.sort(np.concatenate([self._begins, ends]))
        cuts = cuts[np.diff(cuts, prepend=-1) > 0]
        definition, piece = ranges(np.searchsorted(cuts, self._begins), np.searchsorted(cuts, ends))
        n_held = np.bincount(piece, minlength=len(cuts))
        return cuts, definition[np.argsort(piece, kind="stable")], np.concatenate(([0], np.cumsum(n_held)))

    def _around(self, position: Integers) -> tuple[Integers, Integers]:
        """The definitions that contain each position: indices of `position`, and the definitions."""
        cuts, definition, first = self._held
        at = np.searchsorted(cuts, position, side="right") - 1
        # Positions before the first cut are in no definition, like those behind the last.
        row, number = ranges(np.where(at < 0, 0, first[at]), np.where(at < 0, 0, first[at + 1]))
        return row, definition[number]

    def meant(self, given: pl.DataFrame) -> pl.DataFrame:
        """The symbols that names mean: those of exactly that name, else those with the name that follows its last dot.

        `given` has row, text, symbol (the name); the result row and `number`. A name may mean several symbols, or none.
        """
        spoken = given.lazy().select("row", "text", said=pl.col("symbol").str.strip_chars())
        names = self.names.rename({"symbol": "number"})
        exactly = spoken.join(names, left_on=["text", "said"], right_on=["text", "whole"]).select("row", "number")
        others = spoken.join(exactly, on="row", how="anti").with_columns(pl.col("said").str.split(".").list.last())
        loosely = others.join(names, left_on=["text", "said"], right_on=["text", "name"]).select("row", "number")
        return pl.concat([exactly, loosely]).unique().sort("row", "number").collect()
