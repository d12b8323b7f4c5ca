from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluate.metrics import metrics_of
from evaluate.score.metric_values import ScoringInputs
from lake.benchmarks import protocols
from lake.catalog.protocol import Protocol
from lake.tables import table
from tests.evaluate.score.one_run import SPAN, expected_random, score
from tests.frames import frame

OFFICIAL = protocols()["repobench-r@official-v1"]
CHUNKING = protocols()["repobench-r@chunking-v1"]
IDENTIFIER = protocols()["repobench-r@identifier-v1"]

Number = float | None


class Chunk(NamedTuple):
    """A chunk of a candidate, and how like the gold snippet it is."""

    candidate: int
    chunk_no: int
    jaccard: float = 0.0
    overlap: float = 0.0

    @property
    def path(self) -> str:
        return f"cand:{self.candidate}"


class Asked(NamedTuple):
    """An item with its pool and what a run returned for it."""

    pool: Sequence[Chunk]
    ranking: Sequence[Chunk]
    gold: int = 0
    level: str = "hard"


def frames(items: Mapping[str, Asked]) -> dict[str, pl.LazyFrame]:
    chunks = [(item, chunk) for item, case in items.items() for chunk in case.pool]
    in_pool = [(item, chunk.path, chunk.chunk_no, 3 * chunk.chunk_no, 3 * chunk.chunk_no + 3) for item, chunk in chunks]
    alike = [(item, chunk.path, chunk.chunk_no, chunk.jaccard, chunk.overlap) for item, chunk in chunks]
    gold = [(item, f"cand:{case.gold}", 0, 9) for item, case in items.items()]
    return {
        "items": frame([(item, item, case.level) for item, case in items.items()], "item_id", "pool_id", "level"),
        "gold": frame(gold, "item_id", *SPAN),
        "pool": frame(in_pool, "pool_id", "path", "chunk_no", "line_start", "line_end"),
        "relevance": frame(alike, "item_id", "path", "chunk_no", "jaccard", "identifier_overlap"),
    }


def hits_of(items: Mapping[str, Asked]) -> pl.LazyFrame:
    rows = [
        (item, rank, chunk.path, chunk.chunk_no)
        for item, case in items.items()
        for rank, chunk in enumerate(case.ranking, start=1)
    ]
    return frame(rows, "item_id", "rank", "path", "chunk_no")


def scored(protocol: Protocol, items: Mapping[str, Asked]) -> pl.DataFrame:
    scores = score(ScoringInputs(protocol, axis=None, **frames(items)), hits=hits_of(items)).collect()
    table("scores").checked(scores)
    assert scores.equals(scores.sort(table("scores").key))
    assert scores.height == len(items) * len(metrics_of(protocol))
    return scores


def values(scores: pl.DataFrame, item: str = "x") -> dict[tuple[str, int], Number]:
    mine = scores.filter(item_id=item)
    return {(metric, k): value for metric, k, value in mine.select("metric", "k", "value").iter_rows()}


def test_a_ranking_of_paths_alone_can_be_scored_as_published() -> None:
    pool = [Chunk(candidate, 0) for candidate in range(10)]
    known, hits = frames({"x": Asked(pool, [])}), hits_of({"x": Asked(pool, pool)}).drop("chunk_no")
    scores = values(score(ScoringInputs(OFFICIAL, axis=None, **known), hits=hits).collect())
    assert scores["accuracy", 1] == 1


def test_similarity_by_hand() -> None:
    # Two of candidate 0, the gold; the threshold itself is relevant.
    pool = [Chunk(0, 0, 0.7), Chunk(0, 1, 0.2), Chunk(1, 0, 0.9), Chunk(2, 0, 0.69), Chunk(3, 0, 1.0), Chunk(4, 0, 0.8)]
    scores = scored(CHUNKING, {"x": Asked(pool, [pool[3], pool[0], pool[2], pool[1], pool[4], pool[5]])})
    assert values(scores) == {
        ("accuracy", 1): 0, ("accuracy", 3): 1, ("accuracy", 5): 1,
        ("precision", 5): 3 / 5, ("recall", 5): 3 / 4, ("mrr", 10): 1 / 2,
        ("reachable", 0): 1,
        ("accuracy_reachable", 1): 0, ("accuracy_reachable", 3): 1, ("accuracy_reachable", 5): 1,
        ("boundary_similarity", 0): 0.7,
        ("non_gold_share", 5): 2 / 3,
        ("best_similarity", 0): 1.0, ("correct", 0): 1, ("found_rank", 0): 2,
    }  # fmt: skip


