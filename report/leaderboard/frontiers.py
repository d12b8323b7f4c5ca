"""Quality against what it costs: every system at every cut-off, and those that no other beats at their price."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from lake.costs import on_frontier
from report.charts.figures import Figure
from report.charts.kinds import kind_of
from report.facts import Facts
from report.leaderboard.board import Board
from report.leaderboard.columns import Column
from report.leaderboard.pictures import MAX_CURVES, figure_of
from report.leaderboard.rows import Row
from report.leaderboard.verdicts import short_name
from report.shown import count, measured, score


@dataclass(frozen=True)
class Offer:
    """What a system costs down to a cut-off, and its number there.

    Attributes:
        row: Whose.
        column: The metric at the cut-off.
        cost: The cost.
        value: The number.
    """

    row: Row
    column: Column
    cost: float
    value: float


@dataclass(frozen=True)
class Frontier:
    """The systems by one cost, and those that no other beats, the cheapest first."""

    column: Column
    figure: Figure
    offers: tuple[tuple[Offer, str, str], ...]
    """Each with its cost and its number as they are shown."""

    def cuts(self, row: Row) -> list[str]:
        """At which cut-offs a system is on it."""
        return [offer.column.cut or "whole" for offer, _, _ in self.offers if offer.row is row]


def by_characters(facts: Facts, board: Board) -> list[Frontier]:
    """The primary metric, and the lines' coverage and F1, each against the characters that are read for it."""
    where = {"protocol": board.protocol.name, "slice": board.slice[0], "slice_value": board.slice[1]}
    stored = facts.characters.filter(**where).select("run_id", "k", "read")
    read = {(run_id, k): characters for run_id, k, characters in stored.iter_rows()}
    families = dict.fromkeys((board.primary.measure[:2], ("line", "line_coverage"), ("line", "line_f1")))
    found = []
    for family in families:
        columns = [column for column in board.columns if column.measure[:2] == family]
        offers = [
            Offer(row, column, cost, value)
            for row in _compared(board)
            for column in columns
            if (cost := read.get((row.run.run_id, column.measure[2]))) is not None
            and (value := row.value(column, board.averaged(column, board.average))) is not None
        ]
        what = f"reading-{columns[0].metric}" if columns else ""
        found.append(_frontier(facts, board, offers, what, "Characters read per item", lambda cost: count(round(cost))))
    return [one for one in found if one]


def by_time(facts: Facts, board: Board) -> Frontier | None:
    """The primary metric against the median query."""
    offers = [
        Offer(row, board.primary, cost.query_p50 * 1000, value)
        for row in _compared(board)
        if (cost := row.run.cost) is not None
        and cost.query_p50 is not None
        and (value := row.value(board.primary, board.average)) is not None
    ]
    return _frontier(facts, board, offers, "time", "Median query, ms", measured)


def _compared(board: Board) -> list[Row]:
    return [row for row in board.rows if not row.run.baseline]


def _frontier(
    facts: Facts, board: Board, offers: Iterable[Offer], what: str, title: str, shown: Callable[[float], str]
) -> Frontier | None:
    """The frontier; None where there are fewer than two systems."""
    # A system that has the same at two cut-offs is there once; what costs nothing has no place on a scale of powers.
    once = {(one.row.run.run_id, one.cost, one.value): one for one in reversed([*offers]) if one.cost > 0}
    ordered = sorted(once.values(), key=lambda one: (one.cost, one.value, one.row.run.run_id))
    if len({one.row.run.run_id for one in ordered}) < 2:
        return None
    column = board.primary if what == "time" else ordered[0].column
    kept = on_frontier(
        [one.cost for one in ordered], [one.value for one in ordered], lower_is_better=column.better == "lower"
    )
    edge = [one for one, is_kept in zip(ordered, kept, strict=True) if is_kept]
    edge.sort(key=lambda one: (one.cost, one.row.run.system))
    # Altair takes a third of a second to load: only a build that draws waits for it.
    from report.charts.curves import Spot, frontier_chart

    labels = _labels(facts, ordered, edge, lower_is_better=column.better == "lower")
    spots = [
        Spot(
            cost=one.cost, value=one.value, kind=kind_of(one.row.run), system=one.row.run.run_id,
            label=labels.get(one.row.run.run_id, ""), number=edge.index(one) + 1 if one in edge else None,
        )
        for one in ordered
    ]  # fmt: skip
    named = tuple((one, shown(one.cost), score(one.value)) for one in edge)
    listed = "; ".join(f"{one.row.run.system} {value} at {cost}" for one, cost, value in named)
    measure = column.title if what == "time" else column.measured
    heading = f"{measure} by {title[0].lower()}{title[1:]}"
    picture = frontier_chart(spots, (title, measure), f"Chart: {heading}. On the frontier: {listed}.")
    numbers = [
        (one.row.run.system, kind_of(one.row.run), one.column.name, one.cost, one.value, spot.number)
        for one, spot in zip(ordered, spots, strict=True)
    ]
    columns = ("system", "kind", "metric", "cost", "value", "place on the frontier")
    return Frontier(column, figure_of(board, what, heading, picture, columns, numbers), named)


def _labels(facts: Facts, offers: Sequence[Offer], edge: Sequence[Offer], *, lower_is_better: bool) -> dict[str, str]:
    """The runs that are named in a picture: those on the frontier, the best of each retriever, some agents, others."""
    ranked = sorted(offers, key=lambda one: (one.value if lower_is_better else -one.value, one.row.run.system))
    agents = [one for one in ranked if kind_of(one.row.run) != "retriever"]
    first = list({one.row.run.retriever: one for one in reversed(ranked) if one not in agents}.values())[::-1]
    runs = {one.row.run.run_id: one.row.run for one in (*edge, *first, *agents, *ranked)}
    chosen = list(runs.values())[:MAX_CURVES]
    names = Counter(short_name(facts, run) for run in chosen)
    return {
        run.run_id: f"{run.retriever} {run.chunker}" if names[short_name(facts, run)] > 1 else short_name(facts, run)
        for run in chosen
    }
