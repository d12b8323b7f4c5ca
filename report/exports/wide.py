"""Leaderboards as Markdown and LaTeX tables."""

import re
from collections.abc import Callable, Sequence
from unicodedata import normalize

from markupsafe import Markup

from lake.averages import ITEM_INTERVALS
from lake.text import group_name
from report.format import DASH, SCORE_DIGITS, between, count, fixed, score, share, visible
from report.leaderboard.board import Board, BoardRow, Column, Interval
from report.leaderboard.main_table import MainTable
from report.leaderboard.verdicts import reference_row
from report.render import render

_Listed = tuple[str, Sequence[str], Column | None]
"""A column of a table: its head, a text per row, and its metric, None for other columns."""


def tables(
    template: str, shown: Callable[[str], str], bold: str, boards: Sequence[Board], metrics: Sequence[str]
) -> bytes:
    """A table per board with the columns of its page, or all of the board's if `metrics` were chosen.

    Texts are `shown` in a format; a metric's best score and the first tie group are `bold`, baselines never.
    """
    filled = []
    for board in boards:
        columns = _columns(board, is_chosen=bool(metrics))
        cells = [
            [bold.format(shown(text)) if line in best else shown(text) for line, text in enumerate(texts)]
            for _, texts, metric in columns
            for best in [_best(board, metric) if metric else ()]
        ]
        kinds = "".join("l" if head == _SYSTEM else "r" for head, *_ in columns)
        heads, rows = [shown(head) for head, *_ in columns], list(zip(*cells, strict=True))
        filled.append({"caption": Markup(shown(_caption(board))), "heads": heads, "kinds": kinds, "rows": rows})
    return render(template, {"tables": filled}).encode()


def _best(board: Board, column: Column) -> list[int]:
    """The positions of the rows with the best score in a column, or in the first tie group by the primary metric."""
    best = board.best(column, board.average)
    first = min((row.head.tie_group for row in board.systems if row.head and row.head.tie_group), default=None)
    return [
        line
        for line, row in enumerate(board.systems)
        if (best and score(row.value(column)) == best)
        or (column.measure == row.primary.measure and first is not None and row.head and row.head.tie_group == first)
    ]


def _caption(board: Board) -> str:
    n = f"n = N = {board.n_items:,} where no cell or line says otherwise"
    caption = f"{board.benchmark.title}, {board.protocol.name}, {board.slice[1]}, {board.averaging}; {n}"
    caption = f"{caption}; {ITEM_INTERVALS}" if board.is_of_items and board.has("low") else caption
    means = dict.fromkeys(each.metric for each in board.columns if each.average != board.average)
    return f"{caption}; means over items: {', '.join(means)}" if means else caption


_SYSTEM = "System"


def _columns(board: Board, *, is_chosen: bool) -> list[_Listed]:
    """Rank (only if the first column is the primary metric), system, then the page's columns or the chosen metrics."""
    rows = board.in_parts
    is_ranked = board.has("rank", board.systems) and all(board.primary.measure == row.primary.measure for row in rows)
    listed: list[_Listed] = [("Rank", [_rank(row) for row in rows], None)] if is_ranked else []
    remarks = [", ".join(filter(None, ["baseline" if row.run.baseline else "", row.state])) for row in rows]
    names = [f"{row.run.system} ({why})" if why else row.run.system for row, why in zip(rows, remarks, strict=True)]
    listed.append((_SYSTEM, names, None))
    if is_chosen:
        return listed + [(each.name, [_number(board, row, each) for row in rows], each) for each in board.columns]
    reference, primary, heads = reference_row(board), board.primary, [row.head for row in rows]
    main = MainTable(board, reference)
    listed.append((primary.title, [_with(row.number, row.interval, main.digits) for row in rows], primary))
    if reference:
        cells = [
            _with(head.delta, (head.delta_low, head.delta_high), main.digits, sign=True) if head else DASH
            for head in heads
        ]
        cells[rows.index(reference)] = "reference"
        listed.append(("Difference", cells, None))
    if main.has_oracle:
        listed.append(("% of oracle", [share(head.share_of_oracle if head else None) for head in heads], None))
    listed.append(("n/N", [f"{head.n:,}/{board.n_items:,}" if head else DASH for head in heads], None))
    if main.has_read:
        listed.append(("Characters", [count(head.read if head else None) for head in heads], None))
    return listed


def _rank(row: BoardRow) -> str:
    """The rank, the ranks it may have given the verdicts, and the tie group: `1 (1–2, tie A)`."""
    head = row.head
    if head is None or head.rank is None or row.run.baseline:
        return DASH
    tie = f", tie {group_name(head.tie_group).upper()}" if head.tie_group else ""
    return f"{head.rank} ({head.rank_low}–{head.rank_high}{tie})"


def _with(value: float | None, ends: Interval, digits: int, *, sign: bool = False) -> str:
    """A number with its interval: `0.52 (0.42 to 0.63)`."""
    interval = between(*ends, lambda end: fixed(end, digits))
    return fixed(value, digits, sign=sign) + (f" ({interval})" if value is not None and interval else "")


def _number(board: Board, row: BoardRow, column: Column) -> str:
    cell = row.cell(column)
    if cell is None or cell.value is None:
        return DASH
    shown = _with(cell.value, cell.interval, SCORE_DIGITS)
    return shown if cell.n == board.n_items else f"{shown} (n={cell.n:,})"


def markdown_text(text: str) -> str:
    """A text escaped for Markdown, on one line."""
    return re.sub(r"([\\`*_|<>\[\]~&$])", r"\\\1", " ".join(visible(text).split()))


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "–": "--",
    "−": "$-$",
    # After \\ and \midrule LaTeX would take a bracket or a star as an argument.
    **{mark: f"{{{mark}}}" for mark in "[]*"},
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
}


def latex_text(text: str) -> str:
    """A text escaped for LaTeX, on one line, without ligatures; beyond accented letters, code points are shown."""
    plain, shown = re.sub("([-'])(?=\\1)", "\\1\0", " ".join(visible(text).split())), []
    for mark in plain:
        is_accented = mark < "\u0100" and len(parts := normalize("NFD", mark)) > 1 and parts[0].isascii()
        is_known = mark.isascii() or is_accented
        shown.append(_LATEX.get(mark) or (mark if is_known else f"\\textbackslash{{}}u\\{{{ord(mark):04X}\\}}"))
    return "".join(shown).replace("\0", "{}")
