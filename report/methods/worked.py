"""One item of a board worked out: the very numerators and denominators behind its scores, and the lines as strips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose

import polars as pl

from lake.store import Lake
from report.entities import Run
from report.items.answers import spans_by_item
from report.items.roster import Roster
from report.leaderboard.board import Board
from report.leaderboard.columns import Measure
from report.shown import plural, score

MAX_FILES = 3
"""So many files are shown, those with gold."""

_MAX_RANGES = 4

Ranges = Sequence[tuple[int, int]]
"""Lines from 0, half-open, apart from one another and in order."""


@dataclass(frozen=True)
class Strip:
    """A file with gold.

    Attributes:
        path: Which.
        n_lines: How long it is.
        gold: Its gold lines.
        returned: Those that were returned.
    """

    path: str
    n_lines: int
    gold: Ranges
    returned: Ranges

    @property
    def lanes(self) -> list[tuple[str, str, str, Ranges]]:
        """What is drawn one below the other: what it is called, its class, in words, its ranges."""
        kinds = (("gold", "gold", self.gold), ("returned", "retriever", self.returned))
        return [(name, kind, _said(ranges), ranges) for name, kind, ranges in kinds]


@dataclass(frozen=True)
class Answer:
    """What a run returned for an item.

    Attributes:
        strips: The files with gold, the first of them.
        n_gold: Gold lines, in all files.
        n_returned: Returned lines, in all files.
        n_both: Gold lines that were returned.
        n_other_files: How many files without gold were returned from.
    """

    strips: Sequence[Strip]
    n_gold: int
    n_returned: int
    n_both: int
    n_other_files: int

    @property
    def divisions(self) -> set[str]:
        """Coverage, precision and F1 of these lines, as they are written out."""
        both = self.n_both
        sums = ((both, self.n_gold), (both, self.n_returned), (2 * both, self.n_gold + self.n_returned))
        return {f"{above:,} / {below:,}" for above, below in sums}


@dataclass(frozen=True)
class Sum:
    """One score as a division: what it is called, what is counted, the result."""

    metric: str
    division: str
    shown: str
    share: float | None
    """The result, where it is a share of 1 that a bar can show."""


@dataclass(frozen=True)
class Worked:
    """An item of the first system's."""

    benchmark: str
    system: str
    item_id: str
    sums: Sequence[Sum]
    """Its scores at the primary metric's granularity and cut-off."""
    every: Mapping[str, Sum]
    """Its scores by metric, each at the least cut-off there is; without a division where there is none."""
    total: str
    """The board's number as sum over items and number of items."""
    answer: Answer | None
    """What was returned beside what is gold, in lines; None where scores do not follow from these alone."""


def worked_item(lake: Lake, board: Board) -> Worked | None:
    """The first item, by name, on which the board's first system was neither wholly right nor wholly wrong.

    Where it never is, the first on which it was right; None where no score of the system is a division of counts.
    """
    row = next((one for one in board.rows if not one.run.baseline), None)
    if row is None or row.head is None:
        return None
    granularity, metric, k = board.primary.measure
    folders = {"benchmark": board.benchmark.name, "protocol": board.protocol.name, "run_id": row.run.run_id}
    scores = lake.scan("scores", **folders).filter(pl.col("value").is_not_nan())
    here = (pl.col("granularity") == granularity) & (pl.col("k") == k) & (pl.col("denominator") > 0)
    some = scores.filter(here, pl.col("metric") == metric, pl.col("value") > 0)
    found = some.sort(pl.col("value") >= 1, "item_id").select("item_id").head(1).collect()
    if found.is_empty():
        return None
    item_id = found.item()
    order = {one.metric: place for place, one in enumerate(board.protocol.parameters.metrics)}
    mine = scores.filter(pl.col("item_id") == item_id).sort("k", "metric", "granularity", descending=True)
    titles = {column.measure: column.title for column in board.columns}
    sums: dict[Measure, Sum] = {}
    for one in mine.collect().iter_rows(named=True):
        measure = (one["granularity"], one["metric"], one["k"])
        sums[measure] = _sum(titles.get(measure, one["metric"]), one["value"], one["numerator"], one["denominator"])
    primary = [measure for measure, of in sums.items() if (measure[0], measure[2]) == (granularity, k) and of.division]
    primary.sort(key=lambda measure: (measure[1] == metric, order.get(measure[1], 0)))
    total = f"{score(row.number)} over {row.head.n:,} items"
    every = {name: of for (_, name, _), of in sums.items()}
    answer = answer_of(lake, board, row.run, item_id)
    if answer is not None and sums[board.primary.measure].division not in answer.divisions:
        answer = None
    shown = [sums[one] for one in primary]
    return Worked(board.benchmark.name, row.run.system, item_id, shown, every, total, answer)


