import dataclasses
import re
from collections.abc import Sequence

import polars as pl
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

import evaluate.metrics
from evaluate.metrics import Ratio, metric, metric_named, metrics, parse_metric
from evaluate.score.metric_values import ScoringInputs, completion_similarity
from lake.benchmarks import protocols
from lake.catalog.protocol import Primary
from lake.errors import GoldspanError
from tests.evaluate.score.one_run import SPAN, Span, axis_of, lines, score, spans_in
from tests.frames import frame
from tests.graded import score_graded

CODE = st.text(
    st.sampled_from("ab \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u2028\u2029\u200b\ufeff\u3000😀"), max_size=12
)
"""Little but what may end a line or be white space."""


def test_a_metric_is_declared_once_and_means_what_its_docstring_says(monkeypatch: pytest.MonkeyPatch) -> None:
    def trial(k: int) -> Ratio:
        """Try."""
        return Ratio(pl.lit(k), pl.lit(k))

    monkeypatch.setattr(evaluate.metrics, "_METRICS", dict(evaluate.metrics._METRICS))
    metric("trial", title="Trial", ks=(5,))(trial)
    assert metric_named("trial").meaning == "Try."
    with pytest.raises(GoldspanError, match="metric 'trial' is declared twice"):
        metric("trial", title="Again", ks=(5,))(trial)


@given(st.lists(st.tuples(CODE, CODE), min_size=1, max_size=5))
def test_completions_are_compared_as_a_plain_reading_of_repocoder_compares_them(pairs: list[tuple[str, str]]) -> None:
    texts = {"target_text": [target for target, _ in pairs], "completion": [answer for _, answer in pairs]}
    compared = completion_similarity(pl.LazyFrame(texts)).collect()
    for (target, answer), is_exact, similarity in zip(pairs, compared["is_exact"], compared["similarity"], strict=True):
        wanted = [line.strip() for line in target.splitlines() if line.strip()]
        given = [line.strip() for line in answer.splitlines() if line.strip()][: len(wanted)]
        target_lines, other = "\n".join(wanted), "\n".join(given)
        assert is_exact == (wanted == given)
        longer = max(len(target_lines), len(other))
        assert similarity == pytest.approx(1 - Levenshtein.distance(target_lines, other) / longer if longer else 1.0)


@pytest.mark.parametrize(
    ("text", "name", "k"),
    [
        ("ndcg_at_10", "ndcg", 10),
        ("nDCG@5", "ndcg", 5),
        ("mrr", "mrr", 10),
        ("mrr@5", "mrr", 5),
        ("line_f1", "line_f1", 0),
    ],
)
def test_metrics_are_read_as_people_write_them(text: str, name: str, k: int) -> None:
    parsed, cut_off = parse_metric(text)
    assert (parsed.name, cut_off) == (name, k)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ndgc@10", "unknown metric 'ndgc@10'\n  Did you mean 'ndcg'"),
        ("recal", "unknown metric 'recal'\n  Did you mean 'recall' or"),
        ("ndcg", "metric 'ndcg' needs a cut-off\n  Usual: ndcg@5, ndcg@10."),
        ("ndcg@0", "metric 'ndcg@0' needs a cut-off"),
        ("ndcg@ten", "unknown metric 'ndcg@ten'\n  Did you mean 'ndcg'"),
    ],
)
def test_what_is_no_metric_is_refused_with_a_hint(text: str, message: str) -> None:
    with pytest.raises(GoldspanError, match=re.escape(message)):
        parse_metric(text)


KS = (1, 3, 5, 10, 20, 50, 100)
TREC = dict(precision="P", recall="recall", ndcg="ndcg_cut", hit="success", success="success", map="map_cut")
"""Ours → trec_eval's, of the first k."""

BY_RANK = (*TREC, "mrr", "f1", "err", "rbp")
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
        "rbp": sum(0.2 * 0.8 ** (rank - 1) for rank, document in enumerate(ranking[:k], start=1) if document in gold),
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
    measures = {"map", "Rprec", "recip_rank", *(f"{name}.{cut}" for name in TREC.values())}
    evaluator = pytrec_eval.RelevanceEvaluator({"q": dict.fromkeys(gold, 1)}, measures)
    run = {"q": {document: float(-rank) for rank, document in enumerate(ranking)}}
    theirs = evaluator.evaluate(run).get("q", {})
    expected = {"map@0": theirs.get("map", 0.0), "r_precision@0": theirs.get("Rprec", 0.0)}
    for k in KS:
        expected |= {f"{name}@{k}": theirs.get(f"{of}_{k}", 0.0) for name, of in TREC.items()}
        uncut = theirs.get("recip_rank", 0.0)
        expected[f"mrr@{k}"] = uncut if uncut >= 1 / k else 0.0
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
def test_measures_of_lines_and_files_equal_trec_evals(pool: list[Span], gold: list[Span], data: st.DataObject) -> None:
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
