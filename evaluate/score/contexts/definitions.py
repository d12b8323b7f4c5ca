"""The definitions in contents, and which of them a span of bytes overlaps or a name means."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from evaluate.score.contexts.intervals import ranges
from lake.catalog.protocol import ContextRules
from lake.exact import Integers, Mask


class Extent(NamedTuple):
    """Half-open ranges, and the row of each."""

    row: Integers
    start: Integers
    end: Integers


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
        spoken = given.lazy().select("row", "text", written=pl.col("symbol").str.strip_chars())
        names = self.names.rename({"symbol": "number"})
        exactly = spoken.join(names, left_on=["text", "written"], right_on=["text", "whole"]).select("row", "number")
        others = spoken.join(exactly, on="row", how="anti").with_columns(pl.col("written").str.split(".").list.last())
        loosely = others.join(names, left_on=["text", "written"], right_on=["text", "name"]).select("row", "number")
        return pl.concat([exactly, loosely]).unique().sort("row", "number").collect()
