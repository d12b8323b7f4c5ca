from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate.rank.pools import ChunkedPools, queries_by_pool, with_gold
from evaluate.rank.ranking import Ranked, hits_by_run, rank
from evaluate.retrievers import POOLS_AT_ONCE, Pool, Queries, Retriever, Scan, retrievers
from evaluate.retrievers.baselines import RANDOM
from evaluate.texts.tokens import Texts
from lake.catalog.benchmarks.repobench_r import REPOBENCH_CHUNKS
from lake.catalog.protocol import Task, TieRule
from tests.frames import frame

LEXICAL = sorted(
    it.name for it in retrievers().values() if it.n_side_by_side > 1 and it.needs != "gold" and not it.why_missing
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
        by_pool = queries_by_pool(self.items, self.pools, retriever.n_side_by_side)
        if sees:
            gains = self.gains.lazy() if sees == "gains" else None
            by_pool = with_gold(by_pool, self.items, self.pools, self.gold, gains, "gain")
        return rank(retriever, by_pool, tie=task.tie, depth=depth, cut_offs=[1, 2, 3])


def made(questions: Sequence[tuple[str, Sequence[str]]]) -> Made:
    """Items of a query and its candidates; equal candidates are one content, the first of each is the gold."""
    texts = sorted({text for _, pool in questions for text in pool})
    names = [f"item {number}" for number in range(len(questions))]
    rows = [
        (f"pool {name}", f"cand:{position}", 0, 0, text.count("\n") + 1, texts.index(text), position)
        for name, (_, pool) in zip(names, questions, strict=True)
        for position, text in enumerate(pool)
    ]
    columns = ("pool_id", "path", "chunk_no", "line_start", "line_end")
    chunks = frame(rows, *columns, text=pl.Int64(), chunk=pl.Int64()).collect().with_columns(n_file_lines="line_end")
    queries = [query for query, _ in questions]
    items = pl.DataFrame({"item_id": names, "pool_id": [f"pool {name}" for name in names], "text": queries})
    gold = pl.DataFrame({"item_id": names}).with_columns(path=pl.lit("cand:0"), line_start=0, line_end=1, grade=None)
    gains = [(pool.removeprefix("pool "), path, chunk_no, text % 3 / 2) for pool, path, chunk_no, _, _, text, _ in rows]
    return Made(
        items.with_columns(target_path=pl.lit(None, pl.String), target_line=pl.lit(None, pl.Int64)),
        ChunkedPools("whole-file", chunks.sort("pool_id", "chunk"), Texts(texts)),  # type: ignore[arg-type] # no lake
        gold.with_columns(pl.col("line_start", "line_end", "grade").cast(pl.Int64)),
        frame(gains, "item_id", "path", "chunk_no", gain=pl.Float64()).collect(),
    )


code = st.lists(st.sampled_from(["a", "b", "B", "value", "value", "(", "1", "É", "ß", "\n"]), max_size=8).map(" ".join)
asked_pools = st.lists(st.tuples(code, st.lists(code, max_size=7)), min_size=1, max_size=6)


def _same(together: Ranked, alone: Ranked) -> None:
    order = ["item_id", "part", "rank"]
    assert hits_by_run({"": together}).sort(order).equals(hits_by_run({"": alone}).sort(order))
    assert (sorted(together.ties), together.failed) == (sorted(alone.ties), alone.failed)


@pytest.mark.parametrize("name", LEXICAL)
@pytest.mark.parametrize("tie", ["hash", "pool"])
@given(questions=asked_pools, depth=st.sampled_from([None, 1, 3]))
def test_pools_side_by_side(name: str, tie: TieRule, questions: list[tuple[str, list[str]]], depth: int | None) -> None:
    lake, task = made(questions), replace(TASK, tie=tie)
    _same(lake.together(retrievers()[name], task, depth), lake.alone(retrievers()[name], task, depth))


@pytest.mark.parametrize("sees", ["gold", "gains"])
@given(questions=asked_pools)
def test_the_oracle_orders_pools_side_by_side_as_each_alone(sees: str, questions: list[tuple[str, list[str]]]) -> None:
    lake, oracle = made(questions), retrievers()["oracle"]
    _same(lake.together(oracle, TASK, sees=sees), lake.alone(oracle, TASK, sees=sees))


@pytest.mark.parametrize("name", LEXICAL)
def test_more_pools_than_are_counted_at_once_are_ranked_as_each_alone(name: str) -> None:
    words = [f"w{number % 7} w{number % 11} shared" for number in range(2 * POOLS_AT_ONCE + 3)]
    lake = made([(word, [words[(n * step) % len(words)] for step in (1, 3, 5)]) for n, word in enumerate(words)])
    _same(lake.together(retrievers()[name], TASK), lake.alone(retrievers()[name], TASK))


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
    wrong = replace(RANDOM, index=lambda pool: Scan(pool, fault))  # type: ignore[arg-type] # what is tested
    ranked = made([("a", ["a", "b"]), ("b", ["b"])]).together(wrong, TASK)
    assert list(ranked.failed) == ["item 0", "item 1"]
    assert all(why in error for error in ranked.failed.values())
    assert hits_by_run({"": ranked}).is_empty()


def test_only_small_pools_of_ones_own_are_put_side_by_side() -> None:
    own = made([("a", ["a", "b"]), ("b", ["b"])])
    assert own.pools.are_own(own.items)
    shared = own.items.with_columns(pool_id=pl.lit("pool item 0"))
    assert not own.pools.are_own(shared)
    big = made([("a", [f"{number}" for number in range(201)])])
    assert not big.pools.are_own(big.items)
