import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate.rank.ranking import Ranked, cost_rows, hits_by_run, rank
from evaluate.retrievers import Pool, PoolScores, Queries, Retriever, Scan, retrievers
from evaluate.texts.tokens import Texts
from lake.catalog.protocol import TieRule
from lake.offsets import Offsets
from lake.store import Lake
from lake.tables import table
from tests.evaluate.hand_made import pool_of

NAN = float("nan")
SCORES = st.lists(st.sampled_from([0.0, 0.5, 1.0, -1.0, NAN]), min_size=1, max_size=12)


def _pool(n: int, pool_id: str = "pool") -> Pool:
    return replace(pool_of(texts=["x"] * n), pool_id=pool_id)


def _queries(n: int = 1, name: str = "item") -> Queries:
    return Queries([f"{name}/{row}" for row in range(n)], Texts(["q"] * n), [None] * n, np.full(n, -1, dtype=np.int64))


def _scorer(score: Callable[[Pool, Queries], object]) -> Retriever:
    return Retriever("given", "Given", "As given.", partial(Scan, score=score))  # type: ignore[arg-type] # wrong answers are what is tested


def _given(scores: Sequence[Sequence[float]]) -> Retriever:
    return _scorer(lambda pool, queries: np.array(scores))


def _rank(
    retriever: Retriever,
    pool: Pool,
    queries: Queries,
    *,
    tie: TieRule = "pool",
    depth: int | None = 100,
    cut_offs: Sequence[int] = (),
) -> Ranked:
    return rank(retriever, [(pool, queries)], tie=tie, depth=depth, cut_offs=cut_offs)


def _order(ranked: Ranked, item_id: str = "item/0") -> list[int]:
    hits = hits_by_run({"": ranked}).filter(pl.col("item_id") == item_id)
    assert hits["rank"].to_list() == list(range(1, hits.height + 1))
    return hits["chunk"].to_list()


@given(SCORES)
def test_ranks_are_scores_descending_then_the_pools_order(scores: list[float]) -> None:
    returned = [row for row in range(len(scores)) if not np.isnan(scores[row])]
    expected = sorted(returned, key=lambda row: (-scores[row], row))
    assert _order(_rank(_given([scores]), _pool(len(scores)), _queries())) == expected


@given(SCORES)
def test_under_hash_ties_only_equal_scores_change_places(scores: list[float]) -> None:
    ranked = _rank(_given([scores]), _pool(len(scores)), _queries(), tie="hash")
    by_pool = _rank(_given([scores]), _pool(len(scores)), _queries())
    assert hits_by_run({"": ranked})["score"].to_list() == hits_by_run({"": by_pool})["score"].to_list()
    assert sorted(_order(ranked)) == sorted(_order(by_pool))


def test_depth_keeps_the_first_and_none_keeps_all() -> None:
    scores = [[float(n) for n in range(10)]]
    assert _order(_rank(_given(scores), _pool(10), _queries(), depth=3)) == [9, 8, 7]
    assert len(_order(_rank(_given(scores), _pool(10), _queries(), depth=None))) == 10
    assert len(_order(_rank(_given(scores), _pool(10), _queries(), depth=99))) == 10


def test_ties_are_counted_at_the_cut_offs_they_cross_and_nowhere_else() -> None:
    scores = [[3.0, 2.0, 2.0, 1.0, NAN, NAN], [1.0] * 6]
    ranked = _rank(_given(scores), _pool(6), _queries(2), cut_offs=[1, 2, 3, 4, 5, 6])
    assert sorted(ranked.ties) == [("item/0", 2), *(("item/1", k) for k in (1, 2, 3, 4, 5))]


def test_a_scorer_that_scores_everything_alike_is_chance_exactly() -> None:
    alike = _scorer(lambda pool, queries: np.full((len(queries), len(pool)), 7.0))
    pool, queries = _pool(40), _queries(3)
    kinds = (alike, retrievers()["random"])
    mine, chance = (hits_by_run({"": _rank(retriever, pool, queries, tie="hash")}).drop("score") for retriever in kinds)
    assert mine.equals(chance)


def test_chance_hits_as_often_as_the_hypergeometric_distribution_says() -> None:
    n, n_relevant, k, n_items = 25, 5, 10, 3000
    hits = hits_by_run({"": _rank(retrievers()["random"], _pool(n), _queries(n_items), tie="hash", depth=k)})
    hit = hits.filter(pl.col("chunk") < n_relevant)["item_id"].n_unique() / n_items
    expected = 1 - np.prod([(n - n_relevant - drawn) / (n - drawn) for drawn in range(k)])
    assert abs(hit - expected) < 4 * (expected * (1 - expected) / n_items) ** 0.5


