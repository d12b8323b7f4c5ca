"""The tasks and protocols of a lake: the declared ones, and copies of them named after each own benchmark.

The kind of a benchmark is the declared one whose tasks and protocols it uses: `like` in table `benchmarks`, or itself.
"""

import functools
from collections.abc import Mapping

import polars as pl

from lake.catalog import benchmarks
from lake.catalog.protocol import Protocol, Task
from lake.declarations import discover
from lake.errors import lookup, unknown_name
from lake.store import Lake

TASKS: dict[str, Task] = discover(benchmarks, Task, by_name=False)
"""Every declared task by name; a file that names no task is imported for its benchmark's first one."""


@functools.cache
def protocols() -> Mapping[str, Protocol]:
    """Every declared protocol by name."""
    return discover(benchmarks, Protocol)


def protocols_of(task: Task) -> list[Protocol]:
    """The protocols that score a task's runs, sorted by name; for own data none that only reproduces numbers."""
    declared = [protocol for protocol in protocols().values() if task.rules in protocol.tasks]
    if not task.like:
        return declared
    return [protocol.under(task.benchmark) for protocol in declared if not protocol.parity_only]


def own_kinds(lake: Lake) -> Mapping[str, str]:
    """The own benchmarks of a lake: name → kind."""
    rows = lake.scan("benchmarks").filter(pl.col("like") != "").select("name", "like").collect()
    return dict(sorted(rows.iter_rows()))


def known_tasks(lake: Lake) -> dict[str, Task]:
    """Every task by name, including those of own benchmarks."""
    kinds = own_kinds(lake).items()
    own = [task.under(name) for name, kind in kinds for task in TASKS.values() if task.benchmark == kind]
    return {**TASKS, **{task.name: task for task in own if protocols_of(task)}}


def tasks_of(lake: Lake, benchmark: str) -> list[Task]:
    """The tasks of one benchmark."""
    return [task for task in known_tasks(lake).values() if task.benchmark == benchmark]


def known_protocols(lake: Lake) -> dict[str, Protocol]:
    """Every protocol by name, including those of own benchmarks."""
    own = [protocol for task in known_tasks(lake).values() if task.like for protocol in protocols_of(task)]
    return {**protocols(), **{protocol.name: protocol for protocol in own}}


def protocols_called(lake: Lake, name: str, benchmark: str = "") -> list[Protocol]:
    """The protocol with this full name, or all with this part after `@` (`docs-v1`), in one benchmark or in any."""
    every = known_protocols(lake)
    known = [full for full, protocol in every.items() if not benchmark or protocol.benchmark == benchmark]
    by_short = {full: full.partition("@")[2] for full in known}
    if name not in {*every, *by_short.values()}:
        raise unknown_name(name, "protocol", {*known, *by_short.values()})
    return [every[full] for full, short in by_short.items() if short == name] or [every[name]]


def check_benchmark(lake: Lake, name: str) -> None:
    """Raise an error with a suggestion ("did you mean") if no benchmark has this name."""
    lookup(name, "benchmark", {task.benchmark: task for task in known_tasks(lake).values()})
