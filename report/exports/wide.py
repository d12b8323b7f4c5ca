"""Leaderboards as tables for a text: Markdown and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import normalize

from report.leaderboard.board import Board, Row
from report.leaderboard.columns import Column
from report.shown import MISSING, score, visible

MAX_COLUMNS = 8
"""So many fit a page."""


def markdown(boards: Sequence[Board]) -> bytes:
    """A Markdown table per board."""
    parts = []
    for board in boards:
        head, lines = _wide(board, board.columns)
        rows = [" | ".join(map(_markdown_text, row)) for row in (head, *lines)]
        rows.insert(1, " | ".join(["---", *["---:"] * (len(head) - 1)]))
        text = "\n".join(f"| {row} |" for row in rows)
        parts.append(f"**{_markdown_text(_caption(board))}**\n\n{text}\n")
    return "\n".join(parts).encode()


def latex(boards: Sequence[Board], max_columns: int | None = MAX_COLUMNS) -> bytes:
    """A LaTeX document of a table per board: it compiles alone, and each table can be copied from it.

    Bold is the best of a column and, in the first, whatever its rank says cannot be told from it; baselines and means
    over fewer items are never bold.
    """
    return "\n".join([_HEAD, *(_latex_table(board, max_columns) for board in boards), "\\end{document}\n"]).encode()


_HEAD = r"""\documentclass{article}
\usepackage[margin=1cm]{geometry}
\usepackage{booktabs}
\begin{document}
"""


def _latex_table(board: Board, max_columns: int | None) -> str:
    head, lines = _wide(board, board.columns[: None if max_columns is None else max_columns - 1])
    bold = _bold(board, len(head) - 1)
    rows = [
        " & ".join(
            f"\\textbf{{{_latex_text(text)}}}" if (line, place) in bold else _latex_text(text)
            for place, text in enumerate(row)
        )
        for line, row in enumerate(lines)
    ]
    left_out = len(board.columns) + 1 - len(head)
    return _TABLE.format(
        left_out=f"% {left_out} more columns: choose with --metrics\n" if left_out else "",
        caption=_latex_text(_caption(board)),
        kinds="l" + "r" * (len(head) - 1),
        head=" & ".join(map(_latex_text, head)),
        body="\n".join(f"{row} \\\\" for row in rows),
    )


_TABLE = r"""{left_out}\begin{{table}}
\caption{{{caption}}}
\centering\scriptsize
\begin{{tabular}}{{{kinds}}}
\toprule
{head} \\
\midrule
{body}
\bottomrule
\end{{tabular}}
\end{{table}}
"""


def _bold(board: Board, n_columns: int) -> set[tuple[int, int]]:
    """Line and place of the cells in bold."""
    found = set()
    groups = [row.head.tie_group for row in board.rows if row.head is not None]
    first = min((group for group in groups if group is not None), default=None)
    for place, column in enumerate(board.columns[:n_columns], start=1):
        best = board.best(column, board.average)
        for line, row in enumerate(board.rows):
            shown = score(row.value(column, board.averaged(column, board.average)))
            is_tied = place == 1 and first is not None and row.head is not None and row.head.tie_group == first
            if not row.run.baseline and (is_tied or (best and shown == best)):
                found.add((line, place))
    return found


def _caption(board: Board) -> str:
    n = f"n = N = {board.n_items:,} where no cell or line says otherwise"
    said = f"{board.benchmark.title}, {board.protocol.name}, {board.slice[1]}, {board.averaging}; {n}"
    means = dict.fromkeys(each.metric for each in board.columns if board.averaged(each, board.average) != board.average)
    return f"{said}; means over items: {', '.join(means)}" if means else said


def _wide(board: Board, columns: Sequence[Column]) -> tuple[list[str], list[list[str]]]:
    head = ["system", *(column.name for column in columns)]
    names = [f"{row.run.system} ({row.state})" if row.state else row.run.system for row in board.every]
    cells = [[_cell(board, row, column) for column in columns] for row in board.every]
    return head, [[name, *of] for name, of in zip(names, cells, strict=True)]


def _cell(board: Board, row: Row, column: Column) -> str:
    """The number, and over how many items it is where those are not the board's."""
    shown, cell = score(row.value(column, board.averaged(column, board.average))), row.cells.get(column.measure)
    return shown if cell is None or shown == MISSING or cell.n == board.n_items else f"{shown} (n={cell.n:,})"


def _markdown_text(text: str) -> str:
    """A text that Markdown shows as it is, on one line."""
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
    # After \\ and \midrule a bracket or a star would be an argument.
    **{mark: f"{{{mark}}}" for mark in "[]*"},
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
}


def _latex_text(text: str) -> str:
    """A text that LaTeX sets as it is, on one line; two hyphens or quotes stay two."""
    plain = re.sub("([-'])(?=\\1)", "\\1\0", " ".join(visible(text).split()))
    return "".join(_LATEX.get(mark) or _latin(mark) for mark in plain).replace("\0", "{}")


def _latin(mark: str) -> str:
    """ASCII and letters with an accent, which every LaTeX sets, as they are; other characters by their numbers."""
    is_accented = mark < "\u0100" and len(parts := normalize("NFD", mark)) > 1 and parts[0].isascii()
    return mark if mark.isascii() or is_accented else f"\\textbackslash{{}}u\\{{{ord(mark):04X}\\}}"
