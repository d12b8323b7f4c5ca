"""What a benchmark's systems are held against where no other is named: fixed before any number is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

REFERENCE = "reference"
"""The name that means it, in place of a system's."""

REFERENCES: Mapping[str, Sequence[str]] = {
    "repoeval": ("fixed-nws-1500+own-file", "*+own-file"),
    "repobench-r": ("whole-file+random", "*+random"),
    "contextbench": ("fixed-nws-1500+bm25-okapi", "*+bm25-okapi"),
}
"""Benchmark → patterns of systems' names; the first that means one is it, and of several the first by name."""

USUAL: Sequence[str] = ("whole-file+bm25-okapi", "*+bm25-okapi")
"""Those of every other benchmark."""


def reference_of(protocol: str, systems: Iterable[str]) -> str:
    """The system that a protocol's benchmark declares as reference, of those that there are; empty for none.

    Args:
        protocol: Its name, `repoeval@chunking-v1`.
        systems: The names of the systems that there are.
    """
    patterns = REFERENCES.get(protocol.partition("@")[0], USUAL)
    names = sorted(systems)
    return next((name for one in patterns for name in names if fnmatchcase(name, one)), "")
