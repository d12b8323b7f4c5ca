"""Where the gold of every run went, kept beside its scores; made of what the lake holds, unless it is current."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from evaluate.batches import batches, rows_of
from evaluate.score.contexts.material import load_files
from evaluate.score.ledger import is_kept, ledger_of_candidates, ledger_of_lines
from evaluate.selection import ItemPart
from evaluate.statistics.ledger_means import ledger_means
from evaluate.systems import Run
from lake.catalog.protocol import Protocol
from lake.catalog.protocols import protocols_of
from lake.make import Product, product_of, write_by_run
from lake.relevance import RELEVANCE
from lake.searched import files_of
from lake.store import Part
from lake.tables import table


def keep_ledgers(asked: Sequence[ItemPart], runs: Sequence[Run]) -> None:
    """Make the ledgers of some runs, scored and aggregated, and their means, under every protocol that has such."""
    for protocol in protocols_of(asked[0].task):
        if not is_kept(protocol):
            continue
        for part in asked:
            searched = _Searched(part, protocol)
            for chunker in sorted({run.chunker or "" for run in runs}):
                _keep(searched, [run for run in runs if (run.chunker or "") == chunker])
        _keep_means(asked, protocol, runs)


_CODE = (ledger_of_lines, ledger_means, load_files, files_of)


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
        pools = self.asked.described.select("item_id", "pool_id")
        named = self.gold.select("item_id", "path").unique().join(pools, on="item_id")
        held = load_files(self.asked.lake, self.asked.benchmark, named.select("pool_id", "path").unique().lazy())
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


def _keep(searched: _Searched, runs: Sequence[Run]) -> None:
    """The ledgers of runs over the chunks of one chunker, some at a time."""
    asked, protocol, lake = searched.asked, searched.protocol, searched.asked.lake
    todo: dict[Run, Product] = {}
    for run in runs:
        of_run = {"benchmark": asked.benchmark, "run_id": run.run_id}
        scores = lake.part("scores", asked.part, protocol=protocol.name, **of_run)
        ranked = [part for name in ("hits", "run_items") for part in asked.parts_of(name, run_id=run.run_id)]
        cut = lake.part("chunkers", run.chunker) if run.chunker else None
        read = [scores, *ranked, cut, asked]
        ledger = product_of(lake, "ledger", part=asked.part, inputs=read, code=_CODE, protocol=protocol.name, **of_run)
        if scores is not None and not ledger.is_current:
            todo[run] = ledger
    if not todo:
        return
    by_lines = RELEVANCE[protocol.relevance].by_lines
    lines = {"files": searched.files.select("item_id", "path", "n_lines").lazy()} if by_lines else {}
    lines |= {"chunks": searched.chunks(runs[0].chunker).lazy()} if by_lines else {}
    for batch in batches(list(todo), "hits", [asked]):
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
        frame = found.with_columns(protocol=pl.lit(protocol.name)).select(*table("ledger").columns).collect()
        write_by_run({run.run_id: todo[run] for run in batch}, frame)


def _keep_means(asked: Sequence[ItemPart], protocol: Protocol, runs: Sequence[Run]) -> None:
    lake, todo, ledgers, pooled = asked[0].lake, dict[str, Product](), list[Part](), list[Part]()
    for run in runs:
        folders = {"benchmark": asked[0].benchmark, "run_id": run.run_id, "protocol": protocol.name}
        parts = [part for one in asked if (part := lake.part("ledger", one.part, **folders)) is not None]
        means = lake.part("aggregates", "all", **folders)
        product = product_of(lake, "ledger_means", part="all", inputs=[*parts, means], code=_CODE, **folders)
        if parts and means is not None and not product.is_current:
            todo[run.run_id] = product
            ledgers += parts
            pooled.append(means)
    if todo:
        slices = lake.scan_parts(pooled, "aggregates").select("run_id", "slice", "slice_value").unique().collect()
        items = pl.concat([one.described for one in asked]).lazy()
        write_by_run(todo, ledger_means(lake.scan_parts(ledgers, "ledger").drop("benchmark"), items, slices).collect())
