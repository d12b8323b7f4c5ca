"""Chance on the mined rows: the closed form against shuffled pools, and what equal scores give under both tie rules."""

from __future__ import annotations

from functools import cache
from math import sqrt

import numpy as np
import numpy.typing as npt
import pytest

from tests.evaluate.conftest import Mined
from tests.evaluate.score.repobench_plain import jaccard, rechunked

pytestmark = pytest.mark.slow

SHUFFLES = 10_000
SYSTEM = "whole-file+random"
OFFICIAL = ("repobench-r/official", SYSTEM, "repobench-r@official-v1")
CHUNKING = ("repobench-r/chunks", SYSTEM, "repobench-r@chunking-v1")

Floats = npt.NDArray[np.float64]
Ranks = npt.NDArray[np.int64]

MEASURED = (("accuracy", 1), ("accuracy", 3), ("accuracy", 5), ("precision", 5), ("recall", 5), ("mrr", 10))


def measured(measure: tuple[str, int], ranks: Ranks) -> Floats:
    """A measure's value for each shuffle, from the ranks of the relevant chunks: (shuffles, relevant)."""
    name, k = measure
    n_found: Floats = np.sum(ranks <= k, axis=1, dtype=np.float64)
    if name == "accuracy":
        found: Floats = np.sign(n_found)
        return found
    if name == "mrr":
        found = np.sign(n_found) / ranks.min(axis=1)
        return found
    return n_found / (k if name == "precision" else ranks.shape[1])


@cache
def shuffled(n_chunks: int, n_relevant: int) -> dict[tuple[str, int], tuple[float, float]]:
    """Mean and standard deviation of every measure over shuffles of a pool: chance knows no more of it than this."""
    if not n_relevant:
        return dict.fromkeys(MEASURED, (0.0, 0.0))
    drawn = np.random.default_rng([n_chunks, n_relevant])
    pools = np.tile(np.arange(n_chunks), (SHUFFLES, 1))
    ranks = drawn.permuted(pools, axis=1)[:, :n_relevant] + 1
    values = {measure: measured(measure, ranks) for measure in MEASURED}
    return {measure: (float(one.mean()), float(one.std())) for measure, one in values.items()}


@pytest.fixture(scope="module")
def sizes(mined: Mined) -> dict[str, tuple[int, int]]:
    """Chunks, and relevant chunks, of each item's pool."""
    found = {}
    for item_id, pool in mined.pools("whole-file").items():
        row = mined.rows[item_id]
        gold = row.candidates[row.gold]
        found[item_id] = (len(pool), sum(jaccard(text, gold) >= 0.7 for text in pool.values()))
    return found


def test_the_closed_form_is_what_ten_thousand_shuffles_give(mined: Mined, sizes: dict[str, tuple[int, int]]) -> None:
    chunking, official = mined.scored(*CHUNKING), mined.scored(*OFFICIAL)
    assert chunking.keys() == official.keys() == mined.rows.keys()
    errors = []
    for item_id, (n_chunks, n_relevant) in sizes.items():
        for measure, (mean, deviation) in shuffled(n_chunks, n_relevant).items():
            value = chunking[item_id][measure]
            assert value is not None
            # Five standard errors of the mean; where every shuffle gives the same, that.
            assert value == pytest.approx(mean, abs=5 * deviation / sqrt(SHUFFLES) + 1e-12), (item_id, measure)
            errors.append(abs(value - mean) / deviation * sqrt(SHUFFLES) if deviation else 0.0)
        # The published protocol: one candidate of all is right.
        for k in (1, 3, 5):
            exact = min(1.0, k / len(mined.rows[item_id].candidates))
            is_asked = k < 5 or mined.rows[item_id].level == "hard"
            assert official[item_id]["accuracy", k] == (pytest.approx(exact, abs=1e-15) if is_asked else None)
    # The shuffles are no closer and no farther than chance has it: about every third is more than one error off.
    assert 0 < np.mean(np.array(errors) > 1) < 0.5


def test_what_scores_everything_alike_is_chance_where_a_hash_decides(
    mined: Mined, sizes: dict[str, tuple[int, int]]
) -> None:
    expected, ranking = mined.scored(*CHUNKING), mined.ranking(*CHUNKING[:2])
    assert {score for answered in ranking.values() for _, score in answered} == {0.0}
    pools = mined.pools("whole-file")
    apart: dict[tuple[str, int], list[float]] = {measure: [] for measure in MEASURED}
    for item_id, row in mined.rows.items():
        likeness = {chunk: jaccard(text, row.candidates[row.gold]) for chunk, text in pools[item_id].items()}
        order = [chunk for chunk, _ in ranking[item_id]]
        returned = rechunked(likeness, order, row.gold, has_boundary=True)
        for measure, differences in apart.items():
            value, chance = returned[measure], expected[item_id][measure]
            assert value is not None
            assert chance is not None
            differences.append(value - chance)
    for measure, differences in apart.items():
        error = sqrt(sum(shuffled(*size)[measure][1] ** 2 for size in sizes.values())) / len(sizes)
        assert abs(np.mean(differences)) < 3 * error, measure
        assert len(set(differences)) > 1


def test_what_scores_everything_alike_shows_where_gold_stands_where_the_pool_decides(mined: Mined) -> None:
    ranking, chance = mined.ranking(*OFFICIAL[:2]), mined.scored(*OFFICIAL)
    bias = {}
    for level, k in (("easy", 1), ("easy", 3), ("hard", 1), ("hard", 3), ("hard", 5)):
        rows = [row for row in mined.rows.values() if row.level == level]
        for row in rows:
            assert [chunk for chunk, _ in ranking[row.item_id]] == [
                (f"cand:{n}", 0) for n in range(len(row.candidates))
            ]
        right = sum(row.gold < k for row in rows)
        by_chance = sum(chance[row.item_id]["accuracy", k] or 0.0 for row in rows)
        bias[level, k] = round((right - by_chance) / len(rows), 3)
    # How much more often than by chance gold is among the first k candidates of the mined rows. So much of the accuracy
    # of a retriever with many equal scores is the order in which the rows list their candidates.
    assert bias == {("easy", 1): -0.004, ("easy", 3): 0.0, ("hard", 1): -0.017, ("hard", 3): 0.002, ("hard", 5): 0.031}
