"""What a task asks of a lake: its items part by part, with their gold and their pools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import polars as pl

from lake.catalog.task import Task
from lake.errors import Exit, GoldspanError
from lake.fingerprint import fingerprint
from lake.naming import BLANK_GOLD, SEARCHED
from lake.searched import with_pools_of
from lake.selection import Where, drawn_ids, of_where, said
from lake.store import Lake, Part
from lake.tables import table
from lake.text import counted

LONG_TEXTS = ("patch", "target_text")
"""The columns of `items` that hold whole texts: they are read part by part, when a part is ranked or scored."""


@dataclass(frozen=True)
class Selection:
    """Which items are asked.

    Attributes:
        where: Columns of `items` with the values that are asked.
        limit: At most so many of those that can be scored, a seeded sample stratified by repository.
    """

    where: Where = ()
    limit: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return not self.where and self.limit is None

    @classmethod
    def of_run(cls, selection: Iterable[Mapping[str, str]] | None, limit: int | None) -> Selection:
        """What a stored run was asked, as two columns of its row have it."""
        return cls(tuple((one["column"], one["value"]) for one in selection or ()), limit)

    def said(self) -> dict[str, object]:
        """For fingerprints and for the run's parameters: what is not the default."""
        return {**said(self.where), **({} if self.limit is None else {"limit": self.limit})}


@dataclass(frozen=True)
class ItemPart:
    """One part of a benchmark's items as a task asks them. Long texts are read when they are first looked at.

    Attributes:
        lake: Where it is read from.
        task: Who asks.
        part: The part's name, in `items` and in every table made from it.
        described: The selected scorable items without their long texts; `pool_id` is the task's.
        fingerprint: What the part, its gold and its pools were made from.
        n_unscorable: How many selected items cannot be scored.
        n_blank: How many of those are not asked because their gold is nothing but white space.
        files: The parts of table `files` that hold their pools; None where only all of them surely do.
    """

    lake: Lake
    task: Task
    part: str
    described: pl.DataFrame
    fingerprint: str
    n_unscorable: int
    n_blank: int
    files: list[Part] | None

    @property
    def benchmark(self) -> str:
        """The benchmark."""
        return self.task.benchmark

    @cached_property
    def items(self) -> pl.DataFrame:
        """The selected scorable items, with their texts."""
        pools = self.described.lazy().select("item_id", "pool_id")
        rows = self._of_the_part("items").drop("pool_id").join(pools, on="item_id", maintain_order="left")
        return rows.select(*table("items").columns).collect()

    @cached_property
    def queries(self) -> pl.DataFrame:
        """The selected scorable items, each with the `text` that is searched for.

        Raises:
            GoldspanError: The lake holds no query of one.
        """
        texts = self._of_the_part("queries", query=self.task.query).select("item_id", "text")
        rows = self.described.lazy().join(texts, on="item_id", how="left", maintain_order="left").collect()
        if without := rows["text"].null_count():
            message = f"the lake holds no query {self.task.query!r} of {counted(without, 'item')} of {self.part}"
            raise GoldspanError(message, where=str(self.lake.root), hint="First: make ingest", code=Exit.MISSING)
        return rows

    @cached_property
    def gold(self) -> pl.DataFrame:
        """Their gold spans, under every rule."""
        items = self.described.lazy().select("item_id")
        spans = self._scan("gold_spans", self.part)
        return spans.join(items, on="item_id", how="semi", maintain_order="left").collect()

    @cached_property
    def pool_ids(self) -> pl.Series:
        """The pools they search."""
        return self.described["pool_id"].unique().sort()

    def gold_of(self, rule: str) -> pl.DataFrame:
        """The gold spans under one rule."""
        return self.gold.filter(pl.col("gold") == rule)

    def _of_the_part(self, name: str, **folders: str) -> pl.LazyFrame:
        return self._scan(name, self.part, **folders)

    def _scan(self, name: str, part: str, **folders: str) -> pl.LazyFrame:
        return self.lake.scan_part(name, part, benchmark=self.benchmark, **folders)


class Edition(NamedTuple):
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
    return Edition(*lake.scan_parts([part], "benchmarks").select("label", "limit").collect().row(0))


def asked_of(lake: Lake, task: Task, selection: Selection, part: str | None = None) -> Iterator[ItemPart]:
    """The parts of a benchmark's items that a task asks, or the one of a name; those left without items not at all.

    Raises:
        GoldspanError: The lake holds no items of the benchmark, or no gold of them.
    """
    parts = lake.parts("items", benchmark=task.benchmark)
    if not parts:
        raise _nothing(lake, task.benchmark)
    drawn = drawn_ids(lake, task, selection.where, selection.limit)
    for stored in parts:
        if part not in (None, stored.name):
            continue
        short = [column for column in table("items").columns if column not in LONG_TEXTS]
        stored_items = with_pools_of(lake, task, lake.scan_parts([stored], "items").select(short))
        items = of_where(stored_items, selection.where).collect()
        if drawn is not None:
            items = items.filter(pl.col("item_id").is_in(drawn.implode()))
        scorable = items.filter("scorable")
        n_blank = 0
        if not task.ranks_blank:
            is_blank = pl.col("gold_flags").list.contains(BLANK_GOLD).fill_null(value=False)
            n_blank = scorable.filter(is_blank).height
            scorable = scorable.filter(~is_blank)
        if items.is_empty():
            continue
        gold = lake.part("gold_spans", stored.name, benchmark=task.benchmark)
        if gold is None:
            # Without it every score would be 0.
            raise _nothing(lake, task.benchmark, f"gold_spans for {stored.name}")
        files = _files_of_its_own(lake, task, stored.name, scorable["pool_id"])
        pools = _files_of_all(lake, task) if files is None else files
        stamp = fingerprint(
            stored.fingerprint,
            gold.fingerprint,
            [(one.name, one.fingerprint) for one in pools],
            selection.said(),
            # Which are drawn depends on the other parts too.
            [] if drawn is None else scorable["item_id"].to_list(),
        )
        n_unscorable = items.height - scorable.height
        yield ItemPart(lake, task, stored.name, scorable, stamp, n_unscorable, n_blank, files)


def _files_of_its_own(lake: Lake, task: Task, part: str, pool_ids: pl.Series) -> list[Part] | None:
    """The part of `files` that was read with a part of the items, where it holds all their pools."""
    own = next((stored for stored in _files_of_all(lake, task) if stored.name == part), None)
    if own is None:
        return None
    held = lake.scan_parts([own], "files").select("pool_id").unique().collect()["pool_id"]
    return [own] if pool_ids.is_in(held.implode()).all() else None


def _files_of_all(lake: Lake, task: Task) -> list[Part]:
    return [part for kind in SEARCHED for part in lake.parts("files", benchmark=task.benchmark, kind=kind)]


def _nothing(lake: Lake, benchmark: str, what: str = "items") -> GoldspanError:
    message = f"the lake holds no {what} of {benchmark}"
    return GoldspanError(message, where=str(lake.root), hint="First: make ingest", code=Exit.MISSING)
