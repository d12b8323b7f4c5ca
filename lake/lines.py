"""Every file's lines laid end to end on one axis, with the non-whitespace characters that stand before each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class LineAxis:
    """Where each file of each pool lies on the axis, and what lies before each place.

    On the axis a span is two places and needs no path, and the line at which a budget is spent is one binary search.

    Attributes:
        files: pool_id, path, offset (the place of the file's first line), n_lines.
        n_nws_before: One Int64 for each place and one for the end: non-whitespace characters before it, never falling.
    """

    files: pl.DataFrame
    n_nws_before: pl.Series

    @classmethod
    def of(cls, lines: pl.DataFrame) -> LineAxis:
        """Lay files on an axis.

        Args:
            lines: One row per file: pool_id, path, n_nws (list of Int64: the non-whitespace characters of each line).
        """
        n_lines = pl.col("n_nws").list.len().cast(pl.Int64)
        ordered = lines.select("pool_id", "path", "n_nws").sort("pool_id", "path")
        files = ordered.select(
            "pool_id", "path", (n_lines.cum_sum() - n_lines).alias("offset"), n_lines.alias("n_lines")
        )
        # A file without lines has an empty list, which explodes to a null.
        counts = ordered["n_nws"].explode().drop_nulls().cast(pl.Int64)
        before = pl.concat([pl.Series([0], dtype=pl.Int64), counts.cum_sum()])
        return cls(files, before)

    def place(self, spans: pl.LazyFrame) -> pl.LazyFrame:
        """Put spans on the axis: pool_id, path, line_start, line_end become `start` and `end`.

        Lines past a file's end are none, and neither are those of a file that the axis does not hold: spans without a
        line are left out.
        """
        inside = [
            (pl.col("offset") + pl.col(f"line_{side}").clip(0, pl.col("n_lines"))).alias(side)
            for side in ("start", "end")
        ]
        return (
            spans.join(self.files.lazy(), on=["pool_id", "path"])
            .with_columns(inside)
            .filter(pl.col("start") < pl.col("end"))
            .drop("pool_id", "path", "line_start", "line_end", "offset", "n_lines")
        )

    def n_nws(self) -> pl.Expr:
        """The non-whitespace characters of the lines from `start` to `end`."""
        return self._before("end") - self._before("start")

    def n_lines_for(self, budget: pl.Expr) -> pl.Expr:
        """How many lines from `start` on, at most to `end`, a budget pays for; the first too dear ends it."""
        spent_at = pl.lit(self.n_nws_before).search_sorted(self._before("start") + budget, side="right")
        return pl.min_horizontal("end", spent_at.cast(pl.Int64) - 1) - pl.col("start")

    def file_at(self, place: str) -> pl.Expr:
        """Which file a place lies in, as `file`: the row in `files`."""
        # Of files that begin at one place, all but the last are empty.
        begun = pl.lit(self.files["offset"]).search_sorted(pl.col(place), side="right")
        return (begun.cast(pl.Int64) - 1).alias("file")

    def _before(self, place: str) -> pl.Expr:
        return pl.lit(self.n_nws_before).gather(pl.col(place))


def held_pieces(spans: pl.LazyFrame, n_places: int, *flags: str) -> pl.LazyFrame:
    """What ranked spans hold, cut where anything starts or ends: item, start, end, rank (the best) and the flags.

    Args:
        spans: item (Int64), start, end, rank (null for what only cuts) and the flags, which hold where any span's does.
        n_places: More than any end.
        flags: Columns of truth values.
    """
    # Each item has the axis to itself: item and place are one number, which sorts, joins and groups fast.
    first_place = pl.col("item") * n_places
    spans = spans.with_columns(pl.col(_SIDES) + first_place)
    ends = [spans.select(place=side) for side in _SIDES]
    cuts = pl.concat(ends).unique().sort("place").with_columns(next=pl.col("place").shift(-1)).with_row_index("piece")
    first, last = (cuts.select(pl.col("place").alias(side), pl.col("piece").alias(f"{side}_piece")) for side in _SIDES)
    return (
        # Left joins, though every end is a cut: inner ones may be reordered into all pairs of cuts.
        spans.join(first, on="start", how="left")
        .join(last, on="end", how="left")
        .select("rank", *flags, pl.int_ranges("start_piece", "end_piece").alias("piece"))
        .explode("piece")
        .group_by("piece")
        .agg(pl.col("rank").min(), *(pl.col(flag).any() for flag in flags))
        .filter(pl.col("rank").is_not_null())
        .join(cuts.with_columns(pl.col("piece").cast(pl.Int64)), on="piece")
        .with_columns(item=pl.col("place") // n_places)
        .select("item", "rank", *flags, start=pl.col("place") - first_place, end=pl.col("next") - first_place)
    )


def added_lines(spans: pl.DataFrame, of_list: Sequence[str]) -> pl.DataFrame:
    """The lines that each span adds to those of better rank in its list: one row for every run of new lines.

    Args:
        spans: The columns that tell one list from another, path, rank, line_start, line_end; other columns are dropped.
        of_list: Those columns.
    """
    key = [*of_list, "path"]
    # Numbered once: the order of unique rows is another each time that it is worked out.
    files = spans.select(key).unique().with_row_index("file").with_columns(pl.col("file").cast(pl.Int64)).lazy()
    placed = spans.lazy().filter(pl.col("line_start") < pl.col("line_end")).join(files, on=key)
    placed = placed.select("rank", item="file", start="line_start", end="line_end")
    n_places = 1 + int(spans.select(pl.col("line_end").max().fill_null(0)).item())
    pieces = held_pieces(placed, n_places).select("rank", file="item", line_start="start", line_end="end")
    return pieces.join(files, on="file").select(*key, "rank", "line_start", "line_end").collect()


_SIDES = ("start", "end")
