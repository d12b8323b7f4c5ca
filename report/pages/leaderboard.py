"""Leaderboard: a page per benchmark: its answer, every system with interval, tie group and provenance; all numbers."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from lake.averages import AVERAGES, FEWEST_REPOS
from report.format import board_page
from report.leaderboard.board import Board
from report.leaderboard.board_files import board_files, board_path
from report.leaderboard.costs import BoardCosts, by_characters
from report.leaderboard.main_table import AverageTable, Controls, Heat, MainTable, choices_of, heats_of
from report.leaderboard.pictures import ChunkSizes, PoolSizes, Steps, WaysToCount
from report.leaderboard.verdicts import Beats, board_sentence, reference_row
from report.methods.interval_coverage import coverage_note
from report.models import IMPORTED, BenchmarkRow, DeclarationRow
from report.publisher import Page, Publisher, SiteMaterial
from report.tables_read import TablesRead


class Section:
    """One protocol's part of a benchmark's pages; `tables` begin with that of the protocol's own way of averaging."""

    def __init__(self, board: Board) -> None:
        self.board, self.reference = board, reference_row(board)
        self.main, self.coverage = MainTable(board, self.reference), _coverage(board)
        self.sizes, self.choices, self.steps = ChunkSizes(board), choices_of(board), Steps(board)
        self.curve = by_characters(board, *board.primary.measure[:2])
        averages = sorted(AVERAGES, key=lambda average: average != board.average)
        self.tables = [AverageTable(board, average, self.reference) for average in averages]
        self.path = board_path(board)
        rule, task = board.protocol, board.task
        order = board.facts.pool_orders.get((board.benchmark.name, board.slice[1]), "")
        rules = {
            "Gold": rule.gold,
            # Contexts are compared with the gold as sets: nothing of them is relevant or not.
            "Relevant": "" if rule.has_contexts else rule.relevance,
            "Query": task.query if task else "",
            "Pool": task.pool if task else "",
            "Ties": order if task and task.tie == "pool" else "",
        }
        self.rules = [(key, value) for key, value in rules.items() if value]

    @property
    def verdict(self) -> str:
        """What is concluded of its first system."""
        return board_sentence(self.board) if self.board.every else ""

    @cached_property
    def controls(self) -> Controls:
        """The switches of the table."""
        return Controls(self.board)

    @cached_property
    def heats(self) -> list[Heat]:
        """The primary metric over the values of each slice."""
        return heats_of(self.board)


def _pages(material: SiteMaterial) -> Iterator[Page]:
    # All that is drawn is asked for before the first page waits for its pictures.
    by_name = material.boards.items()
    sections = {name: [Section(board) for board in boards] for name, boards in by_name}
    pool_sizes = {name: PoolSizes(boards) for name, boards in by_name}
    costs = {name: BoardCosts(boards[0]) for name, boards in by_name if any(board.every for board in boards)}
    for name, benchmark in material.facts.benchmarks.items():
        boards = material.boards[name]
        values = {
            "benchmark": benchmark,
            "sections": sections[name],
            "has_runs": name in costs,
            "beats": Beats(boards[0]) if boards else None,
            "pool_sizes": pool_sizes[name],
            "readings": WaysToCount(boards),
            "costs": costs.get(name),
            **_words(material.facts, benchmark, boards),
        }
        files: dict[str, bytes] = {}
        for section in sections[name]:
            files |= board_files(section.board, section.reference) if section.board.every else {}
        description = f"{benchmark.title}: {sections[name][0].verdict}" if boards and boards[0].every else ""
        yield Page(board_page(name), benchmark.title, "leaderboard.html", values, description, files)
        if name in costs:
            path, title = board_page(name, "-all"), f"{benchmark.title}: every number"
            yield Page(path, title, "leaderboard-all.html", values)


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


def _words(facts: TablesRead, benchmark: BenchmarkRow, boards: Sequence[Board]) -> dict[str, object]:
    """What is description below the boards: which names mean what, and what to keep in mind."""
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
        "depends_on_cutting": [name for name, column in columns.items() if column.granularity == "chunk"],
        "neutral": [name for name, column in columns.items() if column.granularity == "line"],
    }


def _named(declared: Mapping[str, DeclarationRow], names: set[str | None]) -> list[DeclarationRow]:
    return [declaration for name, declaration in declared.items() if name in names]


def _entries(facts: TablesRead) -> list[tuple[str, str]]:
    # The lake's own data beside an edition of the same benchmark says which it is.
    editions = {benchmark.shown_name for benchmark in facts.benchmarks.values() if benchmark.is_edition}

    def title(benchmark: BenchmarkRow) -> str:
        if benchmark.is_edition or benchmark.shown_name not in editions:
            return benchmark.shown_name
        return benchmark.title if benchmark.label else f"{benchmark.shown_name} (this lake)"

    return [(title(benchmark), board_page(name)) for name, benchmark in facts.benchmarks.items()]


LEADERBOARD_PAGES = Publisher("leaderboard", 10, __doc__, _pages, _entries)
