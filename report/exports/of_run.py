"""A run in the formats of other tools: TREC run and qrels, TSV, BEIR's folder, ContextBench's JSON lines."""

import json
from collections.abc import Mapping
from functools import cached_property

import polars as pl

from lake.benchmarks import known_tasks, protocols_of
from lake.catalog.protocol import GRANULARITIES, Protocol
from lake.errors import Exit, GoldspanError, lookup
from lake.pools import POOL, chunks_of, files_of, own_pool
from lake.relevance import RELEVANCE, JudgementInputs
from lake.store import Lake, contents_of

NOTHING = "-"  # of grade 0 in the qrels of an item without relevant documents, so that other tools count the item


class ExportedRun:
    """A run with its items, pools and qrels under the protocol `wanted`, by default the first on its page."""

    def __init__(self, lake: Lake, run_id: str, wanted: str = "") -> None:
        self.lake, self.run_id, self.wanted = lake, run_id, wanted
        task, self.chunker = lake.scan("runs", run_id=run_id).select("task", "chunker").collect().row(0)
        self.task = known_tasks(lake)[task]

    @cached_property
    def items(self) -> pl.LazyFrame:
        """item_id, pool_id (the pool searched in the task) and target_path of every item of the benchmark."""
        items = self.lake.scan("items", benchmark=self.task.benchmark)
        return items.select("item_id", "target_path", pool_id=own_pool(self.task.pool_prefix, self.task.pool_by))

    @cached_property
    def ranking(self) -> pl.DataFrame:
        """The ranking: the columns of `hits` and `document`, sorted by item and rank; empty if the run has none."""
        hits = self.lake.scan("hits", run_id=self.run_id).filter(pl.col("part") == "ranking").drop("benchmark")
        # A hit outside the pool keeps its rank, under the path as given.
        hits = hits.with_columns(path=pl.coalesce("path", "path_given"))
        documents = self._named(hits.join(self.items.select("item_id", "pool_id"), on="item_id", how="left"))
        if any(RELEVANCE[protocol.relevance].is_graded for protocol in protocols_of(self.task)):
            # Graded documents are whole files: of several chunks of a file only the first counts.
            is_first = pl.col("rank") == pl.col("rank").min().over("item_id", "path")
            documents = documents.with_columns(document=pl.when(is_first).then("path").otherwise("document"))
        return documents.drop("pool_id").sort("item_id", "rank").collect()

    @cached_property
    def protocol(self) -> Protocol:
        """The protocol of the qrels; raises GoldspanError if the run has no scores under it."""
        scored = {part.folders["protocol"] for part in self.lake.parts("scores", run_id=self.run_id)}
        known = {protocol.name: protocol for protocol in protocols_of(self.task) if protocol.name in scored}
        if not known:
            message = f"run {self.run_id!r} has no scores"
            raise GoldspanError(message, hint="Score it first: make evaluate", code=Exit.MISSING)
        first = min(known.values(), key=lambda protocol: protocol.place)
        return lookup(self.wanted, f"protocol of {self.run_id}", known) if self.wanted else first

    @cached_property
    def asked(self) -> pl.LazyFrame:
        """item_id, pool_id, target_path of the items for which the run has scores."""
        folders = {"benchmark": self.task.benchmark, "protocol": self.protocol.name}
        scores = self.lake.scan("scores", run_id=self.run_id, **folders).select("item_id").unique()
        return self.items.join(scores, on="item_id", how="semi")

    @cached_property
    def chunks(self) -> pl.DataFrame:
        """Chunks in the pools of these items: the columns of POOL, sha256, bytes, document; empty without a chunker."""
        if self.chunker is None:
            kinds = {"sha256": pl.String(), "byte_start": pl.Int64(), "byte_end": pl.Int64(), "document": pl.String()}
            return pl.DataFrame(schema=POOL | kinds)
        files = files_of(self.lake, self.asked.select("pool_id").collect()["pool_id"]).collect()
        contents = contents_of(self.lake, files["sha256"].unique(), ["n_lines"])
        cut = chunks_of(self.lake, self.chunker, contents, with_blank=self.task.ranks_blank)
        chunks = self._named(files.lazy().join(cut, on="sha256")).sort("pool_id", "position", "chunk_no")
        return chunks.select(*POOL, "sha256", "byte_start", "byte_end", "document").collect()

    @cached_property
    def qrels(self) -> pl.DataFrame:
        """item_id, document, grade: the pools' relevant documents, if the chunker is known, and the run's."""
        items, chunks, benchmark = self.asked, self.chunks.lazy(), self.task.benchmark
        protocol, rule, relevance = self.protocol, RELEVANCE[self.protocol.relevance], None
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
        """Chunks with their name `document`: path#L10-L20 from line 1 on, numbered if others have these lines."""
        cut = self.lake.scan("chunks", chunker=self.chunker) if self.chunker else self.lake.scan("chunks").head(0)
        nth = pl.int_range(1, pl.len() + 1).over("sha256", "line_start", "line_end", order_by="chunk_no")
        copies = cut.select("sha256", "chunk_no", nth=nth).filter(pl.col("nth") > 1)
        files = self.lake.scan("files").select("pool_id", "path", "sha256")
        key = ["pool_id", "path", "chunk_no"]
        again = files.join(copies, on="sha256").select(*key, again=pl.format(".{}", "nth"))
        numbers = pl.format("#L{}-L{}", pl.col("line_start") + 1, pl.col("line_end"))
        # An empty chunk is named by its path alone.
        lines = pl.when(pl.col("line_start") < pl.col("line_end")).then(numbers).otherwise(pl.lit(""))
        joined = chunks.join(again, on=key, how="left")
        return joined.with_columns(document=pl.concat_str("path", lines, pl.col("again").fill_null(""))).drop("again")


