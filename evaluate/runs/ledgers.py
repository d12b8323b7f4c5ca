"""Where the gold of every run went, kept beside its scores; made of what the lake holds, unless it is current."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from evaluate.batches import batches, rows_of
from evaluate.rank.blobs import contents_of
from evaluate.score.contexts.material import load_files
from evaluate.score.ledger import is_kept, ledger_of_candidates, ledger_of_lines
from evaluate.selection import ItemPart
from evaluate.systems import Run
from lake.catalog.protocol import Protocol
from lake.catalog.protocols import protocols_of
from lake.make import target_of
from lake.pools import chunks_of, files_of
from lake.relevance import RELEVANCE
from lake.store import Part
from lake.tables import table


def keep_ledgers(item_parts: Sequence[ItemPart], systems: pl.DataFrame) -> None:
    """Make the ledgers of a task's scored runs under every protocol that has such; a chunker's runs share a part."""
    lake, task = item_parts[0].lake, item_parts[0].task
    by_chunker: dict[str | None, list[Run]] = {}
    for run_id, chunker, is_chance in systems.select("run_id", "chunker", "is_expected").iter_rows():
        by_chunker.setdefault(chunker, []).append(Run(run_id, chunker=chunker, is_chance=is_chance))
    for protocol in filter(is_kept, protocols_of(task)):
        kept = set[str]()
        for part in item_parts:
            searched = _Searched(part, protocol)
            kept |= {name for runs in by_chunker.values() if (name := _keep(searched, runs))}
        for stored in lake.parts("ledger", benchmark=task.benchmark, protocol=protocol.name):
            if stored.name.startswith(f"{task.name.replace('/', '.')}--") and stored.name not in kept:
                lake.remove(stored)


_CODE = (ledger_of_lines, load_files, files_of)


@dataclass
class _Searched:
    """The gold files of a part of the items, and the chunks that a chunker cuts them into."""

    item_part: ItemPart
    protocol: Protocol

    @cached_property
    def gold(self) -> pl.DataFrame:
        return self.item_part.gold_of(self.protocol.gold).select("item_id", "path", "line_start", "line_end")

    @cached_property
    def files(self) -> pl.DataFrame:
        """item_id, pool_id, path, sha256, n_lines of the gold files that are there."""
        pools = self.item_part.items.select("item_id", "pool_id")
        gold_files = self.gold.select("item_id", "path").unique().join(pools, on="item_id")
        held = load_files(self.item_part.lake, gold_files.select("pool_id", "path").unique())
        n_lines = contents_of(self.item_part.lake, held["sha256"], ["n_lines"])
        return gold_files.join(held, on=["pool_id", "path"]).join(n_lines, on="sha256")

    def chunks(self, chunker: str | None) -> pl.DataFrame:
        """item_id, path, line_start, line_end of the chunks of those that are searched; without one, all lines."""
        lake = self.item_part.lake
        searched = files_of(lake, self.files["pool_id"]).select("pool_id", "path").collect()
        held = self.files.join(searched, on=["pool_id", "path"], how="semi")
        if chunker is None:
            return held.select("item_id", "path", line_start=pl.lit(0, pl.Int64), line_end="n_lines")
        cut = chunks_of(lake, chunker, self.files.select("sha256").unique(), with_blank=False)
        spans = cut.select("sha256", "line_start", "line_end").collect()
        return held.select("item_id", "path", "sha256").join(spans, on="sha256").drop("sha256")


def _keep(searched: _Searched, runs: Sequence[Run]) -> str:
    """The name of the part that holds the ledgers of runs over the chunks of one chunker; empty if none is scored."""
    item_part, protocol, lake = searched.item_part, searched.protocol, searched.item_part.lake
    folders = {"benchmark": item_part.task.benchmark, "protocol": protocol.name}
    parts = {run: lake.part("scores", item_part.part, run_id=run.run_id, **folders) for run in runs}
    scored = [run for run, scores in parts.items() if scores]
    if not scored:
        return ""
    read: list[Part | None] = []
    for run in scored:
        read.append(parts[run])
        read += [part for table in ("hits", "run_items") for part in item_part.parts_of(table, run_id=run.run_id)]
    chunker = scored[0].chunker
    cut = lake.part("chunkers", chunker) if chunker else None
    name = f"{item_part.task.name.replace('/', '.')}--{chunker or 'uncut'}--{item_part.part}"
    chance = [run.run_id for run in scored if run.is_chance]
    ledger = target_of(
        lake, "ledger", part=name, inputs=[*read, cut, item_part], parameters=chance, code=_CODE, **folders
    )
    ledger.make(lambda: pl.concat(list(_ledgers(searched, scored))))
    return name


def _ledgers(searched: _Searched, runs: Sequence[Run]) -> Iterator[pl.DataFrame]:
    """Rows of the table, of some runs at a time."""
    item_part, protocol = searched.item_part, searched.protocol
    by_lines = RELEVANCE[protocol.relevance].by_lines
    lines = {"files": searched.files.select("item_id", "path", "n_lines").lazy()} if by_lines else {}
    lines |= {"chunks": searched.chunks(runs[0].chunker).lazy()} if by_lines else {}
    for batch in batches(runs, "hits", [item_part]):
        given = {
            "scores": rows_of(item_part, "scores", batch, protocol=protocol.name),
            "hits": rows_of(item_part, "hits", batch),
            "answered": rows_of(item_part, "run_items", batch),
            "gold": searched.gold.lazy(),
        }
        if by_lines:
            chance = [run.run_id for run in batch if run.is_chance]
            ledger = ledger_of_lines(protocol, **given, **lines, chance=chance)
        else:
            ledger = ledger_of_candidates(protocol, **given)
        yield ledger.with_columns(protocol=pl.lit(protocol.name)).select(*table("ledger").columns).collect()
