"""What a run made elsewhere answers: a task, and the items of the lake that the task asks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from lake.benchmarks import tasks_of
from lake.catalog.task import AnswerKind, Task
from lake.errors import Exit, GoldspanError, unknown_name
from lake.make import made_from
from lake.pools import with_pools_of
from lake.selection import Where, drawn_ids, of_where, with_items
from lake.store import Lake

_COLUMNS = (
    "item_id", "upstream_id", "subset", "repo", "pool_id", "target_path", "target_line", "query_line_start",
    "target_text", "scorable",
)  # fmt: skip


@dataclass(frozen=True)
class ItemPart:
    """One part of a benchmark's items as a task asks them.

    Attributes:
        name: Its name, in `items` and in all that is made from it.
        fingerprint: What it and its pools were made from.
        items: The items; `pool_id` and `query_sha256` are the task's.
    """

    name: str
    fingerprint: str
    items: pl.DataFrame

    @cached_property
    def scorable(self) -> pl.DataFrame:
        """Those that can be scored in this lake, in the order of their ids."""
        return self.items.filter("scorable").sort("item_id")


def task_named(lake: Lake, benchmark: str, name: str, kind: AnswerKind) -> Task:
    """A benchmark's task by its name; without a name the first that such a file answers.

    Raises:
        GoldspanError: There is no such task, or it is answered by files of another kind.
    """
    known = {task.name: task for task in tasks_of(lake, benchmark)}
    if name and name not in known:
        raise unknown_name(name, "task", known)
    answered = [task for task in known.values() if kind in task.answered_by]
    if not name and not answered:
        message = f"no task of {benchmark} is answered by a {kind}"
        raise GoldspanError(message, hint=f"Name one: --task {' or '.join(sorted(known))}", code=Exit.USAGE)
    task = known[name] if name else answered[0]
    if kind not in task.answered_by:
        message = f"the task {task.name} is answered by a {' or '.join(task.answered_by)}; this file holds a {kind}"
        raise GoldspanError(message, hint="Name another with --task, or leave it out.", code=Exit.USAGE)
    return task


def item_parts(lake: Lake, task: Task, where: Where = (), limit: int | None = None) -> list[ItemPart]:
    """The items a task asks, or those of them that are selected, drawn as `evaluate` draws them, part by part.

    Raises:
        GoldspanError: The lake holds none.
    """
    benchmark = task.benchmark
    if where:
        with_items(lake, [benchmark], where)
    selected = of_where(lake.scan("items", benchmark=benchmark), where).select("item_id")
    if (drawn := drawn_ids(lake, task, where, limit)) is not None:
        selected = selected.filter(pl.col("item_id").is_in(drawn.implode()))
    parts, pools = [], lake.parts("files", benchmark=benchmark)
    for part in lake.parts("items", benchmark=benchmark):
        queries = lake.scan_part("queries", part.name, benchmark=benchmark, query=task.query)
        queries = queries.select("item_id", query_sha256="sha256")
        items = lake.scan_parts([part], "items").select(_COLUMNS)
        items = items.join(queries, on="item_id", how="left", maintain_order="left")
        items = items.join(selected, on="item_id", how="semi", maintain_order="left") if where or limit else items
        asked = with_pools_of(lake, task, items).collect()
        if asked.height:
            parts.append(ItemPart(part.name, made_from([part, *pools], [task.pool_prefix, task.subsets]), asked))
    if not parts:
        message = f"the lake holds no items of {benchmark} that {task.name} asks"
        raise GoldspanError(message, where=str(lake.root), hint="First: make ingest", code=Exit.MISSING)
    return parts


def questions_of(lake: Lake, task: Task) -> dict[str, str]:
    """Item → what a task asks of it."""
    stored = lake.scan("queries", benchmark=task.benchmark, query=task.query).select("item_id", "text")
    return dict(stored.collect().iter_rows())
