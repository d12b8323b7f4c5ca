import math
import re
from collections.abc import Sequence

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate.retrievers import Floats
from evaluate.retrievers.words import word_parts
from evaluate.systems import retriever_named
from tests.evaluate.hand_made import pool_of, queries_of, scores_of

LEXICAL = ("bm25-lucene", "bm25-code", "tfidf", "identifiers")
WORDS = st.sampled_from(["a", "b", "c", "self", "rare", "x1", "é"])
DOCUMENTS = st.lists(st.lists(WORDS, max_size=8), min_size=1, max_size=8).filter(any)
QUERIES = st.lists(st.lists(st.one_of(WORDS, st.just("unknown")), max_size=6), min_size=1, max_size=3)


def _scores(name: str, documents: Sequence[Sequence[str]], queries: Sequence[Sequence[str]]) -> Floats:
    texts = [" ".join(document) for document in documents]
    return scores_of(name, pool_of(texts=texts), queries_of([" ".join(query) for query in queries]))


@given(DOCUMENTS, QUERIES, st.sampled_from([(1.5, 0.75), (1.2, 0.0), (0.9, 1.0)]))
def test_bm25_lucene_is_bm25s(
    documents: list[list[str]], queries: list[list[str]], numbers: tuple[float, float]
) -> None:
    k1, b = numbers
    peer = bm25s.BM25(method="lucene", k1=k1, b=b, dtype="float64")
    peer.index(documents, show_progress=False)
    expected = [peer.get_scores(query) if query else np.zeros(len(documents)) for query in queries]
    found = _scores(f"bm25-lucene:k1={k1}:b={b}", documents, queries)
    np.testing.assert_allclose(found, np.array(expected), rtol=0, atol=1e-9)


def test_numbers_that_are_left_out_are_bm25s_own_and_are_said() -> None:
    plain, named = retriever_named("bm25-lucene"), retriever_named("bm25-lucene:b=0.5")
    assert (plain.parameters["k1"], plain.parameters["b"]) == (1.5, 0.75)
    assert (named.parameters["k1"], named.parameters["b"], named.title) == (1.5, 0.5, "BM25 (Lucene), b=0.5")
    documents, queries = [["a", "b"], ["b"], ["c"]], [["a"]]
    same = _scores("bm25-okapi:k1=1.5:b=0.75", documents, queries)
    np.testing.assert_array_equal(same, _scores("bm25-okapi", documents, queries))


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("getUserName", ["getusername", "get", "user", "name"]),
        ("HTTPServer2", ["httpserver2", "http", "server", "2"]),
        ("snake_case__x", ["snake_case__x", "snake", "case", "x"]),
        ("__init__", ["__init__", "init"]),
        ("utf8to16", ["utf8to16", "utf", "8", "to", "16"]),
        ("ÜberGröße", ["übergröße", "über", "größe"]),
        ("plain", ["plain"]),
        ("CONSTANT", ["constant"]),
        ("1234", ["1234"]),
        ("_", ["_"]),
        ("变量Name", ["变量name", "变量", "name"]),
    ],
)
def test_an_identifier_is_its_words_and_the_whole_of_it(word: str, parts: list[str]) -> None:
    assert list(word_parts(word)) == parts


def test_bm25_code_is_bm25_lucene_of_the_words_in_identifiers() -> None:
    texts = ["def getUserName(self): return 1", "user_name = 2", "class Über2:\n    pass", ""]
    queries = ["getUserName", "user", "über 2", ""]
    cut = [[one for word in re.findall(r"\w+", text) for one in word_parts(word)] for text in [*texts, *queries]]
    found = scores_of("bm25-code", pool_of(texts=texts), queries_of(queries))
    np.testing.assert_array_equal(found, _scores("bm25-lucene", cut[: len(texts)], cut[len(texts) :]))
    assert (found[1] > 0).tolist() == [True, True, False, False]


@given(DOCUMENTS, QUERIES)
def test_tfidf_is_the_cosine_of_ltc_weights(documents: list[list[str]], queries: list[list[str]]) -> None:
    vocabulary = sorted({word for document in documents for word in document})
    idf = [math.log((1 + len(documents)) / (1 + sum(word in one for one in documents))) + 1 for word in vocabulary]

    def vector(said: list[str]) -> Floats:
        tf = [said.count(word) for word in vocabulary]
        weights = np.array([(1 + math.log(n)) * rarity if n else 0.0 for n, rarity in zip(tf, idf, strict=True)])
        length = np.linalg.norm(weights)
        return weights / length if length else weights

    expected = [[float(np.dot(vector(query), vector(document))) for document in documents] for query in queries]
    np.testing.assert_allclose(_scores("tfidf", documents, queries), expected, rtol=0, atol=1e-12)


def test_identifiers_adds_up_the_rarity_of_shared_names_once_each() -> None:
    texts = ["def Foo(x): return x + x + 12", "foo = Foo(12)", "return None  # été", ""]
    found = scores_of("identifiers", pool_of(texts=texts), queries_of(["Foo x x x", "return None 12", "été", ""]))
    once, twice = math.log(1 + 3.5 / 1.5), math.log(1 + 2.5 / 2.5)
    expected = np.zeros((4, 4))
    expected[0, :2], expected[2, 2] = (twice + once, twice), once
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("name", LEXICAL)
def test_pools_and_queries_without_a_token_score_nought(name: str) -> None:
    assert scores_of(name, pool_of(texts=["", " \n"]), queries_of(["", "a"])).tolist() == [[0, 0], [0, 0]]
    assert scores_of(name, pool_of(texts=[]), queries_of(["a"])).shape == (1, 0)
    assert retriever_named(name).runs == "asked"
