"""Leaderboard: a page per benchmark: its answer, every system with interval, tie group and provenance; all numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lake.averages import AVERAGES
from lake.catalog.protocol import MAX_VALUES
from lake.verdict import FEWEST_REPOS, ITEM_INTERVALS, ITEM_NOTE, NO_INTERVAL
from report.addresses import pairs_path, run_key
from report.format import SCORE_DIGITS, slug
from report.leaderboard.board import Board
from report.leaderboard.board_files import board_files, board_path
from report.leaderboard.costs import BoardCosts, by_characters
from report.leaderboard.grids import choices_of, heats_of
from report.leaderboard.main_table import Controls, MainTable, plain_tables, unbeaten
from report.leaderboard.pictures import ChunkSizes, Steps
from report.leaderboard.pool_sizes import PoolSizes
from report.leaderboard.readings import WaysToCount
from report.leaderboard.verdicts import Beats, board_sentence, board_verdict, names_of
from report.methods.interval_coverage import coverage_note
from report.models import IMPORTED, BenchmarkRow, DeclarationRow
from report.publisher import NavigationEntry, Page, Publisher, SiteMaterial
from report.tables_read import TablesRead


class Section:
    """One protocol's part of the page, with the data that it loads on demand."""

    def __init__(self, board: Board) -> None:
        verdict = board_verdict(board)
        self.board = board
        self.verdict = board_sentence(board) if board.every else ""
        self.reference = next((row for row in board.every if row.run.run_id == verdict.reference), None)
        self.rules = _rules(board)
        self.main = MainTable(board, self.reference)
        self.names = names_of(board)
        self.unbeaten = unbeaten(board, board.average)
        self.controls = Controls(board)
        self.sizes, self.choices = ChunkSizes(board), choices_of(board)
        self.curve = by_characters(board, *board.primary.measure[:2])
        self.heats = heats_of(board)
        self.coverage = _coverage(board)
        self.path = board_path(board)
        self.files = board_files(board, self.reference) if board.every else {}


def _pages(material: SiteMaterial) -> Iterator[Page]:
    facts = material.facts
    for name, benchmark in facts.benchmarks.items():
        sections = [Section(board) for board in material.boards[name]]
        has_runs = any(section.board.every for section in sections)
        pool_sizes = PoolSizes(material.boards[name])
        values = {
            "benchmark": benchmark,
            "item_intervals": ITEM_INTERVALS,
            "item_note": ITEM_NOTE,
            "no_interval": NO_INTERVAL,
            "plain": _path(name, "-all"),
            "main_page": _path(name),
            "averages": {name: average.title for name, average in AVERAGES.items()},
            "max_values": MAX_VALUES,
            "digits": SCORE_DIGITS,
            "sections": sections,
            "has_runs": has_runs,
            "beats": Beats(sections[0].board) if sections else None,
            "pool_sizes": pool_sizes,
            "readings": WaysToCount(material.boards[name]),
            "pairs_path": pairs_path(name),
            "run_key": run_key,
            **_words(facts, benchmark, [section.board for section in sections]),
        }
        figures = [part.figure for of in sections for part in (of.sizes, of.curve) if part]
        figures += [pool_sizes.figure]
        files = {path: content for of in sections for path, content in of.files.items()}
        description = f"{benchmark.title}: {sections[0].verdict}" if sections and sections[0].verdict else ""
        yield Page(
            _path(name),
            benchmark.title,
            "leaderboard.html",
            values,
            description=description,
            files=files,
            figures=list(filter(None, figures)),
        )
        if has_runs:
            yield _plain_page(benchmark, sections, values)


def _plain_page(benchmark: BenchmarkRow, sections: Sequence[Section], values: dict[str, object]) -> Page:
    plains = [
        (
            section,
            plain_tables(section.board, section.reference),
            Steps(section.board),
        )
        for section in sections
    ]
    costs = BoardCosts(sections[0].board)
    figures = [
        *(table.chart for _, tables, _ in plains for table in tables),
        *(steps.figure for _, _, steps in plains),
        *(frontier.figure for frontier in (costs.by_time, *costs.by_usage) if frontier),
        costs.repair.figure if costs.repair else None,
    ]
    path, title = _path(benchmark.name, "-all"), f"{benchmark.title}: every number"
    return Page(
        path,
        title,
        "leaderboard-all.html",
        {**values, "plains": plains, "costs": costs},
        figures=list(filter(None, figures)),
    )


