"""Tables at the command line: aligned on a terminal, tab-separated where something else reads them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lake.text import escaped

_WIDEST = 1_000


@dataclass(frozen=True)
class PrintedTable:
    """A table with sentences below it; the first `texts` columns are texts, the others numbers that end alike."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    texts: int = 1


def print_tables(tables: Iterable[PrintedTable]) -> None:
    """Print tables on stdout. What is no row of a tab-separated one begins with `# `."""
    is_terminal = sys.stdout.isatty()
    for number, table in enumerate(tables):
        if number:
            print()
        if is_terminal:
            _print_aligned(table)
            continue
        print(f"# {escaped(table.title)}")
        for row in [table.columns, *table.rows]:
            print(*(escaped(cell).replace("\t", " ") for cell in row), sep="\t")
        print(*(f"# {escaped(note)}\n" for note in table.notes), sep="", end="")


def _print_aligned(table: PrintedTable) -> None:
    # Imported when needed: most tables are read by something else than a terminal.
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    aligned = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for number, name in enumerate(table.columns):
        aligned.add_column(Text(escaped(name)), justify="left" if number < table.texts else "right", no_wrap=True)
    for row in table.rows:
        aligned.add_row(*(Text(escaped(cell)) for cell in row))
    # As wide as a table is: a name that does not fit goes on in the next line, and is never cut.
    terminal = Console(highlight=False, soft_wrap=True, width=_WIDEST)
    terminal.print(Text(escaped(table.title), "bold"))
    terminal.print(aligned)
    for note in table.notes:
        terminal.print(Text(escaped(note), "dim"))
