import json
from pathlib import Path

import polars as pl
import pytest

from ingest.benchmarks.contextbench.rows import Instance, read_instances
from ingest.rejects import Rejects
from ingest.sources.repository import MAX_SEARCHED_BYTES
from ingest.sources.tree import entry_on_disk
from lake.errors import Exit, GoldspanError
from lake.fingerprint import sha256_of
from lake.store import Lake
from tests.ingest.benchmarks.contextbench.context_cases import (
    BURN,
    COMMIT,
    ENGINE,
    FILES,
    OTHER_COMMIT,
    PATCH,
    build,
    gold,
    ingested,
    items,
    parquet,
    rejected,
    repo_parquet,
    row,
    span,
    upstream,
    why_not,
)
from tests.tiny import command, put, refused

POOL = f"contextbench/acme/rockets@{COMMIT}"
THREE = [row("acme__rockets-1"), row("acme__rockets-2"), row("acme__boats-3", repo="boats", base_commit=OTHER_COMMIT)]


def files(lake: Path) -> dict[str, list[str]]:
    frame = Lake(lake).read("files").sort("pool_id", "position")
    return {str(pool): part["path"].to_list() for (pool,), part in frame.group_by("pool_id", maintain_order=True)}


def test_a_row_becomes_an_item_with_its_question_and_repository(tmp_path: Path) -> None:
    ingested(tmp_path / "lake", build(tmp_path / "source"))
    [item] = items(tmp_path / "lake").values()
    assert {name: value for name, value in item.items() if value is not None} == {
        "benchmark": "contextbench",
        "item_id": "acme__rockets-1",
        "upstream_id": upstream("acme__rockets-1"),
        "subset": "full",
        "source": "Made",
        "language": "python",
        "repo": "acme/rockets",
        "commit": COMMIT,
        "pool_id": POOL,
        "patch": PATCH,
        "gold_flags": [],
        "scorable": True,
    }
    text = "acme__rockets-1 burns too little"
    query = ("contextbench", "acme__rockets-1", "problem-statement", text, sha256_of(text.encode()))
    assert Lake(tmp_path / "lake").read("queries").rows() == [query]
    assert rejected(tmp_path / "lake") == []


def test_gold_stands_under_both_rules(tmp_path: Path) -> None:
    spans = [BURN, span("src/engine.py", 6, 9), span(".github/workflow.yml", 1, 1), span("gone.py", 1, 2), BURN]
    ingested(tmp_path / "lake", build(tmp_path / "source", [row("acme__rockets-1", spans)]))
    lake, item = tmp_path / "lake", "acme__rockets-1"
    assert gold(lake) == [
        (item, ".github/workflow.yml", 0, 1, 1),
        (item, "src/engine.py", 1, 3, 2),
        (item, "src/engine.py", 5, 7, 1),
    ]
    assert gold(lake, "context-official") == [
        (item, "github/workflow.yml", 0, 1, 1),
        (item, "gone.py", 0, 2, 1),
        (item, "src/engine.py", 1, 3, 2),
        (item, "src/engine.py", 5, 9, 1),
    ]
    flags = items(lake)[item]["gold_flags"]
    assert flags == [
        "content-differs:2",
        "ends-past-eof:1",
        "file-missing:1",
        "file-not-searched:1",
        "duplicate-spans:1",
    ]
    cut = Lake(lake).read("gold_spans").filter(gold="context", line_start=5)
    assert ENGINE.encode()[cut["byte_start"].item() : cut["byte_end"].item()] == b"def main():\n    pass\n"


