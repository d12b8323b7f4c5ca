"""What systems are held against: references, fixed before any number is known, and baselines that none may beat."""

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


def reference_of(kind: str, systems: Iterable[str]) -> str:
    """The system that a kind of benchmark declares as reference, of those that there are; empty for none."""
    patterns = REFERENCES.get(kind, USUAL)
    names = sorted(systems)
    return next((name for pattern in patterns for name in names if fnmatchcase(name, pattern)), "")


_OWN_FILE = (
    "No system is above own-file: gold lies at the hole in the query's own file, where own-file begins and walks back "
    "without a search."
)
_RANDOM = (
    "No system is above random: what these queries and their gold have in common tells gold no better from the rest of "
    "the pool than chance does."
)
_IMPORTS = (
    "No system is above random: the query's imports name every candidate alike, and its code names those used "
    "before, so words in common point to them rather than to the one that is used next."
)
_REASONS: Mapping[str, Mapping[str, str]] = {
    "own-file": {"": _OWN_FILE},
    "random": {"": _RANDOM, "repobench-r/chunks": _IMPORTS},
}
"""Baseline → task → sentence; the one of no task is for all others. The oracle is above every retriever anyway."""


def unbeaten_baselines(
    task: str, rows: Iterable[tuple[str, bool, float | None]], *, lower_is_better: bool = False
) -> list[str]:
    """A sentence for each baseline that no system of a table is above; none where the table has no system.

    `task` is the declared task whose rules the table's has; a row is a retriever, whether it is a baseline, its number.
    """
    sign = -1 if lower_is_better else 1
    numbers = [(name, is_baseline, sign * value) for name, is_baseline, value in rows if value is not None]
    systems = [value for _, is_baseline, value in numbers if not is_baseline]
    if not systems:
        return []
    unbeaten = {name for name, is_baseline, value in numbers if is_baseline and value >= max(systems)}
    return [by_task.get(task, by_task[""]) for name, by_task in _REASONS.items() if name in unbeaten]
