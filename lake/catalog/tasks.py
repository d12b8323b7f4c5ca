"""The tasks: what is searched, with which query, and how equal scores are ordered."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from lake.catalog import benchmarks
from lake.catalog.task import Task
from lake.declarations import discover

QUERIES: Mapping[str, pl.Expr] = {
    "prompt": pl.col("prompt"),
    "last-3-lines": pl.col("code").str.split("\n").list.tail(3).list.join("\n"),
    "imports-and-code": pl.format("{}\n\n{}", "import_statement", "code"),
    "problem-statement": pl.col("problem_statement"),
}
"""Query rules: what of an item's row is searched for."""

TASKS: dict[str, Task] = discover(benchmarks, Task, by_name=False)
"""Every task by name; a benchmark's first is what a file answers that names none."""


def tasks_of(benchmark: str) -> list[Task]:
    """The tasks that ask a benchmark's items."""
    return [task for task in TASKS.values() if task.benchmark == benchmark]
