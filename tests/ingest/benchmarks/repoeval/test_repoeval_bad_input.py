import json
from pathlib import Path

import polars as pl
import pytest

from lake.errors import Exit
from lake.store import Lake
from tests.tiny import CATS, REPOSITORIES, TASKS, Row, Said, build, command, task, task_file

pytestmark = pytest.mark.slow

Reject = tuple[str, str, str]


def _ingest(source: Path, lake: Path, *arguments: object) -> Said:
    return command("ingest", "repoeval", "--source", source, "--lake", lake, "--chunkers", "whole-file", *arguments)


def _rejects(lake: Path) -> list[Reject]:
    return Lake(lake).read("rejects").select("source", "position", "reason").rows()


def _goes_on(source: Path, lake: Path, *, rejects: list[Reject], items: int, scorable: int | None = None) -> None:
    """One fault is a row each, with its place and reason; all else is read, and the exit status says so."""
    _ingest(source, lake).ended(Exit.INCOMPLETE, f"{len(rejects)} rejected")
    assert _rejects(lake) == rejects
    scorable_items = Lake(lake).read("items")["scorable"]
    assert (len(scorable_items), scorable_items.sum()) == (items, items if scorable is None else scorable)


FILE = task_file()


def _row(**other: object) -> Row:
    return task("zoo_animals", "cats.py", CATS, 0, 1, 1, **other)


def _without(key: str) -> Row:
    row = _row()
    metadata = row["metadata"]
    assert isinstance(metadata, dict)
    del metadata[key]
    return row


LINENO = "`metadata.lineno` must be the number of a line, from 0"
FPATH = "`metadata.fpath_tuple` must be a repository and the parts of a path in it"
SURROGATE = "must be a text"
BAD_ROWS: dict[str, tuple[object, str]] = {
    "metadata is missing": ({"prompt": "x"}, "`metadata.ground_truth` is missing; it must be a text"),
    "prompt is missing": ({"metadata": _row()["metadata"]}, "`prompt` is missing; it must be a text"),
    "prompt is half a character": ({**_row(), "prompt": "x \ud83d"}, f"`prompt` {SURROGATE}"),
    "ground truth is missing": (_without("ground_truth"), "`metadata.ground_truth` is missing; it must be a text"),
    "ground truth is empty": (_row(ground_truth=""), "`metadata.ground_truth` is empty"),
    "lineno is missing": (_without("lineno"), "`metadata.line_no` is missing; it must be the number of a line, from 0"),
    "lineno is true": (_row(lineno=True), LINENO),
    "lineno is a text": (_row(lineno="one"), LINENO),
    "lineno is negative": (_row(lineno=-1), LINENO),
    "lineno is beyond 64 bits": (_row(lineno=2**64), LINENO),
    "context is missing": (
        _without("context_start_lineno"),
        "`metadata.context_start_lineno` is missing; it must be the number of a line, from 0",
    ),
    "context starts after the hole": (
        _row(context_start_lineno=2),
        "the context starts at line 2, after the completion at 1",
    ),
    "fpath is missing": (_without("fpath_tuple"), "`metadata.fpath_tuple` is missing; it must be a repository and the"),
    "fpath is empty": (_row(fpath_tuple=[]), FPATH),
    "fpath has no file": (_row(fpath_tuple=["zoo_animals"]), FPATH),
    "fpath is no literal": (_row(fpath_tuple="__import__('os').getcwd()"), FPATH),
    "fpath nests too deep": (_row(fpath_tuple="[" * 500 + "]" * 500), FPATH),
    "path climbs out": (
        _row(fpath_tuple=["zoo_animals", "..", "..", "secret.py"]),
        "the path 'zoo_animals/../../secret.py' leaves its repository",
    ),
    "repository climbs out": (_row(fpath_tuple=["..", "secret.py"]), "the path '../secret.py' leaves its repository"),
    "path has a backslash": (_row(fpath_tuple=["zoo_animals", "a\\b.py"]), "leaves its repository"),
    "path holds a zero byte": (_row(fpath_tuple=["zoo_animals", "a\0.py"]), "leaves its repository"),
    "path is half a character": (_row(fpath_tuple=["zoo_animals", "\ud800.py"]), "leaves its repository"),
    "line is a list": ([1, 2], "a list, not an object"),
}


def test_each_bad_row_costs_that_row_alone(tmp_path: Path) -> None:
    rows = [*TASKS[:2], *(row for row, _ in BAD_ROWS.values()), *TASKS[2:]]
    source = build(tmp_path / "source", "\r\n".join(map(json.dumps, rows)).encode())
    _ingest(source, tmp_path / "lake").ended(Exit.INCOMPLETE, f"5 of 5 items ready, {len(BAD_ROWS)} rejected")
    reasons = {position: reason for _, position, reason in _rejects(tmp_path / "lake")}
    for number, (name, (_, reason)) in enumerate(BAD_ROWS.items(), start=3):
        assert reason in reasons[f"line {number}"], name
    assert Lake(tmp_path / "lake").read("items").height == len(TASKS)


