"""The grid of chunkers and retrievers: what each choice does to the primary metric, and which of them matters more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from lake.effects import FACTORS, which_matters_more
from report.charts.figures import Figure
from report.facts import Facts
from report.leaderboard.board import Board
from report.leaderboard.heats import HEAT_STEPS
from report.leaderboard.pictures import figure_of
from report.shown import score
from report.slices import MAX_VALUES


@dataclass(frozen=True)
class Margin:
    """The mean of a chunker's or a retriever's systems, and how far it lies from the mean of all, with its interval."""

    name: str
    mean: str
    effect: str
    interval: str


@dataclass(frozen=True)
class Choices:
    """The grid as it is shown, best rows and columns first.

    Attributes:
        answer: Does the chunker or the retriever matter more?
        mean: The mean of all.
        rows: Each chunker with its cells: a number and its shade.
        retrievers: The columns.
        by_repository: Repository, its items, and how far the FACTORS move a system there, as root mean squares.
        n_repos: How many repositories there are; those with the most items are shown.
        left_out: Systems that are in no complete grid.
        figure: The grid as a picture to download, with its numbers.
    """

    answer: str
    mean: str
    rows: tuple[tuple[Margin, tuple[tuple[str, int], ...]], ...]
    retrievers: tuple[Margin, ...]
    by_repository: tuple[tuple[str, int, tuple[str, ...]], ...]
    n_repos: int
    left_out: tuple[str, ...]
    figure: Figure


def choices(facts: Facts, board: Board) -> Choices | None:
    """The grid of a board's systems; None where there is none."""
    tasks = {board.protocol.task} if board.protocol.task else {row.run.task for row in board.rows}
    where = {"protocol": board.protocol.name, "slice": board.slice[0], "slice_value": board.slice[1]}
    found = facts.effects.filter(**where).filter(pl.col("task").is_in(tasks))
    whole = found.filter(repo="")
    if whole.filter(pl.col("mean").is_not_null()).is_empty():
        return None
    cells = {(row["chunker"], row["retriever"]): row for row in whole.filter(pl.col("mean").is_not_null()).to_dicts()}
    shares = {row["factor"]: (row["share"], row["low"], row["high"]) for row in whole.filter(
        pl.col("mean").is_null()).to_dicts()}  # fmt: skip
    sign = 1 if board.primary.better == "lower" else -1

    def margins(column: str) -> list[Margin]:
        rows = whole.filter(pl.col("mean").is_not_null(), factor=column)
        ordered = rows.sort(sign * pl.col("mean"), column).to_dicts()
        return [
            Margin(row[column], score(row["mean"]), f"{row['effect']:+.3f}", f"{row['low']:+.3f} to {row['high']:+.3f}")
            for row in ordered
        ]

    chunkers, retrievers = margins("chunker"), margins("retriever")
    means = [row["mean"] for (chunker, retriever), row in cells.items() if chunker and retriever]
    least, width = min(means), (max(means) - min(means)) or 1.0

    def cell(chunker: str, retriever: str) -> tuple[str, int]:
        mean = cells[chunker, retriever]["mean"]
        return score(mean), round((mean - least) / width * HEAT_STEPS)

    too_few = any(row.head is not None and bool(row.head.too_few) for row in board.rows)
    by_repository = _by_repository(found.filter(pl.col("repo") != ""))
    return Choices(
        answer=which_matters_more(shares, len(means), too_few=too_few),
        mean=score(cells["", ""]["mean"]),
        rows=tuple((one, tuple(cell(one.name, other.name) for other in retrievers)) for one in chunkers),
        retrievers=tuple(retrievers),
        by_repository=by_repository[:MAX_VALUES],
        n_repos=len(by_repository),
        left_out=tuple(whole["left_out"][0]),
        figure=_figure(board, [(a.name, b.name, cells[a.name, b.name]) for a in chunkers for b in retrievers]),
    )


def _figure(board: Board, cells: Sequence[tuple[str, str, Mapping[str, float]]]) -> Figure:
    # Altair takes a third of a second to load: only a build that draws waits for it.
    from report.charts.scores import grid_chart

    title = f"{board.primary.title} of every chunker with every retriever"
    numbers = [(chunker, retriever, cell["mean"]) for chunker, retriever, cell in cells]
    picture = grid_chart(numbers, ("Chunker", "Retriever"), title)
    return figure_of(board, "choices", title, picture, ("chunker", "retriever", "mean"), numbers)


def _by_repository(rows: pl.DataFrame) -> tuple[tuple[str, int, tuple[str, ...]], ...]:
    """The repositories with the most items first."""
    moved = (
        rows.filter(pl.col("effect").is_not_null())
        .group_by("repo", "n_items")
        .agg((pl.col("effect").filter(factor=factor) ** 2).mean().sqrt().alias(factor) for factor in FACTORS)
        .sort("n_items", "repo", descending=[True, False])
    )
    return tuple((repo, n_items, tuple(map(score, sizes))) for repo, n_items, *sizes in moved.iter_rows())
