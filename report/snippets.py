"""How to read the downloads, in three libraries: each text is run by the tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from report.leaderboard.board import Board
from report.shown import visible


@dataclass(frozen=True)
class Snippet:
    """A piece of code to copy."""

    library: str
    code: str


@dataclass(frozen=True)
class Recipe:
    """Something to get out of the downloads.

    Attributes:
        name: Its anchor.
        title: What one gets.
        meaning: The same in a sentence.
        snippets: The code for each library.
    """

    name: str
    title: str
    meaning: str
    snippets: Sequence[Snippet]


def recipes(board: Board, aggregates: Sequence[str], scores: Sequence[str]) -> list[Recipe]:
    """What a reader comes for, of one board: scores by item and system, flips between two systems, the order.

    Args:
        board: Which leaderboard.
        aggregates: The files of that table, relative to the site.
        scores: Those of the other.
    """
    granularity, metric, k = board.primary.measure
    measured: Wanted = [("protocol", board.protocol.name), ("granularity", granularity), ("metric", metric), ("k", k)]
    sliced: Wanted = [("slice", board.slice[0]), ("slice_value", board.slice[1])]
    # A system may have a run for each of several tasks.
    who = "run_id" if board.protocol.task else "system"
    rows = sorted(board.rows, key=lambda row: row.run.baseline)
    names = [row.run.run_id if board.protocol.task else row.run.system for row in rows]
    first, other = (names * 2)[:2]
    down = board.primary.better != "lower"
    title = board.primary.title
    found = [
        Recipe(
            "per-item",
            "Scores by item and system",
            f"{title} of {board.benchmark.title}: a row per item, a column per system.",
            _pivoted(scores, measured, who),
        ),
        Recipe(
            "flips",
            "Flips between two systems",
            "The items on which two systems differ, the largest difference first: name any two.",
            _flips(scores, measured, who, first, other),
        ),
        Recipe(
            "order",
            "The leaderboard again",
            "The order of the board by its primary metric.",
            _order(aggregates, [*measured, *sliced], board.average, down=down),
        ),
    ]
    return found if len(names) > 1 else [found[0], found[2]]


Wanted = list[tuple[str, str | int]]


def _pivoted(paths: Sequence[str], wanted: Wanted, who: str) -> list[Snippet]:
    polars = f'table = scores.pivot(on="{who}", index="item_id", values="value").sort("item_id")\nprint(table)\n'
    pandas = f'table = scores.pivot(index="item_id", columns="{who}", values="value")\nprint(table)\n'
    duckdb = (
        f"PIVOT ({_selected(paths, wanted, who)})\nON {who} USING first(value) GROUP BY item_id ORDER BY item_id;\n"
    )
    return [
        Snippet("pandas", _pandas(paths, "scores", wanted) + pandas),
        Snippet("polars", _polars(paths, "scores", wanted) + polars),
        Snippet("DuckDB", duckdb),
    ]


def _flips(paths: Sequence[str], wanted: Wanted, who: str, first: str, other: str) -> list[Snippet]:
    names = f"first, other = {_literal(first)}, {_literal(other)}\n"
    pandas = (
        f'both = scores[scores["{who}"].isin([first, other])]\n'
        f'table = both.pivot(index="item_id", columns="{who}", values="value")\n'
        'table["difference"] = table[other] - table[first]\n'
        'flips = table[table["difference"] != 0].sort_values("difference", key=abs, ascending=False)\nprint(flips)\n'
    )
    polars = (
        f'both = scores.filter(pl.col("{who}").is_in([first, other]))\n'
        f'table = both.pivot(on="{who}", index="item_id", values="value")\n'
        "table = table.with_columns(difference=pl.col(other) - pl.col(first))\n"
        'flips = table.filter(pl.col("difference") != 0).sort(pl.col("difference").abs(), descending=True)\n'
        "print(flips)\n"
    )
    duckdb = (
        f"WITH scored AS ({_selected(paths, wanted, who)})\n"
        "SELECT item_id, a.value AS first, b.value AS other, b.value - a.value AS difference\n"
        f"FROM (FROM scored WHERE {who} = {_sql(first)}) a\n"
        f"JOIN (FROM scored WHERE {who} = {_sql(other)}) b USING (item_id)\n"
        "WHERE a.value <> b.value\nORDER BY abs(difference) DESC;\n"
    )
    return [
        Snippet("pandas", _pandas(paths, "scores", wanted) + names + pandas),
        Snippet("polars", _polars(paths, "scores", wanted) + names + polars),
        Snippet("DuckDB", duckdb),
    ]


def _order(paths: Sequence[str], wanted: Wanted, value: str, *, down: bool) -> list[Snippet]:
    columns = ["system", value, "n"]
    pandas = f"board = aggregates.sort_values({value!r}, ascending={not down})\nprint(board[{columns!r}])\n"
    polars = (
        f"board = aggregates.sort({value!r}, descending={down}, nulls_last=True)\n"
        f"print(board.select({', '.join(map(repr, columns))}))\n"
    )
    duckdb = (
        f"SELECT {', '.join(columns)}\nFROM {_from(paths)}\nWHERE {_conditions(wanted)}\n"
        f"ORDER BY {value} {'DESC' if down else 'ASC'} NULLS LAST;\n"
    )
    return [
        Snippet("pandas", _pandas(paths, "aggregates", wanted) + pandas),
        Snippet("polars", _polars(paths, "aggregates", wanted) + polars),
        Snippet("DuckDB", duckdb),
    ]


def _pandas(paths: Sequence[str], name: str, wanted: Wanted) -> str:
    conditions = ",\n    ".join(f"({column!r}, '==', {_literal(text)})" for column, text in wanted)
    read = f"{name} = pd.read_parquet({_files(paths)}, filters=wanted)\n"
    return f"import pandas as pd\n\nwanted = [\n    {conditions},\n]\n{read}"


def _polars(paths: Sequence[str], name: str, wanted: Wanted) -> str:
    conditions = ",\n    ".join(f"{column}={_literal(text)}" for column, text in wanted)
    return f"import polars as pl\n\n{name} = pl.read_parquet({_files(paths)}).filter(\n    {conditions},\n)\n"


def _selected(paths: Sequence[str], wanted: Wanted, who: str) -> str:
    return f"\n  SELECT item_id, {who}, value FROM {_from(paths)}\n  WHERE {_conditions(wanted)}\n"


def _conditions(wanted: Wanted) -> str:
    return "\n  AND ".join(f"{column} = {_sql(text)}" for column, text in wanted)


def _files(paths: Sequence[str]) -> str:
    return repr(paths[0] if len(paths) == 1 else list(paths))


def _from(paths: Sequence[str]) -> str:
    return _sql(paths[0]) if len(paths) == 1 else f"read_parquet([{', '.join(map(_sql, paths))}])"


def _literal(value: str | int) -> str:
    return visible(repr(value))


def _sql(value: str | int) -> str:
    if isinstance(value, int):
        return str(value)
    quoted = value.replace("'", "''")
    return f"'{quoted}'"


def of_system(files: Mapping[str, Sequence[str]], system: str) -> str:
    """One system's own rows of some downloads, with polars.

    Args:
        files: Table → its files, relative to the site.
        system: Its name.
    """
    rows = [f"{name} = pl.read_parquet({_files(paths)}).filter(system=system)\n" for name, paths in files.items()]
    return f"import polars as pl\n\nsystem = {_literal(system)}\n{''.join(rows)}"
