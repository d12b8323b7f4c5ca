"""Joins are carried out in the order in which they are written, in every process that reads a lake."""

import random

import polars as pl
import pytest

import lake  # noqa: F401  # what is tested is set when it is imported

SHARED_ALONE = 'LEFT PLAN ON: [col("path")]'
"""A join by the path, which says `cand:0` in every pool, and by nothing else."""


def _candidates_of_gold(seed: int) -> pl.LazyFrame:
    """The chunks of each item's gold candidate, among pools of two to twenty candidates: items, gold, chunks."""
    draw = random.Random(seed)
    items = [(f"item {number}", f"pool {number}") for number in range(80)]
    draw.shuffle(items)
    n_candidates = {pool_id: draw.randint(2, 20) for _, pool_id in items}
    gold = [(item_id, f"cand:{draw.randrange(n_candidates[pool_id])}") for item_id, pool_id in items]
    draw.shuffle(gold)
    chunks = [(pool_id, f"cand:{number}") for pool_id, n in sorted(n_candidates.items()) for number in range(n)]
    of_items, of_gold, of_pools = (
        pl.LazyFrame(rows, columns, orient="row")
        for rows, columns in (
            (items, ["item_id", "pool_id"]), (gold, ["item_id", "path"]), (chunks, ["pool_id", "path"])
        )
    )  # fmt: skip
    return of_items.join(of_gold.unique(), on="item_id").join(of_pools, on=["pool_id", "path"])


@pytest.mark.parametrize("reorders", [False, True])
def test_no_plan_begins_with_a_column_that_all_pools_share(reorders: bool) -> None:
    plans = [_candidates_of_gold(seed) for seed in range(30)]
    # Without what is set, of some polars would: where it no longer does, nothing needs to be set.
    shown = [
        plan.explain(optimizations=pl.QueryOptFlags(join_order=True)) if reorders else plan.explain() for plan in plans
    ]
    assert any(SHARED_ALONE in each for each in shown) is reorders
