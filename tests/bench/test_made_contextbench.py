"""Made-up instances have the sizes they are told, the same bytes each time, and repositories that can be fetched."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import polars as pl
import pytest

from tests.bench._made_contextbench import instances_folder


@pytest.fixture
def repo_files(tmp_path: Path) -> Path:
    folder = tmp_path / "repo_files"
    folder.mkdir()
    texts = {"src/a.py": "x" * 900, "src/b.go": "y" * 1_200, "README.md": "z" * 300}
    pl.DataFrame({"path": list(texts), "content": list(texts.values())}).write_parquet(folder / "real.parquet")
    return folder


def test_instances_are_made_alike_and_lie_in_git(
    repo_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    for attempt in ("first", "second"):
        monkeypatch.setattr("tempfile.gettempdir", lambda attempt=attempt: str(tmp_path / attempt))
        (tmp_path / attempt).mkdir()
        made.append(instances_folder(repo_files, 40))
    rows = [(source / "contextbench-made/full.jsonl").read_text() for source, _ in made]
    assert rows[0] == rows[1]
    instances = [json.loads(line) for line in rows[0].splitlines()]
    assert len(instances) == 40
    assert {row["repo"] for row in instances} == {"made/repo0", "made/repo1"}
    one = instances[-1]
    tree = ["git", "-C", str(made[0][1] / one["repo"]), "ls-tree", "-r", "-l", one["base_commit"]]
    sizes = {line.split()[4]: int(line.split()[3]) for line in subprocess.check_output(tree, text=True).splitlines()}
    assert sizes == {"src/a.py": 900, "src/b.go": 1_200, "README.md": 300}
    assert {span["file"] for span in json.loads(one["gold_context"])} <= {"src/a.py", "src/b.go"}
