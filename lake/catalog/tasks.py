"""The tasks: what is searched, with which query, and how equal scores are ordered."""

from __future__ import annotations

from lake.catalog import benchmarks
from lake.catalog.task import Task
from lake.declarations import discover

TASKS: dict[str, Task] = discover(benchmarks, Task, by_name=False)
"""Every task by name; a benchmark's first is what a file answers that names none."""


def query_rules(benchmark: str) -> list[str]:
    """The query rules that the tasks of a declared benchmark name."""
    return sorted({task.query for task in TASKS.values() if task.benchmark == benchmark})
