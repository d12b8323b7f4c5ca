"""Verdicts in words: on a board's first system (as `evaluate` prints it), on pairs, and on how a system searches."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from operator import itemgetter
from statistics import median
from typing import Any

import polars as pl

from lake.averages import ITEM
from lake.verdict import (
    BETTER,
    EQUIVALENT,
    INSEPARABLE,
    TOO_FEW,
    WORSE,
    Line,
    Pairs,
    Verdict,
    both_ways,
    by_pair,
    verdict_on,
)
from report.format import compare_address, fixed, share, two_digits, visible
from report.leaderboard.board import Board, BoardRow, Column
from report.models import MEASURE

DIGITS = 2
"""Decimals in a verdict: the next one would be far below the width of intervals."""


LEVELS = ("line", "file")
"""The granularities by which an agent is compared with a retriever, if a benchmark has both."""


@cache
def board_verdict(board: Board) -> Verdict:
    """The verdict on a board's first system compared with the reference declared for its benchmark."""
    compared = by_pair(board.facts.comparisons.lazy().filter(**board.where))
    return _verdict(board, [(row.run.run_id, row.number, row.comparable) for row in board.every], compared)


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


def best_agents(board: Board) -> list[tuple[str, BoardRow, Column]]:
    """(level, best agent, column) for each of LEVELS; empty unless the reference and an agent have scores in both."""
    shown, reference = list[tuple[str, BoardRow, Column]](), reference_row(board)
    for level in LEVELS:
        column = column_at(board, level)
        known = [row for row in board.rows if column and row.value(column, board.average) is not None]
        agents = [row for row in known if row.run.has_steps]
        if column is None or reference not in known or not agents:
            return []
        shown.append((level, min(agents, key=lambda row: row.cells[column.measure, board.average].place), column))
    return shown


def agents_sentence(board: Board) -> str:
    """The verdicts on the best agents by lines and by files, in words; empty if :func:`best_agents` is."""
    parts, reference = [], reference_row(board)
    comparisons = board.facts.lake.scan("comparisons", benchmark=board.benchmark.name).filter(**board.where)
    for level, agent, column in best_agents(board):
        rows = [agent, *([reference] if reference else [])]
        numbers = [(row.run.run_id, row.value(column, board.average), row.comparable) for row in rows]
        verdict = _verdict(board, numbers, by_pair(comparisons.filter(**column.where)))
        parts.append(f"By {level}s: {_continued(sentence(board, verdict, 'the best agent'))}")
    return " ".join(parts)


def _continued(text: str) -> str:
    """A sentence to put after a colon: starts in lower case, unless a system's name comes first."""
    return re.sub(r"^(None|Nothing|No|Too)\b", lambda word: word[0].lower(), text)


def column_at(board: Board, level: str) -> Column | None:
    """The column of the primary metric's counterpart at another level (granularity); None if there is none."""
    wanted = (level, board.primary.quantity, board.primary.k)
    return next((each for each in board.columns if (each.granularity, each.quantity, each.k) == wanted), None)


@cache
def sentences(board: Board) -> dict[str, dict[str, str]]:
    """Column → `slice=value` → the verdict in words, for every view with stored comparisons.

    These are all metrics over the slice the board opens on, and the primary metric over every slice.
    """
    reference, view = board_verdict(board).reference, [*MEASURE, "slice", "slice_value"]
    with_reference = (pl.col("run_a") == reference) | (pl.col("run_b") == reference)
    stored = board.facts.lake.scan("comparisons", benchmark=board.benchmark.name)
    stored = stored.filter(with_reference, protocol=board.protocol.name)
    columns_of_pair = ("verdict", "delta", "low", "high", "smallest_detectable", "exploratory", "unit")
    with_reference_first = both_ways(stored).filter(run_a=reference)
    compared = with_reference_first.select(*view, "run_a", "run_b", *columns_of_pair).collect()
    pairs: dict[tuple[Any, ...], dict[tuple[str, str], dict[str, Any]]] = {}
    view_of = itemgetter(*view)
    for row in compared.iter_rows(named=True):
        pairs.setdefault(view_of(row), {})[row["run_a"], row["run_b"]] = row
    lines: dict[tuple[Any, ...], list[tuple[str, float | None, bool]]] = {}
    numbers = board.numbers(is_shown=True).join(compared, on=view, how="semi").sort("place")
    for *key, run_id, value, state in numbers.select(*view, "run_id", "value", "state").iter_rows():
        lines.setdefault(tuple(key), []).append((run_id, value, not state))
    concluded: dict[str, dict[str, str]] = {}
    for column in board.columns:
        first = "ranked first" if column is board.primary else f"first by {column.title}"
        for of_view in pairs if column.rule.direction != "neither" else ():
            if of_view[:3] == column.measure:
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

