"""How values are shown to people: numbers, names of slices, hidden characters, and addresses of views."""

import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from urllib.parse import quote

from lake.text import escaped

DASH = "–"
SCORE_DIGITS = 3
MAX_LENGTH = 2_000  # characters at which texts are cut on a page; the downloads contain them whole
COMPARE = "compare.html"
_OPEN = "/@:"
_WORDS = {"repo": "repository", "band": "number of candidates"}
_ORDER = ("repo", "language", "source", "subset", "level", "difficulty", "band")
"""The order in which a page shows slices; others follow by name. Of two identical ones only the first is shown."""


@lru_cache(maxsize=1 << 14)
def visible(text: str) -> str:
    r"""The text with hidden characters as visible escapes (`\u{202E}`), cut at MAX_LENGTH characters."""
    return escaped(text if len(text) <= MAX_LENGTH else f"{text[:MAX_LENGTH]}… ({len(text):,} characters)")


def score(value: float | None) -> str:
    """A score to three decimals; a dash for None."""
    return DASH if value is None else f"{value:z.{SCORE_DIGITS}f}"


def signed(value: float | None) -> str:
    """A difference to three decimals with its sign (none if it rounds to zero); a dash for None."""
    return fixed(value, SCORE_DIGITS, sign=round(value or 0.0, SCORE_DIGITS) != 0)


def fixed(value: float | None, digits: int, *, sign: bool = False) -> str:
    """A number to `digits` decimals, with a true minus sign if negative; a dash for None."""
    return DASH if value is None else f"{value:{'+' if sign else ''}z.{digits}f}".replace("-", "−")


def share(value: float | None) -> str:
    """A share in whole per cent; a dash for None."""
    return DASH if value is None else f"{100 * value:.0f} %"


def count(value: float | None) -> str:
    """A number rounded to an integer, with thousands separators; a dash for None."""
    return DASH if value is None else f"{value:,.0f}"


def p_value(p: float | None) -> str:
    """A p value to three decimals, `<0.001` if smaller; a dash for None."""
    return "<0.001" if p is not None and p < 0.001 else score(p)


def between(low: float | None, high: float | None, show: Callable[[float], str] = score) -> str:
    """An interval as `low to high`; empty if an end is None."""
    return "" if low is None or high is None else f"{show(low)} to {show(high)}"


def two_digits(value: float | None, scale: float = 1.0) -> str:
    """A measured number to two significant digits, or to whole units from 10 on; a dash for None."""
    if value is None:
        return DASH
    scaled = value * scale
    return f"{scaled:,.0f}" if scaled >= 10 else f"{scaled:.1f}" if scaled >= 1 else f"{scaled:.2f}"


def title_of(slice_: str) -> str:
    """A slice's name in words: `context, repository` for `context/repo`."""
    return ", ".join(_WORDS.get(column, column) for column in slice_.split("/"))


def place_of(slice_: str) -> tuple[int, str]:
    """The sort key of a slice."""
    return (_ORDER.index(slice_) if slice_ in _ORDER else len(_ORDER), slice_)


def number_key(value: str) -> list[tuple[int, int, str]]:
    """A sort key for texts that contain numbers: 5-9 comes before 10-14."""
    parts = re.findall(r"[0-9]+|[^0-9]+", value)
    return [*((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts), (-1, 0, value)]


def settings(parameters: str) -> str:
    """Parameters, given as a JSON object, as text: `name = value, …`."""
    values = json.loads(parameters).items()
    return ", ".join(f"{name} = {value if isinstance(value, str) else json.dumps(value)}" for name, value in values)


def slug(name: str) -> str:
    """A name with everything but letters, digits, `_` and `-` replaced, for file names and addresses."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "unnamed"


def board_page(benchmark: str, suffix: str = "") -> str:
    """The path of a benchmark's leaderboard page; with suffix `-all`, of the page with every number."""
    return f"{slug(benchmark)}{suffix}.html"


def page_path(folder: str, benchmark: str) -> str:
    """The path of a benchmark's page in a folder: its `items`, or every pair of its systems (`pairs`)."""
    return f"{folder}/{slug(benchmark)}.html"


def item_address(benchmark: str, item_id: str) -> str:
    """The address of an item's view: its gold spans, what each system returned of them, and its score."""
    return f"{page_path('items', benchmark)}#item={quote(item_id, safe=_OPEN)}"


def ledger_address(benchmark: str, key: str, name: str) -> str:
    """The address of the list of items with gold in ledger class `name`, for the run with this key."""
    return f"{page_path('items', benchmark)}#ledger={key}/{name}"


def run_key(run_id: str) -> str:
    """A run's key in addresses: the last part of its id, eight hexadecimal digits."""
    return run_id.rpartition("--")[2]


def compare_address(protocol: str, run_ids: Sequence[str]) -> str:
    """The address of the comparison of two to six runs under a protocol, given by its full name."""
    return f"{COMPARE}#protocol={quote(protocol, safe=_OPEN)}&systems={','.join(map(run_key, run_ids))}"
