"""The figures of a leaderboard: a mark per system, a curve per trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from report.charts.figures import Figure
from report.charts.kinds import kind_of
from report.facts import Facts
from report.leaderboard.board import AVERAGES, Board
from report.leaderboard.rows import Row
from report.parameters import WHOLE, Average
from report.render import markup
from report.shown import plural, score, slug

MAX_CURVES = 8
"""More in one picture cannot be told apart; the table has them all."""

STEPS_SHOWN = (1, 2, 3, 5, 10, 15, 20)

NUMBER = ("value", "low", "high")
"""A number and its 95 % interval, in the columns of what is downloaded."""


@dataclass(frozen=True)
class Steps:
    """How the systems' trajectories gather the gold."""

    granularity: str
    figure: Figure
    at: tuple[int, ...]
    rows: tuple[tuple[Row, tuple[str, ...], int], ...]
    """Each system, its coverage at those steps, and over how many items."""
    without: tuple[str, ...]
    """Systems of the table that have no such steps: chance is a mean over many orders."""


def figure_of(
    board: Board,
    what: str,
    title: str,
    picture: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str | float | int | None]],
) -> Figure:
    """A figure of a board; `what` tells it from the board's others."""
    name = f"{slug(board.benchmark.name)}/{slug(board.protocol.short)}-{what}"
    part = "" if board.slice[0] == WHOLE else f", {board.slice[1]}"
    population = f"{board.benchmark.title}, {board.protocol.short}{part}, {plural(board.n_items, 'item')}"
    return Figure(name, title, population, markup(picture), columns, rows)


def score_picture(board: Board, average: Average) -> Figure | None:
    """The primary metric per system averaged one way, the retrievers in the order of their best system."""
    rows = board.in_order(board.rows, average)
    valued = [(row, row.value(board.primary, average)) for row in rows]
    points = [(row, value) for row, value in valued if value is not None]
    if not points:
        return None
    # Altair takes a third of a second to load: only a build that draws waits for it.
    from report.charts.scores import Point, score_chart

    groups = list(dict.fromkeys(_group(row) for row, _ in points))
    ordered = sorted(points, key=lambda point: groups.index(_group(point[0])))
    marks = [
        Point(
            group=_group(row),
            label=row.run.chunker or "",
            kind=kind_of(row.run),
            value=value,
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
    title = f"{board.primary.title}, {AVERAGES[average][1]}"
    numbers = [
        (row.run.system, kind_of(row.run), mark.value, mark.low, mark.high, row.head.n if row.head else None)
        for (row, _), mark in zip(ordered, marks, strict=True)
    ]
    picture = score_chart(marks, title, name)
    return figure_of(board, f"scores-{average}", title, picture, ("system", "kind", *NUMBER, "n"), numbers)


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
    from report.charts.curves import Curve, step_chart

    drawn = _drawn([row for row in rows if row.comparable])
    lines = [Curve(row.run.system, curves[row.run.run_id][0], kind_of(row.run)) for row in drawn]
    ends = "; ".join(f"{curve.label} {score(curve.values[0])} to {score(curve.values[-1])}" for curve in lines)
    name = f"Line chart: mean {granularity} coverage of all that was seen, by step, of {len(lines)} systems: {ends}."
    shown = tuple(
        (row, tuple(score(curves[row.run.run_id][0][step - 1]) for step in STEPS_SHOWN), curves[row.run.run_id][1])
        for row in rows
    )
    title = f"{granularity.capitalize()} coverage of all that was seen, by step"
    numbers = [
        (row.run.system, kind_of(row.run), step, value, curves[row.run.run_id][1])
        for row in rows
        for step, value in enumerate(curves[row.run.run_id][0], 1)
    ]
    picture = step_chart(lines, f"{granularity.capitalize()} coverage", name)
    figure = figure_of(board, "steps", title, picture, ("system", "kind", "step", "coverage", "n"), numbers)
    without = tuple(row.run.system for row in board.rows if row.run.run_id not in curves)
    return Steps(granularity, figure, STEPS_SHOWN, shown, without)


def _drawn(rows: Sequence[Row]) -> list[Row]:
    """The best of every kind first, then the best of all, in the table's order."""
    kinds = dict.fromkeys(kind_of(row.run) for row in rows)
    first = [next(row for row in rows if kind_of(row.run) == kind) for kind in kinds]
    chosen = [*first, *(row for row in rows if row not in first and not row.run.baseline)][:MAX_CURVES]
    return [row for row in rows if row in chosen]


def _group(row: Row) -> str:
    return row.run.retriever or row.run.system
