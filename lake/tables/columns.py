"""Several columns of one kind in one line: `path, symbol = text_columns(2, nullable=True)`."""

import dataframely as dy


def key_columns(n: int) -> list[dy.String]:
    """Text columns that are part of the key."""
    return [dy.String(primary_key=True) for _ in range(n)]


def text_columns(n: int, *, nullable: bool = False) -> list[dy.String]:
    """Text columns."""
    return [dy.String(nullable=nullable) for _ in range(n)]


def integer_columns(n: int, *, least: int | None = 0, nullable: bool = False) -> list[dy.Int64]:
    """Integer columns, mostly counts."""
    return [dy.Int64(min=least, nullable=nullable) for _ in range(n)]


def number_columns(n: int, *, least: float | None = None, nullable: bool = False) -> list[dy.Float64]:
    """Float columns."""
    return [dy.Float64(min=least, nullable=nullable) for _ in range(n)]
