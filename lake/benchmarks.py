"""The tasks and protocols of a lake: the declared ones, and copies of them named after each own benchmark.

A benchmark has a name, which its rows carry, and a kind: the declared benchmark whose tasks and protocols it uses.
Column `like` of table `benchmarks` holds the kind of own data; a declared benchmark is its own kind.
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


def query_rules(benchmark: str) -> list[str]:
    """The names of the query rules that a declared benchmark's tasks use, sorted."""
    return sorted({task.query for task in TASKS.values() if task.benchmark == benchmark})


@functools.cache
def protocols() -> Mapping[str, Protocol]:
    """Every declared protocol by name."""
    return discover(benchmarks, Protocol)


def protocols_of(task: Task) -> list[Protocol]:
    """The protocols that score a task's runs, sorted by name.

    Own data is not scored by protocols that only reproduce published numbers.
    """
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
    known = [protocol for protocol in every.values() if not benchmark or protocol.benchmark == benchmark]
    short = [protocol for protocol in known if protocol.name.partition("@")[2] == name]
    if name in every or short:
        return short or [every[name]]
    names = {protocol.name for protocol in known}
    raise unknown_name(name, "protocol", names | {full.partition("@")[2] for full in names})


def check_benchmark(lake: Lake, name: str) -> None:
    """Raise an error with a suggestion ("did you mean") if no benchmark has this name."""
    lookup(name, "benchmark", {task.benchmark: task for task in known_tasks(lake).values()})