def test_the_extension_map_decides_what_is_searched_and_the_rest_lies_beside(tmp_path: Path) -> None:
    large = "x = 1\n" * (MAX_SEARCHED_BYTES // 6 + 1)
    beside = {**FILES, "src/large.py": large, "src/Makefile": "all:\n", "logo.py": "\0binary", "src/a.HPP": ""}
    source = build(tmp_path / "source", files={"acme__rockets-1.parquet": repo_parquet(beside)})
    done = ingested(tmp_path / "lake", source)
    assert files(tmp_path / "lake") == {
        POOL: ["src/a.HPP", "src/engine.py"],
        f"{POOL}#rest": [".github/workflow.yml", "README.md", "src/Makefile", "src/large.py"],
    }
    columns = ("pool_id", "repo", "commit", "kind", "n_files")
    assert Lake(tmp_path / "lake").read("pools").select(columns).sort("pool_id").rows() == [
        (POOL, "acme/rockets", COMMIT, "searched", 2),
        (f"{POOL}#rest", "acme/rockets", COMMIT, "rest", 4),
    ]
    assert "ContextBench full: left out of the repositories, as binary: 1 file" in done.warnings


def test_a_commit_that_items_share_and_a_content_that_commits_share_are_stored_once(tmp_path: Path) -> None:
    beside = {"acme__rockets-2.parquet": repo_parquet(), "acme__boats-3.parquet": repo_parquet()}
    ingested(tmp_path / "lake", build(tmp_path / "source", THREE, files=beside))
    assert why_not(tmp_path / "lake") == dict.fromkeys([str(row["original_inst_id"]) for row in THREE])
    assert len(files(tmp_path / "lake")) == 4
    blobs = Lake(tmp_path / "lake").read("blobs")
    assert blobs.height == blobs["sha256"].n_unique() == len(FILES)


def test_an_item_whose_repository_is_not_at_hand_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    done = ingested(tmp_path / "lake", build(tmp_path / "source", THREE))
    reason = f"its repository is not available: acme/boats at {OTHER_COMMIT[:12]}"
    assert why_not(tmp_path / "lake") == {"acme__boats-3": reason, "acme__rockets-1": None, "acme__rockets-2": None}
    assert items(tmp_path / "lake")["acme__boats-3"]["gold_flags"] is None
    assert {item for item, *_ in gold(tmp_path / "lake")} == {"acme__rockets-1", "acme__rockets-2"}
    assert "ContextBench full: 2 of 3 can be scored" in done.warnings
    assert any("1 item without repository files" in note and "acme__boats-3" in note for note in done.warnings)
    assert (done.expected, done.scored, done.rejected) == (3, 2, 0)


def test_gold_patches_stand_as_the_lines_they_edit(tmp_path: Path) -> None:
    ingested(tmp_path / "lake", build(tmp_path / "source", [row(), row("acme__rockets-2", patch=None)]))
    edits = Lake(tmp_path / "lake").read("edits", benchmark="contextbench", run_id="gold")
    assert edits.select("item_id", "reading", "path", "line", "kind").rows() == [
        ("acme__rockets-1", "docs", "src/engine.py", 2, "deleted"),
        ("acme__rockets-1", "official", "src/engine.py", 2, "deleted"),
    ]


def test_a_patch_with_a_fault_is_reported(tmp_path: Path) -> None:
    ingested(tmp_path / "lake", build(tmp_path / "source", [row(patch=PATCH[:-20])]))
    [(source, position, reason)] = rejected(tmp_path / "lake")
    assert (source, position) == ("rows.parquet", "row 1")
    assert reason.startswith("acme__rockets-1: line 3 of the patch")


def test_a_limit_draws_only_items_whose_repository_is_there(tmp_path: Path) -> None:
    source = build(tmp_path / "source", THREE, files={"acme__boats-3.parquet": repo_parquet()})
    done = ingested(tmp_path / "lake", source, limit=1)
    assert set(items(tmp_path / "lake")) == {"acme__boats-3"}
    assert (done.expected, done.scored) == (1, 1)
    why = "the others have no repository here or an unreadable row"
    assert f"ContextBench full: drawn from 1 of 3 items: {why}" in done.warnings


def test_verified_is_what_files_are_called_so(tmp_path: Path) -> None:
    source = build(tmp_path / "source", THREE)
    put(source / "contextbench/contextbench_verified.parquet", parquet(THREE[1:2]))
    ingested(tmp_path / "lake", source, subsets=["verified"])
    assert {name: item["subset"] for name, item in items(tmp_path / "lake").items()} == {"acme__rockets-2": "verified"}
    ingested(tmp_path / "all", source)
    assert {item["subset"] for item in items(tmp_path / "all").values()} == {"full"}
    assert len(items(tmp_path / "all")) == 3


def test_a_folder_of_the_verified_alone_is_never_called_full(tmp_path: Path) -> None:
    source, lake = build(tmp_path / "source", name="contextbench_verified.parquet"), tmp_path / "lake"
    with pytest.raises(GoldspanError, match="no file of rows of the subset full"):
        ingested(lake, source)
    command("ingest", "contextbench", "--source", source, "--chunkers", "whole-file", "--lake", lake).done()
    assert items(lake)["acme__rockets-1"]["subset"] == "verified"


def test_the_selection_is_by_either_id_and_counts_what_is_absent(tmp_path: Path) -> None:
    source = build(tmp_path / "source", THREE)
    with pytest.raises(GoldspanError, match=r"no selected_500_instances.csv of the subset"):
        ingested(tmp_path / "lake", source, subsets=["selected-500"])
    listed = "instance_id,original_inst_id\nMade__python__acme__rockets_1,\nx,acme__boats-3\ny,acme__absent-9\n"
    put(source / "contextbench/selected_500_instances.csv", listed.encode())
    done = ingested(tmp_path / "lake", source, subsets=["selected-500"])
    assert set(items(tmp_path / "lake")) == {"acme__rockets-1", "acme__boats-3"}
    assert any("1 of the 3 selected instances have no row in the data" in note for note in done.warnings)


def test_two_subsets_are_never_pooled(tmp_path: Path) -> None:
    lake, source = tmp_path / "lake", build(tmp_path / "source", THREE)
    put(source / "contextbench/contextbench_verified.parquet", parquet(THREE[:1]))
    with refused("full, verified hold the same items and are never pooled", Exit.USAGE):
        ingested(lake, source, subsets=["full", "verified"])
    ingested(lake, source)
    done = ingested(lake, source, subsets=["verified"])
    assert "ContextBench full replaced by verified (never pooled)" in done.changes
    assert set(items(lake)) == {"acme__rockets-1"}
    assert {part.name for part in Lake(lake).parts("edits")} == {"verified"}
    assert not [part.name for part in Lake(lake).parts("rejects") if "full" in part.name]


def test_rows_beside_other_files_are_told_from_them(tmp_path: Path) -> None:
    source = build(tmp_path / "source")
    home = source / "contextbench"
    put(home / "trajectories/run/one.traj.json", b'{"gold_context": "x"}')
    put(home / "parity/run/unified.jsonl", b'{"instance_id": "x", "gold_context": "y"}')
    put(home / "parity/run/rows.parquet", parquet([row("acme__rockets-9")]))
    put(home / "data/more.jsonl", pl.DataFrame([row("acme__rockets-2")]).write_ndjson().encode())
    ingested(tmp_path / "lake", source)
    assert set(items(tmp_path / "lake")) == {"acme__rockets-1", "acme__rockets-2"}
    assert rejected(tmp_path / "lake") == []


BOTH = ("contextbench_verified_test.parquet", "test.parquet")


def instances(folder: Path, *names: str) -> list[Instance]:
    rejects, notes = Rejects(), list[str]()
    files = [entry_on_disk(folder / name, name) for name in names]
    read = read_instances(files, rejects, notes)
    assert len(rejects) == 0
    return read


@pytest.fixture(scope="module")
def lake(real_contextbench: Path) -> Path:
    return real_contextbench / "lake"


def test_both_encodings_give_the_same_391_spans(shared: Path) -> None:
    json_lists, text_blocks = (instances(shared / "contextbench", name) for name in BOTH)
    assert [listed.item_id for listed in json_lists] == [listed.item_id for listed in text_blocks]
    for listed, other in zip(json_lists, text_blocks, strict=True):
        assert [span[:3] for span in listed.gold] == [span[:3] for span in other.gold]
    assert (len(json_lists), sum(len(instance.gold) for instance in json_lists)) == (50, 391)
    both = instances(shared / "contextbench", *BOTH)
    assert [(row.item_id, row.why_not) for row in both] == [(row.item_id, None) for row in json_lists]


def test_21_of_50_can_be_scored_and_the_others_lack_their_files(shared: Path, lake: Path) -> None:
    at_hand = set(json.loads((shared / "contextbench/instances_with_files.json").read_text()))
    every = items(lake)
    assert {name for name, item in every.items() if item["scorable"]} == at_hand
    assert (len(every), len(at_hand)) == (50, 21)
    assert all("is not available" in str(every[name]["why_not"]) for name in set(every) - at_hand)
    assert "ContextBench full: 21 of 50 can be scored" in (lake.parent / "said").read_text()
    assert not [source for source, *_ in rejected(lake) if source.endswith((".parquet", ".csv"))]


def test_what_is_odd_about_the_gold_at_hand(shared: Path, lake: Path) -> None:
    flags = Lake(lake).read("items")["gold_flags"].explode().drop_nulls()
    counted = flags.str.split_exact(":", 1).struct.unnest()
    totals = dict(counted.group_by("field_0").agg(pl.col("field_1").cast(pl.Int64).sum()).rows())
    assert totals == {"content-differs": 17, "ends-past-eof": 13, "file-not-searched": 2, "duplicate-spans": 1}
    scorable = {name for name, item in items(lake).items() if item["scorable"]}
    checked = [instance for instance in instances(shared / "contextbench", BOTH[0]) if instance.item_id in scorable]
    assert sum(len(instance.gold) for instance in checked) == 108
    assert sum(len(instance.gold) - len({span[:3] for span in instance.gold}) for instance in checked) == 1


def test_gold_bytes_are_the_lines_they_stand_for(lake: Path) -> None:
    store = Lake(lake)
    spans = (
        store.read("gold_spans").filter(gold="context")
        .join(store.read("items").select("item_id", "pool_id"), on="item_id")
    )  # fmt: skip
    files = store.read("files").with_columns(pl.col("pool_id").str.strip_suffix("#rest"))
    joined = spans.join(files, on=["pool_id", "path"]).join(store.read("blobs").select("sha256", "text"), on="sha256")
    assert joined.height == spans.height == 107
    for record in joined.iter_rows(named=True):
        lines = record["text"].split("\n")
        whole = "".join(f"{line}\n" for line in lines[record["line_start"] : record["line_end"]])
        cut = record["text"].encode()[record["byte_start"] : record["byte_end"]].decode()
        assert cut in (whole, whole[:-1])
