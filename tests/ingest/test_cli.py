import json
from pathlib import Path

import pytest

from lake.errors import Exit
from lake.store import Lake
from tests.tiny import CHUNKERS, command, stored

NAMED = ("--chunkers", "whole-file")


def test_ingest_says_what_it_did_on_stderr_and_ends_in_0(source: Path, tmp_path: Path) -> None:
    run = command("ingest", "repoeval", "--source", source, "--lake", tmp_path / "lake", *NAMED)
    assert (run.code, run.out) == (0, "")
    *_, last, note, hint = run.err.splitlines()
    assert last.startswith("ingest: 5 of 5 items ready; parts: ")
    assert last.endswith(f"→ {tmp_path / 'lake'}")
    assert note.startswith("  RepoEval function-2k: gold ranges that ended past their file were cut to it: ")
    assert hint == f"  next: make evaluate LAKE={tmp_path / 'lake'}"


def test_quiet_still_says_what_went_wrong(tmp_path: Path) -> None:
    run = command("ingest", "repoeval", "--source", tmp_path / "no", "--lake", tmp_path / "lake", "--quiet")
    run.refused(Exit.MISSING, "there is no such folder")


def test_every_flag_is_a_variable_too(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {
        "SOURCE": str(source), "LAKE": str(tmp_path / "lake"), "BENCHMARKS": "repoeval", "CHUNKERS": "whole-file",
        "SUBSETS": "function-2k", "LIMIT": "2", "JSON": "1", "QUIET": "1",
    }  # fmt: skip
    for name, value in settings.items():
        monkeypatch.setenv(f"GOLDSPAN_{name}", value)
        monkeypatch.setenv(name, "the shell's own")
    run = command("ingest")
    assert (run.code, run.err) == (0, "")
    assert json.loads(run.out)["expected"] == 2


@pytest.mark.parametrize(("what", "format_"), [("benchmarks", "json"), ("subsets", ""), ("chunkers", "yaml")])
def test_what_there_is_can_be_listed(what: str, format_: str) -> None:
    run = command("ingest", "list", what, *(["--format", format_] if format_ else []))
    assert (run.code, run.err) == (0, "")
    assert {"benchmarks": "repoeval", "subsets": "function-2k", "chunkers": "fixed-nws-<n>"}[what] in run.out
    if format_ == "json":
        assert {"name"} <= set(json.loads(run.out)[0])


def test_benchmarks_are_listed_by_tag() -> None:
    listed = json.loads(command("ingest", "list", "benchmarks", "--tag", "agents", "--format", "json").out)
    assert [row["name"] for row in listed] == ["contextbench"]
    run = command("ingest", "list", "subsets", "--tag", "agent")
    assert (run.code, run.err) == (Exit.USAGE, "ingest: unknown tag 'agent'\n  Did you mean 'agents'?\n")


BY_INGEST = ("items", "queries", "gold_spans", "files", "blobs", "chunks", "chunkers", "benchmarks")
OF_RUNS = ("runs", "run_items", "hits", "rejects")


def test_imported_runs_are_kept_after_another_ingest(lake_folder: Path, source: Path, tmp_path: Path) -> None:
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

    command("ingest", "clean", "--lake", lake_folder).done("kept: 1 imported run: mine\n", "kept: downloads, 0.1 MB\n")
    benchmark = {path: data for path, data in before.items() if path.startswith("benchmarks/part-repoeval.")}
    assert len(benchmark) == 1
    assert stored(lake_folder) == runs | benchmark

    command("ingest", "repoeval", "--source", source, "--chunkers", ",".join(CHUNKERS), "--lake", lake_folder).done()
    assert stored(lake_folder, *BY_INGEST) == before
    assert {path: data for path, data in stored(lake_folder, *OF_RUNS).items() if "mine" in path} == runs


def test_all_is_everything_of_the_lake_and_nothing_beside_it(lake_folder: Path) -> None:
    (lake_folder / "cache").mkdir()
    (lake_folder / "notes.txt").write_text("mine")
    command("ingest", "clean", "--all", "--lake", lake_folder).done()
    assert sorted(path.name for path in lake_folder.iterdir()) == [".lock", "notes.txt"]


def test_a_folder_that_is_no_lake_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    command("ingest", "clean", "--all", "--lake", tmp_path).ended(2, "this folder is not a lake")
    assert (tmp_path / "cache").is_dir()
