"""The definitions in contents, and which of them a span of bytes overlaps or a name means."""

from __future__ import annotations

import numpy as np
import polars as pl

from evaluate.score.contexts.intervals import Spans, ranges
from lake.catalog.protocol import ContextRules
from lake.exact import Integers


class ContentDefinitions:
    """The definitions in some contents, sorted by content and position, distinguished by a protocol's rules.

    The number of a content is its row in `texts`; `n_symbols` is by content. A definition has the number of the symbol
    that it defines, within the content. `_names` has text, symbol, name, and `whole`: the name to compare first.
    """

    def __init__(self, definitions: pl.DataFrame, texts: pl.DataFrame, rules: ContextRules) -> None:
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
        text, start, end, self._symbol = (
            ordered[column].to_numpy() for column in ("text", "byte_start", "reach", "symbol")
        )
        self.n_symbols = np.bincount(text[ordered["is_first"].to_numpy()], minlength=texts.height)
        whole = "qualified_name" if is_qualified else "name"
        self._names = ordered.lazy().select("text", "symbol", "name", whole=whole)
        # The contents' bytes on one axis; bytes behind all definitions of any content share one place per content.
        self._width = int(end.max(initial=0)) + 2
        self._start, self._end = self._place(text, start), self._place(text, end)

    def _place(self, text: Integers, byte: Integers) -> Integers:
        position: Integers = text * self._width + np.minimum(byte, self._width - 1)
        return position

    def overlapped(self, text: Integers, start: Integers, end: Integers) -> Spans:
        """The symbols that non-empty spans of bytes overlap in their contents: rows of spans, and ranges of symbols."""
        start, end = self._place(text, start), self._place(text, end)
        # No definition before the first one that reaches as far as this is overlapped.
        reached = np.searchsorted(np.maximum.accumulate(self._end), start, side="right")
        row, definition = ranges(reached, np.searchsorted(self._start, end))
        is_met = self._end[definition] > start[row]
        row, symbol = row[is_met], self._symbol[definition[is_met]]
        # Consecutive symbols of a span are one range.
        begins = np.flatnonzero((np.diff(row, prepend=-1) != 0) | (np.diff(symbol, prepend=-1) != 1))
        lasts = np.append(begins, len(row))[1:] - 1
        return Spans(row[begins], symbol[begins], symbol[lasts] + 1)

    def meant(self, given: pl.DataFrame) -> pl.DataFrame:
        """The symbols (row, number) that names mean: those of that name, else those named by what follows its last dot.

        `given` has row, text, symbol (the name). A name may mean several symbols, or none.
        """
        spoken = given.lazy().select("row", "text", written=pl.col("symbol").str.strip_chars())
        names = self._names.rename({"symbol": "number"})
        exactly = spoken.join(names, left_on=["text", "written"], right_on=["text", "whole"]).select("row", "number")
        others = spoken.join(exactly, on="row", how="anti").with_columns(pl.col("written").str.split(".").list.last())
        loosely = others.join(names, left_on=["text", "written"], right_on=["text", "name"]).select("row", "number")
        return pl.concat([exactly, loosely]).unique().sort("row", "number").collect()