def _raise(error: Exception) -> Callable[[Pool, Queries], object]:
    def score(pool: Pool, queries: Queries) -> object:
        raise error

    return score


FAULTS: dict[str, tuple[Callable[[Pool, Queries], object], str]] = {
    "raises": (_raise(ValueError("no such word\nand more")), "ValueError: no such word"),
    "raises half a character": (_raise(ValueError("\udcff")), "ValueError: \\udcff"),
    "transposed": (lambda p, q: np.zeros((len(p), len(q))), "ValueError: scores: found (4, 2), not the shape"),
    "infinite": (lambda p, q: np.full((len(q), len(p)), np.inf), "ValueError: scores: found an infinite one"),
    "none": (lambda p, q: None, "ValueError: scores: found ()"),
    "ragged": (lambda p, q: [[1.0], [1.0, 2.0]], "ValueError: setting an array element"),
}


@pytest.mark.parametrize(("score", "message"), FAULTS.values(), ids=FAULTS)
def test_a_retriever_error_fails_only_its_pools_items(score: Callable[[Pool, Queries], object], message: str) -> None:
    def on_one_pool(pool: Pool, queries: Queries) -> object:
        return score(pool, queries) if pool.pool_id == "bad" else np.zeros((len(queries), len(pool)))

    by_pool = [(_pool(4, "bad"), _queries(2, "bad")), (_pool(4), _queries(2))]
    ranked = rank(_scorer(on_one_pool), by_pool, tie="pool", depth=100, cut_offs=[1])
    assert set(ranked.failed) == {"bad/0", "bad/1"}
    assert all(
        re.match(rf"tests/evaluate/rank/test_ranking.py(:\d+)?: {re.escape(message)}", error)
        for error in ranked.failed.values()
    )
    assert set(hits_by_run({"": ranked})["item_id"]) == {"item/0", "item/1"}
    assert len(ranked.query_seconds) == 2


def test_a_query_that_could_not_be_answered_fails_alone() -> None:
    answer = PoolScores(np.array([[1.0, 2.0], [9.0, 9.0]]), {1: "no vector"})
    ranked = _rank(_scorer(lambda pool, queries: answer), _pool(2), _queries(2))
    assert ranked.failed == {"item/1": "no vector"}
    assert _order(ranked) == [1, 0]
    assert set(hits_by_run({"": ranked})["item_id"]) == {"item/0"}


def test_a_part_costs_what_ranking_it_took_and_nothing_was_timed_of_a_query_that_failed() -> None:
    timed = _rank(_given([[1.0]]), _pool(1), _queries())
    failed = _rank(_scorer(_raise(ValueError("x"))), _pool(2), _queries())
    for ranked, n in ((timed, 1), (failed, 0)):
        row = table("costs").checked(cost_rows([{"r": ranked}], "items")).row(0, named=True)
        assert (row["run_id"], row["part"], row["index_bytes"]) == ("r", "items", ranked.index_bytes)
        assert row["query_seconds"] == pytest.approx(ranked.query_seconds)
        assert len(row["query_seconds"]) == n
        assert re.search(r", [0-9]+ cores?, [0-9]+ GB, .+, Python 3", row["hardware"])


def test_every_hit_has_the_characters_of_its_new_lines(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    texts = dict(lake.read("blobs").select("sha256", "text").iter_rows())
    costs = {
        (pool, path): Offsets.between_lines(texts[sha256]).n_nws
        for pool, path, sha256 in lake.read("files").select("pool_id", "path", "sha256").iter_rows()
    }
    pools = dict(lake.read("items").select("item_id", "pool_id").iter_rows())
    runs = lake.read("runs").select("run_id", "chunker")
    hits = lake.read("hits").join(runs, on="run_id").sort("run_id", "item_id", "part", "rank")
    returned: set[tuple[object, ...]] = set()
    n_less = 0
    columns = ("run_id", "part", "item_id", "path", "line_start", "line_end", "n_new_nws")
    for run_id, part, item_id, path, start, end, n_new in hits.select(columns).iter_rows():
        new = [line for line in range(start, end) if (run_id, part, item_id, path, line) not in returned]
        returned |= {(run_id, part, item_id, path, line) for line in new}
        assert n_new == sum(int(costs[pools[item_id], path][line]) for line in new)
        n_less += len(new) < end - start
    assert set(hits["chunker"]) == {"whole-file", "window-4-2"}
    assert n_less > 0