PROTOCOL = "contextbench@official-v1"
"""The protocol of ContextBench's own evaluator, whose output format is written. Protocols of own data that have these
rules have another name."""


def trec(ranking: pl.DataFrame) -> bytes:
    """A ranking from :attr:`ExportedRun.ranking` as a TREC run: query, Q0, document, rank, score, run."""
    item, document, name = map(_column, ("item_id", "document", "run_id"))
    return _lines(_falling(ranking), pl.format("{} Q0 {} {} {} {}", item, document, "rank", "falling", name))


def qrels(run: ExportedRun) -> bytes:
    """TREC qrels: query, 0, document, grade."""
    return _lines(run.qrels, pl.format("{} 0 {} {}", _column("item_id"), _column("document"), "grade"))


def tsv(run: ExportedRun) -> bytes:
    """The ranking as tab-separated columns with a header: item_id, document, rank, score."""
    rows = _falling(run.ranking).select("item_id", "document", "rank", score="falling")
    return rows.write_csv(separator="\t", quote_style="never").encode()


def _falling(rows: pl.DataFrame) -> pl.DataFrame:
    """A ranking with a column `falling`, a score by rank: trec_eval sorts by score and breaks ties in its own way."""
    if rows.is_empty():
        message = "the run has no ranking to write"
        raise GoldspanError(message, hint="Trajectories have no single ranking; use csv.", code=Exit.MISSING)
    return rows.with_columns(falling=pl.col("rank").max().over("item_id") + 1 - pl.col("rank"))


def _column(name: str) -> pl.Expr:
    # White space would end the column, so it is percent-encoded.
    return pl.col(name).str.replace_all("%", "%25", literal=True).str.replace_all(r"\s", "%20")


def _lines(rows: pl.DataFrame, line: pl.Expr) -> bytes:
    return "".join(f"{text}\n" for text in rows.select(line).to_series()).encode()


def beir_folder(run: ExportedRun) -> Mapping[str, bytes]:
    """BEIR's files and `run.trec`. BEIR has one corpus: with several pools, document ids begin with the pool's id."""
    lake, items = run.lake, run.asked
    # Under graded rules documents are whole files.
    documents = run.chunks
    if RELEVANCE[run.protocol.relevance].is_graded:
        n_bytes = lake.scan("blobs").select("sha256", byte_end="n_bytes").unique("sha256")
        searched = files_of(lake, items.select("pool_id").collect()["pool_id"]).join(n_bytes, on="sha256")
        whole = searched.sort("pool_id", "position").with_columns(document="path", byte_start=pl.lit(0, pl.Int64))
        documents = whole.select("pool_id", "sha256", "byte_end", "document", "byte_start").collect()
    if documents.is_empty():
        message = f"the chunks that run {run.run_id!r} searched are not known"
        raise GoldspanError(message, hint="Import it again with --chunker.", code=Exit.MISSING)
    pools = items.select("item_id", "pool_id").collect()
    contents = contents_of(lake, documents["sha256"].unique(), ["text"])
    span = pl.col("text").cast(pl.Binary).bin.slice(pl.col("byte_start"), pl.col("byte_end") - pl.col("byte_start"))
    texts = documents.join(contents, on="sha256", maintain_order="left")
    corpus = texts.select("pool_id", "document", text=span.cast(pl.String))
    judged, ranked = (frame.join(pools, on="item_id", maintain_order="left") for frame in (run.qrels, run.ranking))
    if pools["pool_id"].n_unique() > 1:
        in_its_pool = pl.concat_str("pool_id", pl.lit("/"), "document").alias("document")
        corpus, judged, ranked = (frame.with_columns(in_its_pool) for frame in (corpus, judged, ranked))
    ids = pl.concat([corpus["document"], judged["item_id"], judged["document"]])
    if broken := ids.filter(ids.str.contains(r"[\t\r\n]")).to_list():
        message = "BEIR's table cannot hold ids with a tab or line end"
        raise GoldspanError(message, examples=sorted(map(repr, broken)), code=Exit.INVALID)
    queries = lake.scan("queries", benchmark=run.task.benchmark, query=run.task.query)
    asks = items.join(queries, on="item_id").sort("item_id").select(pl.col("item_id").alias("_id"), "text").collect()
    texts_of = corpus.select(pl.col("document").alias("_id"), pl.lit("").alias("title"), "text")
    grades = judged.select(pl.col("item_id").alias("query-id"), pl.col("document").alias("corpus-id"), score="grade")
    return {
        "corpus.jsonl": texts_of.write_ndjson().encode(),
        "queries.jsonl": asks.write_ndjson().encode(),
        "qrels/test.tsv": grades.write_csv(separator="\t", quote_style="never").encode(),
        "run.trec": trec(ranked),
    }


