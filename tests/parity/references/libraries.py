"""Independent libraries on data of the benchmarks: pytrec_eval's scores of rankings, rank_bm25's of chunks."""

from collections.abc import Iterator

import numpy as np
import polars as pl
import pytrec_eval
from rank_bm25 import BM25Okapi

from lake.benchmarks import TASKS
from lake.text import words
from tests.parity.references.reference import Reference, Values, Work

_CHUNKER = "fixed-nws-1800"
_RUNS = (
    ("repoeval", _CHUNKER, "repoeval@chunking-v1"),
    ("repoeval", _CHUNKER, "repoeval@target-v1"),
    ("repobench-r", "whole-file", "repobench-r@official-v1"),
)
"""Benchmark, chunker, protocol."""

_NAMES = {"precision": "P", "recall": "recall", "ndcg": "ndcg_cut", "hit": "success", "accuracy": "success"}
"""Our metric → pytrec_eval's, of the first k."""

_TASK = "repoeval/prompt"


def _ranked(work: Work, benchmark: str, chunker: str) -> str:
    """The name of a system that is run on a benchmark."""
    system = f"{chunker}+bm25-okapi"
    work.run("ingest", benchmark, "--source", str(work.source), "--chunkers", chunker)
    work.run("evaluate", "--benchmarks", benchmark, "--systems", system)
    return system


def _metrics(work: Work) -> Iterator[Values]:
    """The scores of exported rankings by exported judgements, item by item, under every metric of ranks measured."""
    for benchmark, chunker, protocol in _RUNS:
        system = _ranked(work, benchmark, chunker)
        files = {name: work.folder / f"{protocol}.{name}" for name in ("qrels", "trec")}
        for name, path in files.items():
            options = ("--protocol", protocol, "--format", name, "-o", str(path))
            work.run("report", "export", system, *options)
        # A cut-off that is not measured of an item has no value.
        is_compared = pl.col("metric").is_in([*_NAMES, "mrr"]) & pl.col("value").is_not_null()
        scores = work.rows("scores", benchmark, system, protocol=protocol).filter(is_compared)
        ours = scores.select("item_id", "metric", "k", "value").collect()
        theirs = _by_pytrec_eval(ours, *(path.read_text().splitlines() for path in files.values()))
        for metric in ours["metric"].unique().sort():
            yield Values(f"{protocol}: {metric}", ours.filter(metric=metric), theirs.filter(metric=metric))


def _by_pytrec_eval(ours: pl.DataFrame, qrels: list[str], trec: list[str]) -> pl.DataFrame:
    wanted = {f"{_NAMES[metric]}.{k}" for metric, k in ours.select("metric", "k").unique().rows() if metric in _NAMES}
    judged, ranked = pytrec_eval.parse_qrel(qrels), pytrec_eval.parse_run(trec)
    # It leaves out what has no results, which scores 0 here.
    run = {query: {"-": 0.0} for query in judged} | ranked
    theirs = pytrec_eval.RelevanceEvaluator(judged, {*wanted, "recip_rank"}).evaluate(run)

    def value(item_id: str, metric: str, k: int) -> float:
        values = theirs[item_id.replace("%", "%25").replace(" ", "%20")]
        if metric != "mrr":
            return float(values[f"{_NAMES[metric]}_{k}"])
        # Its reciprocal rank is of the whole list, ours of the first k.
        return float(values["recip_rank"] if values["recip_rank"] * k >= 1 else 0.0)

    rows = [(*key, value(*key)) for key in ours.select("item_id", "metric", "k").iter_rows()]
    return pl.DataFrame(rows, schema=ours.schema, orient="row")


def _chunk_scores(work: Work) -> Iterator[Values]:
    """The BM25 of each item's list, from the first rank down: the same scores in the same places."""
    system = _ranked(work, "repoeval", _CHUNKER)
    ours = work.rows("hits", "repoeval", system, _TASK).select("item_id", "rank", value="score").collect()
    yield Values("score at each rank", ours, _by_rank_bm25(work, ours))


def _by_rank_bm25(work: Work, ours: pl.DataFrame) -> pl.DataFrame:
    lake = work.lake
    queries = lake.scan("queries", benchmark="repoeval").filter(query=TASKS[_TASK].query)
    items = lake.scan("items", benchmark="repoeval").select("item_id", "pool_id").join(queries, on="item_id")
    ranked = items.join(ours.group_by("item_id").agg(n=pl.len()).lazy(), on="item_id").sort("item_id").collect()
    scores = []
    for (pool_id,), rows in ranked.group_by("pool_id", maintain_order=True):
        index = BM25Okapi([words(text) for text in _chunks(work, str(pool_id))])
        for item_id, text, n in rows.select("item_id", "text", "n").iter_rows():
            best = np.sort(index.get_scores(words(text)))[::-1][:n]
            scores.append(pl.DataFrame({"value": best}).with_row_index("rank", 1).with_columns(item_id=pl.lit(item_id)))
    return pl.concat(scores).select("item_id", pl.col("rank").cast(pl.Int64), "value")


def _chunks(work: Work, pool_id: str) -> list[str]:
    """The texts of a pool's chunks, cut out of the files by their bytes."""
    files = work.lake.scan("files").filter(pool_id=pool_id).join(work.lake.scan("blobs"), on="sha256")
    chunks = work.lake.scan("chunks", chunker=_CHUNKER).filter(pl.col("n_nws") > 0)
    text = pl.col("text").cast(pl.Binary).bin.slice(pl.col("byte_start"), pl.col("byte_end") - pl.col("byte_start"))
    rows = files.join(chunks, on="sha256").sort("path", "chunk_no").select(text.cast(pl.String))
    return rows.collect()["text"].to_list()


PYTREC_EVAL = Reference(
    name="pytrec_eval",
    benchmark="repoeval, repobench-r",
    kind="independent library",
    values=_metrics,
)

RANK_BM25 = Reference(
    name="rank_bm25",
    benchmark="repoeval",
    kind="independent library",
    values=_chunk_scores,
)
