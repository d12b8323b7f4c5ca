"""What a task asks of a lake: its items part by part, with their gold and their pools."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from evaluate.tasks import Task
from lake.errors import Exit, GoldspanError
from lake.fingerprint import fingerprint
from lake.sampling import stratified
from lake.store import Lake

SELECTABLE = ("subset", "split", "level", "context", "difficulty", "language", "repo", "source")
"""The columns of `items` that `--config` may pick by."""


@dataclass(frozen=True)
class Selection:
    """Which items are asked.

    Attributes:
        where: Columns of `items` with the value that is asked.
        limit: At most so many items of each part, a seeded sample stratified by repository.
    """

    where: tuple[tuple[str, str], ...] = ()
    limit: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return not self.where and self.limit is None

    def of(self, items: pl.DataFrame) -> pl.DataFrame:
        """The selected of some items."""
        for column, value in self.where:
            items = items.filter(pl.col(column) == value)
        return items if self.limit is None else stratified(items, self.limit)

    def said(self) -> dict[str, object]:
        """For fingerprints and for the run's parameters: what is not the default."""
        return {**dict(self.where), **({} if self.limit is None else {"limit": self.limit})}


@dataclass(frozen=True)
class Asked:
    """One part of a benchmark's items as a task asks them.

    Attributes:
        part: The part's name, in `items` and in every table made from it.
        items: The selected scorable items; `pool_id` is the task's.
        gold: Their gold spans, under every rule.
        stamp: What the part, its gold and its pools were made from.
        n_unscorable: How many selected items cannot be scored.
    """

    part: str
    items: pl.DataFrame
    gold: pl.DataFrame
    stamp: str
    n_unscorable: int

    @cached_property
    def pool_ids(self) -> pl.Series:
        """The pools they search."""
        return self.items["pool_id"].unique().sort()

    def gold_of(self, rule: str) -> pl.DataFrame:
        """The gold spans under one rule."""
        return self.gold.filter(pl.col("gold") == rule)


@dataclass(frozen=True)
class Edition:
    """Which data of a benchmark a lake holds.

    Attributes:
        label: `sample`, `mined`, …; empty for the published data.
        limit: Where ingest took a sample only: of how many items.
    """

    label: str
    limit: int | None


def edition(lake: Lake, benchmark: str) -> Edition:
    """Read what the benchmark's own row says.

    Raises:
        GoldspanError: The lake does not hold the benchmark.
    """
    part = lake.part("benchmarks", benchmark)
    if part is None:
        raise _nothing(lake, benchmark)
    parameters = json.loads(lake.scan_parts([part], "benchmarks").select("parameters").collect().item())
    return Edition(parameters["label"], parameters["limit"])


def asked_of(lake: Lake, task: Task, selection: Selection) -> Iterator[Asked]:
    """The parts of a benchmark's items that a task asks; parts of which nothing is left are passed over.

    Raises:
        GoldspanError: The lake holds no items of the benchmark.
    """
    parts = lake.parts("items", benchmark=task.benchmark)
    if not parts:
        raise _nothing(lake, task.benchmark)
    pools = [
        (part.name, part.fingerprint) for part in lake.parts("files") if part.name.partition(".")[0] == task.benchmark
    ]
    for part in parts:
        items = lake.scan_parts([part], "items").collect()
        if task.pool_prefix:
            known = lake.scan("files").select("pool_id").unique().collect()["pool_id"]
            items = items.with_columns(pool_id=pl.lit(f"{task.pool_prefix}/") + pl.col("repo"))
            items = items.filter(pl.col("pool_id").is_in(known.implode()), pl.col("subset").is_in(task.subsets))
        items = selection.of(items)
        scorable = items.filter("scorable")
        if items.is_empty():
            continue
        gold_part = lake.part("gold_spans", part.name, benchmark=task.benchmark)
        gold = lake.scan_parts([gold_part] if gold_part else [], "gold_spans")
        gold = gold.join(scorable.lazy().select("item_id"), on="item_id", how="semi")
        stamp = fingerprint(part.fingerprint, gold_part.fingerprint if gold_part else "", pools, selection.said())
        yield Asked(part.name, scorable, gold.collect(), stamp, items.height - scorable.height)


def _nothing(lake: Lake, benchmark: str) -> GoldspanError:
    message = f"the lake holds no items of {benchmark}"
    return GoldspanError(message, where=str(lake.root), hint="First: make ingest", code=Exit.MISSING)
