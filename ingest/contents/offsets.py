"""Places in texts, as bytes, lines and non-whitespace characters: between characters, and between lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from lake.errors import Exit, GoldspanError

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Offsets:
    """What lies before each character of a text and, last, before its end: one more number than it has characters.

    Attributes:
        byte: Bytes of its UTF-8.
        line: Ends of lines.
        nws: Non-whitespace characters, as :func:`lake.text.n_nws_per_line` counts them.
    """

    byte: Integers
    line: Integers
    nws: Integers

    @classmethod
    def of(cls, text: str) -> Offsets:
        """Those of a text."""
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        is_pair = points > 0xFFFF
        n_bytes = 1 + (points > 0x7F).astype(np.int64) + (points > 0x7FF) + is_pair
        counted = (n_bytes, points == ord("\n"), (points > ord(" ")).astype(np.int64) + is_pair)
        return cls(*(np.concatenate((np.zeros(1, np.int64), np.cumsum(each, dtype=np.int64))) for each in counted))

    def at_bytes(self, places: Integers) -> Integers:
        """The characters at which bytes begin; −1 for those inside a character or outside the text."""
        found = np.searchsorted(self.byte, places).clip(0, len(self.byte) - 1)
        return np.where(self.byte[found] == places, found, -1)


@dataclass(frozen=True)
class Lines:
    """The line bounds of all blobs in a row, each blob's end among them: a blob of n lines has n + 1.

    Attributes:
        n: Lines of each blob.
        first: Where each blob's bounds begin.
        byte: The byte each bound stands at, from the start of its blob.
        nws: Non-whitespace characters up to each bound, from any fixed point before its blob.
    """

    n: Integers
    first: Integers
    byte: Integers
    nws: Integers

    @staticmethod
    def of(blobs: pl.DataFrame, n_nws: Sequence[Integers]) -> Lines:
        """Those of some blobs, with the non-whitespace characters of each of their lines.

        Raises:
            GoldspanError: A blob's lines are not those of its text.
        """
        n = np.array([len(counts) for counts in n_nws], np.int64)
        bounds = blobs.select(
            "sha256",
            n=pl.col("line_starts").list.len().cast(pl.Int64),
            byte=pl.concat_list("line_starts", pl.col("text").str.len_bytes().cast(pl.Int64)),
        )
        wrong = bounds.with_columns(has=pl.Series(n, dtype=pl.Int64)).filter(pl.col("n") != pl.col("has"))
        if wrong.height:
            sha256, said, _, has = wrong.row(0)
            message = f"blob {sha256} says it has {said} lines, its text has {has}"
            raise GoldspanError(message, where="blobs", hint="Ingest it again.", code=Exit.INVALID)
        zero = np.zeros(1, np.int64)
        counts = [part for counts in n_nws for part in (counts, zero)]
        nws = np.cumsum(np.concatenate([zero, *counts]))[:-1]
        byte = bounds["byte"].explode().to_numpy()
        return Lines(n, np.cumsum(n + 1) - (n + 1), byte, nws)

    def spans(
        self, blob_no: Integers, given: Integers, inside: Mapping[int, tuple[slice, Offsets]]
    ) -> dict[str, Integers]:
        """Where chunks lie: lines, bytes, and the non-whitespace characters up to each end.

        Args:
            blob_no: Each chunk's blob.
            given: Its ends, in lines, or in characters where the blob is among the next.
            inside: Blobs that are cut inside lines: the rows of their chunks, and their characters.
        """
        line = given.copy()
        for rows, offsets in inside.values():
            line[rows, 0] = offsets.line[given[rows, 0]]
            line[rows, 1] = offsets.line[given[rows, 1] - 1] + 1
        bound = self.first[blob_no][:, None] + line
        byte, nws = self.byte[bound], self.nws[bound]
        for number, (rows, offsets) in inside.items():
            byte[rows] = offsets.byte[given[rows]]
            nws[rows] = self.nws[self.first[number]] + offsets.nws[given[rows]]
        columns = {"line": line, "byte": byte, "nws": nws}
        return {f"{name}_{side}": each[:, at] for name, each in columns.items() for at, side in enumerate(_SIDES)}


_SIDES = ("start", "end")
