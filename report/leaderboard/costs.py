"""Quality against what it costs: every system at every cut-off, and those that no other beats at their price."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from lake.usage import METRICS, Repair, first_gold, pareto_front, repairs
from report.charts.curves import Spot, frontier_chart
from report.charts.figures import Figure
from report.charts.scores import Point, forest_chart
from report.format import count, score, two_digits
from report.leaderboard.board import Board, BoardRow
from report.leaderboard.columns import Column
from report.leaderboard.pictures import figure_of
from report.models import UsageMeans

MOST_NAMED = 6
"""So many systems of a picture are named; of more the colours could not be told apart."""


@dataclass(frozen=True)
class Offer:
    """What a system costs down to a cut-off, and its number there."""

    row: BoardRow
    column: Column
    cost: float
    value: float


@dataclass(frozen=True)
class Frontier:
    """The systems by one cost; `offers` are those on the frontier, the cheapest first, with cost and value as shown."""

    column: Column
    figure: Figure
    offers: Sequence[tuple[Offer, str, str]]

    def cuts(self, row: BoardRow) -> list[str]:
        """At which cut-offs a system is on it."""
        return [offer.column.cut or "whole" for offer, _, _ in self.offers if offer.row is row]


class BoardCosts:
    """The rows with known costs, the hardware of their times, what agents used, and frontiers by each of these."""

    def __init__(self, board: Board) -> None:
        known = {run_id for run_id, k in board.characters if k == board.primary.k}
        self.rows = [row for row in board.every if row.run.cost is not None or row.run.run_id in known]
        self.hardware = sorted({row.run.cost.hardware for row in self.rows if row.run.cost is not None})
        self.curve, self.by_time = by_characters(board, *board.primary.measure[:2]), _by_time(board)
        first = first_gold(board.facts.lake, board.protocol.name).select("run_id", "first_step", "n_found").collect()
        self.first_gold = {run_id: steps for run_id, *steps in first.iter_rows()}
        self.used = [(row, row.run.usage) for row in board.every if row.run.usage is not None]
        self.by_usage = _by_usage(board, self.used)
        self.repair = RepairOutcomes(board) if any(usage.n_outcomes for _, usage in self.used) else None

    def cuts(self, row: BoardRow) -> list[str]:
        """At which cut-offs a system is on the frontier by characters."""
        return self.curve.cuts(row) if self.curve else []


class RepairOutcomes:
    """Whether context predicts repair: a sentence for each system and coverage, and a picture where there are any."""

    def __init__(self, board: Board) -> None:
        rows = {row.run.run_id: row for row in board.every}
        shown = [repair for repair in repairs(board.facts.lake, board.protocol.name) if repair.run_id in rows]
        self.sentences = [repair.sentence(rows[repair.run_id].run.system) for repair in shown]
        self.figure = self._figure(board, [(rows[repair.run_id], repair) for repair in shown]) if shown else None

    def _figure(self, board: Board, shown: Sequence[tuple[BoardRow, Repair]]) -> Figure:
        points = [
            Point(
                "", f"{METRICS[repair.metric]}, {row.run.system}", row.run.drawn, repair.delta, repair.low, repair.high
            )
            for row, repair in shown
        ]
        picture = forest_chart(points, " ".join(self.sentences))
        columns = ("system", "coverage", "difference", "low", "high", "items", "repositories")
        numbers = [
            (
                row.run.system,
                METRICS[repair.metric],
                repair.delta,
                repair.low,
                repair.high,
                repair.n_items,
                repair.n_repos,
            )
            for row, repair in shown
        ]
        return figure_of(
            board, "repair", "Coverage of resolved items less that of the others", picture, columns, numbers
        )


@cache
def by_characters(board: Board, granularity: str, metric: str) -> Frontier | None:
    """A metric against the characters that are read for it; None where fewer than two systems have both."""
    columns = [column for column in board.columns if column.measure[:2] == (granularity, metric)]
    offers = [
        Offer(row, column, board.characters[at][0], value)
        for row in board.systems
        for column in columns
        if (at := (row.run.run_id, column.k)) in board.characters and (value := row.value(column)) is not None
    ]
    titles = ("Characters read per item", columns[0].measured if columns else "")
    return _frontier(board, offers, f"reading-{metric}", titles, count)


def _by_time(board: Board) -> Frontier | None:
    offers = [
        Offer(row, board.primary, cost.query_p50 * 1000, row.number)
        for row in board.systems
        if (cost := row.run.cost) is not None and cost.query_p50 is not None and row.number is not None
    ]
    return _frontier(board, offers, "time", ("Median query, ms", board.primary.title), two_digits)


def _by_usage(board: Board, used: Sequence[tuple[BoardRow, UsageMeans]]) -> list[Frontier]:
    """The primary metric against the tokens, dollars and seconds of agents, each where two or more tell them."""
    frontiers = []
    for column, what in enumerate(("tokens", "dollars", "seconds")):
        known = [(row, usage.numbers[column]) for row, usage in used if row.number is not None]
        offers = [Offer(row, board.primary, mean, row.number or 0.0) for row, (_, mean, _) in known if mean is not None]
        titles = (f"{known[0][1][0]} per item", board.primary.title) if known else ("", "")
        frontiers.append(_frontier(board, offers, what, titles, two_digits))
    return [frontier for frontier in frontiers if frontier]


def _frontier(
    board: Board, offers: Iterable[Offer], what: str, titles: tuple[str, str], shown: Callable[[float], str]
) -> Frontier | None:
    """The frontier; None where there are fewer than two systems."""
    # A system that has the same at two cut-offs is there once; what costs nothing has no place on a scale of powers.
    once = {(offer.row.run.run_id, offer.cost, offer.value): offer for offer in reversed([*offers]) if offer.cost > 0}
    ordered = sorted(once.values(), key=lambda offer: (offer.cost, offer.value, offer.row.run.run_id))
    if len({offer.row.run.run_id for offer in ordered}) < 2:
        return None
    lower_is_better = ordered[0].column.lower_is_better
    kept = pareto_front(
        [offer.cost for offer in ordered], [offer.value for offer in ordered], lower_is_better=lower_is_better
    )
    edge = [offer for offer, is_kept in zip(ordered, kept, strict=True) if is_kept]
    edge.sort(key=lambda offer: (offer.cost, offer.row.run.system))
    labels = _labels(board, ordered, edge, lower_is_better=lower_is_better)
    spots = [
        Spot(
            cost=offer.cost, value=offer.value, kind=offer.row.run.drawn,
            run=offer.row.run.run_id, system=offer.row.run.system,
            label=labels.get(offer.row.run.run_id, ""), number=edge.index(offer) + 1 if offer in edge else None,
        )
        for offer in ordered
    ]  # fmt: skip
    priced = [(offer, shown(offer.cost), score(offer.value)) for offer in edge]
    listed = "; ".join(f"{offer.row.run.system} {value} at {cost}" for offer, cost, value in priced)
    heading = f"{titles[1]} by {titles[0][0].lower()}{titles[0][1:]}"
    picture = frontier_chart(spots, titles, f"Chart: {heading}. On the frontier: {listed}.")
    numbers = [
        (offer.row.run.system, spot.kind, offer.column.name, offer.cost, offer.value, spot.number)
        for offer, spot in zip(ordered, spots, strict=True)
    ]
    columns = ("system", "kind", "metric", "cost", "value", "place on the frontier")
    return Frontier(ordered[0].column, figure_of(board, what, heading, picture, columns, numbers), priced)


def _labels(board: Board, offers: Sequence[Offer], edge: Sequence[Offer], *, lower_is_better: bool) -> dict[str, str]:
    """The runs that are named in a picture: those on the frontier, the best of each retriever, some agents, others."""
    ranked = sorted(offers, key=lambda offer: (offer.value if lower_is_better else -offer.value, offer.row.run.system))
    agents = [offer for offer in ranked if offer.row.run.drawn != "retriever"]
    first = list({offer.row.run.retriever: offer for offer in reversed(ranked) if offer not in agents}.values())[::-1]
    runs = {offer.row.run.run_id: offer.row.run for offer in (*edge, *first, *agents, *ranked)}
    chosen = [(run, run.short_name) for run in list(runs.values())[:MOST_NAMED]]
    names = Counter(name for _, name in chosen)
    return {run.run_id: f"{run.retriever} {run.chunker}" if names[name] > 1 else name for run, name in chosen}
