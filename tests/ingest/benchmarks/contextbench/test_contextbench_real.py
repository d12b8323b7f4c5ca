"""ContextBench's published test split and the repositories at hand: counts that are known, and the published sizes."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from ingest.benchmarks.contextbench.rows import Instance, read_instances
from ingest.sources.tree import Entry
from lake.rejects import Rejects
from lake.store import Lake
from tests.ingest.benchmarks.contextbench.context_cases import items, rejected

BOTH = ("contextbench_verified_test.parquet", "test.parquet")


def instances(folder: Path, *names: str) -> list[Instance]:
    rejects, notes = Rejects(), list[str]()
    files = [Entry(name, -1, (folder / name).read_bytes) for name in names]
    found = read_instances(files, rejects, notes)
    assert len(rejects) == 0
    return found


@pytest.fixture(scope="module")
def lake(real_contextbench: Path) -> Path:
    """A lake with the 50 rows and the 21 repositories."""
    return real_contextbench / "lake"


def test_both_encodings_give_the_same_391_spans(shared: Path) -> None:
    json_lists, text_blocks = (instances(shared / "contextbench", name) for name in BOTH)
    assert [one.item_id for one in json_lists] == [one.item_id for one in text_blocks]
    for one, other in zip(json_lists, text_blocks, strict=True):
        assert [span[:3] for span in one.gold] == [span[:3] for span in other.gold]
    assert (len(json_lists), sum(len(one.gold) for one in json_lists)) == (50, 391)
    both = instances(shared / "contextbench", *BOTH)
    assert [(one.item_id, one.why_not) for one in both] == [(one.item_id, None) for one in json_lists]


def test_21_of_50_can_be_scored_and_the_others_lack_their_files(shared: Path, lake: Path) -> None:
    at_hand = set(json.loads((shared / "contextbench/instances_with_files.json").read_text()))
    found = items(lake)
    assert {name for name, one in found.items() if one["scorable"]} == at_hand
    assert (len(found), len(at_hand)) == (50, 21)
    assert all("is not at hand" in str(found[name]["why_not"]) for name in set(found) - at_hand)
    assert "ContextBench full: 21 of 50 can be scored" in (lake.parent / "said").read_text()
    assert not [source for source, *_ in rejected(lake) if source.endswith((".parquet", ".csv"))]


def test_what_is_odd_about_the_gold_at_hand(shared: Path, lake: Path) -> None:
    flags = Lake(lake).read("items")["gold_flags"].explode().drop_nulls()
    counted = flags.str.split_exact(":", 1).struct.unnest()
    totals = dict(counted.group_by("field_0").agg(pl.col("field_1").cast(pl.Int64).sum()).rows())
    assert totals == {"content-differs": 17, "ends-past-eof": 13, "file-not-searched": 2, "duplicate-spans": 1}
    scorable = {name for name, one in items(lake).items() if one["scorable"]}
    checked = [one for one in instances(shared / "contextbench", BOTH[0]) if one.item_id in scorable]
    assert sum(len(one.gold) for one in checked) == 108
    assert sum(len(one.gold) - len({span[:3] for span in one.gold}) for one in checked) == 1


def test_gold_bytes_are_the_lines_they_stand_for(lake: Path) -> None:
    store = Lake(lake)
    spans = (
        store.read("gold_spans").filter(gold="context")
        .join(store.read("items").select("item_id", "pool_id"), on="item_id")
    )  # fmt: skip
    files = store.read("files").with_columns(pl.col("pool_id").str.strip_suffix("#rest"))
    found = spans.join(files, on=["pool_id", "path"]).join(store.read("blobs").select("sha256", "text"), on="sha256")
    assert found.height == spans.height == 107
    for one in found.iter_rows(named=True):
        lines = one["text"].split("\n")
        whole = "".join(f"{line}\n" for line in lines[one["line_start"] : one["line_end"]])
        cut = one["text"].encode()[one["byte_start"] : one["byte_end"]].decode()
        assert cut in (whole, whole[:-1])
