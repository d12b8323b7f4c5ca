import math
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path

import bm25s
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from evaluate.retrievers import Floats, lexical, retrievers
from evaluate.retrievers.lexical import codegen_tokens
from evaluate.retrievers.words import word_parts
from evaluate.systems import resolve_systems, retriever_named
from lake.catalog.benchmarks.repobench_r import REPOBENCH_CHUNKS, REPOBENCH_OFFICIAL
from lake.catalog.benchmarks.repoeval import REPOEVAL_PROMPT
from lake.text import regex_tokens
from tests.evaluate.hand_made import pool_of, queries_of, scores_of
from tests.tiny import command

LEXICAL = ("bm25-lucene", "bm25-code", "tfidf", "identifiers")
WORDS = st.sampled_from(["a", "b", "c", "self", "rare", "x1", "é"])
DOCUMENTS = st.lists(st.lists(WORDS, max_size=8), min_size=1, max_size=8).filter(any)
QUERIES = st.lists(st.lists(st.one_of(WORDS, st.just("unknown")), max_size=6), min_size=1, max_size=3)


def _scores(name: str, documents: Sequence[Sequence[str]], queries: Sequence[Sequence[str]]) -> Floats:
    texts = [" ".join(document) for document in documents]
    return scores_of(name, pool_of(texts=texts), queries_of([" ".join(query) for query in queries]))


@given(DOCUMENTS, QUERIES)
def test_bm25_is_rank_bm25s_okapi(documents: list[list[str]], queries: list[list[str]]) -> None:
    peer = BM25Okapi(documents)
    scores = _scores("bm25-okapi", documents, queries)
    np.testing.assert_allclose(scores, np.array([peer.get_scores(query) for query in queries]), rtol=0, atol=1e-9)


def test_bm25_reads_words_in_lower_case() -> None:
    pool = pool_of(texts=["class FooBar:", "pass", "pass"])
    first, *others = scores_of("bm25-okapi", pool, queries_of(["foobar"]))[0]
    assert first > max(others)


@given(st.lists(st.text("ab1_. \n", max_size=12), min_size=1, max_size=6), st.text("ab1_. \nZ", max_size=12))
def test_jaccard_is_tokens_in_both_over_tokens_in_either(texts: list[str], query: str) -> None:
    def tokens(text: str) -> set[str]:
        return set(re.findall(r"[A-Za-z_]\w*|\d+|[^\w\s]", text))

    expected = [
        len(tokens(query) & tokens(text)) / len(tokens(query) | tokens(text)) if tokens(query) | tokens(text) else 0.0
        for text in texts
    ]
    scores = scores_of("jaccard-regex", pool_of(texts=texts), queries_of([query]))
    np.testing.assert_allclose(scores, [expected], rtol=1e-12)


@given(DOCUMENTS, QUERIES, st.sampled_from([(1.5, 0.75), (1.2, 0.0), (0.9, 1.0)]))
def test_lucene_is_bm25s(documents: list[list[str]], queries: list[list[str]], numbers: tuple[float, float]) -> None:
    k1, b = numbers
    peer = bm25s.BM25(method="lucene", k1=k1, b=b, dtype="float64")
    peer.index(documents, show_progress=False)
    expected = [peer.get_scores(query) if query else np.zeros(len(documents)) for query in queries]
    scores = _scores(f"bm25-lucene:k1={k1}:b={b}", documents, queries)
    np.testing.assert_allclose(scores, np.array(expected), rtol=0, atol=1e-9)


def test_numbers_that_are_left_out_are_bm25s_own_and_are_said() -> None:
    plain, given = retriever_named("bm25-lucene"), retriever_named("bm25-lucene:b=0.5")
    assert (plain.parameters["k1"], plain.parameters["b"]) == (1.5, 0.75)
    assert (given.parameters["k1"], given.parameters["b"], given.title) == (1.5, 0.5, "BM25 (Lucene), b=0.5")
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
    cut = [[part for word in re.findall(r"\w+", text) for part in word_parts(word)] for text in [*texts, *queries]]
    scores = scores_of("bm25-code", pool_of(texts=texts), queries_of(queries))
    np.testing.assert_array_equal(scores, _scores("bm25-lucene", cut[: len(texts)], cut[len(texts) :]))
    assert (scores[1] > 0).tolist() == [True, True, False, False]


@given(DOCUMENTS, QUERIES)
def test_tfidf_is_the_cosine_of_ltc_weights(documents: list[list[str]], queries: list[list[str]]) -> None:
    vocabulary = sorted({word for document in documents for word in document})
    idf = [math.log((1 + len(documents)) / (1 + sum(word in text for text in documents))) + 1 for word in vocabulary]

    def vector(words: list[str]) -> Floats:
        tf = [words.count(word) for word in vocabulary]
        weights = np.array([(1 + math.log(n)) * rarity if n else 0.0 for n, rarity in zip(tf, idf, strict=True)])
        length = np.linalg.norm(weights)
        return weights / length if length else weights

    expected = [[float(np.dot(vector(query), vector(document))) for document in documents] for query in queries]
    np.testing.assert_allclose(_scores("tfidf", documents, queries), expected, rtol=0, atol=1e-12)


def test_identifiers_adds_up_the_rarity_of_shared_names_once_each() -> None:
    texts = ["def Foo(x): return x + x + 12", "foo = Foo(12)", "return None  # été", ""]
    scores = scores_of("identifiers", pool_of(texts=texts), queries_of(["Foo x x x", "return None 12", "été", ""]))
    once, twice = math.log(1 + 3.5 / 1.5), math.log(1 + 2.5 / 2.5)
    expected = np.zeros((4, 4))
    expected[0, :2], expected[2, 2] = (twice + once, twice), once
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


