"""ContextBench's unified predictions: files, spans and symbols in their order; what is no such thing is noted."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.runs.formats.contextbench_unified import trajectories
from ingest.runs.trajectories.trajectory import FileSpan, Trajectory
from tests.ingest.runs.formats import recorded_sessions


def read(folder: Path, *objects: object) -> list[Trajectory]:
    return recorded_sessions.read(trajectories, folder, recorded_sessions.rows(*objects))


def step(folder: Path, value: object) -> tuple[tuple[FileSpan, ...], tuple[str, ...]]:
    (one,) = read(folder, {"instance_id": "x", "traj_data": {"pred_steps": [value]}})
    return one.steps[0], one.notes


def test_files_come_first_then_spans_then_symbols(tmp_path: Path) -> None:
    value = {
        "symbols": {"b.py": ["f"], "a.py": ["g", "A.g"]},
        "spans": {"b.py": [{"type": "line", "start": 3, "end": 4}], "a.py": [{"start": 1, "end": 2}]},
        "files": ["c.py", "a.py"],
    }
    symbols = (FileSpan(path, symbol=name) for path, name in (("b.py", "f"), ("a.py", "g"), ("a.py", "A.g")))
    files = (FileSpan("c.py"), FileSpan("a.py"))
    assert step(tmp_path, value) == ((*files, FileSpan("b.py", 3, 4), FileSpan("a.py", 1, 2), *symbols), ())


@pytest.mark.parametrize(
    "value",
    [
        7, None, "a.py", {"files": "a.py"}, {"files": [None]}, {"files": [""]}, {"spans": ["a.py"]},
        {"spans": {"a.py": 3}}, {"spans": {"a.py": [{"type": "byte", "start": 1, "end": 2}]}},
        {"spans": {"a.py": [{"type": "line", "start": 1}]}}, {"spans": {"a.py": [{"start": True, "end": 2.5}]}},
        {"spans": {"a.py": [[1, 2]]}}, {"symbols": {"a.py": "f"}}, {"symbols": {"a.py": [{}]}},
    ],
)  # fmt: skip
def test_what_is_of_another_type_is_left_out_and_noted(tmp_path: Path, value: object) -> None:
    views, notes = step(tmp_path, value)
    assert (views, len(notes)) == ((), 1)


def test_the_final_context_is_told_apart_from_none(tmp_path: Path) -> None:
    rows = [
        {"traj_data": {"pred_files": ["a.py"]}},
        {"traj_data": {"pred_spans": {"a.py": [{"start": 1, "end": 2}]}}},
        {"traj_data": {"pred_symbols": {"a.py": ["f"]}}},
        {"traj_data": {"pred_files": [], "pred_spans": {}}},
        {"traj_data": {"pred_steps": []}},
    ]
    assert [one.final for one in read(tmp_path, *rows)] == [
        (FileSpan("a.py"),), (FileSpan("a.py", 1, 2),), (FileSpan("a.py", symbol="f"),), None, None,
    ]  # fmt: skip
