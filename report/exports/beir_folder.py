"""A run's documents, queries, relevance judgements and ranking as a folder in BEIR's layout."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from lake.errors import Exit, GoldspanError
from lake.relevance import RELEVANCE
from lake.searched import files_of
from lake.store import Lake
from report.exports.judged import ExportedRun
from report.exports.rankings import trec

_TEXT = pl.col("text").cast(pl.Binary).bin.slice(pl.col("byte_start"), pl.col("byte_end") - pl.col("byte_start"))


def beir_folder(lake: Lake, run_id: str, protocol_name: str) -> tuple[int, Mapping[str, bytes]]:
    """How many documents, and `corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv` and, as a TREC run, `run.trec`.

    BEIR has one corpus: where the run's items search several pools, what stands before a document's id is its pool's.

    Raises:
        GoldspanError: The run has no scores or no ranking, nobody knows how its documents were cut, or an id holds a
            tab or the end of a line.
    """
    run = ExportedRun.of(lake, run_id)
    protocol = run.protocol(protocol_name)
    asked = run.asked(protocol)
    documents = _files(run, asked) if RELEVANCE[protocol.relevance].is_graded else run.chunks(asked)
    if documents.is_empty():
        message = f"nobody knows how what run {run_id!r} searched was cut into documents"
        raise GoldspanError(message, hint="Import it again with --chunker.", code=Exit.MISSING)
    pools = asked.select("item_id", "pool_id").collect()
    blobs = lake.scan("blobs").filter(pl.col("sha256").is_in(documents["sha256"].unique().implode()))
    texts = documents.lazy().join(blobs.select("sha256", "text").unique("sha256"), on="sha256", maintain_order="left")
    corpus = texts.select("pool_id", "document", title=pl.lit(""), text=_TEXT.cast(pl.String)).collect()
    queries = lake.scan("queries", benchmark=run.task.benchmark, query=run.task.query)
    in_order = asked.join(queries.select("item_id", "text"), on="item_id").sort("item_id")
    judged = run.qrels(protocol).join(pools, on="item_id", maintain_order="left")
    ranked = run.ranking.join(pools, on="item_id", maintain_order="left")
    named = [_in_one_corpus(frame, pools["pool_id"].n_unique() > 1) for frame in (corpus, judged, ranked)]
    corpus, judged, ranked = named
    ids = pl.concat([corpus["document"], judged["item_id"], judged["document"]])
    if broken := ids.filter(ids.str.contains(r"[\t\r\n]")).to_list():
        message = "an id with a tab or the end of a line has no place in BEIR's table"
        raise GoldspanError(message, examples=sorted(map(repr, broken)), code=Exit.INVALID)
    table = judged.select(pl.format("{}\t{}\t{}", "item_id", "document", "grade")).to_series()
    files = {
        "corpus.jsonl": corpus.select("title", "text", _id="document").select("_id", "title", "text").write_ndjson(),
        "queries.jsonl": in_order.select("text", _id="item_id").select("_id", "text").collect().write_ndjson(),
        "qrels/test.tsv": "".join(f"{line}\n" for line in ("query-id\tcorpus-id\tscore", *table)),
    }
    return corpus.height, {**{name: text.encode() for name, text in files.items()}, "run.trec": trec(ranked)}


def _files(run: ExportedRun, asked: pl.LazyFrame) -> pl.DataFrame:
    """The documents that were judged, whole: as :meth:`ExportedRun.chunks` gives chunks."""
    files = files_of(run.lake, asked.select("pool_id").collect()["pool_id"])
    n_bytes = run.lake.scan("blobs").select("sha256", byte_end="n_bytes").unique("sha256")
    return (
        files.join(n_bytes, on="sha256")
        .sort("pool_id", "position")
        .select("pool_id", "sha256", "byte_end", document="path", byte_start=pl.lit(0, pl.Int64))
        .collect()
    )


def _in_one_corpus(frame: pl.DataFrame, are_several: bool) -> pl.DataFrame:
    return frame.with_columns(document=pl.concat_str("pool_id", pl.lit("/"), "document")) if are_several else frame
