"""Where the gold of every run went, kept beside its scores; made of what the lake holds, unless it is current."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from evaluate.batches import batches, rows_of
from evaluate.score.contexts.material import load_files
from evaluate.score.ledger import is_kept, ledger_of_candidates, ledger_of_lines
from evaluate.selection import ItemPart
from evaluate.systems import Run
from lake.catalog.protocol import Protocol
from lake.catalog.protocols import protocols_of
from lake.make import target_of
from lake.pools import files_of
from lake.relevance import RELEVANCE
from lake.store import Part
from lake.tables import table


def keep_ledgers(asked: Sequence[ItemPart], systems: pl.DataFrame) -> None:
    """Make the ledgers of a task's scored runs under every protocol that has such; a chunker's runs share a part.

    `asked` are all parts of the items; of the systems run_id, chunker and is_expected are read.
    """
    lake, task = asked[0].lake, asked[0].task
    by_chunker: dict[str | None, list[Run]] = {}
    for run_id, chunker, is_chance in systems.select("run_id", "chunker", "is_expected").iter_rows():
        by_chunker.setdefault(chunker, []).append(Run(run_id, chunker=chunker, is_chance=is_chance))
    for protocol in filter(is_kept, protocols_of(task)):
        kept = set[str]()
        for part in asked:
            searched = _Searched(part, protocol)
            for runs in by_chunker.values():
                kept.update(_keep(searched, runs))
        for stored in lake.parts("ledger", benchmark=task.benchmark, protocol=protocol.name):
            if stored.name.startswith(f"{task.name.replace('/', '.')}--") and stored.name not in kept:
                lake.remove(stored)


_CODE = (ledger_of_lines, load_files, files_of)


@dataclass
class _Searched:
    """The gold files of a part of the items, and the chunks that a chunker cuts them into."""

    asked: ItemPart
    protocol: Protocol

    @cached_property
    def gold(self) -> pl.DataFrame:
        return self.asked.gold_of(self.protocol.gold).select("item_id", "path", "line_start", "line_end")

    @cached_property
    def files(self) -> pl.DataFrame:
        """item_id, pool_id, path, sha256, n_lines of the gold files that are there."""
        pools = self.asked.items.select("item_id", "pool_id")
        named = self.gold.select("item_id", "path").unique().join(pools, on="item_id")
        held = load_files(self.asked.lake, self.asked.task.benchmark, named.select("pool_id", "path").unique().lazy())
        n_lines = _of(self.asked.lake.scan("blobs"), held).select("sha256", "n_lines").collect()
        return named.join(held, on=["pool_id", "path"]).join(n_lines, on="sha256")

    def chunks(self, chunker: str | None) -> pl.DataFrame:
        """item_id, path, line_start, line_end of the chunks of those that are searched; without one, all lines."""
        lake = self.asked.lake
        searched = files_of(lake, self.files["pool_id"], self.asked.files).select("pool_id", "path").collect()
        held = self.files.join(searched, on=["pool_id", "path"], how="semi")
        if chunker is None:
            return held.select("item_id", "path", line_start=pl.lit(0, pl.Int64), line_end="n_lines")
        cut = _of(lake.scan("chunks", chunker=chunker), self.files).filter(pl.col("n_nws") > 0)
        spans = cut.select("sha256", "line_start", "line_end").collect()
        return held.select("item_id", "path", "sha256").join(spans, on="sha256").drop("sha256")


def _of(rows: pl.LazyFrame, files: pl.DataFrame) -> pl.LazyFrame:
    """The rows of some files' contents."""
    return rows.filter(pl.col("sha256").is_in(files["sha256"].unique().implode()))


def _keep(searched: _Searched, runs: Sequence[Run]) -> Iterator[str]:
    """The name of the part that holds the ledgers of runs over the chunks of one chunker, if any is scored."""
    asked, protocol, lake = searched.asked, searched.protocol, searched.asked.lake
    folders, read, scored = {"benchmark": asked.task.benchmark, "protocol": protocol.name}, list[Part](), list[Run]()
    for run in runs:
        if scores := lake.part("scores", asked.part, run_id=run.run_id, **folders):
            read += [
                scores,
                *(part for name in ("hits", "run_items") for part in asked.parts_of(name, run_id=run.run_id)),
            ]
            scored.append(run)
    if not scored:
        return
    chunker = scored[0].chunker
    cut = lake.part("chunkers", chunker) if chunker else None
    name = f"{asked.task.name.replace('/', '.')}--{chunker or 'uncut'}--{asked.part}"
    inputs = [*read, cut, asked]
    ledger = target_of(
        lake,
        "ledger",
        part=name,
        inputs=inputs,
        parameters=[run.run_id for run in scored if run.is_chance],
        code=_CODE,
        **folders,
    )
    ledger.make(lambda: pl.concat(list(_ledgers(searched, scored))))
    yield name


def _ledgers(searched: _Searched, runs: Sequence[Run]) -> Iterator[pl.DataFrame]:
    """Rows of the table, of some runs at a time."""
    asked, protocol = searched.asked, searched.protocol
    by_lines = RELEVANCE[protocol.relevance].by_lines
    lines = {"files": searched.files.select("item_id", "path", "n_lines").lazy()} if by_lines else {}
    lines |= {"chunks": searched.chunks(runs[0].chunker).lazy()} if by_lines else {}
    for batch in batches(runs, "hits", [asked]):
        given = {
            "scores": rows_of(asked, "scores", batch, protocol=protocol.name),
            "hits": rows_of(asked, "hits", batch),
            "answered": rows_of(asked, "run_items", batch),
            "gold": searched.gold.lazy(),
        }
        if by_lines:
            chance = [run.run_id for run in batch if run.is_chance]
            found = ledger_of_lines(protocol, **given, **lines, chance=chance)
        else:
            found = ledger_of_candidates(protocol, **given)
        yield found.with_columns(protocol=pl.lit(protocol.name)).select(*table("ledger").columns).collect()
