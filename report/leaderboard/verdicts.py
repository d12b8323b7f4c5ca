"""Verdicts in words: on a board's first system (as `evaluate` prints it), on pairs, and on how a system searches."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from statistics import median
from typing import Any

import polars as pl

from lake.averages import ITEM, ITEM_NOTE
from lake.verdict import (
    BETTER,
    EQUIVALENT,
    EXPLORATORY,
    IN_WORDS,
    INSEPARABLE,
    TOO_FEW,
    WORSE,
    Line,
    Pairs,
    Verdict,
    both_ways,
    verdict_on,
)
from report.format import between, share, signed, two_digits, visible
from report.leaderboard.board import Board, BoardRow, Column
from report.tables_read import MEASURE

DIGITS = 2  # decimals in a verdict: the next one would be far below the width of intervals
LEVELS = ("line", "file")  # the granularities by which an agent is compared with a retriever, if a benchmark has both


@cache
def board_verdict(board: Board) -> Verdict:
    """The verdict on a board's first system compared with the reference declared for its benchmark."""
    return _verdict(board, [(row.run.run_id, row.number, row.comparable) for row in board.every], board.pairs)


def reference_row(board: Board) -> BoardRow | None:
    """The row of the reference; None if there is none."""
    run_id = board_verdict(board).reference
    return next((row for row in board.every if row.run.run_id == run_id), None)


def board_sentence(board: Board) -> str:
    """The verdict on a board's first system in words; if it is by lines, also that by files, if there is one."""
    first, primary = sentence(board, board_verdict(board)), board.primary
    by_files = column_at(board, "file") if primary.granularity == "line" else None
    second = sentences(board).get(by_files.name, {}).get(board.view, "") if by_files else ""
    return f"By lines: {_continued(first)} By files: {_continued(second)}" if second else first


def best_agents(board: Board) -> list[tuple[Column, BoardRow, BoardRow]]:
    """(column, reference, best agent) for each of LEVELS; empty unless both have scores in each column."""
    shown, reference = list[tuple[Column, BoardRow, BoardRow]](), reference_row(board)
    for level in LEVELS:
        column = column_at(board, level)
        known = [row for row in board.rows if column and row.value(column, board.average) is not None]
        agents = [row for row in known if row.run.has_steps]
        if column is None or reference is None or reference not in known or not agents:
            return []
        best = min(agents, key=lambda row: row.cells[column.measure, board.average].place)
        shown.append((column, reference, best))
    return shown


def agents_sentence(board: Board) -> str:
    """The verdicts on the best agents by lines and by files, in words; empty if :func:`best_agents` is."""
    parts = []
    for column, *rows in best_agents(board):
        numbers = [(row.run.run_id, row.value(column, board.average), row.comparable) for row in reversed(rows)]
        verdict = _verdict(board, numbers, _with_reference(board).get((*column.measure, *board.slice), {}))
        parts.append(f"By {column.granularity}s: {_continued(sentence(board, verdict, 'the best agent'))}")
    return " ".join(parts)


def _continued(text: str) -> str:
    """A sentence to put after a colon: starts in lower case, unless a system's name comes first."""
    return re.sub(r"^(None|Nothing|No|Too)\b", lambda word: word[0].lower(), text)


def column_at(board: Board, level: str) -> Column | None:
    """The column of the primary metric's counterpart at another level (granularity); None if there is none."""
    wanted = (level, board.primary.quantity, board.primary.k)
    return next((each for each in board.columns if (each.granularity, each.quantity, each.k) == wanted), None)


_VIEW = (*MEASURE, "slice", "slice_value")


@cache
def _with_reference(board: Board) -> dict[tuple[Any, ...], dict[tuple[str, str], dict[str, Any]]]:
    """The columns _VIEW → the stored comparisons of the reference with other runs, by pair."""
    reference = board_verdict(board).reference
    is_with_it = (pl.col("run_a") == reference) | (pl.col("run_b") == reference)
    stored = board.facts.lake.scan("comparisons", benchmark=board.benchmark.name)
    compared = both_ways(stored.filter(is_with_it, protocol=board.protocol.name)).filter(run_a=reference)
    columns = ("run_a", "run_b", "verdict", "delta", "low", "high", "smallest_detectable", "exploratory", "unit")
    by_view = compared.select(*_VIEW, *columns).collect().rows_by_key(_VIEW, named=True)
    return {view: {(row["run_a"], row["run_b"]): row for row in rows} for view, rows in by_view.items()}


@cache
def sentences(board: Board) -> dict[str, dict[str, str]]:
    """Column → `slice=value` → the verdict: all metrics in the opening slice, the primary metric in every slice."""
    pairs, is_whole = _with_reference(board), pl.col("state") == ""
    numbers = board.numbers.filter("is_shown").sort("place").select(*_VIEW, "run_id", "value", is_whole)
    lines, concluded = numbers.rows_by_key(_VIEW), dict[str, dict[str, str]]()
    for column in board.columns:
        first = "ranked first" if column is board.primary else f"first by {column.title}"
        for of_view in pairs if column.rule.direction != "neither" else ():
            if of_view[:3] == column.measure and of_view in lines:
                verdict = _verdict(board, lines[of_view], pairs[of_view])
                name = f"{of_view[3]}={visible(of_view[4])}"
                concluded.setdefault(column.name, {})[name] = sentence(board, verdict, first)
    return concluded


