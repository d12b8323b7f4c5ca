"""Prometheus' logs: blocks of context are steps, the last aggregated one is the final context."""

from __future__ import annotations

from pathlib import Path

from ingest.runs.formats.prometheus import trajectories
from ingest.runs.trajectories.trajectory import FileSpan
from tests.ingest.runs.formats.recorded_sessions import one

LOGGED = "2025-10-01 10:00:00,000 - prometheus.lang_graph.nodes.context_selection_node - INFO - "


def block(*files: tuple[str, int, int], kind: str = "CONTEXT") -> str:
    """A block of context as a log has it."""
    rows = [f"File: {path}\nLine number range: {start} - {end}\nContent:\nx = 1\n" for path, start, end in files]
    return f"{LOGGED}--- BEGIN {kind} ---\n{''.join(rows)}--- END {kind} ---\n"


A, B = ("/testbed/src/a.py", 1, 9), ("/workspace/rockets/b.py", 30, 20)


def test_blocks_are_steps_and_the_last_aggregated_one_is_final(tmp_path: Path) -> None:
    kind = "AGGREGATED CONTEXT"
    log = block(A) + block(A, B) + block(A, kind=kind) + block() + block(B, kind=kind)
    found = one(trajectories, tmp_path, log.encode(), "acme__rockets-1.log")
    a, b = FileSpan("src/a.py", 1, 9), FileSpan("b.py", 20, 30)
    assert (found.item, found.steps, found.final, found.notes) == ("", ((a,), (a, b)), (b,), ())


def test_without_an_aggregated_block_it_is_the_union(tmp_path: Path) -> None:
    found = one(trajectories, tmp_path, (block(A, B) + block(A)).encode(), "a.log")
    assert found.final == (FileSpan("src/a.py", 1, 9), FileSpan("b.py", 20, 30))


def test_a_block_that_does_not_end_is_noted_and_left_out(tmp_path: Path) -> None:
    log = block(A) + block(B).removesuffix("--- END CONTEXT ---\n")
    found = one(trajectories, tmp_path, log.encode(), "a.log", patch=b"diff")
    assert found.steps == ((FileSpan("src/a.py", 1, 9),),)
    assert found.notes == ("1 blocks of context do not end; is the log cut off?",)
    assert found.patch == "diff"
