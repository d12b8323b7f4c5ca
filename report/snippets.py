"""How to read the downloads: the leaderboard again, in three libraries; each text is run by the tests."""

from __future__ import annotations

from dataclasses import dataclass

from report.board import Board
from report.shown import visible


@dataclass(frozen=True)
class Snippet:
    """A piece of code to copy."""

    library: str
    code: str


def snippets(board: Board, path: str) -> list[Snippet]:
    """The board's order by its primary metric, from the downloaded aggregates.

    Args:
        board: Which leaderboard.
        path: The file, relative to the site.
    """
    granularity, metric, k = board.primary.measure
    wanted: list[tuple[str, str | int]] = [
        ("protocol", board.protocol.name),
        ("granularity", granularity),
        ("metric", metric),
        ("k", k),
        ("slice", board.slice[0]),
        ("slice_value", board.slice[1]),
    ]
    value, down = board.average, board.primary.better != "lower"
    columns = ["system", value, "n"]
    return [
        Snippet("polars", _polars(path, wanted, value, columns, down=down)),
        Snippet("pandas", _pandas(path, wanted, value, columns, down=down)),
        Snippet("DuckDB", _duckdb(path, wanted, value, columns, down=down)),
    ]


def _polars(path: str, wanted: list[tuple[str, str | int]], value: str, columns: list[str], *, down: bool) -> str:
    conditions = ",\n        ".join(f"{column}={_literal(text)}" for column, text in wanted)
    return (
        f"import polars as pl\n\n"
        f"aggregates = pl.read_parquet({path!r})\n"
        f"board = (\n"
        f"    aggregates.filter(\n        {conditions},\n    )\n"
        f"    .sort({value!r}, descending={down}, nulls_last=True)\n"
        f"    .select({', '.join(map(repr, columns))})\n"
        f")\n"
        f"print(board)\n"
    )


def _pandas(path: str, wanted: list[tuple[str, str | int]], value: str, columns: list[str], *, down: bool) -> str:
    conditions = ",\n    ".join(f"{column!r}: {_literal(text)}" for column, text in wanted)
    return (
        f"import pandas as pd\n\n"
        f"aggregates = pd.read_parquet({path!r})\n"
        f"wanted = {{\n    {conditions},\n}}\n"
        f"kept = (aggregates[list(wanted)] == pd.Series(wanted)).all(axis=1)\n"
        f"board = aggregates[kept].sort_values({value!r}, ascending={not down})\n"
        f"print(board[{columns!r}])\n"
    )


def _duckdb(path: str, wanted: list[tuple[str, str | int]], value: str, columns: list[str], *, down: bool) -> str:
    conditions = "\n  AND ".join(f"{column} = {_sql(text)}" for column, text in wanted)
    return (
        f"SELECT {', '.join(columns)}\n"
        f"FROM {_sql(path)}\n"
        f"WHERE {conditions}\n"
        f"ORDER BY {value} {'DESC' if down else 'ASC'} NULLS LAST;\n"
    )


def _literal(value: str | int) -> str:
    return visible(repr(value))


def _sql(value: str | int) -> str:
    if isinstance(value, int):
        return str(value)
    quoted = value.replace("'", "''")
    return f"'{quoted}'"
