import json
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from lake.errors import Exit
from lake.store import Lake
from tests.once import linked
from tests.tiny import Said, command, put

AGENT = '''
"""Reads the README and the first source file of a task, and leaves a session as ATIF has it."""
import json, pathlib, sys
folder, sessions = map(pathlib.Path, sys.argv[1:])
about = json.loads((folder / "task.json").read_text())
repository = folder / "repository"
sources = {".py", ".go", ".java", ".rs", ".ts"}
files = sorted(path for path in repository.rglob("*") if path.suffix in sources)[:2]
calls = [{"tool_call_id": str(n), "function_name": "read_file",
          "arguments": {"path": str(path.relative_to(repository))}} for n, path in enumerate(files)]
results = [{"source_call_id": str(n), "content": path.read_text()} for n, path in enumerate(files)]
steps = [{"step_id": 1, "source": "user", "message": (folder / "prompt.md").read_text()},
         {"step_id": 2, "source": "agent", "message": "I read.", "tool_calls": calls,
          "observation": {"results": results}}]
agent = {"name": "reader", "version": "1"}
session = {"schema_version": "ATIF-v1.4", "session_id": "1", "agent": agent, "steps": steps}
(sessions / f"{about['item_id']}.json").write_text(json.dumps(session))
'''


@pytest.fixture(scope="module")
def lake(sample_contextbench: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = linked(sample_contextbench / "lake", tmp_path_factory.mktemp("tasks") / "lake")
    command("ingest", "repoeval", "--limit", 8, "--chunkers", "whole-file", "--lake", lake).done()
    return lake


def _tasks(lake: Path, *arguments: object) -> Said:
    return command("ingest", "tasks", *arguments, "--lake", lake)


def test_a_folder_per_item_holds_the_question_and_the_repository(lake: Path, tmp_path: Path) -> None:
    run = _tasks(lake, "contextbench", "-o", tmp_path / "out").done()
    store = Lake(lake)
    items = store.read("items", benchmark="contextbench").filter("scorable")
    assert f"tasks: {items.height} items of contextbench" in run.err
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(items["item_id"])
    texts = dict(store.read("queries", benchmark="contextbench").select("item_id", "text").iter_rows())
    files = store.read("files", benchmark="contextbench").join(store.read("blobs"), on="sha256")
    for item_id, pool_id, commit in items.select("item_id", "pool_id", "commit").iter_rows():
        folder = tmp_path / "out" / item_id
        assert (folder / "prompt.md").read_text().rstrip("\n") == texts[item_id].rstrip("\n")
        about = json.loads((folder / "task.json").read_text())
        assert (about["item_id"], about["commit"], about["task"]) == (item_id, commit, "contextbench/issue")
        assert "url" not in about
        mine = files.filter(pl.col("pool_id").str.strip_suffix("#rest").str.starts_with(pool_id))
        written = {path.relative_to(folder / "repository").as_posix() for path in (folder / "repository").rglob("*")}
        assert set(mine["path"]) <= written


def test_nothing_of_the_answer_is_handed_out(lake: Path, tmp_path: Path) -> None:
    store = Lake(lake)
    _tasks(lake, "contextbench", "-o", tmp_path / "issues").done()
    for item_id, patch in store.read("items", benchmark="contextbench").select("item_id", "patch").iter_rows():
        folder = tmp_path / "issues" / item_id
        text = (folder / "prompt.md").read_text() + (folder / "task.json").read_text()
        assert not {"gold", "patch", "diff --git"} & set(text.split())
        added = {line[1:] for line in patch.splitlines() if line.startswith("+") and len(line.strip("+ \t{}")) > 12}
        texts = "\n".join(file.read_text() for file in (folder / "repository").rglob("*") if file.is_file())
        # The fix is not there yet.
        assert not added <= {*texts.splitlines()}
        assert patch not in texts
        assert not (folder / "repository" / ".git").exists()
    _tasks(lake, "repoeval", "-o", tmp_path / "holes").done()
    items = store.read("items", benchmark="repoeval").select("item_id", "target_path", "target_line", "target_text")
    for item_id, path, line, answer in items.iter_rows():
        folder = tmp_path / "holes" / item_id
        before = json.loads((folder / "task.json").read_text())
        assert (before["path"], before["line"]) == (path, line + 1)
        body = [text for text in answer.splitlines() if text.strip()]
        after = (folder / "repository" / path).read_text().splitlines()[line : line + len(body)]
        assert [text for text in after if text.strip()] != body
        assert answer.rstrip("\n") not in (folder / "prompt.md").read_text()


def test_lines_in_place_of_folders(lake: Path, tmp_path: Path) -> None:
    _tasks(lake, "contextbench", "-o", tmp_path / "out", "--format", "jsonl", "--items", "language=go").done()
    rows = [json.loads(line) for line in (tmp_path / "out/tasks.jsonl").read_text().splitlines()]
    assert {row["language"] for row in rows} == {"go"}
    assert all(row["prompt"].strip() and row["item_id"] for row in rows)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["tasks.jsonl"]


def test_a_result_is_what_the_task_takes(lake: Path, tmp_path: Path) -> None:
    results = dict[str, str]()
    for benchmark, file in (("contextbench", "SESSIONS"), ("repoeval", "FILE")):
        run = _tasks(lake, benchmark, "-o", tmp_path / benchmark, "--format", "jsonl")
        assert f"python -m ingest run {file} --benchmark {benchmark} --system NAME" in run.err
        row = json.loads((tmp_path / benchmark / "tasks.jsonl").read_text().splitlines()[0])
        results[benchmark] = "\n".join(row["result"])
    assert "a session file" in results["contextbench"]
    assert "--benchmark contextbench" in results["contextbench"]
    assert "a session file" not in results["repoeval"]
    assert all("a ranking" in result for result in results.values())


def test_a_folder_that_holds_something_is_left_alone(lake: Path, tmp_path: Path) -> None:
    put(tmp_path / "out/mine.txt", b"x")
    _tasks(lake, "contextbench", "-o", tmp_path / "out").ended(Exit.ERROR, "is not empty")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["repoevall"], Exit.USAGE, "Did you mean 'repoeval'?"),
        (["repobench-r"], Exit.MISSING, "no scorable item of repobench-r is selected"),
        (["contextbench", "--items", "nobody__x-1"], Exit.USAGE, "nobody__x-1"),
    ],
)
def test_what_cannot_be_given_is_said(lake: Path, tmp_path: Path, arguments: list[str], code: Exit, words: str) -> None:
    _tasks(lake, *arguments, "-o", tmp_path / "out").ended(code, words)


