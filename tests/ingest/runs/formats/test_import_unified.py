from pathlib import Path

import pytest

from ingest.runs.formats.contextbench import PROMETHEUS, trajectories
from ingest.runs.trajectory import FileSpan, Trajectory
from tests.ingest.runs.formats import recorded_sessions
from tests.ingest.runs.formats.recorded_sessions import one


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


LOGGED = "2025-10-01 10:00:00,000 - prometheus.lang_graph.nodes.context_selection_node - INFO - "


def block(*files: tuple[str, int, int], kind: str = "CONTEXT") -> str:
    rows = [f"File: {path}\nLine number range: {start} - {end}\nContent:\nx = 1\n" for path, start, end in files]
    return f"{LOGGED}--- BEGIN {kind} ---\n{''.join(rows)}--- END {kind} ---\n"


A, B = ("/testbed/src/a.py", 1, 9), ("/workspace/rockets/b.py", 30, 20)


def test_blocks_are_steps_and_the_last_aggregated_one_is_final(tmp_path: Path) -> None:
    kind = "AGGREGATED CONTEXT"
    log = block(A) + block(A, B) + block(A, kind=kind) + block() + block(B, kind=kind)
    found = one(PROMETHEUS.trajectories, tmp_path, log.encode(), "acme__rockets-1.log")
    a, b = FileSpan("src/a.py", 1, 9), FileSpan("b.py", 20, 30)
    assert (found.item, found.steps, found.final, found.notes) == ("", ((a,), (a, b)), (b,), ())


def test_without_an_aggregated_block_it_is_the_union(tmp_path: Path) -> None:
    found = one(PROMETHEUS.trajectories, tmp_path, (block(A, B) + block(A)).encode(), "a.log")
    assert found.final == (FileSpan("src/a.py", 1, 9), FileSpan("b.py", 20, 30))


def test_a_block_that_does_not_end_is_noted_and_left_out(tmp_path: Path) -> None:
    log = block(A) + block(B).removesuffix("--- END CONTEXT ---\n")
    found = one(PROMETHEUS.trajectories, tmp_path, log.encode(), "a.log", patch=b"diff")
    assert found.steps == ((FileSpan("src/a.py", 1, 9),),)
    assert found.notes == ("1 blocks of context do not end; is the log cut off?",)
    assert found.patch == "diff"
