"""Whose answers to a benchmark's items are shown, under which protocol, and down to which cut-off."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import polars as pl

from lake.catalog.references import reference_of
from lake.pools import own_pool
from report.leaderboard.board import Board
from report.leaderboard.gold_ledger import shown_rows
from report.models import RunRow

CONTEXT_BUDGET = 8_000
"""Non-whitespace characters: where a ranking is cut that is held against contexts, as their protocols say."""

_RESULTS = 10

CHANCE = "random"
"""Stands for every order of the pool: it has no answer of its own to an item."""

N_RETRIEVERS, N_AGENTS = 1, 2
"""So many of either are shown where nobody chose, of a benchmark without agents one more retriever."""


class Roster:
    """The runs of a benchmark's headline whose answers can be shown, the best first; the data knows them by `numbers`.

    A ranking is cut at a `budget` of non-whitespace characters or, where that is 0, at a `depth` of results.
    """

    def __init__(self, board: Board) -> None:
        self.board, self.lake, self.benchmark = board, board.facts.lake, board.benchmark.name
        self.runs = [row.run for row in board.every if row.run.retriever != CHANCE and row.cells]
        ids = [run.run_id for run in self.runs]
        kinds = {"run_id": pl.String(), "run": pl.Int64()}
        self.numbers = pl.LazyFrame({"run_id": ids, "run": range(len(ids))}, kinds)
        primary = board.primary
        is_budget = primary.granularity == "line" or primary.rule.cut == "budget"
        self.budget = (primary.k or CONTEXT_BUDGET) if is_budget else 0
        self.depth = primary.k or _RESULTS

    @cached_property
    def usual(self) -> Sequence[RunRow]:
        """Those that are shown where nobody chose: the best retriever and agents, or retrievers and the reference."""
        best = [row.run for row in shown_rows(self.board) if row.run in self.runs]
        agents = [run for run in best if run.has_steps][:N_AGENTS]
        retrievers = [run for run in best if not run.has_steps]
        if agents:
            return [*retrievers[:N_RETRIEVERS], *agents]
        reference = reference_of(self.board.benchmark.kind, [run.system for run in self.runs])
        baselines = [run for run in self.runs if run.baseline and run.system == reference]
        return [*retrievers[: N_RETRIEVERS + 1], *baselines] or self.runs[:1]

    @cached_property
    def items(self) -> pl.DataFrame:
        """The benchmark's items, numbered in the order in which scripts compare their ids; with the pool searched."""
        stored = self.lake.scan("items", benchmark=self.benchmark).drop("patch").collect()
        # As JavaScript compares texts: by units of UTF-16.
        ids = sorted(stored["item_id"], key=lambda item_id: item_id.encode("utf-16-be", "surrogatepass"))
        order = pl.DataFrame({"item_id": ids, "item": range(len(ids))}, {"item_id": pl.String, "item": pl.Int64})
        items = stored.join(order, on="item_id").sort("item")
        task = self.board.task
        if task is None or not task.pool_prefix:
            return items
        # An edition has the files of items' own pools: a task's are alike as far as its systems could see.
        own = own_pool(task.pool_prefix, task.pool_by)
        pools = self.lake.scan("files", benchmark=self.benchmark).select("pool_id").unique().collect()["pool_id"]
        return items.with_columns(pool_id=pl.when(own.is_in(pools.implode())).then(own).otherwise("pool_id"))

    @cached_property
    def gold(self) -> pl.DataFrame:
        """The gold of the headline's rule: item, path, line_start, line_end, candidate."""
        spans = self.lake.scan("gold_spans", benchmark=self.benchmark).filter(gold=self.board.protocol.gold)
        known = self.items.lazy().select("item_id", "item")
        return (
            spans.join(known, on="item_id")
            .select("item", "path", "line_start", "line_end", "candidate")
            .sort("item", "path", "line_start", "line_end")
            .collect()
        )
