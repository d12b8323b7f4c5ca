import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from evaluate.rank.ranking import rank
from evaluate.retrievers import Pool, Queries, Retriever, Span, retrievers
from evaluate.systems import ranking_code
from tests.changed_code import changed
from tests.evaluate.hand_made import pool_of, queries_of, scores_of


def _ranked(name: str, pool: Pool, queries: Queries) -> list[list[int]]:
    ranked = rank(retrievers()[name], [(pool, queries)], tie="pool", depth=None, cut_offs=[])
    hits = ranked.hits.filter(part="ranking")
    return [hits.filter(item_id=item_id)["chunk"].to_list() for item_id in queries.item_id]


WORDS = st.sampled_from(["a", "b", "c", "def", "self", "rare", "x1", "é"])
DOCUMENTS = st.lists(st.lists(WORDS, max_size=8), min_size=1, max_size=8)
QUERIES = st.lists(st.lists(st.one_of(WORDS, st.just("unknown")), max_size=6), min_size=1, max_size=3)


@given(DOCUMENTS.filter(any), QUERIES)
def test_bm25_is_rank_bm25s_okapi(documents: list[list[str]], queries: list[list[str]]) -> None:
    peer = BM25Okapi(documents)
    pool = pool_of(texts=[" ".join(document) for document in documents])
    found = scores_of("bm25-okapi", pool, queries_of([" ".join(query) for query in queries]))
    assert found.shape == (len(queries), len(documents))
    np.testing.assert_allclose(found, np.array([peer.get_scores(query) for query in queries]), rtol=0, atol=1e-9)


def test_bm25_reads_words_in_lower_case() -> None:
    pool = pool_of(texts=["class FooBar:", "pass", "pass"])
    assert _ranked("bm25-okapi", pool, queries_of(["foobar"]))[0][0] == 0


@given(st.lists(st.text("ab1_. \n", max_size=12), min_size=1, max_size=6), st.text("ab1_. \nZ", max_size=12))
def test_jaccard_is_tokens_in_both_over_tokens_in_either(texts: list[str], query: str) -> None:
    def tokens(text: str) -> set[str]:
        return set(re.findall(r"[A-Za-z_]\w*|\d+|[^\w\s]", text))

    expected = [
        len(tokens(query) & tokens(text)) / len(tokens(query) | tokens(text)) if tokens(query) | tokens(text) else 0.0
        for text in texts
    ]
    found = scores_of("jaccard-regex", pool_of(texts=texts), queries_of([query]))
    np.testing.assert_allclose(found, [expected], rtol=1e-12)


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


@given(
    st.lists(st.text("ab (\n", max_size=6), min_size=1, max_size=5),
    st.lists(st.text("ab (", max_size=6), min_size=1, max_size=3),
)
def test_what_scores_by_words_scores_every_chunk_and_never_nan(texts: list[str], queries: list[str]) -> None:
    for name in ("bm25-okapi", "jaccard-regex", "random"):
        found = scores_of(name, pool_of(texts=texts), queries_of(queries))
        assert found.shape == (len(queries), len(texts))
        assert np.isfinite(found).all()


EVERY = [one for one in retrievers().values() if one.needs != "vectors" and not one.why_missing]


@pytest.mark.parametrize("retriever", EVERY, ids=lambda one: str(one.name))
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
    assert {name for name, one in retrievers().items() if "baseline" in one.tags} == {"random", "oracle", "own-file"}
    assert [name for name, one in retrievers().items() if one.needs == "gold"] == ["oracle"]


def test_a_retriever_that_is_built_on_another_is_run_again_when_that_changes() -> None:
    names = ("jaccard-codegen", "bm25-okapi")
    before = [ranking_code(retrievers()[name]) for name in names]
    with changed("evaluate/retrievers/lexical.py"):
        after = [ranking_code(retrievers()[name]) for name in names]
    assert after[0] != before[0]
    assert after[1] == before[1]
