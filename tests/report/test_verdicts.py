"""What is said of a view and drawn beside it is of one comparison."""

from __future__ import annotations

from pathlib import Path

from report.facts import load
from report.leaderboard.board import build_board
from report.leaderboard.verdicts import board_verdict
from report.pages.overview import first_of_each
from tests.report.small_lake import CHUNKING, SYSTEMS, write_lake

REFERENCE = "fixed-nws-1500+own-file"


def test_of_the_references_retriever_the_reference_itself_is_drawn(tmp_path: Path) -> None:
    facts = load(write_lake(tmp_path / "lake", {**SYSTEMS, "window-20-10+own-file": (0.95, 0.1)}))
    board = build_board(facts, facts.protocols[CHUNKING])
    drawn = first_of_each(board, board_verdict(board).reference)
    systems = [row.run.system for _, row, _ in drawn]
    assert REFERENCE in systems
    assert "window-20-10+own-file" not in systems
    assert [row.number for _, row, _ in drawn] == sorted((row.number or 0.0 for _, row, _ in drawn), reverse=True)
