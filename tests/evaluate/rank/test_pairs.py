"""Many small pools side by side score, tie and rank to the last bit as each of them does alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate.rank.pools import ChunkedPools, queries_by_pool, with_gold
from evaluate.rank.ranking import Ranked, rank
from evaluate.retrievers import POOLS_AT_ONCE, Pool, PoolScores, Queries, Retriever, Scan, retrievers
from evaluate.retrievers.baselines import RANDOM
from evaluate.retrievers.bm25 import BM25_OKAPI
from evaluate.texts.tokens import Refined, Texts, by_spelling, count_texts
from lake.catalog.benchmarks.repobench_r import REPOBENCH_CHUNKS
from lake.catalog.task import Task, TieRule
from lake.text import words

LEXICAL = sorted(
    name for name, one in retrievers().items() if one.n_side_by_side > 1 and one.needs != "gold" and not one.why_missing
)
TASK = REPOBENCH_CHUNKS


@dataclass(frozen=True)
class Made:
    """Items with a pool each, as the lake would give them."""

    items: pl.DataFrame
    pools: ChunkedPools
    gold: pl.DataFrame
    gains: pl.DataFrame

    def alone(self, retriever: Retriever, task: Task, depth: int | None = None, *, sees: str = "") -> Ranked:
        return self.together(replace(retriever, n_side_by_side=1), task, depth, sees=sees)

    def together(self, retriever: Retriever, task: Task, depth: int | None = None, *, sees: str = "") -> Ranked:
        asked = queries_by_pool(self.items, self.pools, retriever.n_side_by_side)
        if sees:
            gains = self.gains if sees == "gains" else None
            asked = with_gold(asked, self.items, self.pools, self.gold, gains)
        return rank(retriever, asked, tie=task.tie, depth=depth, cut_offs=[1, 2, 3])


def made(asked: Sequence[tuple[str, Sequence[str]]]) -> Made:
    """Items of a query and its candidates; equal candidates are one content, the first of each is the gold."""
    texts = sorted({text for _, pool in asked for text in pool})
    names = [f"item {number}" for number in range(len(asked))]
    rows = [
        (f"pool {name}", f"cand:{place}", 0, 0, text.count("\n") + 1, texts.index(text), place)
        for name, (_, pool) in zip(names, asked, strict=True)
        for place, text in enumerate(pool)
    ]
    columns = ["pool_id", "path", "chunk_no", "line_start", "line_end", "text", "chunk"]
    types = dict.fromkeys(columns, pl.Int64) | dict.fromkeys(columns[:2], pl.String)
    chunks = pl.DataFrame(rows, types, orient="row").with_columns(n_file_lines="line_end")
    queries = [query for query, _ in asked]
    items = pl.DataFrame({"item_id": names, "pool_id": [f"pool {name}" for name in names], "text": queries})
    gold = pl.DataFrame({"item_id": names}).with_columns(path=pl.lit("cand:0"), line_start=0, line_end=1, grade=None)
    gains = [
        (pool_id.removeprefix("pool "), path, chunk_no, text % 3 / 2) for pool_id, path, chunk_no, _, _, text, _ in rows
    ]
    return Made(
        items.with_columns(target_path=pl.lit(None, pl.String), target_line=pl.lit(None, pl.Int64)),
        ChunkedPools("whole-file", chunks.sort("pool_id", "chunk"), Texts(texts)),
        gold.with_columns(pl.col("line_start", "line_end", "grade").cast(pl.Int64)),
        pl.DataFrame(gains, ["item_id", "path", "chunk_no", "gain"], orient="row")
        if gains
        else pl.DataFrame(schema={"item_id": pl.String, "path": pl.String, "chunk_no": pl.Int64, "gain": pl.Float64}),
    )


code = st.lists(st.sampled_from(["a", "b", "B", "value", "value", "(", "1", "É", "ß", "\n"]), max_size=8).map(" ".join)
asked_pools = st.lists(st.tuples(code, st.lists(code, max_size=7)), min_size=1, max_size=6)


def _same(together: Ranked, alone: Ranked) -> None:
    order = ["item_id", "part", "rank"]
    assert together.hits.sort(order).equals(alone.hits.sort(order))
    assert (together.ties, together.failed) == (alone.ties, alone.failed)


@pytest.mark.parametrize("name", LEXICAL)
@pytest.mark.parametrize("tie", ["hash", "pool"])
@given(asked=asked_pools, depth=st.sampled_from([None, 1, 3]))
def test_pools_side_by_side_are_ranked_as_each_alone(
    name: str, tie: TieRule, asked: list[tuple[str, list[str]]], depth: int | None
) -> None:
    lake, task = made(asked), replace(TASK, tie=tie)
    _same(lake.together(retrievers()[name], task, depth), lake.alone(retrievers()[name], task, depth))


@pytest.mark.parametrize("sees", ["gold", "gains"])
@given(asked=asked_pools)
def test_the_oracle_orders_pools_side_by_side_as_each_alone(sees: str, asked: list[tuple[str, list[str]]]) -> None:
    lake, oracle = made(asked), retrievers()["oracle"]
    _same(lake.together(oracle, TASK, sees=sees), lake.alone(oracle, TASK, sees=sees))


@pytest.mark.parametrize("name", LEXICAL)
def test_more_pools_than_are_counted_at_once_are_ranked_as_each_alone(name: str) -> None:
    words = [f"w{number % 7} w{number % 11} shared" for number in range(2 * POOLS_AT_ONCE + 3)]
    lake = made(
        [(word, [words[(place * step) % len(words)] for step in (1, 3, 5)]) for place, word in enumerate(words)]
    )
    _same(lake.together(retrievers()[name], TASK), lake.alone(retrievers()[name], TASK))


def test_the_rarity_of_a_word_is_that_of_its_own_pool_alone() -> None:
    # In the first pool `rare` is in one of three chunks, in the second in all: the same chunk, another weight.
    lake = made([("rare", ["rare x", "y", "z"]), ("rare", ["rare x", "rare y", "rare z"])])
    found = lake.together(BM25_OKAPI, TASK)
    best = found.hits.filter(pl.col("chunk") == 0).sort("item_id")["score"].to_list()
    # ln(2.5 / 1.5), damped by a length of 2 where the mean is 4/3; and, below 0, a quarter of the mean idf.
    alone = np.log(2.5 / 1.5) * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 2 / (4 / 3)))
    mean = (np.log(0.5 / 3.5) + 3 * np.log(2.5 / 1.5)) / 4
    assert best == pytest.approx([alone, 0.25 * mean], rel=1e-12)


def _answering(score: object) -> Retriever:
    return replace(RANDOM, index=lambda pool: Scan(pool, score))  # type: ignore[arg-type] # wrong answers are what is tested


def _raise(pool: Pool, queries: Queries) -> object:
    raise ValueError


RAISED = f"tests/evaluate/rank/test_pairs.py:{_raise.__code__.co_firstlineno + 1}: ValueError: "


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (_raise, RAISED),
        (lambda pool, queries: np.zeros((len(queries), len(pool))), "not the shape (queries, chunks) = (2, 2)"),
        (lambda pool, queries: np.full(pool.places.shape, np.inf), "found an infinite one"),
        (lambda pool, queries: "x", "ValueError"),
    ],
    ids=["raises", "one too many", "infinite", "text"],
)
def test_a_fault_fails_the_items_of_all_pools_that_are_scored_together(fault: object, why: str) -> None:
    found = made([("a", ["a", "b"]), ("b", ["b"])]).together(_answering(fault), TASK)
    assert list(found.failed) == ["item 0", "item 1"]
    assert all(why in said for said in found.failed.values())
    assert found.hits.is_empty()


def test_nan_is_not_returned_and_a_failed_query_fails_alone() -> None:
    lake = made([("a", ["a", "b"]), ("b", ["b", "c"])])
    answer = PoolScores(np.array([[1.0, np.nan], [2.0, 3.0]]), {1: "no vector"})
    found = lake.together(_answering(lambda pool, queries: answer), TASK)
    assert found.hits.select("item_id", "chunk", "rank").rows() == [("item 0", 0, 1)]
    assert found.failed == {"item 1": "no vector"}


def test_only_small_pools_of_ones_own_are_put_side_by_side() -> None:
    own = made([("a", ["a", "b"]), ("b", ["b"])])
    assert own.pools.are_own(own.items)
    shared = own.items.with_columns(pool_id=pl.lit("pool item 0"))
    assert not own.pools.are_own(shared)
    big = made([("a", [f"{number}" for number in range(201)])])
    assert not big.pools.are_own(big.items)


@given(st.lists(st.lists(st.sampled_from(["b", "a", "c", "É"]), max_size=5), max_size=5))
def test_tokens_are_counted_in_the_order_of_their_spelling(documents: list[list[str]]) -> None:
    found = by_spelling(documents)
    assert list(found.vocabulary) == sorted({token for document in documents for token in document})
    expected = [[document.count(token) for token in found.vocabulary] for document in documents]
    assert found.counts.toarray().tolist() == expected
    assert found.n_tokens.tolist() == [len(document) for document in documents]
    assert found.n_different.tolist() == [len(set(document)) for document in documents]
    again = found.of_queries(count_texts(["new a new"], str.split))
    assert again.n_tokens.tolist() == [3]
    assert again.counts[:, len(found.vocabulary) :].sum() == (2 if "a" in found.vocabulary else 3)


@given(st.lists(code, max_size=5), code)
def test_tokens_made_of_anothers_tokens_are_counted_as_those_of_the_text(texts: list[str], query: str) -> None:
    letters = Refined(words, lambda word: [letter for letter in word if letter != "a"])
    found, expected = Texts(texts).counted(letters), by_spelling(map(letters, texts))
    assert found.vocabulary.to_list() == expected.vocabulary.to_list()
    assert found.counts.toarray().tolist() == expected.counts.toarray().tolist()
    asked = found.of_queries(count_texts([query], letters))
    assert asked.n_tokens.tolist() == [sum(len(word.replace("a", "")) for word in words(query))]
