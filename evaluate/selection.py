"""The items of a task, part by part, with their gold and their pools."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from lake.catalog.protocol import Task
from lake.fingerprint import fingerprint
from lake.pools import Where, by_column, drawn_ids, of_where, with_pools_of
from lake.store import Lake, Part, numbered, parts_holding
from lake.tables import BLANK_GOLD, table
from lake.text import counted

ITEMS_AT_ONCE = 2_000
"""The approximate number of items that are ranked and scored together; smaller ingested parts share a group."""
FILES_AT_ONCE = 100_000
"""The approximate number of files in the pools of a group of several parts."""


@dataclass(frozen=True)
class Selection:
    """A selection of items: those with given values in given columns, and at most `limit` of the scorable ones."""

    where: Where = ()
    limit: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all items are selected."""
        return not self.where and self.limit is None

    @classmethod
    def of_run(cls, selection: Iterable[Mapping[str, str]] | None, limit: int | None) -> "Selection":
        """The selection of a stored run, from the two columns of its row."""
        return cls(tuple((pair["column"], pair["value"]) for pair in selection or ()), limit)

    def parameters(self) -> dict[str, object]:
        """The settings that are not the default, for fingerprints and the run's parameters."""
        wanted = {column: values[0] if len(values) == 1 else values for column, values in by_column(self.where).items()}
        return {**wanted, **({} if self.limit is None else {"limit": self.limit})}


@dataclass(frozen=True)
class ItemPart:
    """Some items of a benchmark under a task: the selected scorable ones, with the task's `pool_id`.

    `stored` names the parts of table `items` that hold them. Of the `n_unscorable` others, `n_blank` have blank gold.
    """

    lake: Lake
    task: Task
    stored: Sequence[str]
    items: pl.DataFrame
    fingerprint: str
    n_unscorable: int
    n_blank: int

    @property
    def part(self) -> str:
        """The name of a part that is made from these items."""
        return part_name(self.stored)

    def parts_of(self, name: str, **folders: str) -> list[Part]:
        """The parts of a table that hold rows of these items; ingested tables keep the parts that they came in."""
        is_made_here = table(name).made_by == "evaluate"
        names = [self.part] if is_made_here else list(dict.fromkeys([self.part, *self.stored]))
        parts = [self.lake.part(name, part, benchmark=self.task.benchmark, **folders) for part in names]
        return [part for part in parts if part]

    @cached_property
    def queries(self) -> pl.DataFrame:
        """The items, each with its query `text`; a text missing from the lake is an error."""
        texts = self.scan("queries", query=self.task.query).select("item_id", "text")
        rows = self.items.lazy().join(texts, on="item_id", how="left", maintain_order="left").collect()
        if without := rows["text"].null_count():
            items = f"{counted(without, 'item')} of {self.part}"
            raise self.lake.lacks(f"the lake lacks the query {self.task.query!r} of {items}")
        return rows

    @cached_property
    def pool_ids(self) -> pl.Series:
        """The ids of the pools that the items search."""
        return self.items["pool_id"].unique().sort()

    def gold_of(self, rule: str) -> pl.DataFrame:
        """The items' gold spans under one gold rule."""
        return self._gold[rule]

    @cached_property
    def _gold(self) -> Mapping[str, pl.DataFrame]:
        items = self.items.lazy().select("item_id")
        rows = self.scan("gold_spans").join(items, on="item_id", how="semi", maintain_order="left").collect()
        by_rule = rows.partition_by("gold", maintain_order=True)
        return defaultdict(rows.clear, {of_rule["gold"][0]: of_rule for of_rule in by_rule})

    def scan(self, name: str, **folders: str) -> pl.LazyFrame:
        """The rows of a table in the parts that hold these items."""
        return self.lake.scan_parts(self.parts_of(name, **folders), name)

    def of_runs(self, name: str, run_ids: Sequence[str], **folders: str) -> pl.LazyFrame:
        """The rows of a table in the parts that hold what some runs have of these items."""
        return self.lake.scan_parts(parts_of_runs([self], name, run_ids, **folders), name)


