"""Leaderboard: a page per benchmark that opens with its answer and its table, and a plain page with every number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lake.catalog.interval_coverage import coverage_note
from report.addresses import pairs_path
from report.charts.figures import Figure, files_of
from report.entities import IMPORTED, Benchmark, Declaration
from report.facts import Facts
from report.leaderboard.beats import beats_of
from report.leaderboard.board import AVERAGES, Board, build_board
from report.leaderboard.board_files import board_files, board_path, slices_of
from report.leaderboard.choices import Choices, choices
from report.leaderboard.columns import Column
from report.leaderboard.controls import Controls, controls_of
from report.leaderboard.cost_quality import CostQuality, cost_quality
from report.leaderboard.frontiers import Frontier
from report.leaderboard.heats import ShadedHeat, shaded
from report.leaderboard.main_table import MainTable, Name, main_table, named
from report.leaderboard.pictures import Steps, step_picture
from report.leaderboard.rows import Row
from report.leaderboard.sizes import Sizes, sizes_of
from report.leaderboard.verdicts import board_verdict, sentence
from report.parameters import TaskParameters
from report.plain_tables import Table, plain_tables, unbeaten
from report.publisher import Entry, Material, Page, Publisher
from report.shown import SCORE_DIGITS, slug


@dataclass(frozen=True)
class Section:
    """One protocol's part of the page, with the data that it loads on demand."""

    board: Board
    verdict: str
    reference: Row | None
    rules: tuple[tuple[str, str], ...]
    main: MainTable
    names: Mapping[str, Name]
    unbeaten: Sequence[str]
    controls: Controls
    slices: Sequence[Mapping[str, object]]
    sizes: Sizes | None
    choices: Choices | None
    heats: tuple[ShadedHeat, ...]
    path: str
    costs: CostQuality | None
    files: Mapping[str, bytes]

    @property
    def figures(self) -> list[Figure | None]:
        """What of it may be downloaded as a picture."""
        return [one.figure for one in (self.sizes, self.choices, *self.curves) if one]

    @property
    def curves(self) -> Sequence[Frontier]:
        """What reading more is worth."""
        return self.costs.curves if self.costs else ()


@dataclass(frozen=True)
class Plain:
    """One protocol's part of the plain page."""

    section: Section
    tables: tuple[Table, ...]
    heats: tuple[ShadedHeat, ...]
    steps: Steps | None

    @property
    def figures(self) -> list[Figure | None]:
        """What of it may be downloaded as a picture."""
        by_time = self.section.costs.by_time if self.section.costs else None
        return [
            *(table.chart for table in self.tables),
            self.steps.figure if self.steps else None,
            by_time.figure if by_time else None,
        ]


def _pages(material: Material) -> Iterator[Page]:
    facts = material.facts
    for name, benchmark in facts.benchmarks.items():
        sections = [_section(material, build_board(facts, protocol)) for protocol in facts.boards(name)]
        has_runs = any(section.board.rows or section.board.unranked for section in sections)
        shared = {
            "benchmark": benchmark,
            "averages": AVERAGES,
            "intervals": coverage_note(),
            "plain": _path(name, "-all"),
            "main_page": _path(name),
        }
        files = files_of(figure for section in sections for figure in section.figures)
        files |= {path: content for section in sections for path, content in section.files.items()}
        beats = beats_of(facts, sections[0].board) if sections else None
        values = {**shared, "sections": sections, "has_runs": has_runs, "beats": beats, "pairs_path": pairs_path(name)}
        values |= _words(facts, benchmark, sections)
        said = f"{benchmark.title}: {sections[0].verdict}" if sections and sections[0].verdict else ""
        yield Page(_path(name), benchmark.title, "leaderboard.html", values, said=said, files=files)
        if has_runs:
            plain = [_plain(facts, section) for section in sections]
            title = f"{benchmark.title}: every number"
            figures = files_of(figure for one in plain for figure in one.figures)
            yield Page(_path(name, "-all"), title, "leaderboard-all.html", {**shared, "plains": plain}, files=figures)