MOST_SYSTEMS = 20
_MARKS = {BETTER: "better", WORSE: "worse", EQUIVALENT: "equivalent"}

PAIR_COLUMNS = (
    "a", "b", "delta", "low", "high", "p", "p_adjusted", "wins", "ties", "losses", "smallest_detectable", "verdict",
    "exploratory", "n_items", "n_repos", "unit",
)  # fmt: skip
"""The columns of a pair: the places of its systems on the board, then columns of table `comparisons`."""


def pairs_among(board: Board, run_ids: Sequence[str], values: Sequence[str] = ()) -> pl.DataFrame:
    """The comparisons of pairs of some runs by the primary metric, over `values` of the slice (default: the board's).

    Columns are PAIR_COLUMNS and slice_value, sorted by `b`, then `a`: places in `run_ids`, `b` before `a`. Differences
    are `b` minus `a`.
    """
    places = pl.LazyFrame({"run": run_ids, "place": range(len(run_ids))}, {"run": pl.String, "place": pl.Int64})
    return (
        board.compared(values)
        .join(places.rename({"run": "run_a", "place": "a"}), on="run_a")
        .join(places.rename({"run": "run_b", "place": "b"}), on="run_b")
        .filter(pl.col("b") < pl.col("a"))
        .select(*PAIR_COLUMNS, "slice_value")
        .sort("b", "a")
        .collect()
    )


class Beats:
    """The table of who beats whom: the first systems and the best of each baseline, with a cell per pair.

    `lines` is empty if no two of them were compared.
    """

    def __init__(self, board: Board) -> None:
        baselines = {row.run.retriever: row for row in reversed(board.rows) if row.run.baseline}.values()
        chosen = [*board.systems[:MOST_SYSTEMS], *baselines]
        rows = [row for row in board.rows if row in chosen]
        ids = [row.run.run_id for row in rows]
        pairs = pairs_among(board, ids)
        cells = {
            (b, a): {
                "shown": fixed(delta, 2, sign=True),
                "mark": _MARKS.get(verdict, ""),
                "address": compare_address(board.protocol.name, [ids[b], ids[a]]),
            }
            for b, a, delta, verdict in pairs.select("b", "a", "delta", "verdict").iter_rows()
        }
        self.n_systems, self.is_of_items = len(board.systems), ITEM in pairs["unit"]
        self.lines = [
            (row, [cells.get((number, other)) for other in range(1, len(rows))] if row is not rows[-1] else [])
            for number, row in enumerate(rows)
            if cells
        ]


BREADTH = 1.5
"""Broad: lines returned per gold line are at least this multiple of the median; narrow: at most its reciprocal."""

REDUNDANT = 0.1
"""Inefficient: the share of lines seen again is at least this much above the median."""

LATE = 0.75
"""Late: AUC-coverage is at most this share of the median."""


def profile(board: Board, row: BoardRow) -> str:
    """A sentence on how a system searches compared with the median; empty if the board has no metrics of that."""
    if row.head is None or len(board.systems) < 2:
        return ""
    parts = []
    (n_lines, again, auc), (usual_lines, usual_again, usual_auc) = _search(board, row), _median_search(board)
    if n_lines is not None and usual_lines:
        ratio = n_lines / usual_lines
        word = "Broad" if ratio >= BREADTH else "Narrow" if ratio <= 1 / BREADTH else "Balanced"
        numbers = (
            f"{two_digits(n_lines)} lines returned for each line of gold (median system: {two_digits(usual_lines)})"
        )
        parts.append(f"{word} search: {numbers}")
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
