"""Addresses of views that scripts show: of an item and of a comparison. Other pages link to them.

What a view shows stands in the part of its address behind `#`, so that the same files serve any host and a folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from report.format import slug

COMPARE = "compare.html"
_OPEN = "/@:"


def items_path(benchmark: str) -> str:
    """The page on which a benchmark's items are listed, and each is shown."""
    return f"items/{slug(benchmark)}.html"


def item_address(benchmark: str, item_id: str) -> str:
    """Where an item is shown: its spans, what each system returned of them, the arithmetic."""
    return f"{items_path(benchmark)}#item={quote(item_id, safe=_OPEN)}"


def pairs_path(benchmark: str) -> str:
    """The page with every pair of a benchmark's systems, under its headline protocol."""
    return f"pairs/{slug(benchmark)}.html"


def ledger_address(benchmark: str, key: str, name: str) -> str:
    """Where the items are listed some of whose gold went one way for a run, given by its key."""
    return f"{items_path(benchmark)}#ledger={key}/{name}"


def run_key(run_id: str) -> str:
    """What names a run in an address: the last part of its id, eight hexadecimal digits."""
    return run_id.rpartition("--")[2]


def compare_address(protocol: str, run_ids: Sequence[str]) -> str:
    """Where two to six runs are compared under a protocol, given by its full name."""
    return f"{COMPARE}#protocol={quote(protocol, safe=_OPEN)}&systems={','.join(map(run_key, run_ids))}"
