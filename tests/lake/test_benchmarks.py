from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lake.benchmarks import protocols_called
from lake.errors import GoldspanError
from lake.pools import parse_items, stratified
from lake.store import Lake

SIZES = st.lists(st.integers(1, 30), min_size=1, max_size=6)


def _items(sizes: list[int]) -> pl.DataFrame:
    rows = [(f"r{repo}", f"r{repo}/{n}") for repo, size in enumerate(sizes) for n in range(size)]
    return pl.DataFrame(rows, schema=["repo", "item_id"], orient="row")


@example([1, 3, 6, 8, 8, 23], 19)
@given(SIZES, st.integers(1, 200))
def test_every_stratum_gets_its_share_but_for_less_than_one_row(sizes: list[int], limit: int) -> None:
    items = _items(sizes)
    drawn = stratified(items, limit)
    assert drawn.height == min(limit, items.height)
    counts = Counter(drawn["repo"])
    for repo, size in enumerate(sizes):
        share = size * drawn.height / items.height
        assert abs(counts[f"r{repo}"] - share) < 1 + 1e-9


@given(SIZES, st.integers(1, 200))
def test_the_same_rows_are_drawn_whatever_their_order_and_keep_theirs(sizes: list[int], limit: int) -> None:
    items = _items(sizes)
    shuffled = items.sample(fraction=1, shuffle=True, seed=3)
    drawn, other = stratified(items, limit), stratified(shuffled, limit)
    assert set(drawn["item_id"]) == set(other["item_id"])
    assert other["item_id"].to_list() == [item for item in shuffled["item_id"] if item in set(drawn["item_id"])]


def test_an_id_may_be_longer_than_a_files_name() -> None:
    assert parse_items("a" * 300) == (("item_id", "a" * 300),)


def test_a_name_without_its_benchmark_means_every_protocol_of_that_name(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    assert [protocol.name for protocol in protocols_called(lake, "docs-v1")] == ["contextbench@docs-v1"]
    assert [protocol.name for protocol in protocols_called(lake, "contextbench@docs-v1")] == ["contextbench@docs-v1"]
    assert {"repoeval@chunking-v1", "repobench-r@chunking-v1"} <= {
        protocol.name for protocol in protocols_called(lake, "chunking-v1")
    }
    assert [protocol.name for protocol in protocols_called(lake, "chunking-v1", "repoeval")] == ["repoeval@chunking-v1"]


def test_an_unknown_one_is_refused_with_what_may_be_meant(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    with pytest.raises(GoldspanError, match="Did you mean 'docs-v1'"):
        protocols_called(lake, "dcs-v1")
