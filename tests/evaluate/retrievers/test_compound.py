import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate.retrievers.composed import fused
from evaluate.systems import ranking_code, retriever_named
from tests.evaluate.hand_made import pool_of, queries_of, scores_of

NAN = float("nan")
TEXTS = ["def burn(fuel): pass", "burn(fuel) # the engine", "thrust = engine", ""]


def test_reciprocal_ranks_are_added_up_and_ties_share_their_mean_rank() -> None:
    found = fused([np.array([[3.0, 1.0, 1.0, NAN]]), np.array([[NAN, 5.0, NAN, NAN]])])
    np.testing.assert_allclose(found, [[1 / 61, 1 / 62.5 + 1 / 61, 1 / 62.5, NAN]])


@given(st.lists(st.lists(st.one_of(st.integers(-2, 2), st.just(NAN)), min_size=4, max_size=4), min_size=1, max_size=3))
def test_fusion_is_the_sum_over_rankings_of_one_over_sixty_and_the_rank(rankings: list[list[float]]) -> None:
    def vote(ranking: list[float], chunk: int) -> float:
        better = sum(other > ranking[chunk] for other in ranking)
        equal = sum(other == ranking[chunk] for other in ranking)
        return 1 / (60 + better + (equal + 1) / 2) if equal else 0.0

    expected = [sum(vote(one, chunk) for one in rankings) or NAN for chunk in range(4)]
    np.testing.assert_allclose(fused([np.array([one]) for one in rankings]), [expected])


def test_a_hybrid_fuses_what_its_name_says_over_the_same_chunks() -> None:
    pool = pool_of(texts=TEXTS, names=[["burn"], [], ["thrust"], []])
    queries = queries_of(["burn engine"])
    one, other = (scores_of(name, pool, queries) for name in ("bm25-code:k1=1.2", "symbols"))
    np.testing.assert_array_equal(scores_of("hybrid:bm25-code:k1=1.2:symbols", pool, queries), fused([one, other]))
    named = retriever_named("hybrid:bm25-code:k1=1.2:symbols")
    assert [part.name for part in named.components] == ["bm25-code:k1=1.2", "symbols"]
    assert retriever_named("hybrid").components == retriever_named("hybrid:bm25-okapi:symbols").components
    assert len({ranking_code(retriever_named(f"hybrid:bm25-okapi:{other}")) for other in ("symbols", "own-file")}) == 2


def test_a_second_pass_asks_for_the_best_chunk_outside_the_querys_own_file_too() -> None:
    pool = pool_of([("own.py", 0, 1), ("a.py", 0, 1), ("b.py", 0, 1), ("c.py", 0, 1)], TEXTS)
    queries = queries_of(["burn fuel"], targets=[("own.py", 3)])
    longer = queries_of([f"burn fuel\n{TEXTS[1]}"])
    for name in ("jaccard-regex", "bm25-lucene"):
        np.testing.assert_array_equal(scores_of(f"repocoder:{name}", pool, queries), scores_of(name, pool, longer))
    plain = scores_of("repocoder", pool, queries)
    np.testing.assert_array_equal(plain, scores_of("repocoder:jaccard-regex", pool, queries))
    assert plain[0, 2] > scores_of("jaccard-regex", pool, queries)[0, 2] == 0


@pytest.mark.parametrize("name", ["repocoder", "hybrid"])
def test_an_empty_query_or_pool_is_answered_as_by_the_parts(name: str) -> None:
    pool, plain = pool_of(texts=TEXTS), "jaccard-regex" if name == "repocoder" else "bm25-okapi"
    empty = scores_of(name, pool, queries_of([""]))
    np.testing.assert_array_equal(np.ptp(empty), np.ptp(scores_of(plain, pool, queries_of([""]))))
    assert scores_of(name, pool_of(texts=[]), queries_of(["a"])).shape == (1, 0)


def test_what_calls_others_runs_where_all_of_them_do() -> None:
    tasks = {name: retriever_named(name).tasks for name in ("symbols", "hybrid", "hybrid:tfidf:bm25-code")}
    assert tasks["hybrid"] == tasks["symbols"] != ()
    assert tasks["hybrid:tfidf:bm25-code"] == ()