def test_a_task_twice_is_one_item_and_one_reject(tmp_path: Path) -> None:
    source = build(tmp_path / "source", [*TASKS, TASKS[1]])
    _goes_on(source, tmp_path / "lake", rejects=[(FILE, "line 6", "the same task as line 2")], items=5)


def test_a_repository_that_is_not_there_makes_its_items_unscorable_and_is_said_once(tmp_path: Path) -> None:
    there = {path: data for path, data in REPOSITORIES.items() if path.startswith("zoo")}
    source = build(tmp_path / "source", repositories=there)
    no_python = "is missing or has no .py file; RepoEval's tasks are in Python"
    reason = f"it {no_python}: 3 tasks cannot be scored"
    rejects = [("repositories/function_level", "repository acme_rockets", reason)]
    _goes_on(source, tmp_path / "lake", rejects=rejects, items=5, scorable=2)
    why_not = Lake(tmp_path / "lake").read("items").filter(~pl.col("scorable"))["why_not"]
    assert set(why_not) == {f"the repository acme_rockets {no_python}"}
    command("evaluate", "--lake", tmp_path / "lake").ended(Exit.INCOMPLETE, "not scorable in this lake: 3 items")
    assert set(Lake(tmp_path / "lake").read("runs")["n_items"]) == {2}


def test_a_file_that_is_not_there_makes_its_items_unscorable(tmp_path: Path) -> None:
    there = {path: data for path, data in REPOSITORIES.items() if not path.endswith("orbit.py")}
    source = build(tmp_path / "source", repositories=there)
    rejects = [(FILE, "line 4", "acme_rockets has no line 9 (from 0) of rockets/orbit.py")]
    _goes_on(source, tmp_path / "lake", rejects=rejects, items=5, scorable=4)


def test_a_hole_beyond_its_file_makes_its_item_unscorable(tmp_path: Path) -> None:
    source = build(tmp_path / "source", [*TASKS, task("zoo_animals", "dogs.py", CATS, 0, 7, 1, ground_truth="x\n")])
    reason = "zoo_animals has no line 7 (from 0) of dogs.py"
    _goes_on(source, tmp_path / "lake", rejects=[(FILE, "line 6", reason)], items=6, scorable=5)


def test_a_file_that_is_not_utf8_is_read_with_replacement_and_counted(tmp_path: Path) -> None:
    source = build(tmp_path / "source", repositories={**REPOSITORIES, "zoo_animals/latin.py": b"name = '\xe9'\n"})
    _ingest(source, tmp_path / "lake").done("not UTF-8: 1 file; what could not be decoded is U+FFFD")
    blobs = Lake(tmp_path / "lake").read("blobs").filter(pl.col("flags").list.contains("not-utf8"))
    assert blobs.select("text", "n_bytes").rows() == [("name = '\ufffd'\n", 11)]


@pytest.mark.parametrize("data", [b"", b"\r\n\r\n"])
def test_a_task_file_without_a_line_is_said_to_hold_none(tmp_path: Path, data: bytes) -> None:
    run = _ingest(build(tmp_path / "source", data), tmp_path / "lake")
    run.ended(Exit.INCOMPLETE, "0 of 0 items ready, 1 rejected")
    assert _rejects(tmp_path / "lake") == [(FILE, "file", "holds no task")]
    command("evaluate", "--lake", tmp_path / "lake").refused(Exit.MISSING, "no scorable item of repoeval")


def test_a_subset_that_the_source_has_not_is_data_missing(source: Path, tmp_path: Path) -> None:
    missing = "function_level_completion_4k_context_codex.test.jsonl is not in"
    _ingest(source, tmp_path / "lake", "--subsets", "function-4k").refused(Exit.MISSING, missing)


@pytest.mark.parametrize(
    ("arguments", "error", "meant"),
    [
        (["repoevl"], "unknown benchmark 'repoevl'", "'repoeval'"),
        (["--subsets", "function-3k"], "unknown subset 'function-3k'", "'function-"),
        (["--chunkers", "whole-fil"], "unknown chunker 'whole-fil'", "'whole-file'"),
        (["--chunkers", "fixed-nws-0"], "unknown chunker 'fixed-nws-0'", "'fixed-nws-800'"),
    ],
)
def test_unknown_names(source: Path, tmp_path: Path, arguments: list[str], error: str, meant: str) -> None:
    run = command("ingest", "--source", source, "--lake", tmp_path / "lake", *arguments)
    run.refused(Exit.USAGE, error, f"Did you mean {meant}")
    assert not (tmp_path / "lake/items").exists()
