"""Which documents are relevant to a run's items, under the names that its exported rankings have for them."""

from __future__ import annotations

from functools import cached_property

import polars as pl

from lake.benchmarks import known_tasks
from lake.catalog.protocol import Protocol
from lake.catalog.protocols import protocols_of
from lake.errors import Exit, GoldspanError, lookup
from lake.pools import POOL, chunks_of, files_of, own_pool
from lake.relevance import RELEVANCE, JudgementInputs, Rule
from lake.store import Lake

NOTHING = "-"
"""The document of grade 0 by which an item is named to which nothing is relevant, so that it counts."""


class ExportedRun:
    """A run of the lake with what it was asked and what it could have returned.

    Its chunker is None where nobody knows what cut its chunks; `wanted` is the protocol that it is judged by, empty for
    the first on the benchmark's page.
    """

    def __init__(self, lake: Lake, run_id: str, wanted: str = "") -> None:
        self.lake, self.run_id, self.wanted = lake, run_id, wanted
        task, self.chunker = lake.scan("runs", run_id=run_id).select("task", "chunker").collect().row(0)
        self.task = known_tasks(lake)[task]

    @cached_property
    def items(self) -> pl.LazyFrame:
        """item_id, pool_id, target_path of every item of the benchmark, as the task asks it."""
        items = self.lake.scan("items", benchmark=self.task.benchmark)
        return items.select("item_id", "target_path", pool_id=own_pool(self.task.pool_prefix, self.task.pool_by))

    @cached_property
    def ranking(self) -> pl.DataFrame:
        """Its ranking: the columns of `hits`, and `document`; by item and rank. Empty where it has none."""
        hits = self.lake.scan("hits", run_id=self.run_id).filter(pl.col("part") == "ranking").drop("benchmark")
        # What means no file of the pool keeps its place, under the name that was given.
        hits = hits.with_columns(path=pl.coalesce("path", "path_given"))
        documents = self._named(hits.join(self.items.select("item_id", "pool_id"), on="item_id", how="left"))
        if any(RELEVANCE[protocol.relevance].is_graded for protocol in protocols_of(self.task)):
            # Documents were judged whole: of one that is returned in pieces the first counts.
            is_first = pl.col("rank") == pl.col("rank").min().over("item_id", "path")
            documents = documents.with_columns(document=pl.when(is_first).then("path").otherwise("document"))
        return documents.drop("pool_id").sort("item_id", "rank").collect()

    @cached_property
    def protocol(self) -> Protocol:
        """The protocol that it is judged by."""
        scored = {part.folders["protocol"] for part in self.lake.parts("scores", run_id=self.run_id)}
        known = {protocol.name: protocol for protocol in protocols_of(self.task) if protocol.name in scored}
        if not known:
            message = f"run {self.run_id!r} has no scores"
            raise GoldspanError(message, hint="Score it first: make evaluate", code=Exit.MISSING)
        first = min(known.values(), key=lambda protocol: protocol.place)
        return lookup(self.wanted, f"protocol of {self.run_id}", known) if self.wanted else first

    @cached_property
    def rule(self) -> Rule:
        """What is relevant under the protocol."""
        return RELEVANCE[self.protocol.relevance]

    @cached_property
    def asked(self) -> pl.LazyFrame:
        """item_id, pool_id, target_path of the items that it has scores of."""
        folders = {"benchmark": self.task.benchmark, "protocol": self.protocol.name}
        scores = self.lake.scan("scores", run_id=self.run_id, **folders).select("item_id").unique()
        return self.items.join(scores, on="item_id", how="semi")

    @cached_property
    def chunks(self) -> pl.DataFrame:
        """What these items search: the columns of POOL, sha256, bytes and `document`."""
        if self.chunker is None:
            kinds = {"sha256": pl.String(), "byte_start": pl.Int64(), "byte_end": pl.Int64(), "document": pl.String()}
            return pl.DataFrame(schema=POOL | kinds)
        files = files_of(self.lake, self.asked.select("pool_id").collect()["pool_id"]).collect()
        n_lines = self.lake.scan("blobs").select("sha256", "n_lines")
        contents = n_lines.filter(pl.col("sha256").is_in(files["sha256"].unique().implode())).collect()
        cut = chunks_of(self.lake, self.chunker, contents.unique("sha256"), with_blank=self.task.ranks_blank)
        chunks = self._named(files.lazy().join(cut, on="sha256")).sort("pool_id", "position", "chunk_no")
        return chunks.select(*POOL, "sha256", "byte_start", "byte_end", "document").collect()

    @cached_property
    def qrels(self) -> pl.DataFrame:
        """item_id, document, grade: what is relevant of the items' pools, and what else the run returned that is.

        Where nobody knows how the files were cut, that is what the run returned alone.
        """
        items, rule, chunks = self.asked, self.rule, self.chunks.lazy()
        benchmark, protocol, relevance = self.task.benchmark, self.protocol, None
        gold = self.lake.scan("gold_spans", benchmark=benchmark).filter(gold=protocol.gold)
        gold = rule.gold_of(gold.join(items, on="item_id", how="semi"))
        if rule.similarity and self.chunker is not None:
            stored = {part.name for part in self.lake.parts("items", benchmark=benchmark)}
            parts = self.lake.parts("relevance", benchmark=benchmark, chunker=self.chunker)
            measured = self.lake.scan_parts([part for part in parts if part.name in stored], "relevance")
            relevance = measured.join(items, on="item_id", how="semi")
        evidence = JudgementInputs(items, gold, chunks.select(*POOL), relevance, protocol.threshold)
        grade = pl.col("iou").cast(pl.Int64) if rule.is_graded else pl.lit(1, pl.Int64)
        relevant = rule.pool(evidence).filter(pl.col("iou").is_not_null()).with_columns(grade=grade)
        if rule.is_graded:
            in_pools = relevant.with_columns(document="path")
        else:
            names = chunks.select("pool_id", "path", "chunk_no", "document")
            pools = items.select("item_id", "pool_id")
            in_pools = relevant.join(pools, on="item_id").join(names, on=["pool_id", "path", "chunk_no"])
        hits = self.ranking.lazy().join(items, on="item_id", how="semi")
        returned = rule.hits(hits.drop("document"), evidence, ["item_id"]).filter(pl.col("rank").is_not_null())
        also_relevant = returned.select("item_id", "rank", grade=grade).join(hits, on=["item_id", "rank"])
        columns = ("item_id", "document", "grade")
        judged = pl.concat([in_pools.select(columns), also_relevant.select(columns)]).unique(["item_id", "document"])
        without = items.join(judged, on="item_id", how="anti")
        nothing = without.select("item_id", document=pl.lit(NOTHING), grade=pl.lit(0, pl.Int64))
        return pl.concat([judged, nothing]).sort("item_id", "document").collect()

    def _named(self, chunks: pl.LazyFrame) -> pl.LazyFrame:
        """Chunks (pool_id, path, chunk_no, lines) with `document`: path#L10-L20, lines as people count them.

        Of several with the same lines in a file all but the first have a number behind that.
        """
        cut = self.lake.scan("chunks", chunker=self.chunker) if self.chunker else self.lake.scan("chunks").head(0)
        nth = pl.int_range(1, pl.len() + 1).over("sha256", "line_start", "line_end", order_by="chunk_no")
        copies = cut.select("sha256", "chunk_no", nth=nth).filter(pl.col("nth") > 1)
        files = self.lake.scan("files").select("pool_id", "path", "sha256")
        key = ["pool_id", "path", "chunk_no"]
        again = files.join(copies, on="sha256").select(*key, again=pl.format(".{}", "nth"))
        numbers = pl.format("#L{}-L{}", pl.col("line_start") + 1, pl.col("line_end"))
        # A file without a line is named as it is.
        lines = pl.when(pl.col("line_start") < pl.col("line_end")).then(numbers).otherwise(pl.lit(""))
        joined = chunks.join(again, on=key, how="left")
        return joined.with_columns(document=pl.concat_str("path", lines, pl.col("again").fill_null(""))).drop("again")
