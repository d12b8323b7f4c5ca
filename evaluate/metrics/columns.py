"""What the columns are called that metrics of sets of lines are read from."""

from __future__ import annotations


def at_budget(size: str, budget: int) -> str:
    """The column of a size at a budget of non-whitespace characters; budget 0 is no limit."""
    return f"{size}@{budget}"


def at_lines(size: str, n_lines: int) -> str:
    """The column of a size at a budget of lines."""
    return f"{size}@lines{n_lines}"


def at_depth(size: str, k: int) -> str:
    """The column of a size over the first k results."""
    return f"{size}@top{k}"
