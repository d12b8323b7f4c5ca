"""The grid of chunkers and retrievers: what each choice does to the primary metric, and which of them matters more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from lake.effects import FACTORS, which_matters_more
from report.charts.figures import Figure
from report.leaderboard.board import Board
from report.leaderboard.heats import HEAT_STEPS
from report.leaderboard.pictures import figure_of

Margin = Mapping[str, float]
"""The mean of a chunker's or a retriever's systems, and how far it lies from the mean of all: effect, low, high."""


@dataclass(frozen=True)
class Choices:
    """The grid, best rows and columns first.

    Attributes:
        answer: Does the chunker or the retriever matter more?
        chunkers: The rows: name → the mean of its cells.
        retrievers: The columns, likewise.
        means: Chunker and retriever → the mean of that system; of all chunkers or retrievers where one is empty.
        by_repository: Repository, its items, and how far the FACTORS move a system there, as root mean squares; those
            with the most items first.
        left_out: Systems that are in no complete grid.
        figure: The grid as a picture to download, with its numbers.
    """

    answer: str
    chunkers: Mapping[str, Margin]
    retrievers: Mapping[str, Margin]
    means: Mapping[tuple[str, str], float]
    by_repository: Sequence[tuple[str | int | float, ...]]
    left_out: Sequence[str]
    figure: Figure

    def shade(self, chunker: str, retriever: str) -> int:
        """The higher the darker, from the least of the grid to the greatest."""
        means = [self.means[one, other] for one in self.chunkers for other in self.retrievers]
        least, width = min(means), (max(means) - min(means)) or 1.0
        return round((self.means[chunker, retriever] - least) / width * HEAT_STEPS)


def choices(board: Board) -> Choices | None:
    """The grid of a board's systems; None where there is none."""
    tasks = {board.protocol.task} if board.protocol.task else {row.run.task for row in board.rows}
    found = board.facts.effects.filter(pl.col("task").is_in(tasks), **board.where)
    whole = found.filter(repo="")
    cells = whole.filter(pl.col("mean").is_not_null())
    if cells.is_empty():
        return None
    shares = whole.filter(pl.col("mean").is_null()).select("factor", "share", "low", "high")
    sign = 1 if board.primary.better == "lower" else -1

    def margins(factor: str) -> dict[str, Margin]:
        rows = cells.filter(factor=factor).sort(sign * pl.col("mean"), factor)
        return {row[factor]: row for row in rows.iter_rows(named=True)}

    chunkers, retrievers = margins("chunker"), margins("retriever")
    means = {(one, other): mean for one, other, mean in cells.select("chunker", "retriever", "mean").iter_rows()}
    return Choices(
        answer=which_matters_more(
            {factor: (share, low, high) for factor, share, low, high in shares.iter_rows()},
            sum(bool(chunker and retriever) for chunker, retriever in means),
            too_few=any(row.head is not None and bool(row.head.too_few) for row in board.rows),
        ),
        chunkers=chunkers,
        retrievers=retrievers,
        means=means,
        by_repository=_by_repository(found.filter(pl.col("repo") != "")),
        left_out=whole["left_out"].to_list()[0],
        figure=_figure(board, [(one, other, means[one, other]) for one in chunkers for other in retrievers]),
    )


def _figure(board: Board, numbers: Sequence[tuple[str, str, float]]) -> Figure:
    # Altair takes a third of a second to load: only a build that draws waits for it.
    from report.charts.scores import grid_chart

    title = f"{board.primary.title} of every chunker with every retriever"
    picture = grid_chart(numbers, ("Chunker", "Retriever"), title)
    return figure_of(board, "choices", title, picture, ("chunker", "retriever", "mean"), numbers)


def _by_repository(rows: pl.DataFrame) -> list[tuple[str | int | float, ...]]:
    return (
        rows.filter(pl.col("effect").is_not_null())
        .group_by("repo", "n_items")
        .agg((pl.col("effect").filter(factor=factor) ** 2).mean().sqrt().alias(factor) for factor in FACTORS)
        .sort("n_items", "repo", descending=[True, False])
        .rows()
    )