def _coverage(board: Board) -> str:
    """How often intervals like those of a board cover the truth; nothing where it has none."""
    numbers = [row.number for row in board.systems or board.rows if row.number is not None]
    n_repos = max((row.head.n_repos for row in board.rows if row.head), default=0)
    if not numbers or not board.has("low"):
        return ""
    if board.benchmark.is_own:
        # Own data's intervals are over items, as those of few repositories are.
        n_repos = min(n_repos, FEWEST_REPOS - 1)
    # Where a ratio of sums is the mean by construction, hits are counted.
    return coverage_note(numbers, n_repos, is_hit_or_miss=board.primary.rule.micro == "same")


def _rules(board: Board) -> list[tuple[str, str]]:
    rule, task = board.protocol, board.task
    order = board.facts.pool_orders.get((board.benchmark.name, board.slice[1]), "")
    rules = {
        "Gold": rule.gold,
        # Contexts are held against the gold as sets: nothing of them is relevant or not.
        "Relevant": "" if rule.has_contexts else rule.relevance,
        "Query": task.query if task else "",
        "Pool": task.pool if task else "",
        "Ties": order if task and task.tie == "pool" else "",
    }
    return [(key, value) for key, value in rules.items() if value]


def _words(facts: TablesRead, benchmark: BenchmarkRow, boards: Sequence[Board]) -> dict[str, object]:
    """What is said below the boards: which names mean what, and what to keep in mind."""
    runs = [row.run for board in boards for row in board.every]
    columns = {column.metric: column for board in boards for column in board.columns}
    retrievers = _named(facts.retrievers, {run.retriever for run in runs})
    return {
        "has_agents": any(run.has_steps for run in runs),
        "imported": [run for run in facts.runs_of(benchmark.name) if run.origin == IMPORTED],
        "metrics": [column.rule for column in columns.values()],
        "chunkers": _named(facts.chunkers, {run.chunker for run in runs}),
        "baselines": [each for each in retrievers if "baseline" in each.tags],
        "retrievers": [each for each in retrievers if "baseline" not in each.tags],
        "fallbacks": facts.fallbacks,
        "left_out": facts.left_out,
        "budgets": {name for name, rule in facts.metrics.items() if rule.cut == "budget"},
        # Metrics of chunks depend on how a chunker cuts; those of lines do not, whatever they were cut into.
        "depends_on_cutting": _counting("chunk", boards),
        "neutral": _counting("line", boards),
    }


def _counting(granularity: str, boards: Sequence[Board]) -> list[str]:
    columns = [column for board in boards for column in board.columns]
    return list(dict.fromkeys(column.metric for column in columns if column.granularity == granularity))


def _named(declared: Mapping[str, DeclarationRow], names: set[str | None]) -> list[DeclarationRow]:
    return [declaration for name, declaration in declared.items() if name in names]


def _path(benchmark: str, suffix: str = "") -> str:
    return f"{slug(benchmark)}{suffix}.html"


def _entries(facts: TablesRead) -> list[NavigationEntry]:
    # The lake's own data beside an edition of the same benchmark says which it is.
    editions = {benchmark.shown_name for benchmark in facts.benchmarks.values() if benchmark.is_edition}

    def title(benchmark: BenchmarkRow) -> str:
        if benchmark.is_edition or benchmark.shown_name not in editions:
            return benchmark.shown_name
        return benchmark.title if benchmark.label else f"{benchmark.shown_name} (this lake)"

    return [NavigationEntry(title(benchmark), _path(name)) for name, benchmark in facts.benchmarks.items()]


LEADERBOARD_PAGES = Publisher("leaderboard", 10, __doc__, _pages, _entries)