def plain(protocol: Protocol, case: Asked) -> dict[tuple[str, int], Number]:
    column = "overlap" if protocol == IDENTIFIER else "jaccard"

    def alike(chunk: Chunk) -> float:
        if protocol == OFFICIAL:
            return float(chunk.candidate == case.gold)
        return float(getattr(chunk, column))

    def is_relevant(chunk: Chunk) -> bool:
        return alike(chunk) >= 0.7

    listed = case.ranking
    ranks = [rank for rank, chunk in enumerate(listed, start=1) if is_relevant(chunk)]
    n_relevant = sum(is_relevant(chunk) for chunk in case.pool)
    wanted: dict[tuple[str, int], Number] = {}
    for k in (1, 3, 5):
        is_short = protocol == OFFICIAL and len(listed) < min(k, len(case.pool))
        right = float(any(is_relevant(chunk) for chunk in listed[:k]) and not is_short)
        wanted["accuracy", k] = None if protocol == OFFICIAL and k == 5 and case.level == "easy" else right
        wanted["accuracy_reachable", k] = right if n_relevant else None
    among = [chunk for chunk in listed[:5] if is_relevant(chunk)]
    wanted["precision", 5] = len(among) / 5
    wanted["recall", 5] = len(among) / n_relevant if n_relevant else 0.0
    wanted["mrr", 10] = 1 / ranks[0] if ranks and ranks[0] <= 10 else 0.0
    wanted["reachable", 0] = float(n_relevant > 0)
    wanted["boundary_similarity", 0] = max((alike(c) for c in case.pool if c.candidate == case.gold), default=None)
    elsewhere = [chunk for chunk in among if chunk.candidate != case.gold]
    wanted["non_gold_share", 5] = len(elsewhere) / len(among) if among else None
    wanted["correct", 0] = float(bool(ranks))
    wanted["found_rank", 0] = float(ranks[0]) if ranks else None
    wanted["best_similarity", 0] = max((alike(chunk) for chunk in listed), default=0.0)
    return {(metric.name, k): wanted[metric.name, k] for metric, k in metrics_of(protocol)}


shares = st.sampled_from([0.0, 0.3, 0.69, 0.7, 0.75, 1.0])
pools = st.lists(
    st.builds(Chunk, st.integers(0, 4), st.integers(0, 3), shares, shares),
    max_size=14,
    unique_by=lambda chunk: (chunk.candidate, chunk.chunk_no),
)
levels = st.sampled_from(["easy", "hard"])
asked_items = pools.flatmap(
    lambda pool: st.builds(
        lambda order, depth, gold, level: Asked(pool, order[:depth], gold, level),
        st.permutations(pool),
        st.integers(0, 14),
        st.integers(0, 5),
        levels,
    )
)


@given(several=st.lists(asked_items, min_size=1, max_size=4))
def test_scores_are_those_of_a_plain_reading(several: list[Asked]) -> None:
    items = {f"i{number}": case for number, case in enumerate(several)}
    for protocol in (OFFICIAL, CHUNKING, IDENTIFIER):
        scores = scored(protocol, items)
        for item, case in items.items():
            assert values(scores, item) == plain(protocol, case), protocol.name


def means(scores: pl.DataFrame) -> dict[tuple[str, int], tuple[Number, ...]]:
    grouped = scores.group_by("metric", "k").agg(pl.col("value", "numerator", "denominator").mean())
    return {(metric, k): tuple(numbers) for metric, k, *numbers in grouped.iter_rows()}


@settings(max_examples=10)
@given(pool=pools.map(lambda pool: pool[:6]), gold=st.integers(0, 5), level=levels)
def test_the_random_order_scores_the_mean_of_every_order(pool: list[Chunk], gold: int, level: str) -> None:
    orders = {f"order {number}": Asked(pool, order, gold, level) for number, order in enumerate(permutations(pool))}
    for protocol in (OFFICIAL, CHUNKING, IDENTIFIER):
        known = frames({"x": Asked(pool, [], gold, level)})
        chance = expected_random(ScoringInputs(protocol, axis=None, **known))
        table("scores").checked(chance)
        theirs, ours = means(scored(protocol, orders)), means(chance)
        assert ours.keys() == theirs.keys()
        for measure, numbers in theirs.items():
            # Where an order has no share, it is the mean of those that have one.
            assert ours[measure] == pytest.approx(numbers, abs=1e-12), (protocol.name, measure)
