"""Overview: the answer per benchmark with its interval, where the gold went, every system on every benchmark."""

from collections.abc import Iterator, Mapping

from lake.averages import ITEM_NOTE
from lake.tables.evaluated import LEDGER_TITLES
from report.charts.figures import Figure, Point
from report.format import run_key, score
from report.leaderboard.board import Board, BoardRow, Column
from report.leaderboard.costs import by_characters
from report.leaderboard.gold_ledger import shares_of, shown_rows
from report.leaderboard.pictures import figure_of, ways_to_count
from report.leaderboard.verdicts import agents_sentence, best_agents, board_sentence, reference_row
from report.publisher import Page, Publisher, SiteMaterial
from report.tables_read import RunRow, TablesRead

_PATH = "index.html"
QUESTION = "Does searching find the code that is needed?"


def _pages(material: SiteMaterial) -> Iterator[Page]:
    boards = {name: next(iter(of), None) for name, of in material.boards_of.items()}
    known = [board for board in boards.values() if board]
    scored = {board.benchmark.name: board for board in known if board.every}
    sentences = {name: agents_sentence(board) or board_sentence(board) for name, board in scored.items()}
    forests = {name: _forest(board) for name, board in scored.items()}
    cards = [
        {
            "benchmark": benchmark,
            "n_systems": len({run.system for run in material.runs_of(name) if not run.baseline}),
            "board": boards[name],
            "verdict": sentences.get(name, ""),
            "forest": forests.get(name),
            "readings": ways_to_count(material.boards_of[name])["sentence"],
        }
        for name, benchmark in material.benchmarks.items()
    ]
    # The sections below the cards are about published editions, if there are any.
    known = [board for board in known if board.benchmark.is_edition] or known
    # A bar: name, with the reason if the run is not compared, run key, shares of the gold, line precision.
    bars_of = [
        [
            (row.run.full_name + (f" ({row.state})" if row.state else ""), run_key(row.run.run_id), *shares)
            for row in shown_rows(board)
            if (shares := shares_of(board).get(row.run.run_id)) and shares[0]
        ]
        for board in known
    ]
    ledgers = [(board, bars) for board, bars in zip(known, bars_of, strict=True) if bars]
    # Benchmarks with agents come first: their ledgers also show what was read and then dropped.
    ledgers.sort(key=lambda ledger: not any(part["name"] == "seen" for _, _, parts, _ in ledger[1] for part in parts))
    # Line coverage by characters read, agents first; without any, the first by a primary metric.
    by_agents = sorted(known, key=lambda board: not any(row.run.has_steps for row in board.rows))
    covered = [by_characters(board, "line", "line_coverage") for board in by_agents]
    by_primary = (by_characters(board, *board.primary.measure[:2]) for board in by_agents)
    values = {
        "cards": cards,
        "ledgers": ledgers,
        "classes": LEDGER_TITLES,
        "reading": [*filter(None, covered)] or [*filter(None, by_primary)][:1],
        "matrix": _matrix(material, boards),
    }
    every = " ".join(f"{material.benchmarks[name].title}: {verdict}" for name, verdict in sentences.items())
    yield Page(_PATH, QUESTION, "overview.html", values, every)


def _forest(board: Board) -> Figure | None:
    """The forest chart of a board: the reference and the best agent, or else :func:`first_of_each`; None if empty."""
    shown = [
        (f"{name}, {column.granularity}s", row, column)
        for column, reference, agent in best_agents(board)
        for name, row in ((reference.run.short_name, reference), ("best agent", agent))
    ] or first_of_each(board, reference_row(board))
    if not shown:
        return None
    points, numbers = [], []
    for name, row, column in shown:
        cell = row.cells[column.measure, board.average]
        points.append(Point(name, row.run.drawn, cell.value or 0.0, *cell.interval))
        of_point = zip(("kind", "value", "low", "high"), points[-1][1:], strict=True)
        numbers.append({"system": row.run.system, "metric": column.title, **dict(of_point)})
    measures = " and ".join(dict.fromkeys(column.title for _, _, column in shown))
    title = f"{measures}, {board.averaging}, with 95 % intervals{f', {ITEM_NOTE}' if board.is_of_items else ''}"
    scores = "; ".join(f"{point.label} {score(point.value)}" for point in points)
    return figure_of(board, "forest", title, "plots.forest_chart", (points, f"{title}: {scores}."), numbers)


def first_of_each(board: Board, reference: BoardRow | None) -> list[tuple[str, BoardRow, Column]]:
    """The (name, row, column) of baselines and the first three systems, each retriever once, with its best chunker."""
    scored = [row for row in board.rows if row.number is not None]
    by_rank = sorted(reversed(scored), key=lambda row: row is reference)
    first = {row.run.retriever or row.run.system: row for row in by_rank}.values()
    rows = [row for row in scored if row in first]
    systems = [row for row in rows if not row.run.baseline][:3]
    shown = [row for row in rows if row.run.baseline or row in systems or row is reference]
    return [(row.run.short_name, row, board.primary) for row in shown]


def _matrix(facts: TablesRead, boards: Mapping[str, Board | None]) -> list[tuple[RunRow, list[tuple[str, str, bool]]]]:
    """The rows of systems by benchmarks; a cell is (score or the reason for none, remark, whether it is the best)."""
    rows = {name: board.every if board else () for name, board in boards.items()}
    # Reversed, so that the best of several runs of a system stays: complete runs come before limited ones.
    by_system = {name: {row.run.system: row for row in reversed(of)} for name, of in rows.items()}
    systems: dict[str, RunRow] = {}
    for run in (*(row.run for of in rows.values() for row in of), *facts.runs):
        systems.setdefault(run.system, run)
    scored = set(facts.scored["run_id"])

    def cell(system: str, name: str) -> tuple[str, str, bool]:
        board, row = boards[name], by_system[name].get(system)
        if board is None or row is None:
            runs = [run for run in facts.runs_of(name) if run.system == system]
            is_scored = any(run.run_id in scored for run in runs)
            return ("other protocol" if is_scored else runs[0].status if runs else "not run", "", False)
        if row.number is None:
            return (row.state or "no score", "", False)
        is_best = score(row.number) == board.best(board.primary, board.average)
        return (score(row.number), row.state, is_best and not row.run.baseline and not row.state)

    return [(run, [cell(system, name) for name in boards]) for system, run in systems.items()]


OVERVIEW_PAGES = Publisher("overview", 0, __doc__, _pages, lambda _: [("Overview", _PATH)])
