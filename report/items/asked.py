"""Of which items text is asked to be published."""

from __future__ import annotations

from enum import StrEnum


class ItemText(StrEnum):
    """Of which items gold is published as text, where the repository's licence is known to permit it."""

    NONE = "none"
    FLIPS = "flips"
    """Of those that one of the two systems shown first found most gold of, and the other did not."""
    SAMPLE = "sample"
    FULL = "full"
