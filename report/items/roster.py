"""Whose answers to a benchmark's items are shown, under which protocol, and down to which cut-off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from lake.catalog.references import reference_of
from lake.searched import own_pool
from lake.store import Lake
from report.entities import Run
from report.leaderboard.board import Board
from report.leaderboard.gold_ledger import shown_rows

CONTEXT_BUDGET = 8_000
"""Non-whitespace characters: where a ranking is cut that is held against contexts, as their protocols say."""

RESULTS = 10
"""So many results are shown where the primary metric has no cut-off."""

CHANCE = "random"
"""Stands for every order of the pool: it has no answer of its own to an item."""

N_RETRIEVERS, N_AGENTS = 1, 2
"""So many of either are shown where nobody chose, of a benchmark without agents one more retriever."""


@dataclass(frozen=True)
class Roster:
    """The runs of a benchmark's headline whose answers can be shown, the best first."""

    board: Board

    @property
    def benchmark(self) -> str:
        """The benchmark's name."""
        return self.board.benchmark.name

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """Their places are the numbers by which the data knows them."""
        return tuple(row.run for row in self.board.every if row.run.retriever != CHANCE and row.cells)

    @cached_property
    def numbers(self) -> pl.LazyFrame:
        """The runs as run_id and run, the number."""
        ids = [run.run_id for run in self.runs]
        return pl.LazyFrame({"run_id": ids, "run": range(len(ids))}, {"run_id": pl.String, "run": pl.Int64})

    @property
    def budget(self) -> int:
        """In non-whitespace characters, 0 where results are counted instead."""
        primary = self.board.primary
        of_lines = primary.granularity == "line"
        return (primary.k or CONTEXT_BUDGET) if of_lines or primary.in_characters else 0

    @property
    def depth(self) -> int:
        """In results."""
        return self.board.primary.k or RESULTS

    @cached_property
    def usual(self) -> Sequence[Run]:
        """Those that are shown where nobody chose: the best retriever and agents, or retrievers and the reference."""
        best = [row.run for row in shown_rows(self.board) if row.run in self.runs]
        agents = [run for run in best if run.has_steps][:N_AGENTS]
        retrievers = [run for run in best if not run.has_steps]
        if agents:
            return [*retrievers[:N_RETRIEVERS], *agents]
        named = reference_of(self.board.benchmark.kind, [run.system for run in self.runs])
        baselines = [run for run in self.runs if run.baseline and run.system == named]
        return [*retrievers[: N_RETRIEVERS + 1], *baselines] or self.runs[:1]

    def items(self, lake: Lake) -> pl.DataFrame:
        """The benchmark's items, numbered in the order in which scripts compare their ids; with the pool searched."""
        stored = lake.scan("items", benchmark=self.benchmark).drop("patch").collect()
        # As JavaScript compares texts: by units of UTF-16.
        ids = sorted(stored["item_id"], key=lambda one: one.encode("utf-16-be", "surrogatepass"))
        order = pl.DataFrame({"item_id": ids, "item": range(len(ids))}, {"item_id": pl.String, "item": pl.Int64})
        named = stored.join(order, on="item_id").sort("item")
        task = self.board.task
        return named.with_columns(pool_id=own_pool(task.pool_prefix, task.pool_by)) if task else named

    def gold(self, lake: Lake, items: pl.DataFrame) -> pl.DataFrame:
        """The gold of the headline's rule: item, path, line_start, line_end, candidate."""
        spans = lake.scan("gold_spans", benchmark=self.benchmark).filter(gold=self.board.protocol.gold)
        known = items.lazy().select("item_id", "item")
        return (
            spans.join(known, on="item_id")
            .select("item", "path", "line_start", "line_end", "candidate")
            .sort("item", "path", "line_start", "line_end")
            .collect()
        )
