"""How things are shown to people: numbers, names of slices, characters that would hide, and addresses of views.

What a view shows stands in the part of its address behind `#`, so that the same files serve any host and a folder.
"""

import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from urllib.parse import quote

from lake.text import escaped

DASH = "–"
SCORE_DIGITS = 3
MAX_LENGTH = 2_000
"""Longer texts are cut on a page; the downloads hold them whole."""

COMPARE = "compare.html"
_OPEN = "/@:"
_WORDS = {"repo": "repository", "band": "number of candidates"}
_ORDER = ("repo", "language", "source", "subset", "level", "difficulty", "band")
"""The order in which a page shows slices; others follow by name. Of two that are alike the first is shown."""


@lru_cache(maxsize=1 << 14)
def visible(text: str) -> str:
    r"""The text with every hidden character as an escape a person can see (`\u{202E}`), cut where it is very long."""
    return escaped(text if len(text) <= MAX_LENGTH else f"{text[:MAX_LENGTH]}… ({len(text):,} characters)")


def score(value: float | None) -> str:
    """A score to three decimals, or a dash."""
    return DASH if value is None else f"{value:z.{SCORE_DIGITS}f}"


def signed(value: float | None) -> str:
    """A difference to three decimals with its sign, unless all that is shown is zero; or a dash."""
    return fixed(value, SCORE_DIGITS, sign=round(value or 0.0, SCORE_DIGITS) != 0)


def fixed(value: float | None, digits: int, *, sign: bool = False) -> str:
    """A number to so many decimals, a true minus before it if need be; or a dash."""
    return DASH if value is None else f"{value:{'+' if sign else ''}z.{digits}f}".replace("-", "−")


def share(value: float | None) -> str:
    """A share in whole per cent, or a dash."""
    return DASH if value is None else f"{100 * value:.0f} %"


def count(value: float | None) -> str:
    """A number to whole ones with thousands separated, or a dash."""
    return DASH if value is None else f"{value:,.0f}"


def p_value(p: float | None) -> str:
    """A p value to three decimals, or a dash; what would be shown as 0 is below 0.001."""
    return "<0.001" if p is not None and p < 0.001 else score(p)


def between(low: float | None, high: float | None, show: Callable[[float], str] = score) -> str:
    """An interval, or nothing where there is none."""
    return "" if low is None or high is None else f"{show(low)} to {show(high)}"


def two_digits(value: float | None, scale: float = 1.0) -> str:
    """A measured number to two significant digits or to whole units: measurements carry no more."""
    if value is None:
        return DASH
    scaled = value * scale
    return f"{scaled:,.0f}" if scaled >= 10 else f"{scaled:.1f}" if scaled >= 1 else f"{scaled:.2f}"


def size(n_bytes: int) -> str:
    """Bytes as a person reads them."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= scale:
            return f"{n_bytes / scale:.1f} {unit}"
    return f"{n_bytes:,} bytes"


def title_of(slice_: str) -> str:
    """What a slice's items are alike in, in words: `context, repository` of `context/repo`."""
    return ", ".join(_WORDS.get(column, column) for column in slice_.split("/"))


def place_of(slice_: str) -> tuple[int, str]:
    """Where a slice stands among others."""
    return (_ORDER.index(slice_) if slice_ in _ORDER else len(_ORDER), slice_)


def number_key(value: str) -> list[tuple[int, int, str]]:
    """The key of a value by which numbers in it are in order of their size: 5-9 before 10-14."""
    parts = re.findall(r"[0-9]+|[^0-9]+", value)
    return [*((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts), (-1, 0, value)]


def settings(parameters: str) -> str:
    """Parameters, stored as a JSON object, as names with their values."""
    values = {
        name: value if isinstance(value, str) else json.dumps(value) for name, value in json.loads(parameters).items()
    }
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def slug(name: str) -> str:
    """A name as part of a file name or an address."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "unnamed"


def board_page(benchmark: str, suffix: str = "") -> str:
    """The page of a benchmark's leaderboards; with `-all` the one with every number."""
    return f"{slug(benchmark)}{suffix}.html"


def items_path(benchmark: str) -> str:
    """The page on which a benchmark's items are listed, and each is shown."""
    return f"items/{slug(benchmark)}.html"


def pairs_path(benchmark: str) -> str:
    """The page with every pair of a benchmark's systems, under its headline protocol."""
    return f"pairs/{slug(benchmark)}.html"


def item_address(benchmark: str, item_id: str) -> str:
    """Where an item is shown: its spans, what each system returned of them, the arithmetic."""
    return f"{items_path(benchmark)}#item={quote(item_id, safe=_OPEN)}"


def ledger_address(benchmark: str, key: str, name: str) -> str:
    """Where the items are listed some of whose gold went one way for a run, given by its key."""
    return f"{items_path(benchmark)}#ledger={key}/{name}"


def run_key(run_id: str) -> str:
    """What names a run in an address: the last part of its id, eight hexadecimal digits."""
    return run_id.rpartition("--")[2]


def compare_address(protocol: str, run_ids: Sequence[str]) -> str:
    """Where two to six runs are compared under a protocol, given by its full name."""
    return f"{COMPARE}#protocol={quote(protocol, safe=_OPEN)}&systems={','.join(map(run_key, run_ids))}"