def parts_of_runs(item_parts: Sequence[ItemPart], name: str, run_ids: Sequence[str], **folders: str) -> list[Part]:
    """The parts of a table that hold what some runs have of some items."""
    return [part for each in item_parts for run_id in run_ids for part in each.parts_of(name, run_id=run_id, **folders)]


def edition(lake: Lake, benchmark: str) -> tuple[str, Selection]:
    """The label of a benchmark's data (`sample`, …; empty if as published) and all its items; an error without any."""
    part = lake.part("benchmarks", benchmark)
    if part is None:
        raise lake.lacks(f"the lake holds no items of {benchmark}")
    label, limit = lake.scan_parts([part], "benchmarks").select("label", "limit").collect().row(0)
    return label, Selection((), limit)


def part_groups(lake: Lake, benchmark: str) -> list[tuple[str, ...]]:
    """The names of the parts of a benchmark's items, in groups that are ranked and scored together."""
    groups: list[tuple[str, ...]] = []
    n_items = n_files = 0
    parts = lake.parts("items", benchmark=benchmark)
    every = numbered(lake, "items", parts, lambda items: items.select("pool_id")).lazy()
    of_pools = lake.scan("pools", benchmark=benchmark).select("pool_id", "n_files").unique("pool_id")
    by_pool = every.group_by("part", "pool_id").len("n_items").join(of_pools, on="pool_id", how="left")
    sizes = by_pool.group_by("part").agg(pl.col("n_items", "n_files").sum()).collect().rows_by_key("part", unique=True)
    for number, part in enumerate(parts):
        items, files = sizes.get(number, (0, 0))
        n_items, n_files = n_items + items, n_files + files
        if groups and n_items <= ITEMS_AT_ONCE and n_files <= FILES_AT_ONCE:
            groups[-1] += (part.name,)
        else:
            groups.append((part.name,))
            n_items, n_files = items, files
    if not groups:
        raise lake.lacks(f"the lake holds no items of {benchmark}")
    return groups


def part_name(stored: Sequence[str]) -> str:
    """The name of a part that is made from some ingested parts."""
    return stored[0] if len(stored) == 1 else f"{stored[0]}+{len(stored) - 1}"


def selected_parts(
    lake: Lake, task: Task, selection: Selection, groups: Sequence[Sequence[str]] | None = None
) -> Iterator[ItemPart]:
    """A benchmark's items under a task, one ItemPart per group; groups without selected items are left out."""
    drawn = drawn_ids(lake, task, selection.where, selection.limit)
    for names in part_groups(lake, task.benchmark) if groups is None else groups:
        parts = [part for part in lake.parts("items", benchmark=task.benchmark) if part.name in names]
        rows = with_pools_of(lake, task, lake.scan_parts(parts, "items"))
        items = of_where(rows, selection.where).collect()
        if drawn is not None:
            items = items.filter(pl.col("item_id").is_in(drawn.implode()))
        if items.is_empty():
            continue
        is_blank = pl.col("gold_flags").list.contains(BLANK_GOLD).fill_null(value=False) & (not task.ranks_blank)
        scorable = items.filter("scorable", ~is_blank)
        files = parts_holding(lake, "files", "pool_id", scorable["pool_id"], benchmark=task.benchmark)
        gold = [part for name in names if (part := lake.part("gold_spans", name, benchmark=task.benchmark))]
        if len(gold) < len(names):
            raise lake.lacks(f"the lake lacks gold_spans for some of {', '.join(names)} of {task.benchmark}")
        stamp = fingerprint(
            [part.fingerprint for part in parts],
            # Included because without gold every score would be 0.
            [part.fingerprint for part in gold],
            [(part.name, part.fingerprint) for part in files],
            selection.parameters(),
            # A sample depends on the other parts too.
            [] if drawn is None else scorable["item_id"].to_list(),
        )
        n_blank = int(items["scorable"].sum()) - scorable.height
        yield ItemPart(lake, task, names, scorable, stamp, items.height - scorable.height, n_blank)
