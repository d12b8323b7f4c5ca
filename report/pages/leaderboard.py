"""Leaderboard: a page per benchmark, a section per protocol, a table per way of averaging, a chart, slices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from lake.catalog.baselines import unbeaten_baselines
from lake.catalog.interval_coverage import coverage_note
from report.addresses import pairs_path
from report.beats import beats_of
from report.board import AVERAGES, Board, build_board
from report.choices import Choices, choices
from report.columns import Column
from report.cost_quality import CostQuality, cost_quality
from report.entities import IMPORTED, Declaration
from report.facts import Facts
from report.figures import Figure, files_of
from report.heats import Heat
from report.kinds import kind_of
from report.parameters import Average, TaskParameters
from report.pictures import Steps, score_picture, step_picture
from report.publisher import Entry, Material, Page, Publisher
from report.render import markup
from report.rows import Row
from report.shown import score, slug
from report.sizes import Sizes, sizes_of
from report.verdicts import board_verdict, sentence

HEAT_STEPS = 8


@dataclass(frozen=True)
class Line:
    """A row of the table as it is shown."""

    row: Row
    n_chunks: int | None
    cells: tuple[tuple[str, bool, int | None], ...]
    """What each column shows, whether it is the best of its column, and over how many items it is if not over n."""
    above: str
    """How far it is above the reference, by the primary metric."""
    bar: Markup
    """Its primary number and interval, drawn."""


@dataclass(frozen=True)
class Table:
    """The leaderboard averaged one way, in the order of the primary metric so averaged."""

    average: Average
    title: str
    meaning: str
    chart: Figure | None
    """The same numbers in the same order; none where the primary metric has none."""
    ranked: tuple[Line, ...]
    baselines: tuple[Line, ...]
    unranked: tuple[Line, ...]
    same: tuple[str, ...]
    """Metrics whose ratio of sums equals their mean over items by construction."""
    means: tuple[str, ...]
    """Metrics that the protocol averages over items here too."""
    undefined: tuple[str, ...]
    """Metrics that have no ratio of sums."""
    unbeaten: tuple[str, ...]
    """Why no system is above a baseline, where none is."""


@dataclass(frozen=True)
class Section:
    """One protocol's part of the page."""

    board: Board
    verdict: str
    reference: str
    """The system that all are held against; empty where it was not run."""
    rules: tuple[tuple[str, str], ...]
    tables: tuple[Table, ...]
    sizes: Sizes | None
    choices: Choices | None
    costs: CostQuality | None
    steps: Steps | None
    heats: tuple[tuple[Heat, tuple[tuple[Row, tuple[tuple[str, int], ...]], ...]], ...]

    @property
    def figures(self) -> list[Figure | None]:
        """What of it may be downloaded as a picture."""
        of_costs = [*self.costs.curves, self.costs.by_time] if self.costs else []
        return [
            *(table.chart for table in self.tables),
            self.sizes.figure if self.sizes else None,
            self.steps.figure if self.steps else None,
            *(frontier.figure for frontier in of_costs if frontier),
        ]


def _pages(material: Material) -> Iterator[Page]:
    facts = material.facts
    for name, benchmark in facts.benchmarks.items():
        sections = [_section(facts, build_board(facts, protocol)) for protocol in facts.boards(name)]
        values = {
            "benchmark": benchmark,
            "sections": sections,
            "beats": beats_of(facts, sections[0].board) if sections else None,
            "pairs_path": pairs_path(name),
            "has_runs": any(section.board.rows or section.board.unranked for section in sections),
            "has_agents": any(row.run.has_steps for section in sections for row in _every(section.board)),
            "imported": [run for run in facts.runs_of(name) if run.origin == IMPORTED],
            "averages": AVERAGES,
            "intervals": coverage_note(),
            "granularities": _union(section.board.granularities for section in sections),
            "quantities": _union(section.board.quantities for section in sections),
            "default_granularity": sections[0].board.primary.granularity if sections else "",
            "metrics": _metrics(sections),
            "chunkers": _named(facts, sections, "chunker"),
            "baselines": [each for each in _named(facts, sections, "retriever") if "baseline" in each.tags],
            "retrievers": [each for each in _named(facts, sections, "retriever") if "baseline" not in each.tags],
            "fallbacks": facts.fallbacks,
            "left_out": facts.left_out,
            "budgets": {name for name, rule in facts.metric_parameters.items() if rule.cut == "budget"},
            "depends_on_cutting": _union(section.board.depends_on_cutting for section in sections),
            "neutral": _union(section.board.neutral for section in sections),
        }
        files = files_of(figure for section in sections for figure in section.figures)
        yield Page(_path(name), benchmark.title, "leaderboard.html", values, files=files)


def _section(facts: Facts, board: Board) -> Section:
    rule = board.protocol.parameters
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
        reference=reference.run.system if reference else "",
        rules=tuple((key, value) for key, value in rules if value),
        tables=tuple(_table(facts, board, average, reference) for average in _averages(board)),
        sizes=sizes_of(facts, board),
        choices=choices(facts, board),
        costs=cost_quality(facts, board),
        steps=step_picture(facts, board),
        heats=tuple((heat, _heat(heat)) for heat in board.heats),
    )


