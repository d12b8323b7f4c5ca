"""How little is too little for an order of systems to mean anything."""

from __future__ import annotations

MIN_REPOS = 5
MIN_ITEMS = 30


def is_too_few(n_repos: int, n_items: int) -> bool:
    """Whether systems are not to be ranked by a mean over so few repositories or items: rank and verdict are withheld.

    Args:
        n_repos: How many repositories the items are of.
        n_items: How many items the mean is over.
    """
    return n_repos < MIN_REPOS or n_items < MIN_ITEMS
