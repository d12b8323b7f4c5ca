"""What scores a ranking, each as its own users would: read Parquet, build what the library takes, score, write Parquet.

Each runs in a child process, and loads its own library alone. `folder` holds what `_rankings.write` wrote.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import polars as pl

from tests.bench._measure import Stopwatch
from tests.bench._rankings import JUDGEMENTS, RANKED, RANKING

METRICS = ("precision@5", "precision@10", "recall@5", "recall@10", "ndcg@5", "ndcg@10", "mrr@10")

Value = TypeVar("Value", int, float)
Run = dict[str, dict[str, float]]
Qrels = dict[str, dict[str, int]]


def goldspan(folder: str, output: str) -> dict[str, object]:
    """Ours, ordering by score as trec_eval does."""
    return _goldspan(Path(folder, RANKING), Path(folder, JUDGEMENTS), output)


def goldspan_ranked(folder: str, output: str) -> dict[str, object]:
    """Ours, with the ranks the lake keeps."""
    return _goldspan(Path(folder, RANKED), Path(folder, JUDGEMENTS), output)


def _goldspan(ranking: Path, judgements: Path, output: str) -> dict[str, object]:
    from evaluate.metrics import parse_metric
    from tests.graded import score_graded

    watch = Stopwatch()
    qrels = pl.scan_parquet(judgements).with_columns(grade=pl.lit(1))
    score_graded(pl.scan_parquet(ranking), qrels, [parse_metric(name) for name in METRICS]).sink_parquet(output)
    return watch.read()


def pytrec_eval(folder: str, output: str) -> dict[str, object]:
    """pytrec_eval-terrier, from dicts. Its reciprocal rank has no cut-off, so one below 1/10 becomes 0 afterwards."""
    from pytrec_eval import RelevanceEvaluator

    watch = Stopwatch()
    names = ("P_5", "P_10", "recall_5", "recall_10", "ndcg_cut_5", "ndcg_cut_10", "recip_rank")
    evaluator = RelevanceEvaluator(_qrels(folder), {"P.5,10", "recall.5,10", "ndcg_cut.5,10", "recip_rank"})
    values = evaluator.evaluate(_run(folder))
    columns = {name: [value[theirs] for value in values.values()] for name, theirs in zip(METRICS, names, strict=True)}
    frame = pl.DataFrame({"query": list(values), **columns})
    reciprocal = pl.col("mrr@10")
    frame.with_columns(pl.when(reciprocal >= 0.1).then(reciprocal).otherwise(0.0)).write_parquet(output)
    return watch.read()


def ranx(folder: str, output: str) -> dict[str, object]:
    """ranx, compiled beforehand on one query. Its own Parquet reader refuses the strings of pandas 3: dicts it is."""
    from ranx import Qrels as RanxQrels
    from ranx import Run as RanxRun
    from ranx import evaluate

    metrics = list(METRICS)

    def values(qrels: Qrels, run: Run) -> tuple[Sequence[str], Mapping[str, Sequence[float]]]:
        judged, ranked = RanxQrels.from_dict(qrels), RanxRun.from_dict(run)
        return list(run), evaluate(judged, ranked, metrics, return_mean=False)

    # Compiled for the width of the names as well.
    values({"q0000000": {"d0000000": 1}}, {"q0000000": {"d0000000": 1.0}})
    watch = Stopwatch()
    queries, columns = values(_qrels(folder), _run(folder))
    pl.DataFrame({"query": queries, **columns}).write_parquet(output)
    return watch.read()


def ir_measures(folder: str, output: str) -> dict[str, object]:
    """ir_measures, from dicts, which it takes faster than frames."""
    from ir_measures import RR, P, R, iter_calc, nDCG

    measures = dict(zip((P @ 5, P @ 10, R @ 5, R @ 10, nDCG @ 5, nDCG @ 10, RR @ 10), METRICS, strict=True))
    watch = Stopwatch()
    found = list(iter_calc(list(measures), _qrels(folder), _run(folder)))
    long = pl.DataFrame(
        {
            "query": [one.query_id for one in found],
            "metric": [measures[one.measure] for one in found],
            "value": [one.value for one in found],
        }
    )
    long.pivot(on="metric", index="query", values="value").select("query", *METRICS).write_parquet(output)
    return watch.read()


def _run(folder: str) -> Run:
    frame = pl.read_parquet(Path(folder, RANKING))
    return _by_query(frame, frame["score"].to_list())


def _qrels(folder: str) -> Qrels:
    frame = pl.read_parquet(Path(folder, JUDGEMENTS))
    return _by_query(frame, [1] * frame.height)


def _by_query(frame: pl.DataFrame, values: list[Value]) -> dict[str, dict[str, Value]]:
    """The fastest way to dicts that we know: a query's rows stand together, so each is a slice."""
    documents, start = frame["document"].to_list(), 0
    found: dict[str, dict[str, Value]] = {}
    for n, query in frame["query"].rle().struct.unnest().select("len", "value").iter_rows():
        found[query] = dict(zip(documents[start : start + n], values[start : start + n], strict=True))
        start += n
    return found