def _worked_on(tasks: Path, sessions: Path, n: int | None = None) -> list[Path]:
    """The folders of some tasks, of each of which an agent left a session."""
    sessions.mkdir()
    script, folders = put(sessions.with_name("agent.py"), AGENT.encode()), sorted(tasks.iterdir())[:n]
    for folder in folders:
        subprocess.run([sys.executable, script, folder, sessions], check=True)
    return folders


def test_commands_lead_from_tasks_to_a_leaderboard(lake: Path, tmp_path: Path) -> None:
    tasks, sessions, python = tmp_path / "tasks", tmp_path / "sessions", ("--items", "language=python")
    handed_out = _tasks(lake, "contextbench", "-o", tasks, *python).done()
    folders = _worked_on(tasks, sessions)
    options, n = ("--benchmark", "contextbench", "--system", "reader", *python, "--lake", lake), len(folders)
    imported = command("ingest", "run", sessions, *options).done()
    evaluated = command("evaluate", "contextbench", "--systems", "reader,whole-file+random", "--lake", lake).done()
    assert f"tasks: {n} items of contextbench" in handed_out.err
    assert f"ingest: {n} of {n} items" in imported.err
    assert f"trajectories: {n}, with {2 * n} steps and {4 * n} spans" in imported.err
    assert re.search(rf"reader  0\.\d+ .*  {n} of 30 items  partial", evaluated.out)
    assert "reader (partial)" in command("evaluate", "table", "contextbench", "--lake", lake).out


@pytest.mark.parametrize("told_by", ["prompt", "task.json"])
def test_a_session_called_otherwise_is_paired_with_its_item(lake: Path, tmp_path: Path, told_by: str) -> None:
    tasks, sessions = tmp_path / "tasks", tmp_path / "sessions"
    _tasks(lake, "contextbench", "-o", tasks).done()
    folders = _worked_on(tasks, sessions, 6)
    for number, folder in enumerate(folders):
        session = sessions / f"{folder.name}.json"
        record = json.loads(session.read_text(encoding="utf-8"))
        if told_by == "prompt":
            # What an agent adds of its own stands before and after it.
            record["steps"][0]["message"] = f"You are an agent.\n\n  {record['steps'][0]['message']}\n\nBegin!"
            session.rename(sessions / f"session-{number}.json")
            (sessions / f"session-{number}.json").write_text(json.dumps(record), encoding="utf-8")
        else:
            record["steps"] = record["steps"][1:]
            session.unlink()
            renamed = folder.rename(tasks / f"work-{number}")
            (renamed / "logs").mkdir()
            (renamed / "logs/session.json").write_text(json.dumps(record), encoding="utf-8")
    given = sessions if told_by == "prompt" else tasks
    run = ("run", given, "--benchmark", "contextbench", "--system", f"reader-{told_by}", "--lake", lake)
    result = command("ingest", *run).done()
    stored = Lake(lake).read("run_items").filter(pl.col("run_id").str.contains(f"reader-{told_by}"))
    assert stored["item_id"].sort().to_list() == [folder.name for folder in folders]
    # Nothing of the repositories that were handed out is taken for a record.
    assert "repository" not in result.err
