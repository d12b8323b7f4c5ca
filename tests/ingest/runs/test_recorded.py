from pathlib import Path

from ingest.runs.bundled_runs import import_recorded
from ingest.runs.importing import delete_imported_runs
from ingest.sources.folder import open_folder
from lake.outcome import Outcome
from lake.store import Lake
from tests.ingest.runs.agents import ITEMS, jsonl, lake, unified

__all__ = ["lake"]


def recorded(lake: Lake, folder: Path, files: dict[str, bytes]) -> Outcome:
    trajectories = folder / "contextbench" / "trajectories"
    trajectories.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (trajectories / name).write_bytes(text)
    result = Outcome()
    import_recorded(lake, "contextbench", open_folder(folder, "contextbench"), result)
    return result


def systems(lake: Lake) -> list[tuple[str, str]]:
    return lake.read("runs").select("system", "origin").sort("system").rows()


def refused(lake: Lake) -> list[tuple[str, str, str]]:
    rows = lake.scan("rejects").select("source", "position", "reason").collect()
    return rows.sort("source", "position").rows()


def test_a_run_beside_the_data_is_imported_under_its_files_name(lake: Lake, tmp_path: Path) -> None:
    result = recorded(lake, tmp_path, {"one.jsonl": jsonl(*map(unified, ITEMS)), "two.jsonl": jsonl(unified(ITEMS[0]))})
    assert systems(lake) == [("one", "imported"), ("two", "imported")]
    assert [note.partition(";")[0] for note in result.warnings] == ["one: 3 of 3 items", "two: 1 of 1 item"]
    assert "answers 1 of 3 items" in result.warnings[1]
    assert result.rejected == 0


def test_a_run_of_items_that_the_lake_holds_none_of_is_said_and_no_reject(lake: Lake, tmp_path: Path) -> None:
    result = recorded(lake, tmp_path, {"far.jsonl": jsonl(unified("a__far-1")), "one.jsonl": jsonl(unified(ITEMS[0]))})
    assert systems(lake) == [("one", "imported")]
    assert result.warnings[0] == "far is not scored: no item of the file is in contextbench/issue (1 unknown)"
    assert (result.rejected, refused(lake)) == (0, [])


def test_what_is_no_run_is_a_row_of_rejects_and_the_others_are_imported(lake: Lake, tmp_path: Path) -> None:
    result = recorded(lake, tmp_path, {"broken.jsonl": b"neither this\n", "one.jsonl": jsonl(unified(ITEMS[0]))})
    assert systems(lake) == [("one", "imported")]
    assert result.rejected == 1
    ((source, position, reason),) = refused(lake)
    assert (source, position) == ("broken", "broken.jsonl")
    assert reason in result.warnings[0]


def test_imported_runs_are_forgotten_whole(lake: Lake, tmp_path: Path) -> None:
    recorded(lake, tmp_path, {"one.jsonl": jsonl(*map(unified, ITEMS))})
    (name,) = delete_imported_runs(lake, "contextbench")
    assert name.startswith("contextbench.issue--one--")
    assert [table for table in ("runs", "run_items", "hits", "edits") if lake.parts(table, run_id=name)] == []


def test_every_file_archive_and_folder_of_trajectories_is_a_run_called_like_it(tmp_path: Path) -> None:
    folder = tmp_path / "contextbench" / "trajectories"
    folder.mkdir(parents=True)
    for name in ("b-agent.zip", "a.agent-4.1.jsonl.gz", ".hidden.zip", "c.traj.json", ".DS_Store"):
        (folder / name).write_bytes(b"")
    (folder / "d.folder").mkdir()
    runs = open_folder(tmp_path, "contextbench").recorded
    assert [system for system, _ in runs] == ["a.agent-4.1", "b-agent", "c", "d.folder"]
    assert [path.parent for _, path in runs] == [folder] * 4


def test_a_folder_without_trajectories_has_no_runs(tmp_path: Path) -> None:
    (tmp_path / "contextbench").mkdir()
    assert open_folder(tmp_path, "contextbench").recorded == []
