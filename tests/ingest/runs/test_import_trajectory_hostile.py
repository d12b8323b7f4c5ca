"""Trajectories that hold anything anywhere: never a traceback, never lost in silence, never more memory than one."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.runs.find_trajectories import TrajectoryFiles, importers
from ingest.runs.imported_runs import Imported
from ingest.runs.importer import Importer
from ingest.runs.read_trajectories import ANSWER_COLUMNS, VIEW_COLUMNS, Ids, parse_runs
from ingest.runs.trajectories.trajectory_file import TrajectoryFile
from ingest.sources.input_file import InputFile
from lake.rejects import Rejects
from lake.store import Lake
from tests.ingest.runs.agents import (
    ROCKETS,
    counts,
    hits,
    imported,
    issues_once,
    jsonl,
    lake,
    of_item,
    rejected,
    spans,
    unified,
    zipped,
)
from tests.ingest.runs.formats.test_import_told_apart import JSON
from tests.tiny import put

__all__ = ["issues_once", "lake"]

IMPORTERS = [one for one in importers().values() if one.kind == "trajectory"]
WHOLE = {"info": {}, "messages": [], "trajectory": [], "traj_data": {}, "instance_id": ROCKETS}


def read_by(importer: Importer, path: Path) -> tuple[pl.DataFrame, pl.DataFrame, Rejects]:
    rejects = Rejects()
    file = TrajectoryFile(path.name, InputFile(path).opened)
    return *parse_runs(TrajectoryFiles(importer, [file]), Ids({ROCKETS: ROCKETS}), rejects, Imported("")), rejects


@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda one: one.name)
@given(value=JSON, whole=st.booleans())
def test_any_json_is_read_or_told(tmp_path: Path, importer: Importer, value: object, whole: bool) -> None:
    document = {**WHOLE, **value} if whole and isinstance(value, dict) else value
    views, answers, rejects = read_by(importer, put(tmp_path / "x.json", json.dumps(document).encode()))
    assert (views.schema, answers.schema) == (pl.Schema(VIEW_COLUMNS), pl.Schema(ANSWER_COLUMNS))
    assert answers.height + len(rejects) > 0


@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda one: one.name)
@given(data=st.binary(max_size=60) | st.sampled_from([b"{", b"[{", b"\0" * 9, b"[" * 10**5, b'{"a":' * 10**5]))
def test_any_bytes_are_read_or_told(tmp_path: Path, importer: Importer, data: bytes) -> None:
    importer.recognise(data, "x.traj.json")
    read_by(importer, put(tmp_path / "x.json", data))


@pytest.mark.parametrize("data", [b"NaN", b'{"instance_id": 1' + b"0" * 5000 + b"}", b'{"patch": "\0"}', b"\xff"])
def test_what_python_or_json_does_not_take_is_told(tmp_path: Path, data: bytes) -> None:
    _, answers, rejects = read_by(importers()["unified"], put(tmp_path / "x.json", data + b"\n" + jsonl(unified())))
    assert (answers.height, len(rejects)) == (1, 1)


def test_lines_that_no_file_has_are_left_out_and_told(lake: Lake) -> None:
    steps = [*spans(**{"src/engine.py": (1, 2**70)}), *spans(**{"src/engine.py": (1, 2)}), *spans(a=("x", None))]
    assert counts(imported(lake, jsonl(unified(pred_steps=steps))))["n_steps"] == 3
    assert hits(lake, "step", "line_end") == [(2, 2)]
    assert len(rejected(lake)) == 1
    assert "step 1 names what is no file, span of lines or symbol (1): ('src/engine.py'" in str(rejected(lake)[0][2])


def large(n_bytes: int) -> Iterator[bytes]:
    yield b'{"info": {"mini_version": "1", "submission": ""}, "messages": ['
    message = json.dumps({"role": "user", "content": "x" * 10**5}).encode() + b", "
    for _ in range(n_bytes // len(message)):
        yield message
    seen = "<explore_context>\nFile: /testbed/src/engine.py\nLines: 1-2\n</explore_context>"
    yield json.dumps({"role": "user", "content": seen}).encode() + b'], "instance_id": "%s"}' % ROCKETS.encode()


def test_large_trajectories_are_held_one_at_a_time(lake: Lake) -> None:
    one = b"".join(large(5 * 2**20))
    many = {f"{n}.traj.json": one.replace(ROCKETS.encode(), b"other__x-%d" % n) for n in range(8)}
    many["last.traj.json"] = one
    file = put(lake.root.parent / "a.zip", zipped(many))
    tracemalloc.start()
    try:
        imported(lake, file, skip_unknown=True)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert of_item(lake, "n_steps") == (1,)
    # The bytes, their text, and the same text as the values of a document.
    assert peak < 5 * len(one)


def test_trajectories_that_show_more_than_is_read_of_a_run_fail_and_say_so(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.runs.read_trajectories.MAX_VIEWS", 2)
    imported(lake, jsonl(unified(ROCKETS)))
    assert of_item(lake, "status", "error") == (
        "failed",
        "more than 2 places are shown in all, the most of a run; split it",
    )