def _sum(title: str, value: float, above: float | None, below: float | None) -> Sum:
    # Some published numbers are no division of what their totals are made of.
    divides = below and isclose((above or 0.0) / below, value, abs_tol=1e-9)
    division = f"{_amount(above or 0.0)} / {_amount(below)}" if below and divides else ""
    return Sum(title, division, score(value), value if 0 <= value <= 1 else None)


def _amount(value: float) -> str:
    """A count as a whole number; what is none to four decimals."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.4f}"


class _OneAnswer(Lake):
    """A lake of which the answer of one run to one item alone is seen: the rest is not read."""

    def __init__(self, lake: Lake, run: Run, item_id: str) -> None:
        super().__init__(lake.root)
        self._run, self._item_id = run, item_id

    def scan(self, name: str, **folders: str) -> pl.LazyFrame:
        if name not in {"hits", "run_items"}:
            return super().scan(name, **folders)
        return super().scan(name, **folders, run_id=self._run.run_id).filter(pl.col("item_id") == self._item_id)


def answer_of(lake: Lake, board: Board, run: Run, item_id: str) -> Answer | None:
    """An answer in lines; None where the board's primary metric does not count them, or nobody answered."""
    if board.primary.granularity != "line":
        return None
    roster = Roster(board)
    items = roster.items(lake).filter(pl.col("item_id") == item_id)
    found = spans_by_item(_OneAnswer(lake, run, item_id), roster, items, roster.gold(lake, items)).row(0, named=True)
    answers = dict(zip(found["run"], found["answer"], strict=True))
    number = roster.runs.index(run)
    if number not in answers:
        return None
    lengths = found["lengths"]
    gold, returned = (_by_file(flat, len(lengths)) for flat in (found["gold"], answers[number]))
    both = [(_lines(one), _lines(other)) for one, other in zip(gold, returned, strict=True)]
    strips = [
        Strip(path, lengths[file], gold[file], returned[file])
        for file, path in enumerate(found["files"])
        if gold[file] and lengths[file] > 0
    ]
    return Answer(
        strips=strips[:MAX_FILES],
        n_gold=sum(len(one) for one, _ in both),
        n_returned=sum(len(other) for _, other in both),
        n_both=sum(len(one & other) for one, other in both),
        n_other_files=sum(bool(other) and not one for one, other in both),
    )


def _by_file(flat: Sequence[int], n_files: int) -> list[Ranges]:
    """Ranges of each file, from three numbers a range: file, start, end; those that touch as one."""
    found: list[list[tuple[int, int]]] = [[] for _ in range(n_files)]
    for file, start, end in sorted(zip(flat[::3], flat[1::3], flat[2::3], strict=True)):
        held = found[file]
        if held and start <= held[-1][1]:
            held[-1] = (held[-1][0], max(held[-1][1], end))
        elif start < end:
            held.append((start, end))
    return [*found]


def _lines(ranges: Ranges) -> set[int]:
    return {line for start, end in ranges for line in range(start, end)}


def _said(ranges: Ranges) -> str:
    """Lines as people count them."""
    if not ranges:
        return "no line"
    lines = ", ".join(f"{start + 1:,}–{end:,}" for start, end in ranges[:_MAX_RANGES])
    more = len(ranges) - _MAX_RANGES
    rest = f" and {plural(more, 'range')} more" if more > 0 else ""
    return f"lines {lines}{rest}"
