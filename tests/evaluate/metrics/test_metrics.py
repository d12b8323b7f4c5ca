import re

import polars as pl
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from evaluate import metrics
from evaluate.metrics import Ratio, metric, metric_named, parse_metric
from evaluate.score.metric_values import completion_similarity
from lake.errors import GoldspanError
from tests.graded import score_graded

RANKED = ["precision@5", "precision@10", "recall@5", "recall@10", "ndcg@5", "ndcg@10", "hit@5", "hit@10", "mrr"]
TREC = {"precision": "P_{k}", "recall": "recall_{k}", "ndcg": "ndcg_cut_{k}", "hit": "success_{k}"}

CODE = st.text(
    st.sampled_from("ab \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u2028\u2029\u200b\ufeff\u3000😀"), max_size=12
)
"""Little but what may end a line or be white space."""

Run = dict[str, dict[str, float]]
Qrels = dict[str, dict[str, int]]


documents = st.integers(0, 14).map(lambda number: f"d{number}")
# Few different scores, so that most lists hold ties; 0.1 + 1e-9 is 0.1 as Float32 alone.
some_scores = st.sampled_from([0.1, 0.1 + 1e-9, 0.5, 1.0, -2.0])
runs = st.dictionaries(st.sampled_from("abcd"), st.dictionaries(documents, some_scores), min_size=1)
judged_documents = st.dictionaries(
    st.sampled_from("abcd"), st.dictionaries(documents, st.just(1), min_size=1), min_size=1
)


@settings(max_examples=20)
@given(run=runs, qrels=judged_documents)
def test_every_ranked_metric_is_trec_evals(run: Run, qrels: Qrels) -> None:
    rows = [(query, document, score) for query, scores in run.items() for document, score in scores.items()]
    scored = pl.LazyFrame(rows, {"query": pl.String, "document": pl.String, "score": pl.Float32}, orient="row")
    in_order = scored.sort("query", "score", "document", descending=[False, True, True]).with_columns(
        rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("query")
    )
    grades = [(query, document, 1) for query, documents in qrels.items() for document in documents]
    judgements = pl.LazyFrame(grades, {"query": pl.String, "document": pl.String, "grade": pl.Int64}, orient="row")
    ours = score_graded(in_order, judgements, [parse_metric(name) for name in RANKED]).collect()
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"P", "recall", "ndcg_cut", "success", "recip_rank"}).evaluate(run)
    for row in ours.to_dicts():
        expected = theirs.get(row["query"], {})
        for name in RANKED[:-1]:
            kind, k = name.split("@")
            assert row[name] == pytest.approx(expected.get(TREC[kind].format(k=k), 0.0), abs=1e-12), (row, name)
        uncut = expected.get("recip_rank", 0.0)
        assert row["mrr@10"] == pytest.approx(uncut if uncut >= 1 / 10 else 0.0, abs=1e-12)


def test_a_metric_is_declared_once_and_means_what_its_docstring_says(monkeypatch: pytest.MonkeyPatch) -> None:
    def trial(k: int) -> Ratio:
        """Try."""
        return Ratio(pl.lit(k), pl.lit(k))

    monkeypatch.setattr(metrics, "_METRICS", dict(metrics._METRICS))
    metric("trial", title="Trial", ks=(5,))(trial)
    assert metric_named("trial").meaning == "Try."
    with pytest.raises(GoldspanError, match="metric 'trial' is declared twice"):
        metric("trial", title="Again", ks=(5,))(trial)
    trial.__doc__ = None
    with pytest.raises(GoldspanError, match="'silent' has no docstring"):
        metric("silent", title="Silent", ks=(5,))(trial)


@given(st.lists(st.tuples(CODE, CODE), min_size=1, max_size=5))
def test_completions_are_compared_as_a_plain_reading_of_repocoder_compares_them(pairs: list[tuple[str, str]]) -> None:
    texts = {"target_text": [target for target, _ in pairs], "completion": [said for _, said in pairs]}
    found = completion_similarity(pl.LazyFrame(texts)).collect()
    for (target, said), is_exact, similarity in zip(pairs, found["is_exact"], found["similarity"], strict=True):
        wanted = [line.strip() for line in target.splitlines() if line.strip()]
        given = [line.strip() for line in said.splitlines() if line.strip()][: len(wanted)]
        one, other = "\n".join(wanted), "\n".join(given)
        assert is_exact == (wanted == given)
        longer = max(len(one), len(other))
        assert similarity == pytest.approx(1 - Levenshtein.distance(one, other) / longer if longer else 1.0)


@pytest.mark.parametrize(
    ("text", "name", "k"),
    [
        ("ndcg@10", "ndcg", 10),
        ("ndcg_at_10", "ndcg", 10),
        ("nDCG@5", "ndcg", 5),
        ("accuracy_at_1", "accuracy", 1),
        ("mrr", "mrr", 10),
        ("mrr@5", "mrr", 5),
        ("line_f1", "line_f1", 0),
    ],
)
def test_metrics_are_read_as_people_write_them(text: str, name: str, k: int) -> None:
    found, cut_off = parse_metric(text)
    assert (found.name, cut_off) == (name, k)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ndgc@10", "unknown metric 'ndgc@10'\n  Did you mean 'ndcg'"),
        ("recal", "unknown metric 'recal'\n  Did you mean 'recall' or 'file_recall'?"),
        ("ndcg", "metric 'ndcg' needs a cut-off\n  Usual: ndcg@5, ndcg@10."),
        ("ndcg@0", "metric 'ndcg@0' needs a cut-off"),
        ("ndcg@ten", "'ndcg@ten' is no metric with a cut-off"),
    ],
)
def test_what_is_no_metric_is_refused_with_a_hint(text: str, message: str) -> None:
    with pytest.raises(GoldspanError, match=re.escape(message)):
        parse_metric(text)
