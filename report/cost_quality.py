"""What systems cost beside what they are worth, and which of them no other beats at their price."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lake.costs import on_frontier
from report.board import Board
from report.columns import Column
from report.facts import Facts
from report.figures import Figure
from report.kinds import kind_of
from report.pictures import figure_of
from report.rows import Row
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

    figure: Figure
    offers: tuple[tuple[Offer, str, str], ...]
    """Each with its cost and its number as they are shown."""

    def cuts(self, row: Row) -> list[str]:
        """At which cut-offs a system is on it."""
        return [offer.column.cut or "whole" for offer, _, _ in self.offers if offer.row is row]


@dataclass(frozen=True)
class CostQuality:
    """A board's systems with what they cost.

    Attributes:
        rows: Each system with its number, the characters that are read and those that are returned.
        hardware: Where the times were measured.
        by_characters: The frontier by what is read; None where it says nothing.
        by_time: The frontier by the median query.
        has_cuts: Systems stand on the first at several cut-offs each.
    """

    rows: tuple[tuple[Row, str, str, str], ...]
    hardware: tuple[str, ...]
    by_characters: Frontier | None
    by_time: Frontier | None
    has_cuts: bool


def cost_quality(facts: Facts, board: Board) -> CostQuality | None:
    """What the systems of a board cost; None where nothing is known of any."""
    where = {"protocol": board.protocol.name, "slice": board.slice[0], "slice_value": board.slice[1]}
    stored = facts.characters.filter(**where).select("run_id", "k", "read", "returned")
    characters = {(run_id, k): (read, returned) for run_id, k, read, returned in stored.iter_rows()}
    every = [*board.rows, *board.unranked]
    rows = []
    for row in every:
        of_row = characters.get((row.run.run_id, board.primary.measure[2]))
        if row.run.cost is not None or of_row is not None:
            read, returned = (None, None) if of_row is None else map(round, of_row)
            rows.append((row, score(row.value(board.primary, board.average)), count(read), count(returned)))
    if not rows:
        return None
    compared = [row for row in board.rows if not row.run.baseline]
    columns = [column for column in board.columns if column.measure[:2] == board.primary.measure[:2]]
    by_cut = [
        Offer(row, column, of_row[0], value)
        for row in compared
        for column in columns
        if (of_row := characters.get((row.run.run_id, column.measure[2]))) is not None
        and (value := row.value(column, board.average)) is not None
    ]
    by_time = [
        Offer(row, board.primary, cost.query_p50 * 1000, value)
        for row in compared
        if (cost := row.run.cost) is not None
        and cost.query_p50 is not None
        and (value := row.value(board.primary, board.average)) is not None
    ]
    return CostQuality(
        rows=tuple(rows),
        hardware=tuple(sorted({row.run.cost.hardware for row in every if row.run.cost is not None})),
        by_characters=_frontier(board, by_cut, "costs", "Characters read per item", lambda cost: count(round(cost))),
        by_time=_frontier(board, by_time, "time", "Median query, ms", measured),
        has_cuts=len(columns) > 1,
    )


def _frontier(
    board: Board, offers: Sequence[Offer], what: str, title: str, shown: Callable[[float], str]
) -> Frontier | None:
    """The frontier; None where there are fewer than two systems."""
    # A system that has the same at two cut-offs is there once; what costs nothing has no place on a scale of powers.
    offers = list({(one.row.run.run_id, one.cost, one.value): one for one in reversed(offers) if one.cost > 0}.values())
    offers.sort(key=lambda one: (one.cost, one.value, one.row.run.run_id))
    if len({one.row.run.run_id for one in offers}) < 2:
        return None
    kept = on_frontier(
        [one.cost for one in offers],
        [one.value for one in offers],
        lower_is_better=board.primary.better == "lower",
    )
    edge = [one for one, is_kept in zip(offers, kept, strict=True) if is_kept]
    edge.sort(key=lambda one: (one.cost, one.row.run.system))
    # Altair takes a third of a second to load: only a build that draws waits for it.
    from report.curves import Spot, frontier_chart

    spots = [
        Spot(one.cost, one.value, kind_of(one.row.run), edge.index(one) + 1 if one in edge else None) for one in offers
    ]
    named = tuple((one, shown(one.cost), score(one.value)) for one in edge)
    listed = "; ".join(f"{one.row.run.system} {value} at {cost}" for one, cost, value in named)
    name = f"Dot chart: {board.primary.metric} against {title[0].lower()}{title[1:]}. On the frontier: {listed}."
    measure = board.primary.measured if what == "costs" else board.primary.title
    picture = frontier_chart(spots, (title, measure), name)
    numbers = [
        (one.row.run.system, kind_of(one.row.run), one.column.name, one.cost, one.value, spot.number)
        for one, spot in zip(offers, spots, strict=True)
    ]
    columns = ("system", "kind", "metric", "cost", "value", "place on the frontier")
    heading = f"{measure} by {title[0].lower()}{title[1:]}"
    return Frontier(figure_of(board, what, heading, picture, columns, numbers), named)
