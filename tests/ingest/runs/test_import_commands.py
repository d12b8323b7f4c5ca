"""`python -m ingest run` and `check`: what they print, what they read from outside, and how they end."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from ingest.runs.importing import import_run
from ingest.runs.request import ImportRequest
from lake.errors import Exit, GoldspanError
from lake.store import Lake
from tests.ingest.runs.test_import import FIRST, ITEMS, lake, once, one, trec
from tests.tiny import Said, command, put

__all__ = ["lake", "once"]

ALL = trec([(item, "cats.py", 1, 1) for item in ITEMS])
VARIABLES = ("BENCHMARK", "CHUNKER", "FORMAT", "SKIP_UNKNOWN", "SYSTEM", "TASK")


@pytest.fixture(autouse=True)
def _no_settings_of_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def said(lake: Lake, data: bytes, *arguments: object, verb: str = "run", system: str = "mine") -> Said:
    file = put(lake.root.parent / "given.txt", data)
    named = ("--benchmark", "repoeval", "--system", system, "--lake", lake.root)
    return command("ingest", verb, file, *named, *arguments)


def test_run_says_what_it_counted_and_what_to_type_next(lake: Lake) -> None:
    answer = said(lake, trec([(FIRST, "x/rockets/orbit.py#L13", 1, 2), (FIRST, "no.py", 2, 1)]))
    assert (answer.code, answer.out) == (Exit.DONE, "")
    _, last, run, asked, lost, clamped, all_of_them, hint = answer.err.splitlines()
    assert last.startswith("ingest: 1 of 1 item; parts: ")
    assert last.endswith(f"→ {lake.root}")
    assert run.startswith("  run repoeval.prompt--mine--")
    assert lost == "  unresolved, meaning no file of the pool: 1 of 2 paths, such as 'no.py'"
    assert clamped == "  clamped: 1 range that ended one line past their file"
    assert asked.startswith("  asked 1 of 5 items, those it answers: a partial run")
    assert all_of_them.startswith("  if the system was asked all of them: --asked-all ")
    assert hint == f"  next: make evaluate LAKE={lake.root}"


def test_what_is_skipped_as_asked_is_named_and_no_fault(lake: Lake) -> None:
    for _ in range(2):
        answer = said(lake, ALL + one("a.py", "other"), "--skip-unknown")
        assert answer.code == Exit.DONE, answer.err
        assert "skipped: 1 item not asked here" in answer.err
    assert lake.read("rejects")["excerpt"].to_list() == ["other"]


def test_check_without_a_name_ends_in_a_command_that_can_be_typed(lake: Lake, tmp_path: Path) -> None:
    file = put(tmp_path / "my answers.v2.jsonl", ALL)
    checked = command("ingest", "check", file, "--benchmark", "repoeval", "--lake", lake.root)
    words = shlex.split(checked.err.rstrip().rpartition("next: ")[2])
    assert words[1:4] == ["-m", "ingest", "run"]
    assert words[-2:] == ["--system", "my-answers"]
    assert command(*words[2:]).code == checked.code


def test_a_file_that_is_not_there_is_missing_data(lake: Lake, tmp_path: Path) -> None:
    for path in (tmp_path / "no.trec", tmp_path):
        answer = command("ingest", "run", path, "--benchmark", "repoeval", "--system", "x", "--lake", lake.root)
        assert (answer.code, "Traceback" in answer.err) == (Exit.MISSING, False)


def test_a_lake_without_items_is_missing_data(tmp_path: Path) -> None:
    answer = said(Lake(tmp_path / "empty"), ALL)
    assert answer.code == Exit.MISSING
    assert "First: make ingest" in answer.err


def test_an_unknown_benchmark_is_a_usage_error(lake: Lake, tmp_path: Path) -> None:
    file = put(tmp_path / "f", ALL)
    with pytest.raises(GoldspanError, match="Did you mean 'repoeval'") as caught:
        import_run(lake, ImportRequest(file, "repoevall", "x"), write=False)
    assert caught.value.code == Exit.USAGE


def test_every_option_is_a_variable_too(lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = ("repoeval", "whole-file", "trec", "1", "from-outside", "repoeval/prompt")
    for name, value in zip(VARIABLES, values, strict=True):
        monkeypatch.setenv(f"GOLDSPAN_{name}", value)
    file = put(tmp_path / "f", ALL + one("a.py", "other"))
    assert command("ingest", "run", file, "--lake", lake.root).code == Exit.DONE
    assert lake.read("runs").select("system", "chunker").rows() == [("from-outside", "whole-file")]


def test_formats_and_tasks_are_listed(lake: Lake) -> None:
    formats = json.loads(command("ingest", "list", "formats", "--format", "json").out)
    assert {"beir", "json", "parquet", "repocoder", "trec", "tsv"} <= {one["name"] for one in formats}
    assert all(one["example"] and one["meaning"].endswith(".") for one in formats)
    tasks = command("ingest", "list", "tasks").out.split()
    assert {"repoeval/prompt", "repoeval/completion"} <= set(tasks)
