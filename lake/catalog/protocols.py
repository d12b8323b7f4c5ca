"""The declared tasks and protocols by name: what is searched with which query, and the sealed rules that score runs."""

import functools
from collections.abc import Mapping

from lake.catalog import benchmarks
from lake.catalog.protocol import Protocol, Task
from lake.declarations import discover

TASKS: dict[str, Task] = discover(benchmarks, Task, by_name=False)
"""Every task by name; a benchmark's first is what a file answers that names none."""


def query_rules(benchmark: str) -> list[str]:
    """The query rules that the tasks of a declared benchmark name."""
    return sorted({task.query for task in TASKS.values() if task.benchmark == benchmark})


@functools.cache
def protocols() -> Mapping[str, Protocol]:
    """Every declared protocol by name."""
    return discover(benchmarks, Protocol)


def protocols_of(task: Task) -> list[Protocol]:
    """Every protocol that scores the runs of a task, in the order of the names.

    Own data is not scored by what only reproduces published numbers.
    """
    declared = [protocol for protocol in protocols().values() if task.rules in protocol.tasks]
    if not task.like:
        return declared
    return [protocol.under(task.benchmark) for protocol in declared if not protocol.parity_only]
