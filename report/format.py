"""How values are shown to people: scores, counts, durations, sizes, and characters that would otherwise hide."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from lake.text import escaped

DASH = "–"

SCORE_DIGITS = 3
MAX_LENGTH = 2_000
"""Longer texts are cut on a page; the downloads hold them whole."""


@lru_cache(maxsize=1 << 14)
def visible(text: str) -> str:
    r"""The text with every hidden character as an escape a person can see (`\u{202E}`), cut where it is very long."""
    kept = text if len(text) <= MAX_LENGTH else f"{text[:MAX_LENGTH]}… ({len(text):,} characters)"
    return escaped(kept)


def score(value: float | None) -> str:
    """A score to three decimals, or a dash."""
    return DASH if value is None else f"{value:z.{SCORE_DIGITS}f}"


def signed(value: float | None) -> str:
    """A difference with its sign to three decimals, or a dash."""
    return fixed(value, SCORE_DIGITS, sign=True)


def fixed(value: float | None, digits: int, *, sign: bool = False) -> str:
    """A number to so many decimals, a true minus before it if need be; or a dash."""
    return DASH if value is None else f"{value:{'+' if sign else ''}z.{digits}f}".replace("-", "−")


def share(value: float | None) -> str:
    """A share in whole per cent, or a dash."""
    return DASH if value is None else f"{100 * value:.0f} %"


def count(value: float | None) -> str:
    """A number to whole ones with thousands separated, or a dash."""
    return DASH if value is None else f"{value:,.0f}"


def between(low: float | None, high: float | None, show: Callable[[float], str] = score) -> str:
    """An interval, or nothing where there is none."""
    return "" if low is None or high is None else f"{show(low)} to {show(high)}"


def two_digits(value: float | None, scale: float = 1.0) -> str:
    """A measured duration to two significant digits or to whole units: measurements carry no more."""
    if value is None:
        return DASH
    scaled = value * scale
    if scaled >= 10:
        return f"{scaled:,.0f}"
    return f"{scaled:.2f}" if scaled < 1 else f"{scaled:.1f}"


def size(n_bytes: int) -> str:
    """Bytes as a person reads them."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= scale:
            return f"{n_bytes / scale:.1f} {unit}"
    return f"{n_bytes:,} bytes"


def slug(name: str) -> str:
    """A name as part of a file name or an address."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "unnamed"