def context_json(run: ExportedRun) -> bytes:
    """The scores under :data:`PROTOCOL` as JSON lines, one per instance, as ContextBench's evaluator writes them."""
    names = [protocol.name for protocol in protocols_of(run.task) if protocol.rules.name == PROTOCOL]
    scores = run.lake.read("scores", run_id=run.run_id).filter(pl.col("protocol").is_in(names), pl.col("k") == 0)
    if scores.is_empty():
        message = f"run {run.run_id!r} has no scores under {PROTOCOL}"
        of_others = f"{run.task.name} is not scored under it: choose another --format"
        raise GoldspanError(message, hint="Score it first: make evaluate" if names else of_others, code=Exit.MISSING)
    steps, columns = _steps(run.lake, run.run_id, names[0]), ("item_id", "metric", "value", "numerator", "denominator")
    by_item = scores.sort("item_id").select(columns).rows_by_key("item_id")
    lines = [
        _instance(item_id, {metric: numbers for metric, *numbers in rows}, steps.get(item_id, []))
        for item_id, rows in by_item.items()
    ]
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines).encode()


_Numbers = dict[str, list[float | None]]
"""Metric → value, numerator and denominator of an instance."""


def _instance(item_id: str, by_metric: _Numbers, steps: list[dict[str, object]]) -> dict[str, object]:
    n_steps = by_metric["n_steps"][0]
    if n_steps is None:
        return {"instance_id": item_id, "error": "no_context_extracted"}
    instance: dict[str, object] = {
        "instance_id": item_id,
        "num_steps": int(n_steps),
        "final": {of: _sizes(by_metric, of) for of in GRANULARITIES},
        "trajectory": {
            "steps": steps,
            "auc_coverage": {of: by_metric[f"{of}_auc"][0] for of in GRANULARITIES},
            "redundancy": {of: by_metric[f"{of}_redundancy"][0] for of in GRANULARITIES},
        },
    }
    if by_metric["editloc_coverage"][0] is not None:
        sizes = _sizes(by_metric, "editloc")
        instance["editloc"] = {"recall": sizes.pop("coverage"), **sizes}
    return instance


def _sizes(by_metric: _Numbers, of: str) -> dict[str, float | int | None]:
    coverage, n_hit, n_gold = by_metric[f"{of}_coverage"]
    precision, _, n_pred = by_metric[f"{of}_precision"]
    sizes = {"intersection": n_hit, "gold_size": n_gold, "pred_size": n_pred}
    whole = {name: None if size is None else int(size) for name, size in sizes.items()}
    return {"coverage": coverage, "precision": precision, **whole}


def _steps(lake: Lake, run_id: str, protocol: str) -> dict[str, list[dict[str, object]]]:
    share = pl.col("n_cumulative_hit") / pl.col("n_gold")
    # As in that evaluator: without gold, coverage is 1, but 0 for lines.
    nothing = pl.when(pl.col("granularity") == "line").then(0.0).otherwise(1.0)
    rows = (
        lake.scan("step_scores", run_id=run_id, protocol=protocol)
        .filter(pl.col("granularity").is_in(GRANULARITIES))
        .sort("item_id", "step", pl.col("granularity").cast(pl.Enum(GRANULARITIES)))
        .select("item_id", "step", "granularity", pl.when(pl.col("n_gold") == 0).then(nothing).otherwise(share))
        .collect()
    )
    by_item: dict[str, list[dict[str, object]]] = {}
    for (item_id, step), coverage in rows.rows_by_key(["item_id", "step"]).items():
        by_item.setdefault(item_id, []).append({"step": step, "coverage": dict(coverage)})
    return by_item
