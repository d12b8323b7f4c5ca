"""The package pytrec_eval: the scores of exported rankings by exported relevance judgements, item by item."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import polars as pl

from evaluate.results.parity.reference import Reference, Values, Work

_RUNS = (
    ("repoeval", "fixed-nws-1800", "repoeval@chunking-v1"),
    ("repoeval", "fixed-nws-1800", "repoeval@target-v1"),
    ("repobench-r", "whole-file", "repobench-r@official-v1"),
)
"""Benchmark, chunker, protocol."""

_NAMES = {"precision": "P", "recall": "recall", "ndcg": "ndcg_cut", "hit": "success", "accuracy": "success"}
"""Our metric → theirs, of the first k."""


def _values(work: Work) -> Iterator[Values]:
    """Every metric of ranks that the protocols measure."""
    for benchmark, chunker, protocol in _RUNS:
        system = f"{chunker}+bm25-okapi"
        work.run("ingest", benchmark, "--source", str(work.source), "--chunkers", chunker)
        work.run("evaluate", "--benchmarks", benchmark, "--systems", system)
        files = {name: work.folder / f"{protocol}.{name}" for name in ("qrels", "trec")}
        for name, path in files.items():
            options = ("--protocol", protocol, "--format", name, "-o", str(path))
            work.run("report", "export", system, *options)
        # A cut-off that is not measured of an item has no value.
        is_compared = pl.col("metric").is_in([*_NAMES, "mrr"]) & pl.col("value").is_not_null()
        runs = work.lake.scan("runs", benchmark=benchmark).filter(system=system)
        scores = work.lake.scan("scores", protocol=protocol).join(runs, on="run_id", how="semi").filter(is_compared)
        ours = scores.select("item_id", "metric", "k", "value").collect()
        qrels, trec = (path.read_text().splitlines() for path in files.values())
        yield from _compared(protocol, ours, qrels, trec)


def _compared(protocol: str, ours: pl.DataFrame, qrels: list[str], trec: list[str]) -> Iterator[Values]:
    library = importlib.import_module("pytrec_eval")
    wanted = {f"{_NAMES[metric]}.{k}" for metric, k in ours.select("metric", "k").unique().rows() if metric in _NAMES}
    judged, ranked = library.parse_qrel(qrels), library.parse_run(trec)
    # It leaves out what has no results, which scores 0 here.
    found = {query: {"-": 0.0} for query in judged} | ranked
    theirs = library.RelevanceEvaluator(judged, {*wanted, "recip_rank"}).evaluate(found)
    rows = [
        (item_id, metric, k, _value(theirs[item_id.replace("%", "%25").replace(" ", "%20")], metric, k))
        for item_id, metric, k in ours.select("item_id", "metric", "k").iter_rows()
    ]
    expected = pl.DataFrame(rows, schema=ours.schema, orient="row")
    for metric in ours["metric"].unique().sort():
        yield Values(f"{protocol}: {metric}", ours.filter(metric=metric), expected.filter(metric=metric))


def _value(found: dict[str, float], metric: str, k: int) -> float:
    """Its reciprocal rank is of the whole list, ours of the first k."""
    if metric != "mrr":
        return found[f"{_NAMES[metric]}_{k}"]
    return found["recip_rank"] if found["recip_rank"] * k >= 1 else 0.0


PYTREC_EVAL = Reference(
    name="pytrec_eval",
    benchmark="repoeval, repobench-r",
    kind="independent library",
    needs=("repoeval/repositories", "repobench-r-mined"),
    values=_values,
    packages=("pytrec_eval",),
)
