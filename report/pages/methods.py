"""Methods: what was held against outside references, every protocol and metric, and what to know of intervals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lake.catalog.interval_coverage import coverage_note
from report.board import AVERAGES, Board, build_board
from report.entities import Declaration
from report.publisher import Entry, Material, Page, Publisher
from report.worked import Worked, worked_item

PATH = "methods.html"


@dataclass(frozen=True)
class Rules:
    """A protocol with what it searches for, where, and an item of it worked out."""

    board: Board
    average: str
    task: Declaration | None
    worked: Worked | None


def _pages(material: Material) -> Iterator[Page]:
    facts = material.facts
    boards = [build_board(facts, protocol) for name in facts.benchmarks for protocol in facts.boards(name)]
    rules = [
        Rules(
            board=board,
            average=AVERAGES[board.average][1],
            task=facts.tasks.get(board.protocol.task or next(iter(board.protocol.parameters.tasks), "")),
            worked=worked_item(material.lake, facts, board),
        )
        for board in boards
    ]
    measured = {column.metric for board in boards for column in board.columns}
    values = {
        "parity": facts.parity.rows(named=True),
        "rules": rules,
        "metrics": [metric for name, metric in facts.metrics.items() if name in measured],
        "metric_parameters": facts.metric_parameters,
        "benchmarks": list(facts.benchmarks.values()),
        "intervals": coverage_note(),
    }
    yield Page(PATH, "Methods", "methods.html", values)


PUBLISHER = Publisher(
    name="methods",
    order=85,
    meaning="What was held against outside references, what every protocol and metric is, what to know of intervals.",
    entries=lambda _: [Entry("Methods", PATH)],
    pages=_pages,
)
