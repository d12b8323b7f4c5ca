"""The items that may be shown as text: those requested, if the licence of their repository permits it."""

from enum import StrEnum


class ItemText(StrEnum):
    """The items to show as text, as requested by the user."""

    NONE = "none"
    FLIPS = "flips"
    """Items where one of the two systems shown first found most of the gold, and the other did not."""
    SAMPLE = "sample"
    FULL = "full"


PERMISSIVE = frozenset(
    (
        "0bsd", "afl-3.0", "apache-2.0", "bsd-2-clause", "bsd-3-clause", "bsl-1.0", "cc0-1.0", "isc", "mit", "mit-0",
        "ncsa", "psf-2.0", "python-2.0", "unlicense", "wtfpl", "zlib", "apache software license", "bsd license",
        "isc license (iscl)", "mit license", "python software foundation license", "the unlicense (unlicense)",
    )
)  # fmt: skip
"""Licences that permit showing text, in lower case: SPDX ids, and names in the metadata of Python packages."""


def permits(licence: str) -> bool:
    """Whether a licence or SPDX expression (without brackets) permits showing text: one part of `OR`, all of `AND`."""
    either = licence.lower().split(" or ")
    return any(all(part.strip() in PERMISSIVE for part in parts.split(" and ")) for parts in either)