@pytest.mark.parametrize("name", [*LEXICAL, "bm25-okapi", "jaccard-regex"])
def test_pools_and_queries_without_a_token_score_nought(name: str) -> None:
    assert scores_of(name, pool_of(texts=["", " \n"]), queries_of(["", "a"])).tolist() == [[0, 0], [0, 0]]
    assert scores_of(name, pool_of(texts=[]), queries_of(["a"])).shape == (1, 0)
    assert (retriever_named(name).runs == "asked") == (name in LEXICAL)


def searched(texts: list[str], queries: list[str]) -> list[list[float]]:
    return [list(row) for row in scores_of("edit-regex", pool_of(texts=texts), queries_of(queries))]


def difflibs(query: str, text: str) -> float:
    return SequenceMatcher(None, regex_tokens(query), regex_tokens(text)).ratio()


def test_what_is_frequent_in_a_long_text_is_junk() -> None:
    query, text = "z x", "y" + " x" * 200
    unjunked = SequenceMatcher(None, regex_tokens(query), regex_tokens(text), autojunk=False).ratio()
    assert searched([text], [query]) == [[difflibs(query, text)]]
    assert difflibs(query, text) != unjunked


TEXTS = st.lists(st.sampled_from(["a", "b", "f(x)", "é", "1", "\n", "if "]), max_size=12).map(" ".join)


@given(texts=st.lists(TEXTS, min_size=1, max_size=6), queries=st.lists(TEXTS, min_size=1, max_size=4))
@example(texts=["a"], queries=["a"])
def test_every_pair_has_difflibs_ratio(texts: list[str], queries: list[str]) -> None:
    assert searched(texts, queries) == [[difflibs(query, text) for text in texts] for query in queries]


def test_it_runs_unasked_on_the_published_task_alone() -> None:
    names = {
        task.name: {system.retriever.name for system in resolve_systems(task, [], {"whole-file": ""}, retrievers(), [])}
        for task in (REPOBENCH_OFFICIAL, REPOBENCH_CHUNKS, REPOEVAL_PROMPT)
    }
    assert [task for task, names_of_task in names.items() if "edit-regex" in names_of_task] == ["repobench-r/official"]
    # A whole text takes too long against a query of four thousand characters, unless somebody asks for just that.
    systems = resolve_systems(REPOBENCH_CHUNKS, ["*+edit-regex"], {"whole-file": ""}, retrievers(), [])
    assert "edit-regex" in {system.retriever.name for system in systems}


CODE = "def burn(self, seconds):\n    return self.thrust * seconds\n"
NAMES = ("edit-codegen", "jaccard-codegen")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a tokenizer of CodeGen's kind (byte pairs), trained on two lines, that would cut at three."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator([CODE], trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet))
    made.enable_truncation(3)
    made.enable_padding(length=5)
    made.save(str(tmp_path / "tokenizer.json"))
    monkeypatch.setenv("GOLDSPAN_CODEGEN_TOKENIZER", str(tmp_path))
    lexical._tokenizer.cache_clear()
    yield tmp_path
    lexical._tokenizer.cache_clear()


def offered() -> set[str]:
    return {it.retriever.name for it in resolve_systems(REPOBENCH_OFFICIAL, [], {"whole-file": ""}, retrievers(), [])}


def test_every_token_of_a_text_is_there_and_no_other(folder: Path) -> None:
    tokens = codegen_tokens(CODE)
    # Byte pairs write a space as this letter and a newline as that.
    assert "".join(tokens) == CODE.replace(" ", "\u0120").replace("\n", "\u010a")
    assert len(tokens) > 5
    assert codegen_tokens("") == []


def test_both_systems_compare_its_tokens(folder: Path) -> None:
    texts, query_text = [CODE, "return self.speed\n", ""], "return seconds * self.thrust"
    query, held = codegen_tokens(query_text), [codegen_tokens(text) for text in texts]
    wanted = {
        "edit-codegen": [SequenceMatcher(None, query, tokens).ratio() for tokens in held],
        "jaccard-codegen": [len({*query} & {*tokens}) / len({*query} | {*tokens}) for tokens in held],
    }
    for name, scores in wanted.items():
        assert scores_of(name, pool_of(texts=texts), queries_of([query_text])).tolist() == [scores]


def test_they_run_unasked_where_the_tokenizer_is_and_a_run_is_another_with_another(folder: Path) -> None:
    assert {*NAMES} <= offered()
    before = lexical._parameters()
    (folder / "tokenizer.json").write_text("{}")
    assert lexical._parameters() != before
    (folder / "tokenizer.json").unlink()
    assert offered().isdisjoint(NAMES)


def test_asked_by_name_it_says_what_to_give(lake_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOLDSPAN_CODEGEN_TOKENIZER", str(tmp_path))
    run = command("evaluate", "--lake", lake_folder, "--systems", "*+edit-codegen")
    run.ended(4, "edit-codegen cannot run here")
    needed = "a folder with the tokenizer.json of Salesforce/codegen-350M-mono."
    assert f"Give GOLDSPAN_CODEGEN_TOKENIZER=FOLDER, {needed}" in run.err
    assert "Traceback" not in run.err


def test_asked_for_by_name_it_says_what_to_install(lake_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexical, "find_spec", lambda _: None)
    run = command("evaluate", "--lake", lake_folder, "--systems", "*+jaccard-codegen")
    run.ended(4, "pip install -c constraints.txt 'tokenizers>=0.23,<1'")
    assert offered().isdisjoint(NAMES)
