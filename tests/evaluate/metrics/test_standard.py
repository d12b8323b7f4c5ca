import dataclasses
from collections.abc import Sequence

import polars as pl
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluate.metrics import metrics, parse_metric
from evaluate.score.metric_inputs import ScoringInputs
from lake.catalog.protocol import Primary
from lake.catalog.protocols import protocols
from tests.evaluate.score.one_run import SPAN, Span, axis_of, lines, score, spans_in
from tests.frames import frame
from tests.graded import score_graded

KS = (1, 3, 5, 10, 20, 50, 100)
BY_RANK = ("map", "success", "f1", "err", "rbp")
DOCUMENTS = [f"d{number}" for number in range(130)]


def by_rank(ranking: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    names = ["map", "r_precision", *(f"{name}@{k}" for name in BY_RANK for k in KS)]
    ranked = pl.LazyFrame({"document": list(ranking)}, {"document": pl.String}).with_columns(
        query=pl.lit("q"), rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    )
    qrels = pl.LazyFrame({"query": ["q"] * len(gold), "document": list(gold), "grade": [1] * len(gold)})
    requested = [parse_metric(name) for name in names]
    return score_graded(ranked, qrels, requested).collect().drop("query").row(0, named=True)


def plain(ranking: Sequence[str], gold: Sequence[str], k: int) -> dict[str, float]:
    err, stops = 0.0, 1.0
    for rank, document in enumerate(ranking[:k], start=1):
        chance = 0.5 if document in gold else 0.0
        err, stops = err + stops * chance / rank, stops * (1 - chance)
    n_hits = len(set(ranking[:k]) & set(gold))
    precision, recall = n_hits / k, n_hits / len(gold)
    return {
        "err": err,
        "rbp": sum(0.2 * 0.8 ** (rank - 1) for rank, one in enumerate(ranking[:k], start=1) if one in gold),
        "f1": 2 * precision * recall / (precision + recall) if n_hits else 0.0,
    }


@settings(max_examples=20)
@given(
    ranking=st.lists(st.sampled_from(DOCUMENTS), unique=True, max_size=110),
    gold=st.lists(st.sampled_from(DOCUMENTS), unique=True, min_size=1, max_size=60),
)
def test_measures_by_rank_are_trec_evals_or_their_definitions(ranking: list[str], gold: list[str]) -> None:
    ours = by_rank(ranking, gold)
    cut = ",".join(map(str, KS))
    measures = {"map", "Rprec", f"map_cut.{cut}", f"success.{cut}"}
    evaluator = pytrec_eval.RelevanceEvaluator({"q": dict.fromkeys(gold, 1)}, measures)
    run = {"q": {document: float(-rank) for rank, document in enumerate(ranking)}}
    theirs = evaluator.evaluate(run).get("q", {})
    expected = {"map@0": theirs.get("map", 0.0), "r_precision@0": theirs.get("Rprec", 0.0)}
    for k in KS:
        expected |= {f"map@{k}": theirs.get(f"map_cut_{k}", 0.0), f"success@{k}": theirs.get(f"success_{k}", 0.0)}
        expected |= {f"{name}@{k}": value for name, value in plain(ranking, gold, k).items()}
    assert ours == pytest.approx(expected, abs=1e-12)


def by_lines(
    ranking: Sequence[Span], gold: Sequence[Span], pool: Sequence[Span], ks: Sequence[int]
) -> dict[str, float]:
    """Our values for one item whose gold is lines, of every measure that needs more than ranks."""
    names = [
        name
        for name, metric in metrics().items()
        if (name in ("ndcg_graded", "judged") or name.startswith(("file_", "lines_", "all_")))
        if metric.shape != "gathered"
    ]
    protocol = dataclasses.replace(
        protocols()["repoeval@chunking-v1"],
        metrics=tuple((name, tuple(ks)) for name in names),
        primary=Primary("judged", ks[0], "chunk", "macro"),
    )
    inputs = ScoringInputs(
        protocol,
        items=frame([("x", "repo")], "item_id", "pool_id").with_columns(
            target_path=pl.lit("a.py"), query_line_start=pl.lit(0), target_line=pl.lit(1)
        ),
        gold=frame([("x", *span) for span in gold], "item_id", *SPAN),
        pool=frame([("repo", number, *chunk) for number, chunk in enumerate(pool)], "pool_id", "chunk_no", *SPAN),
        axis=axis_of(dict.fromkeys(("a.py", "b.py", "c.py"), [1] * 20)),
    )
    ranked = frame([("x", rank, *hit) for rank, hit in enumerate(ranking, start=1)], "item_id", "rank", *SPAN)
    scores = score(inputs, hits=ranked).collect()
    return {f"{metric}@{k}": value for metric, k, value in scores.select("metric", "k", "value").iter_rows()}


spans = spans_in("a.py", "b.py", "c.py")


@settings(max_examples=20)
@given(
    pool=st.lists(spans, unique=True, min_size=1, max_size=9),
    gold=st.lists(spans, min_size=1, max_size=3),
    data=st.data(),
)
def test_measures_of_lines_and_files_are_trec_evals_or_their_definitions(
    pool: list[Span], gold: list[Span], data: st.DataObject
) -> None:
    ranking = data.draw(st.lists(st.sampled_from(pool), unique=True))
    ks = (1, 3, 5)
    ours = by_lines(ranking, gold, pool, ks)
    grades = {str(chunk): len(lines(chunk) & lines(*gold)) for chunk in pool}
    evaluator = pytrec_eval.RelevanceEvaluator({"x": grades}, {"ndcg_cut.1,3,5"})
    run = {"x": {str(chunk): float(-rank) for rank, chunk in enumerate(ranking)}}
    theirs = evaluator.evaluate(run).get("x", {})
    files, gold_files = list(dict.fromkeys(path for path, _, _ in ranking)), {path for path, _, _ in gold}
    returned = list(dict.fromkeys((path, at) for path, start, end in ranking for at in range(start, end)))
    for k in ks:
        both = len(set(returned[:k]) & lines(*gold))
        places = [rank for rank, path in enumerate(files[:k], start=1) if path in gold_files]
        expected = {
            "ndcg_graded": theirs.get(f"ndcg_cut_{k}", 0.0),
            "judged": 1.0 if ranking else 0.0,
            "file_recall": len(places) / len(gold_files),
            "all_files": float(len(places) == len(gold_files)),
            "all_lines": float(both == len(lines(*gold))),
            "file_mrr": 1 / places[0] if places else 0.0,
            "lines_coverage": both / len(lines(*gold)),
            "lines_precision": both / k,
            "lines_f1": 2 * both / (len(lines(*gold)) + k),
            "lines_efficiency": both / len(returned[:k]) if returned else 0.0,
        }
        assert {name: ours[f"{name}@{k}"] for name in expected} == pytest.approx(expected, abs=1e-12), k


def test_results_outside_the_pool_are_not_judged() -> None:
    ours = by_lines([("a.py", 0, 5), ("gone.py", 0, 5), ("gone.py", 5, 9)], [("a.py", 0, 2)], [("a.py", 0, 5)], (1, 5))
    assert [ours["judged@1"], ours["judged@5"]] == pytest.approx([1, 1 / 3])
