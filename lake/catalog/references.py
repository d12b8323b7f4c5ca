"""References that systems are compared with, fixed before any number is known."""

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


def reference_of(kind: str, systems: Iterable[str]) -> str:
    """The system that a kind of benchmark declares as reference, of those that there are; empty for none."""
    patterns = REFERENCES.get(kind, USUAL)
    names = sorted(systems)
    return next((name for pattern in patterns for name in names if fnmatchcase(name, pattern)), "")
