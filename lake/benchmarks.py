"""The tasks and protocols of a lake: those that are declared, and under its own name those of each own benchmark.

A benchmark has a name, under which its rows stand, and a kind: the declared benchmark by whose rules it is asked and
scored. Own data says its kind in column `like` of table `benchmarks`; a declared benchmark is its own kind.
"""

from collections.abc import Mapping

import polars as pl

from lake.catalog.protocol import Protocol, Task
from lake.catalog.protocols import TASKS, protocols, protocols_of
from lake.errors import lookup, unknown_name
from lake.store import Lake


def own_kinds(lake: Lake) -> Mapping[str, str]:
    """Each own benchmark of a lake, by name → its kind."""
    rows = lake.scan("benchmarks").filter(pl.col("like") != "").select("name", "like").collect()
    return dict(sorted(rows.iter_rows()))


def known_tasks(lake: Lake) -> dict[str, Task]:
    """Every task by name; a benchmark's first is what a file answers that names none."""
    kinds = own_kinds(lake).items()
    own = [task.under(name) for name, kind in kinds for task in TASKS.values() if task.benchmark == kind]
    return {**TASKS, **{task.name: task for task in own if protocols_of(task)}}


def tasks_of(lake: Lake, benchmark: str) -> list[Task]:
    """The tasks that ask a benchmark's items."""
    return [task for task in known_tasks(lake).values() if task.benchmark == benchmark]


def known_protocols(lake: Lake) -> dict[str, Protocol]:
    """Every protocol by name."""
    own = [protocol for task in known_tasks(lake).values() if task.like for protocol in protocols_of(task)]
    return {**protocols(), **{protocol.name: protocol for protocol in own}}


def protocols_called(lake: Lake, name: str, benchmark: str = "") -> list[Protocol]:
    """The protocol of a name, or of a benchmark or of all those that are called so behind their `@`: `docs-v1`."""
    every = known_protocols(lake)
    known = [protocol for protocol in every.values() if not benchmark or protocol.benchmark == benchmark]
    short = [protocol for protocol in known if protocol.name.partition("@")[2] == name]
    if name in every or short:
        return short or [every[name]]
    names = {protocol.name for protocol in known}
    raise unknown_name(name, "protocol", names | {full.partition("@")[2] for full in names})


def check_benchmark(lake: Lake, name: str) -> None:
    """Raise "did you mean" where a name is no benchmark's."""
    lookup(name, "benchmark", {task.benchmark: task for task in known_tasks(lake).values()})