def _verdict(board: Board, numbers: Iterable[tuple[str, float | None, bool]], pairs: Pairs) -> Verdict:
    """The verdict on the first run of `numbers`: (run id, score, whether it is over all items), best first."""
    lines = [
        Line(run_id, run.system, number, run.baseline, is_whole)
        for run_id, number, is_whole in numbers
        for run in [board.runs[run_id]]
    ]
    return verdict_on(lines, board.benchmark.kind, pairs)


def sentence(board: Board, verdict: Verdict, first: str = "ranked first") -> str:
    """The verdict in words, with systems named by retriever, and by chunker too if two would have the same name."""
    runs = {run_id: board.runs[run_id] for run_id in (verdict.run_id, verdict.reference) if run_id}
    names = {run_id: run.short_name for run_id, run in runs.items()}
    if len(set(names.values())) < len(names):
        names = {run_id: run.full_name for run_id, run in runs.items()}
    return verdict.sentence(names.__getitem__, DIGITS, first).replace("(-", "(−").replace(" -", " −")


PAIR_SENTENCES: Mapping[str, str] = {
    BETTER: "{system} beats {reference} by {by}{interval}.",
    WORSE: "{system} scores {by} less than {reference}{interval}.",
    INSEPARABLE: "{system} is not significantly different from {reference}: {delta}; "
    "smallest detectable difference {least}.",
    EQUIVALENT: "{system} and {reference} are equivalent: {delta}.",
    TOO_FEW: "Too few items to compare {system} with {reference}: {delta}.",
}
"""Verdict on a system compared with another → sentence for pages."""


def in_words(pair: Mapping[str, Any]) -> str:
    """The difference of two systems with its interval and verdict, from a row of table `comparisons`."""
    interval = f" ({ends})" if (ends := between(pair["low"], pair["high"], signed)) else ""
    notes = [f"exploratory: {EXPLORATORY}"] * pair["exploratory"] + [ITEM_NOTE] * (pair["unit"] == ITEM)
    after = f" ({'; '.join(notes)})" if notes else ""
    return f"{signed(pair['delta'])}{interval}, {IN_WORDS.get(pair['verdict'], pair['verdict'])}{after}"


MOST_SYSTEMS = 20


def beats(board: Board) -> list[tuple[BoardRow, list[Mapping[str, Any] | None]]]:
    """Who beats whom: the first systems and baselines, each with its comparisons with those ranked below."""
    baselines = {row.run.retriever: row for row in reversed(board.rows) if row.run.baseline}.values()
    rows = [row for row in board.rows if row in board.systems[:MOST_SYSTEMS] or row in baselines]
    lines = [
        (row, [board.pairs.get((other.run.run_id, row.run.run_id)) for other in rows[number:]])
        for number, row in enumerate(rows, 1)
    ]
    return lines if any(pair for _, pairs in lines for pair in pairs) else []


BREADTH, REDUNDANT, LATE = 1.5, 0.1, 0.75
"""Compared with the median system: broad from this multiple of lines returned per gold line on (narrow: up to its
reciprocal), inefficient from this much more of the lines seen again, late up to this share of AUC-coverage."""


def profile(board: Board, row: BoardRow) -> str:
    """A sentence on how a system searches compared with the median; empty if the board has no metrics of that."""
    if row.head is None or len(board.systems) < 2:
        return ""
    parts = []
    (n_lines, again, auc), (usual_lines, usual_again, usual_auc) = _search(board, row), _median_search(board)
    if n_lines is not None and usual_lines:
        ratio = n_lines / usual_lines
        word = "Broad" if ratio >= BREADTH else "Narrow" if ratio <= 1 / BREADTH else "Balanced"
        lines, usual = two_digits(n_lines), two_digits(usual_lines)
        parts.append(f"{word} search: {lines} lines returned for each line of gold (median system: {usual})")
    if again is not None and usual_again is not None:
        is_more, is_less = again >= usual_again + REDUNDANT, again <= usual_again - REDUNDANT
        word = "inefficient" if is_more else "efficient" if is_less else "usual"
        parts.append(f"{word} reading: {share(again)} of the lines seen again (median: {share(usual_again)})")
    if auc is not None and usual_auc:
        late, early = auc <= LATE * usual_auc, auc >= usual_auc / LATE
        word = "late" if late else "early" if early else "neither early nor late"
        parts.append(f"{word}: AUC-coverage of lines {auc:.2f} (median: {usual_auc:.2f})")
    return f"{'; '.join(parts)}." if parts else ""


def _search(board: Board, row: BoardRow) -> list[float | None]:
    """Lines returned per gold line (coverage / precision, as ratios of sums if stored), redundancy, AUC-coverage."""
    k = board.primary.k
    measures = [("line_coverage", k), ("line_precision", k), ("line_redundancy", 0), ("line_auc", 0)]
    cells = [[row.cells.get((("line", *each), average)) for average in ("micro", "macro")] for each in measures]
    values = [next((cell.value for cell in of if cell and cell.value is not None), None) for of in cells]
    coverage, precision, *others = values
    return [coverage / precision if coverage and precision else None, *others]


@cache
def _median_search(board: Board) -> list[float | None]:
    """The medians of :func:`_search` over the board's systems; None where no system has a number."""
    columns = zip(*(_search(board, row) for row in board.systems), strict=True)
    known = [[number for number in column if number is not None] for column in columns]
    return [median(numbers) if numbers else None for numbers in known]
