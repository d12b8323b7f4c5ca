import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate.rank.ranking import hits_by_run, rank
from evaluate.retrievers import Pool, Queries, Retriever, Span, retrievers
from evaluate.retrievers.composed import fused
from evaluate.systems import ranking_code, retriever_named
from tests.changed_code import changed
from tests.evaluate.hand_made import pool_of, queries_of, scores_of


def _ranked(name: str, pool: Pool, queries: Queries) -> list[list[int]]:
    ranked = rank(retrievers()[name], [(pool, queries)], tie="pool", depth=None, cut_offs=[])
    hits = hits_by_run({"": ranked}).filter(part="ranking")
    return [hits.filter(item_id=item_id)["chunk"].to_list() for item_id in queries.item_id]


OWN = [("a.py", 0, 4), ("a.py", 4, 8), ("a.py", 8, 12), ("a.py", 12, 16), ("b.py", 0, 4), ("sub/a.py", 0, 4)]


@pytest.mark.parametrize(
    ("target", "chunks"),
    [
        (("a.py", 9), [2, 1, 0]),  # the hole lies in [8, 12): that chunk first, then back to the file's head
        (("a.py", 8), [1, 0]),  # the hole is a chunk's first line: that chunk starts at it, not before it
        (("a.py", 0), []),
        (("a.py", 99), [3, 2, 1, 0]),
        (("b.py", 2), [4]),
        (("none.py", 2), []),
        ((None, -1), []),
    ],
)
def test_own_file_walks_back_from_the_hole(target: tuple[str | None, int], chunks: list[int]) -> None:
    assert _ranked("own-file", pool_of(OWN), queries_of(targets=[target])) == [chunks]


SPANS = st.lists(
    st.tuples(st.sampled_from(["a.py", "b.py", "c.py"]), st.integers(0, 12), st.integers(0, 8)).map(
        lambda given: Span(given[0], given[1], given[1] + given[2])
    ),
    max_size=4,
)


@given(SPANS)
def test_the_oracle_puts_every_chunk_that_shares_a_line_with_the_gold_first(spans: list[Span]) -> None:
    pool = pool_of(OWN)
    relevant = {
        row
        for row, (path, start, end) in enumerate(OWN)
        if any(span.path == path and max(start, span.line_start) < min(end, span.line_end) for span in spans)
    }
    (order,) = _ranked("oracle", pool, queries_of(gold=[spans]))
    assert set(order[: len(relevant)]) == relevant
    assert sorted(order) == list(range(len(OWN)))


def test_the_oracle_orders_by_lines_in_both_over_lines_in_either() -> None:
    # Gold [2, 9) of a.py, 7 lines: chunk 0 shares 2 of 9, chunk 1 4 of 7, chunk 2 1 of 10.
    pool, queries = pool_of(OWN), queries_of(gold=[[Span("a.py", 2, 9)]])
    np.testing.assert_allclose(scores_of("oracle", pool, queries), [[2 / 9, 4 / 7, 1 / 10, 0, 0, 0]])


EVERY = [retriever for retriever in retrievers().values() if retriever.needs != "vectors" and not retriever.why_missing]


@pytest.mark.parametrize("retriever", EVERY, ids=lambda retriever: str(retriever.name))
def test_a_query_is_answered_alike_alone_and_among_others(retriever: Retriever) -> None:
    texts = [f"{path} {start} word{start % 3}" for path, start, _ in OWN]
    pool = pool_of(OWN, texts)
    targets: list[tuple[str | None, int]] = [("a.py", 9), ("b.py", 3), ("a.py", 1)]
    gold = [[Span("a.py", 1, 3)], [Span("b.py", 0, 2)], [Span("a.py", 9, 10), Span("b.py", 0, 1)]]
    words_of = ["word1 a", "py word2", ""]
    together = scores_of(retriever.name, pool, queries_of(words_of, targets=targets, gold=gold))
    for row in range(3):
        alone = queries_of(words_of[row : row + 1], targets=targets[row : row + 1], gold=gold[row : row + 1])
        np.testing.assert_array_equal(scores_of(retriever.name, pool, alone), together[row : row + 1])


def test_the_baselines_are_those_that_always_stand_beside_the_others() -> None:
    baselines = {name for name, retriever in retrievers().items() if "baseline" in retriever.tags}
    assert baselines == {"random", "oracle", "own-file"}
    assert [name for name, retriever in retrievers().items() if retriever.needs == "gold"] == ["oracle"]


@pytest.mark.parametrize(
    ("module", "again"),
    [
        ("evaluate/retrievers/lexical.py", {"jaccard-codegen"}),
        ("lake/text.py", {"jaccard-codegen", "bm25-okapi"}),
        ("evaluate/retrievers/baselines.py", set[str]()),
    ],
)
def test_a_retriever_is_run_again_where_what_it_is_built_on_changes(module: str, again: set[str]) -> None:
    names = ("jaccard-codegen", "bm25-okapi")
    before = {name: ranking_code(retrievers()[name]) for name in names}
    with changed(module):
        assert {name for name in names if ranking_code(retrievers()[name]) != before[name]} == again


NAN = float("nan")


def test_symbols_returns_the_chunks_that_define_what_the_query_names_the_rare_names_first() -> None:
    names = [["burn", "__init__"], ["__init__", "__init__"], [], ["Größe"]]
    pool = pool_of(texts=["", "", "burn", ""], names=names)
    scores = scores_of("symbols", pool, queries_of(["burn burn __init__", "Größe Burn", "", "x"]))
    rare, common = math.log(1 + 5 / 1), math.log(1 + 5 / 3)
    expected = [[rare + common, common, NAN, NAN], [NAN, NAN, NAN, rare], [NAN] * 4, [NAN] * 4]
    np.testing.assert_allclose(scores, expected)
    assert scores_of("symbols", pool_of(texts=[]), queries_of(["a"])).shape == (1, 0)


TEXTS = ["def burn(fuel): pass", "burn(fuel) # the engine", "thrust = engine", ""]


@given(st.lists(st.lists(st.one_of(st.integers(-2, 2), st.just(NAN)), min_size=4, max_size=4), min_size=1, max_size=3))
def test_fusion_is_the_sum_over_rankings_of_one_over_sixty_and_the_rank(rankings: list[list[float]]) -> None:
    def vote(ranking: list[float], chunk: int) -> float:
        better = sum(other > ranking[chunk] for other in ranking)
        equal = sum(other == ranking[chunk] for other in ranking)
        return 1 / (60 + better + (equal + 1) / 2) if equal else 0.0

    expected = [sum(vote(ranking, chunk) for ranking in rankings) or NAN for chunk in range(4)]
    np.testing.assert_allclose(fused([np.array([ranking]) for ranking in rankings]), [expected])


def test_a_hybrid_fuses_what_its_name_says_over_the_same_chunks() -> None:
    pool = pool_of(texts=TEXTS, names=[["burn"], [], ["thrust"], []])
    queries = queries_of(["burn engine"])
    lexical, other = (scores_of(name, pool, queries) for name in ("bm25-code:k1=1.2", "symbols"))
    np.testing.assert_array_equal(scores_of("hybrid:bm25-code:k1=1.2:symbols", pool, queries), fused([lexical, other]))
    hybrid = retriever_named("hybrid:bm25-code:k1=1.2:symbols")
    assert [part.name for part in hybrid.components] == ["bm25-code:k1=1.2", "symbols"]
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
