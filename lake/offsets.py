r"""Positions in a text: its lines and characters, in bytes and in non-whitespace characters.

Lines are 0-based and half-open inside the lake. Text splits on `\n` only, `\r\n` is one line end, and a file that ends
in a newline has no extra empty line. Byte offsets refer to the stored text in UTF-8; non-whitespace characters are
UTF-16 units above U+0020, the count used by fixed-nws and by every budget.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

# 32 bits to save memory: there may be three arrays with one entry per character.
Counts = npt.NDArray[np.int32]


def split_lines(text: str) -> list[str]:
    """The lines including their line ends; joined, they give the text."""
    lines = text.split("\n")
    last = lines.pop()
    return [*(line + "\n" for line in lines), *([last] if last else [])]


class Offsets(NamedTuple):
    """Counts of line ends, bytes and non-whitespace characters before each position where a text may be cut."""

    line: Counts
    byte: Counts
    nws: Counts

    @classmethod
    def between_characters(cls, text: str) -> "Offsets":
        """The offsets before each character of a text, and at its end."""
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        is_pair = points > 0xFFFF
        n_bytes = 1 + (points > 0x7F).astype(np.int32) + (points > 0x7FF) + is_pair
        n_nws = (points > ord(" ")).astype(np.int32) + is_pair
        return cls(_before(points == ord("\n")), _before(n_bytes), _before(n_nws))

    @classmethod
    def between_lines(cls, text: str) -> "Offsets":
        """The offsets at the start of each line of a text, and at its end."""
        data = np.frombuffer(text.encode(errors="surrogatepass"), np.uint8)
        places = np.unique(np.concatenate(([0], np.flatnonzero(data == ord("\n")) + 1, [len(data)]))).astype(np.int32)
        return cls(np.arange(len(places), dtype=np.int32), places, _before(_UTF16_NWS[data])[places])

    @classmethod
    def of_blobs(cls, blobs: pl.DataFrame) -> "list[Offsets]":
        """The line offsets of each row of `blobs`, from its stored columns."""
        size = pl.col("text").str.len_bytes().cast(pl.Int64)
        counts = blobs.select(byte=pl.concat_list("line_starts", size), nws="line_nws")
        n_places = counts["byte"].list.len().to_numpy().astype(np.int64)
        end = np.cumsum(n_places)
        text = np.repeat(np.arange(len(end)), n_places)
        byte = counts["byte"].explode().to_numpy().astype(np.int32)
        # One running sum over all texts. A text has one place more than lines.
        before = np.append(0, np.cumsum(counts["nws"].explode().drop_nulls().to_numpy()))
        nws = before[np.arange(len(text)) - text]
        nws = (nws - nws[end - n_places][text]).astype(np.int32)
        line = np.arange(n_places.max(initial=0), dtype=np.int32)
        spans = zip((end - n_places).tolist(), end.tolist(), strict=True)
        return [cls(line[: last - first], byte[first:last], nws[first:last]) for first, last in spans]

    @property
    def n_nws(self) -> npt.NDArray[np.int64]:
        """The number of non-whitespace characters between each two neighbouring positions."""
        return np.diff(self.nws).astype(np.int64)


def _before(counts: npt.NDArray[np.generic]) -> Counts:
    before = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, dtype=np.int32, out=before[1:])
    return before


def line_columns(texts: Sequence[bytes]) -> pl.DataFrame:
    """The columns line_starts and line_nws of many texts in one pass, equal to what :class:`Offsets` gives for each."""
    # Imported when needed: it is slow to import, and most users of this module read no text.
    import pyarrow as pa  # type: ignore[import-untyped]  # ships no types

    every, size = b"".join(texts), np.array([len(text) for text in texts], np.int64)
    end = np.cumsum(size)
    is_start = np.zeros(len(every) + 1, np.bool_)
    is_start[1:] = np.frombuffer(every, np.uint8) == ord("\n")
    # A newline at the very end of a text starts no further line, but the next text may begin there.
    is_start[end] = False
    is_start[(end - size)[size > 0]] = True
    start = np.flatnonzero(is_start)
    of_text = np.searchsorted(end, start, side="right")
    n_nws = np.frombuffer(every.translate(_UTF16_NWS.tobytes()), np.uint8)
    nws = np.add.reduceat(n_nws, start, dtype=np.int64) if start.size else start
    ends = np.append(0, np.cumsum(np.bincount(of_text, minlength=len(texts))))
    # Made of buffers: for an array of numpy, pyarrow would import pandas, which takes half a second.
    within, kind, buffers = start - (end - size)[of_text], pa.large_list(pa.int64()), [None, pa.py_buffer(ends)]
    lines = [pa.Array.from_buffers(pa.int64(), len(of), [None, pa.py_buffer(of)]) for of in (within, nws)]
    lists = [pa.Array.from_buffers(kind, len(texts), buffers, children=[of_lines]) for of_lines in lines]
    return pl.DataFrame(dict(zip(("line_starts", "line_nws"), lists, strict=True)))


# UTF-16 units above U+0020 per byte of UTF-8: a character is counted at its first byte, the others add 0.
_UTF16_NWS = np.ones(256, np.uint8)
_UTF16_NWS[: ord(" ") + 1] = _UTF16_NWS[0x80:0xC0] = 0
_UTF16_NWS[0xF0:] = 2


@dataclass(frozen=True)
class LineOffsets:
    """The files of some pools laid end to end on one axis of lines, so that a span is two positions without a path.

    `files` has pool_id, path, offset (of its first line) and n_lines; `n_nws_before` is per position and at the end.
    """

    files: pl.DataFrame
    n_nws_before: pl.Series

    @classmethod
    def of(cls, lines: pl.DataFrame) -> "LineOffsets":
        """Build the axis from files with pool_id, path and n_nws, the list of non-whitespace characters per line."""
        n_lines = pl.col("n_nws").list.len().cast(pl.Int64)
        ordered = lines.lazy().select("pool_id", "path", "n_nws").sort("pool_id", "path")
        files = ordered.select("pool_id", "path", offset=n_lines.cum_sum() - n_lines, n_lines=n_lines)
        # A file without lines has an empty list, which explodes to null.
        counts = ordered.select(pl.col("n_nws").explode().drop_nulls().cast(pl.Int64).cum_sum())
        files_of, before = pl.collect_all([files, counts])
        return cls(files_of, pl.concat([pl.Series([0], dtype=pl.Int64), before.to_series()]))

    def place(self, spans: pl.LazyFrame) -> pl.LazyFrame:
        """Replace pool_id, path, line_start, line_end of spans by positions `start` and `end`; drop empty spans."""
        ends = {side: pl.col(f"line_{side}").clip(0, pl.col("n_lines")) for side in ("start", "end")}
        return (
            spans.join(self.files.lazy(), on=["pool_id", "path"])
            .with_columns(**{side: pl.col("offset") + end for side, end in ends.items()})
            .filter(pl.col("start") < pl.col("end"))
            .drop("pool_id", "path", "line_start", "line_end", "offset", "n_lines")
        )

    def n_nws(self) -> pl.Expr:
        """The number of non-whitespace characters of the lines from `start` to `end`."""
        return self._before("end") - self._before("start")

    def n_lines_for(self, budget: pl.Expr) -> pl.Expr:
        """The number of lines from `start`, at most to `end`, that fit in `budget` completely."""
        spent_at = pl.lit(self.n_nws_before).search_sorted(self._before("start") + budget, side="right")
        return pl.min_horizontal("end", spent_at.cast(pl.Int64) - 1) - pl.col("start")

    def file_at(self, column: str) -> pl.Expr:
        """The file at a position, as `file`: its row number in `files`."""
        # Several files may start at the same position; all but the last are empty.
        begun = pl.lit(self.files["offset"]).search_sorted(pl.col(column), side="right")
        return (begun.cast(pl.Int64) - 1).alias("file")

    def _before(self, column: str) -> pl.Expr:
        return pl.lit(self.n_nws_before).gather(pl.col(column))


def held_pieces(spans: pl.LazyFrame, n_places: int) -> pl.LazyFrame:
    """The pieces of overlapping ranked spans, cut at every start and end: item, start, end and the best rank.

    Spans have item (Int64), start and end (at most `n_places`), and rank.
    """
    # Item and position are combined into one number, so each item has its own axis; sorts, joins and groups are fast.
    first_place = pl.col("item") * n_places
    spans = spans.with_columns(pl.col("start", "end") + first_place)
    ends = [spans.select(place=side) for side in ("start", "end")]
    cuts = pl.concat(ends).unique().sort("place").with_columns(next=pl.col("place").shift(-1)).with_row_index("piece")
    first, last = cuts.select(start="place", start_piece="piece"), cuts.select(end="place", end_piece="piece")
    return (
        # Left joins, although every end is a cut: inner joins may be reordered into all pairs of cuts.
        spans.join(first, on="start", how="left")
        .join(last, on="end", how="left")
        .select("rank", pl.int_ranges("start_piece", "end_piece").alias("piece"))
        .explode("piece")
        .group_by("piece")
        .agg(pl.col("rank").min())
        .join(cuts.with_columns(pl.col("piece").cast(pl.Int64)), on="piece")
        .with_columns(item=pl.col("place") // n_places)
        .select("item", "rank", start=pl.col("place") - first_place, end=pl.col("next") - first_place)
    )


def added_lines(spans: pl.DataFrame, of_list: Sequence[str]) -> pl.DataFrame:
    """The lines that each span adds to those of better-ranked spans in its list: one row per run of new lines.

    Spans have the columns `of_list`, which identify a list, and path, rank, line_start, line_end.
    """
    key = [*of_list, "path"]
    # Collected here: each evaluation of a lazy frame could order unique rows, and so number files, differently.
    files = spans.select(key).unique().with_row_index("file").with_columns(pl.col("file").cast(pl.Int64)).lazy()
    placed = spans.lazy().filter(pl.col("line_start") < pl.col("line_end")).join(files, on=key)
    placed = placed.select("rank", item="file", start="line_start", end="line_end")
    n_places = 1 + int(spans.select(pl.col("line_end").max().fill_null(0)).item())
    pieces = held_pieces(placed, n_places).select("rank", file="item", line_start="start", line_end="end")
    return pieces.join(files, on="file").select(*key, "rank", "line_start", "line_end").collect()
