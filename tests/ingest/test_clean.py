"""What is deleted of a lake comes back from its sources; what would not come back is kept and named."""

from __future__ import annotations

from pathlib import Path

from lake.store import Lake
from tests.tiny import CHUNKERS, command, stored

BY_INGEST = ("items", "queries", "gold_spans", "files", "blobs", "chunks", "chunkers", "benchmarks")
OF_RUNS = ("runs", "run_items", "hits", "rejects")


def test_what_cannot_be_made_again_is_kept_and_the_rest_is_as_it_was_after_another_ingest(
    lake_folder: Path, source: Path, tmp_path: Path
) -> None:
    items = Lake(lake_folder).read("items").filter("scorable")["item_id"].sort()
    (tmp_path / "my.tsv").write_text(f"item_id\tdocument\tscore\n{items[0]}\tcats.py\t1\n")
    imported = command(
        "ingest", "run", tmp_path / "my.tsv", "--benchmark", "repoeval", "--system", "mine", "--lake", lake_folder
    )
    assert imported.code in (0, 5), imported.err
    (lake_folder / "cache").mkdir()
    (lake_folder / "cache/download").write_bytes(b"0" * 100_000)
    before = stored(lake_folder, *BY_INGEST)
    runs = {path: data for path, data in stored(lake_folder, *OF_RUNS).items() if "mine" in path}

    said = command("ingest", "clean", "--lake", lake_folder)
    assert said.code == 0
    assert "kept: 1 imported run: mine\n" in said.err
    assert "kept: downloads, 0.1 MB\n" in said.err
    benchmark = {path: data for path, data in before.items() if path.startswith("benchmarks/part-repoeval.")}
    assert len(benchmark) == 1
    assert stored(lake_folder) == runs | benchmark

    again = command("ingest", "repoeval", "--source", source, "--chunkers", ",".join(CHUNKERS), "--lake", lake_folder)
    assert again.code == 0, again.err
    assert stored(lake_folder, *BY_INGEST) == before
    assert {path: data for path, data in stored(lake_folder, *OF_RUNS).items() if "mine" in path} == runs


def test_all_is_everything_of_the_lake_and_nothing_beside_it(lake_folder: Path) -> None:
    (lake_folder / "cache").mkdir()
    (lake_folder / "notes.txt").write_text("mine")
    assert command("ingest", "clean", "--all", "--lake", lake_folder).code == 0
    assert sorted(path.name for path in lake_folder.iterdir()) == [".lock", "notes.txt"]


def test_a_folder_that_is_no_lake_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    said = command("ingest", "clean", "--all", "--lake", tmp_path)
    assert said.code == 2
    assert "this folder is no lake" in said.err
    assert (tmp_path / "cache").is_dir()
