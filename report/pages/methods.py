"""Methods: what was held against outside references and expectations, every protocol, metric and rule, and limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lake.catalog.interval_coverage import coverage_note
from lake.verdict import SENTENCES
from report.addresses import item_address
from report.between import differences
from report.entities import Declaration
from report.leaderboard.board import AVERAGES, Board, build_board
from report.leaderboard.gold_ledger import CLASSES
from report.methods.audit import FACTS, findings, gold_rules, side_by_side
from report.methods.expected import outcomes
from report.methods.formulas import Formula, formula_of
from report.parameters import MetricParameters
from report.publisher import Entry, Material, Page, Publisher
from report.slices import MAX_VALUES
from report.systems.parts import LEAST_ITEMS
from report.systems.profile import BREADTH, LATE, REDUNDANT
from report.worked import Sum, Worked, worked_item

PATH = "methods.html"


@dataclass(frozen=True)
class Rules:
    """A protocol with what it searches for, where, and an item of it worked out."""

    board: Board
    average: str
    gold: str
    task: Declaration | None
    worked: Worked | None


@dataclass(frozen=True)
class Metric:
    """A metric with its formula and an item of it worked out."""

    declaration: Declaration
    rule: MetricParameters
    formula: Formula | None
    worked: tuple[Worked, Sum] | None


def _pages(material: Material) -> Iterator[Page]:
    facts = material.facts
    boards = [build_board(facts, protocol) for name in facts.benchmarks for protocol in facts.boards(name)]
    rules = [
        Rules(
            board=board,
            average=AVERAGES[board.average][1],
            gold=gold_rules(board.benchmark).get(board.protocol.parameters.gold, ""),
            task=facts.tasks.get(board.protocol.task or next(iter(board.protocol.parameters.tasks), "")),
            worked=worked_item(material.lake, facts, board),
        )
        for board in boards
    ]
    measured = {column.metric for board in boards for column in board.columns}
    values = {
        "parity": facts.parity.rows(named=True),
        "expected": outcomes(facts),
        "sides": side_by_side(material.lake, facts),
        "facts_of_sides": FACTS,
        "rules": rules,
        "between": [one for name in facts.benchmarks for one in differences(facts, name)],
        "metrics": _metrics(facts.metrics, facts.metric_parameters, measured, rules),
        "findings": findings(material.lake, facts),
        "stages": [(stage, n) for stage, n in facts.rejects["stage"].value_counts().sort("stage").iter_rows()],
        "sentences": SENTENCES,
        "classes": CLASSES,
        "benchmarks": list(facts.benchmarks.values()),
        "intervals": coverage_note(),
        "max_values": MAX_VALUES,
        "least_items": LEAST_ITEMS,
        "item_address": item_address,
        "thresholds": {"breadth": BREADTH, "redundant": REDUNDANT, "late": LATE},
    }
    yield Page(PATH, "Methods", "methods.html", values)


def _metrics(
    declared: Mapping[str, Declaration],
    read: Mapping[str, MetricParameters],
    measured: set[str],
    rules: Sequence[Rules],
) -> list[Metric]:
    """The metrics that boards have, each with the first worked item that has a number of it, best a division."""
    worked = [(one.worked, one.worked.every) for one in rules if one.worked]
    metrics = []
    for name in declared:
        if name in measured:
            of = [(item, every[name]) for item, every in worked if name in every]
            shown = next((pair for pair in of if pair[1].division), of[0] if of else None)
            metrics.append(Metric(declared[name], read[name], formula_of(name), shown))
    return metrics


PUBLISHER = Publisher(
    name="methods",
    order=85,
    meaning="What was held against outside references, what every protocol and metric is, what to know of intervals.",
    entries=lambda _: [Entry("Methods", PATH)],
    pages=_pages,
)
