"""Runs that lie beside a benchmark's data: which there are, and what they are called."""

from __future__ import annotations

from pathlib import Path

from ingest.sources.folder import open_folder


def test_every_file_archive_and_folder_of_trajectories_is_a_run_called_like_it(tmp_path: Path) -> None:
    folder = tmp_path / "contextbench" / "trajectories"
    folder.mkdir(parents=True)
    for name in ("b-agent.zip", "a.agent-4.1.jsonl.gz", ".hidden.zip", "c.traj.json", ".DS_Store"):
        (folder / name).write_bytes(b"")
    (folder / "d.folder").mkdir()
    found = open_folder(tmp_path, "contextbench").recorded()
    assert [run.system for run in found] == ["a.agent-4.1", "b-agent", "c", "d.folder"]
    assert [run.path.parent for run in found] == [folder] * 4


def test_a_folder_without_trajectories_has_no_runs(tmp_path: Path) -> None:
    (tmp_path / "contextbench").mkdir()
    assert open_folder(tmp_path, "contextbench").recorded() == []
