"""The pictures of a leaderboard, each with the numbers in it: a dot per system, a curve per trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl
from markupsafe import Markup

from report.board import AVERAGES, Board
from report.facts import Facts
from report.parameters import Average
from report.render import markup
from report.rows import Row
from report.shown import score

MAX_CURVES = 8
"""More in one picture cannot be told apart; the table has them all."""

STEPS_SHOWN = (1, 2, 3, 5, 10, 15, 20)


@dataclass(frozen=True)
class Steps:
    """How the systems' trajectories gather the gold: a chart and the numbers in it."""

    granularity: str
    chart: Markup
    at: tuple[int, ...]
    rows: tuple[tuple[Row, tuple[str, ...], int], ...]
    """Each system, its coverage at those steps, and over how many items."""
    without: tuple[str, ...]
    """Systems of the table that have no such steps: chance is a mean over many orders."""


def score_picture(board: Board, average: Average) -> Markup | None:
    """The primary metric per system averaged one way, the retrievers in the order of their best system."""
    rows = board.in_order(board.rows, average)
    valued = [(row, row.value(board.primary, average)) for row in rows]
    points = [(row, value) for row, value in valued if value is not None]
    if not points:
        return None
    # Altair takes a third of a second to load: only a build that draws waits for it.
    from report.charts import Point, score_chart

    groups = list(dict.fromkeys(_group(row) for row, _ in points))
    ordered = sorted(points, key=lambda point: groups.index(_group(point[0])))
    marks = [
        Point(
            group=_group(row),
            label=row.run.chunker or "",
            value=value,
            baseline=row.run.baseline,
            low=row.head.interval(average)[0] if row.head else None,
            high=row.head.interval(average)[1] if row.head else None,
        )
        for row, value in ordered
    ]
    (best, top), (worst, bottom) = points[0], points[-1]
    name = (
        f"Dot chart: {board.primary.name}, {AVERAGES[average][1]}, of {len(points)} systems on "
        f"{board.benchmark.title} under {board.protocol.short}, from {score(top)} ({best.run.system}) "
        f"to {score(bottom)} ({worst.run.system}). The table below holds every number."
    )
    return markup(score_chart(marks, f"{board.primary.name}, {AVERAGES[average][1]}", name))


def step_picture(facts: Facts, board: Board) -> Steps | None:
    """Coverage by step at the primary metric's granularity, the best systems drawn."""
    granularity = board.primary.granularity
    mine = facts.steps.filter(pl.col("protocol") == board.protocol.name, pl.col("granularity") == granularity)
    curves = {
        str(run_id): (group["coverage"].to_list(), int(group["n"][0]))
        for (run_id,), group in mine.group_by("run_id", maintain_order=True)
    }
    rows = [row for row in (*board.rows, *board.unranked) if row.run.run_id in curves]
    if not any(row.comparable for row in rows):
        return None
    from report.charts import Curve, step_chart

    drawn = _drawn([row for row in rows if row.comparable])
    lines = [Curve(row.run.system, curves[row.run.run_id][0], row.run.baseline) for row in drawn]
    ends = "; ".join(f"{curve.label} {score(curve.values[0])} to {score(curve.values[-1])}" for curve in lines)
    name = f"Line chart: mean {granularity} coverage of all that was seen, by step, of {len(lines)} systems: {ends}."
    shown = tuple(
        (row, tuple(score(curves[row.run.run_id][0][step - 1]) for step in STEPS_SHOWN), curves[row.run.run_id][1])
        for row in rows
    )
    chart = markup(step_chart(lines, f"{granularity.capitalize()} coverage", name))
    without = tuple(row.run.system for row in board.rows if row.run.run_id not in curves)
    return Steps(granularity, chart, STEPS_SHOWN, shown, without)


def _drawn(rows: Sequence[Row]) -> list[Row]:
    """The best of every kind first, then the best of all, in the table's order."""
    kinds = dict.fromkeys(row.run.kind for row in rows)
    first = [next(row for row in rows if row.run.kind == kind) for kind in kinds]
    chosen = [*first, *(row for row in rows if row not in first)][:MAX_CURVES]
    return [row for row in rows if row in chosen]


def _group(row: Row) -> str:
    return row.run.retriever or row.run.system
