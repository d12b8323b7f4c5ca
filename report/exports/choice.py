"""Which numbers are exported: benchmarks, protocols, slices, metrics and systems, and the run that a name means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import polars as pl

from lake.benchmarks import known_protocols
from lake.errors import Exit, GoldspanError, lookup, unknown_name
from lake.store import Lake
from report.leaderboard.board import Board, build_board
from report.tables_read import TablesRead


@dataclass(frozen=True)
class Choice:
    """What is asked for; empty is all, and the slice that a board opens on."""

    benchmark: str = ""
    protocol: str = ""
    slice: str = ""
    """`repo=acme/one`, or the name alone of a slice with one value."""
    metrics: Sequence[str] = ()
    """Names, with or without a cut-off."""
    systems: Sequence[str] = ()
    """Names, globs allowed."""
    top: int | None = None
    """So many systems, the best ones, and every baseline."""

    def boards(self, facts: TablesRead) -> list[Board]:
        """The boards of what is asked for, with its columns and rows alone."""
        if self.benchmark:
            lookup(self.benchmark, "benchmark", facts.benchmarks)
        if self.protocol:
            lookup(self.protocol, "protocol", facts.protocols)
        names = [name for name in facts.benchmarks if self.benchmark in ("", name)]
        protocols = [each for name in names for each in facts.boards(name) if self.protocol in ("", each.name)]
        slices = {each.name: _slices(facts, each.name) for each in protocols if self.slice}
        places = [(protocol, self._where(slices.get(protocol.name, []))) for protocol in protocols]
        if self.slice and not any(where for _, where in places):
            known = {f"{name}={value}" for of_protocol in slices.values() for name, value in of_protocol}
            raise unknown_name(self.slice, "slice", known)
        boards = [build_board(facts, protocol, where) for protocol, where in places if where or not self.slice]
        scored = [board for board in boards if board.every]
        columns = [column for board in scored for column in board.columns]
        _check("metric", self.metrics, [name for column in columns for name in (column.name, column.metric)])
        _check("system", self.systems, [row.run.system for board in scored for row in board.every])
        return [part for board in scored if (part := self._part(board))]

    def _where(self, slices: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
        matching = [(name, value) for name, value in slices if self.slice in (name, f"{name}={value}")]
        return matching[0] if len(matching) == 1 else None

    def _part(self, board: Board) -> Board | None:
        """A board's chosen columns and rows; None where one of them is empty."""
        metrics, globs = self.metrics, self.systems or ("*",)
        columns = [each for each in board.columns if not metrics or each.name in metrics or each.metric in metrics]
        rows, unranked = (
            [row for row in of if any(fnmatchcase(row.run.system, glob) for glob in globs)]
            for of in (board.rows, board.unranked)
        )
        if self.top is not None:
            systems = [row for row in rows if not row.run.baseline][: self.top]
            rows, unranked = [*systems, *(row for row in rows if row.run.baseline)], []
        if not columns or not (rows or unranked):
            return None
        return Board(board.facts, board.protocol, board.slice, columns, rows, unranked)


def run_named(lake: Lake, name: str, benchmark: str = "", protocol: str = "") -> str:
    """The id of a run, given by its id or by its system's name, where the benchmark and protocol leave one run."""
    runs = lake.scan("runs").select("run_id", "system", "status", "benchmark", "task").collect().sort("run_id")
    if name in runs["run_id"]:
        return name
    mine = runs.filter(system=name)
    if benchmark:
        mine = mine.filter(benchmark=benchmark)
    if protocol:
        mine = mine.filter(pl.col("task").is_in(known_protocols(lake)[protocol].tasks))
    if mine.is_empty():
        raise unknown_name(name, "run or system", [*runs["system"], *runs["run_id"]])
    complete = mine.filter(status="complete")
    run_ids = (complete if complete.height else mine)["run_id"].to_list()
    if len(run_ids) > 1:
        message = f"{name} means {len(run_ids)} runs"
        hint = "Name one by its id, or with --benchmark and --protocol."
        raise GoldspanError(message, examples=run_ids, hint=hint, code=Exit.USAGE)
    return str(run_ids[0])


def _slices(facts: TablesRead, protocol: str) -> list[tuple[str, str]]:
    rows = facts.board_rows(facts.protocols[protocol]).select("slice", "slice_value").unique().sort(pl.all())
    return [(name, value) for name, value in rows.collect().iter_rows()]


def _check(kind: str, names: Iterable[str], known: Iterable[str]) -> None:
    choices = sorted(set(known))
    for name in names:
        if choices and not any(fnmatchcase(choice, name) for choice in choices):
            raise unknown_name(name, kind, choices)