def _every(board: Board) -> list[Row]:
    return [*board.rows, *board.unranked]


def _bar(row: Row, value: float | None, average: Average, top: float) -> Markup:
    """A number and its interval on a line from 0 to `top`; nothing where either is missing."""
    low, high = row.head.interval(average) if row.head else (None, None)
    if value is None or low is None or high is None:
        return markup("")
    start, end, at = (100 * min(max(one / top, 0.0), 1.0) for one in (low, high, value))
    return markup(
        f'<span class="ci {kind_of(row.run)}" aria-hidden="true"><i style="left:{start:.1f}%;'
        f'width:{end - start:.1f}%"></i><i class="at" style="left:{at:.1f}%"></i></span>'
    )


def _union(names: Iterable[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(name for each in names for name in each))


def _averages(board: Board) -> list[Average]:
    """The protocol's own way of averaging first."""
    return sorted(AVERAGES, key=lambda average: average != board.average)


def _table(facts: Facts, board: Board, average: Average, reference: Row | None) -> Table:
    against = reference.value(board.primary, average) if reference else None
    ends = [end for row in board.rows if row.head and (end := row.head.interval(average)[1]) is not None]
    numbers = [value for row in board.rows if (value := row.value(board.primary, average)) is not None]
    top = max([*ends, *numbers, 0.0]) or 1.0
    best = {column.name: board.best(column, average) for column in board.columns}

    def line(row: Row, *, ranked: bool) -> Line:
        cells = []
        for column in board.columns:
            value, cell = row.value(column, board.averaged(column, average)), row.cells.get(column.measure)
            shown = score(value)
            is_best = ranked and not row.run.baseline and shown == best[column.name] and cell is not None
            others = cell.n if cell and row.head and value is not None and cell.n != row.head.n else None
            cells.append((shown, is_best, others))
        count = facts.chunk_counts.get((row.run.task, row.run.chunker or ""))
        number = row.value(board.primary, average)
        above = score(None) if number is None or against is None else f"{number - against:+.3f}".replace("-", "−")
        return Line(row, count and count.n, tuple(cells), above, _bar(row, number, average, top))

    means = dict.fromkeys(each.metric for each in board.columns if board.averaged(each, average) != average)
    micro = {column.metric: column.micro for column in board.columns if column.metric not in means}
    metrics = micro if average == "micro" else {}
    title, meaning = AVERAGES[average]
    ordered = board.in_order(board.rows, average)
    named = [(row.run.retriever or "", row.run.baseline, row.value(board.primary, average)) for row in board.rows]
    task = board.protocol.task or next((row.run.task for row in board.rows), "")
    return Table(
        average=average,
        title=title,
        meaning=meaning,
        chart=score_picture(board, average),
        ranked=tuple(line(row, ranked=True) for row in ordered if not row.run.baseline),
        baselines=tuple(line(row, ranked=True) for row in ordered if row.run.baseline),
        unranked=tuple(line(row, ranked=False) for row in board.in_order(board.unranked, average)),
        same=tuple(name for name, rule in metrics.items() if rule == "same"),
        means=tuple(means),
        undefined=tuple(name for name, rule in metrics.items() if rule == "none"),
        unbeaten=tuple(unbeaten_baselines(task, named, lower_is_better=board.primary.better == "lower")),
    )


def _heat(heat: Heat) -> tuple[tuple[Row, tuple[tuple[str, int], ...]], ...]:
    """Each number as shown, with its shade: the darker the higher.

    The shades run from 0 to 1 everywhere, so two tables compare and one number changes no other's shade.
    """

    def shade(value: float | None) -> int:
        return 0 if value is None else round(min(max(value, 0.0), 1.0) * HEAT_STEPS)

    return tuple((row, tuple((score(value), shade(value)) for value in values)) for row, values in heat.rows)


def _metrics(sections: Sequence[Section]) -> list[Declaration]:
    columns: dict[str, Column] = {column.metric: column for each in sections for column in each.board.columns}
    return [column.declaration for column in columns.values() if column.declaration is not None]


def _named(facts: Facts, sections: Sequence[Section], what: str) -> list[Declaration]:
    known = facts.chunkers if what == "chunker" else facts.retrievers
    rows = [row for each in sections for row in _every(each.board)]
    names = {row.run.chunker if what == "chunker" else row.run.retriever for row in rows}
    return [declaration for name, declaration in known.items() if name in names]


def _path(benchmark: str) -> str:
    return f"{slug(benchmark)}.html"


def _entries(facts: Facts) -> list[Entry]:
    return [Entry(benchmark.declaration.shown_name, _path(name)) for name, benchmark in facts.benchmarks.items()]


PUBLISHER = Publisher(
    name="leaderboard",
    order=10,
    meaning="A page per benchmark: every system under every protocol, with chart, slices and provenance.",
    entries=_entries,
    pages=_pages,
)
