"""Of which items gold is published as text: of those asked for, whose repository's licence lets a page show it."""

from enum import StrEnum


class ItemText(StrEnum):
    """Of which items text is asked for."""

    NONE = "none"
    FLIPS = "flips"
    """Of those that one of the two systems shown first found most gold of, and the other did not."""
    SAMPLE = "sample"
    FULL = "full"


PERMISSIVE = frozenset(
    (
        "0BSD", "AFL-3.0", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "ISC", "MIT", "MIT-0",
        "NCSA", "PSF-2.0", "Python-2.0", "Unlicense", "WTFPL", "Zlib",
    )
)  # fmt: skip
"""By their SPDX names. Nothing is guessed: a licence that is not here, or not known, permits nothing."""

_NAMED = frozenset(
    (
        "apache software license", "bsd license", "isc license (iscl)", "mit license",
        "python software foundation license", "the unlicense (unlicense)",
    )
)  # fmt: skip
"""What Python's packages call some of them, in small letters."""


def permits(licence: str) -> bool:
    """Whether a licence, or an SPDX expression without brackets, permits it: of `OR` one part, of `AND` each."""
    known, either = {name.lower() for name in PERMISSIVE} | _NAMED, licence.lower().split(" or ")
    return any(all(part.strip() in known for part in parts.split(" and ")) for parts in either)
