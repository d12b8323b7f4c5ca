"""How to read the downloads, in three libraries: each text, in `site/templates/snippets`, is run by the tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from report.format import visible
from report.leaderboard.board import Board
from report.render import render


def recipes(board: Board, aggregates: Sequence[str], scores: Sequence[str]) -> list[dict[str, object]]:
    """Recipes for one board, given the files of two tables: scores by item and system, flips, the order.

    Each has a name, a title, its meaning, and the code by library.
    """
    granularity, metric, k = board.primary.measure
    # A system may have a run for each of several tasks.
    who = "run_id" if board.protocol.task else "system"
    names = [getattr(row.run, who) for row in sorted(board.rows, key=lambda row: row.run.baseline)]
    values = {
        "measured": [("protocol", board.protocol.name), ("granularity", granularity), ("metric", metric), ("k", k)],
        "sliced": list(zip(("slice", "slice_value"), board.slice, strict=True)),
        "scores": scores,
        "aggregates": aggregates,
        "who": who,
        "first": names[0],
        "other": names[-1 if len(names) < 2 else 1],
        "average": board.average,
        "is_falling": not board.primary.lower_is_better,
    }
    a_row = f"{board.primary.title} of {board.benchmark.title}: a row per item, a column per system."
    differ = "The items on which two systems differ, the largest difference first: name any two."
    texts = {
        "per-item": ("Scores by item and system", a_row),
        "flips": ("Flips between two systems", differ),
        "order": ("The leaderboard again", "The order of the board by its primary metric."),
    }
    rows: list[dict[str, object]] = []
    for name, (title, meaning) in texts.items():
        snippets = {library: _written(f"{name}.{library}", values) for library in ("pandas", "polars", "DuckDB")}
        if name != "flips" or len(names) > 1:
            rows.append({"name": name, "title": title, "meaning": meaning, "snippets": snippets})
    return rows


def of_system(tables: Mapping[str, Sequence[str]], system: str) -> str:
    """One system's own rows of some tables, given with their files, with polars."""
    return _written("system.polars", {"tables": tables, "system": system})


def _written(name: str, values: Mapping[str, object]) -> str:
    code = render(f"snippets/{name}.txt", {**values, "literal": _literal, "sql": _sql, "files": _files})
    return f"{code.rstrip()}\n"


def _literal(value: str | int) -> str:
    return visible(repr(value))


def _sql(value: str | int) -> str:
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def _files(paths: Sequence[str]) -> str:
    return repr(paths[0] if len(paths) == 1 else list(paths))
