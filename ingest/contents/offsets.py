"""Places between the characters of a text, as bytes, lines and non-whitespace characters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
