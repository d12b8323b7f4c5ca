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
        "0BSD", "AFL-3.0", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "ISC", "MIT", "MIT-0",
        "NCSA", "PSF-2.0", "Python-2.0", "Unlicense", "WTFPL", "Zlib",
    )
)  # fmt: skip
"""SPDX ids of licences that permit showing text; any other or unknown licence does not."""

_NAMED = frozenset(
    (
        "apache software license", "bsd license", "isc license (iscl)", "mit license",
        "python software foundation license", "the unlicense (unlicense)",
    )
)  # fmt: skip
"""Names of some of these licences in the metadata of Python packages, in lower case."""


def permits(licence: str) -> bool:
    """Whether a licence or SPDX expression (without brackets) permits showing text: one part of `OR`, all of `AND`."""
    known, either = {name.lower() for name in PERMISSIVE} | _NAMED, licence.lower().split(" or ")
    return any(all(part.strip() in known for part in parts.split(" and ")) for parts in either)
