"""Scores by cost: every system at every cut-off, and the Pareto frontier."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import compress
from typing import Any, NamedTuple

from lake.usage import first_gold, pareto_front
from lake.verdict import repair_sentence
from report.charts.figures import SHADES, Curve
from report.format import count, score, two_digits
from report.leaderboard.board import Board, BoardRow, Column
from report.leaderboard.pictures import figure_of, labels_of
from report.tables_read import RunRow

MOST_NAMED = 6  # labelled systems in a picture (and SHADES per kind): more could not be told apart


class Offer(NamedTuple):
    """A system's cost up to a cut-off, and its score there."""

    row: BoardRow
    column: Column
    cost: float
    value: float


def costs_of(board: Board) -> dict[str, Any]:
    """Rows with known costs, agents' usage, and a frontier per cost; `repair` is None if no outcome is known."""
    lake, protocol, primary = board.facts.lake, board.protocol.name, board.primary

    def by(what: str, title: str, costs: Iterable[tuple[BoardRow, float | None]]) -> dict[str, Any] | None:
        known = [(row, cost, row.number) for row, cost in costs]
        offers = [Offer(row, primary, cost, n) for row, cost, n in known if cost is not None and n is not None]
        return _frontier(board, offers, what, (title, primary.title), two_digits)

    rows = [row for row in board.every if row.run.cost is not None or (row.head and row.head.read is not None)]
    times = [(row, row.run.cost["query_p50"]) for row in board.systems if row.run.cost is not None]
    used = [(row, row.run.usage) for row in board.every if row.run.usage is not None]
    heads = [head for head, *_ in used[0][1]["numbers"]] if used else []
    by_usage = [
        by(what, f"{head} per item", [(row, usage["numbers"][number][1]) for row, usage in used])
        for number, (what, head) in enumerate(zip(("tokens", "dollars", "seconds"), heads, strict=False))
    ]
    first = first_gold(lake, protocol).select("run_id", "first_step", "n_found").collect()
    has_outcomes = any(usage["n_outcomes"] for _, usage in used)
    repairs = [
        repair_sentence(row, board.runs[row["run_id"]].full_name)
        for row in lake.read("repairs", protocol=protocol).iter_rows(named=True)
        if row["run_id"] in board.runs
    ]
    return {
        "rows": rows,
        "hardware": sorted({row.run.cost["hardware"] for row in rows if row.run.cost is not None}),
        "by_time": by("time", "Median query, ms", [(row, p50 and p50 * 1000) for row, p50 in times]),
        "first_gold": {run_id: steps for run_id, *steps in first.iter_rows()},
        "used": used,
        "by_usage": list(filter(None, by_usage)),
        "repair": repairs if has_outcomes else None,
    }


@cache
def by_characters(board: Board, granularity: str, metric: str) -> dict[str, Any] | None:
    """The frontier of a metric by characters read; None if fewer than two systems have both numbers."""
    columns = [column for column in board.columns if column.measure[:2] == (granularity, metric)]
    offers = [
        Offer(row, column, cell.read, cell.value)
        for row in board.systems
        for column in columns
        if (cell := row.cell(column)) and cell.read is not None and cell.value is not None
    ]
    titles = ("Characters read per item", columns[0].measured if columns else "")
    return _frontier(board, offers, f"reading-{metric}", titles, count)


def _frontier(
    board: Board, offers: Iterable[Offer], what: str, titles: tuple[str, str], shown: Callable[[float], str]
) -> dict[str, Any] | None:
    """The frontier's `column`, `figure` and `offers`, the cheapest first, with cost and score as shown.

    None if there are fewer than two systems.
    """
    # Equal offers of a system at two cut-offs count once; a cost of 0 has no place on a logarithmic axis.
    once = {(offer.row.run.run_id, offer.cost, offer.value): offer for offer in reversed([*offers]) if offer.cost > 0}
    ordered = sorted(once.values(), key=lambda offer: (offer.cost, offer.value, offer.row.run.run_id))
    if len({offer.row.run.run_id for offer in ordered}) < 2:
        return None
    lower_is_better = ordered[0].column.lower_is_better
    costs, values = [offer.cost for offer in ordered], [offer.value for offer in ordered]
    edge = [*compress(ordered, pareto_front(costs, values, lower_is_better=lower_is_better))]
    edge.sort(key=lambda offer: (offer.cost, offer.row.run.system))
    labels = _labels(ordered, edge, lower_is_better=lower_is_better)
    by_run: dict[str, list[Offer]] = {}
    for offer in ordered:
        by_run.setdefault(offer.row.run.run_id, []).append(offer)
    curves = [
        Curve(labels.get(run_id, ""), [each.value for each in of], run.drawn, [each.cost for each in of], run.system)
        for run_id, of in by_run.items()
        for run in [of[0].row.run]
    ]
    front = [(offer.cost, offer.value, [*by_run].index(offer.row.run.run_id)) for offer in edge]
    priced = [(offer, shown(offer.cost), score(offer.value)) for offer in edge]
    listed = "; ".join(f"{offer.row.run.full_name} {value} at {cost}" for offer, cost, value in priced)
    heading = f"{titles[1]} by {titles[0][0].lower()}{titles[0][1:]}"
    drawn = (curves, titles, f"Chart: {heading}. On the frontier: {listed}.", front)
    places = {offer: number for number, offer in enumerate(edge, 1)}
    numbers = [
        {
            "system": offer.row.run.system, "kind": offer.row.run.drawn, "metric": offer.column.name,
            "cost": offer.cost, "value": offer.value, "place on the frontier": places.get(offer),
        }
        for offer in ordered
    ]  # fmt: skip
    figure = figure_of(board, what, heading, "plots.line_chart", drawn, numbers)
    return {"column": ordered[0].column, "figure": figure, "offers": priced}


def _labels(offers: Sequence[Offer], edge: Sequence[Offer], *, lower_is_better: bool) -> dict[str, str]:
    """Run → label in a picture, for at most MOST_NAMED: the frontier, the best per retriever, agents, then others."""
    ranked = sorted(offers, key=lambda offer: (offer.value if lower_is_better else -offer.value, offer.row.run.system))
    agents = [offer for offer in ranked if offer.row.run.drawn != "retriever"]
    first = list({offer.row.run.retriever: offer for offer in reversed(ranked) if offer not in agents}.values())[::-1]
    runs = {offer.row.run.run_id: offer.row.run for offer in (*edge, *first, *agents, *ranked)}
    labelled: list[RunRow] = []
    for run in runs.values():
        if len(labelled) < MOST_NAMED and [other.drawn for other in labelled].count(run.drawn) < SHADES:
            labelled.append(run)
    return labels_of(labelled)
