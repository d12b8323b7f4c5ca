"""Where what was seen lies: as files, lines and bytes, each on an axis of its item's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from lake.catalog.protocol import ContextRules
from lake.exact import Integers, Mask
from lake.naming import LINES, RANKING


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