def _words(facts: Facts, benchmark: Benchmark, sections: Sequence[Section]) -> dict[str, object]:
    """What is said below the boards: which names mean what, and what to keep in mind."""
    retrievers = _named(facts, sections, "retriever")
    return {
        "has_agents": any(row.run.has_steps for section in sections for row in _every(section.board)),
        "imported": [run for run in facts.runs_of(benchmark.name) if run.origin == IMPORTED],
        "metrics": _metrics(sections),
        "chunkers": _named(facts, sections, "chunker"),
        "baselines": [each for each in retrievers if "baseline" in each.tags],
        "retrievers": [each for each in retrievers if "baseline" not in each.tags],
        "fallbacks": facts.fallbacks,
        "left_out": facts.left_out,
        "budgets": {name for name, rule in facts.metric_parameters.items() if rule.cut == "budget"},
        "depends_on_cutting": _union(section.board.depends_on_cutting for section in sections),
        "neutral": _union(section.board.neutral for section in sections),
    }


def _section(material: Material, board: Board) -> Section:
    facts, rule = material.facts, board.protocol.parameters
    tasks = [board.protocol.task] if board.protocol.task else [row.run.task for row in _every(board)] + list(rule.tasks)
    task = next((facts.tasks[name] for name in tasks if name in facts.tasks), None)
    rules = [("Gold", rule.gold)]
    # Contexts are held against the gold as sets: nothing of them is relevant or not.
    rules += [] if rule.has_contexts else [("Relevant", rule.relevance)]
    said = None if task is None else task.read(TaskParameters)
    rules += [("Query", said.query), ("Pool", said.pool)] if said else []
    order = facts.pool_orders.get((board.benchmark.name, board.slice[1]))
    if order is not None and said is not None and said.tie == "pool":
        rules.append(("Ties", order.said))
    verdict = board_verdict(facts, board)
    reference = next((row for row in _every(board) if row.run.run_id == verdict.reference), None)
    return Section(
        board=board,
        verdict=sentence(facts, verdict) if _every(board) else "",
        reference=reference,
        rules=tuple((key, value) for key, value in rules if value),
        main=(main := main_table(facts, board, reference)),
        names=named(facts, board),
        unbeaten=unbeaten(board, board.average),
        controls=controls_of(board),
        slices=slices_of(facts, board),
        sizes=sizes_of(facts, board),
        choices=choices(facts, board),
        heats=tuple(shaded(heat, main.digits) for heat in board.heats),
        path=board_path(board),
        costs=cost_quality(facts, board),
        files=board_files(material.lake, facts, board, reference) if _every(board) else {},
    )


def _plain(facts: Facts, section: Section) -> Plain:
    board = section.board
    return Plain(
        section=section,
        tables=plain_tables(facts, board, section.reference),
        heats=tuple(shaded(heat, SCORE_DIGITS) for heat in board.heats),
        steps=step_picture(facts, board),
    )


def _every(board: Board) -> list[Row]:
    return [*board.rows, *board.unranked]


def _union(names: Iterable[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(name for each in names for name in each))


def _metrics(sections: Sequence[Section]) -> list[Declaration]:
    columns: dict[str, Column] = {column.metric: column for each in sections for column in each.board.columns}
    return [column.declaration for column in columns.values() if column.declaration is not None]


def _named(facts: Facts, sections: Sequence[Section], what: str) -> list[Declaration]:
    known = facts.chunkers if what == "chunker" else facts.retrievers
    rows = [row for each in sections for row in _every(each.board)]
    names = {row.run.chunker if what == "chunker" else row.run.retriever for row in rows}
    return [declaration for name, declaration in known.items() if name in names]


def _path(benchmark: str, suffix: str = "") -> str:
    return f"{slug(benchmark)}{suffix}.html"


def _entries(facts: Facts) -> list[Entry]:
    return [Entry(benchmark.declaration.shown_name, _path(name)) for name, benchmark in facts.benchmarks.items()]


PUBLISHER = Publisher(
    name="leaderboard",
    order=10,
    meaning="A page per benchmark: its answer, every system with interval, tie group and provenance; all numbers.",
    entries=_entries,
    pages=_pages,
)
