"""One task over the asked items: rank, score and aggregate each system, as far as it is not done.

The unit of work is one run over one part of the items: a pure function of what the lake holds, so that parts can be
made in any order and anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path

import polars as pl

from evaluate.aggregation import DONE, aggregate
from evaluate.asked import Asked, Selection
from evaluate.conformance import protocol_hash
from evaluate.judging import RELEVANCE
from evaluate.lines import LineAxis
from evaluate.oracle_share import with_share_of_oracle
from evaluate.pools import (
    ChunkedPools,
    is_complete,
    load_axis,
    load_pools,
    load_vectors,
    queries_by_pool,
    relevance_rows,
)
from evaluate.protocols import Protocol, protocols_of
from evaluate.ranking import Ranked, rank
from evaluate.retrievers import BASELINE, retrievers
from evaluate.rows import cost_row, hit_rows, run_item_rows
from evaluate.run_scores import score_run
from evaluate.systems import System, chosen, run_id_of
from evaluate.tasks import Task
from lake.code import folder_digest
from lake.errors import Exit, GoldspanError
from lake.fingerprint import canonical_json, fingerprint
from lake.store import FORMAT_VERSION, Lake, Part
from lake.tables import table

OF_A_RUN = ("hits", "run_items", "costs", "scores", "aggregates", "runs")
"""The tables that have parts of a run's own. Its row is taken away last, so that a kill leaves nothing unnamed."""

LIBRARIES = ("numpy", "polars", "scipy")
"""What the numbers are computed with; recorded with every run."""


@dataclass
class Evaluated:
    """What evaluating did, in items × runs."""

    expected: int = 0
    scored: int = 0
    failed: int = 0
    unscorable: int = 0
    cached: int = 0
    tied: int = 0
    notes: list[str] = field(default_factory=list)

    def add(self, other: Evaluated) -> None:
        """Take in what another part of the work did."""
        self.expected += other.expected
        self.scored += other.scored
        self.failed += other.failed
        self.cached += other.cached
        self.tied += other.tied
        self.notes = [*dict.fromkeys([*self.notes, *other.notes])]


class Work:
    """One task's runs over the asked items."""

    def __init__(
        self, lake: Lake, task: Task, asked: Sequence[Asked], selection: Selection, label: str, result: Evaluated
    ) -> None:
        self.lake, self.task, self.asked, self.selection = lake, task, asked, selection
        self.label, self.result = label, result
        self.protocols = protocols_of(task.name)
        self.cut_offs = sorted({k for p in self.protocols for metric, k in p.requested() if metric.cut == "results"})
        # One part's pools under one chunker at a time: the plan goes chunker by chunker.
        self._pools: tuple[tuple[str, str], ChunkedPools] | None = None
        self._axis: tuple[str, LineAxis] | None = None

    def chunkers(self) -> dict[str, str]:
        """Every chunker that has cut all the asked files → what its chunks were made from."""
        complete = {}
        for part in self.lake.parts("chunkers"):
            if all(is_complete(self.lake, part.name, asked.pool_ids) for asked in self.asked):
                complete[part.name] = part.fingerprint
            else:
                note = f"left out: {part.name} has not cut these files; make ingest CHUNKERS={part.name}"
                self.result.notes = [*dict.fromkeys([*self.result.notes, note])]
        if not complete:
            message = f"no chunker has cut the files of {self.task.benchmark}"
            raise GoldspanError(message, where=str(self.lake.root), hint="First: make ingest", code=Exit.MISSING)
        return complete

    def plan(self, patterns: Sequence[str]) -> list[System]:
        """The systems to run."""
        return chosen(self.task, patterns, self.chunkers(), retrievers(), self.protocols)

    def stamp(self, system: System) -> str:
        """What a run is made from, but for the data."""
        vectors = self.lake.state("vectors") if system.retriever.needs == "vectors" else ""
        return fingerprint(FORMAT_VERSION, system.fingerprint(self.task, self.label, self.selection.said()), vectors)

    def run(self, system: System) -> None:
        """Rank, score and aggregate one system, as far as it is not done."""
        stamp = self.stamp(system)
        run_id = run_id_of(self.task, system, stamp)
        # First, so that nothing of what is gone is counted.
        self._forget_parts(run_id)
        ranked = [self._rank(system, run_id, stamp, asked) for asked in self.asked]
        self._conclude(system, run_id, stamp, [one for one in ranked if one is not None])
        for protocol in [system.protocol] if system.protocol else self.protocols:
            for asked in self.asked:
                self._score(run_id, protocol, asked, system.chunker, is_chance=system.retriever.is_chance)
            self._aggregate(run_id, protocol, self._oracle(system, protocol))
        self._forget_parts(run_id)

    def score_imported(self) -> None:
        """Score what was made elsewhere, under every protocol of the task."""
        runs = self.lake.scan("runs", benchmark=self.task.benchmark).filter(
            (pl.col("task") == self.task.name) & (pl.col("origin") == "imported")
        )
        for run_id, chunker in runs.select("run_id", "chunker").sort("run_id").collect().iter_rows():
            for protocol in self.protocols:
                if chunker is None and RELEVANCE[protocol.relevance].similarity:
                    # Which chunks are like the gold is measured on chunks, and nobody said how these were cut.
                    continue
                for asked in self.asked:
                    self._score(run_id, protocol, asked, chunker)
                self._aggregate(run_id, protocol, None)
            self._count(run_id, is_new=False, counts_ties=False)

    def _rank(self, system: System, run_id: str, stamp: str, asked: Asked) -> Ranked | None:
        """Rank one part of the items, or None where its ranking stands."""
        folders = {"benchmark": self.task.benchmark, "run_id": run_id}
        made_of = fingerprint(stamp, asked.stamp)
        if all(self.lake.stands(name, asked.part, made_of, **folders) for name in ("hits", "run_items")):
            return None
        pools = self.pools(system.chunker, asked)
        gold = asked.gold_of(system.protocol.gold) if system.protocol else None
        gains = self._gains(system.protocol, system.chunker, asked) if system.protocol else None
        vectors = load_vectors(self.lake) if system.retriever.needs == "vectors" else None
        ranked = rank(
            system.retriever,
            queries_by_pool(asked.items, self.task, pools, gold=gold, gains=gains, vectors=vectors),
            tie=self.task.tie,
            depth=self.task.depth,
            cut_offs=self.cut_offs,
        )
        hits = hit_rows(run_id, ranked, pools)
        run_items = run_item_rows(run_id, asked.items, ranked, hits, pools)
        self.lake.write("hits", hits, part=asked.part, fingerprint=made_of, **folders)
        # Last, so that a part of run_items means that its hits are there.
        self.lake.write("run_items", run_items, part=asked.part, fingerprint=made_of, **folders)
        return ranked

    def _conclude(self, system: System, run_id: str, stamp: str, ranked: Sequence[Ranked]) -> None:
        """Write the run's own row, and count its items."""
        folders = {"benchmark": self.task.benchmark, "run_id": run_id}
        n, n_failed = self._count(run_id, is_new=bool(ranked), counts_ties=BASELINE not in system.retriever.tags)
        made_of = self.made_of(stamp)
        if self.lake.stands("runs", "all", made_of, **folders):
            return
        self.lake.write("costs", cost_row(run_id, ranked), part="all", fingerprint=made_of, **folders)
        self.lake.write(
            "runs", self._row(system, run_id, stamp, n, n_failed), part="all", fingerprint=made_of, **folders
        )

    def _count(self, run_id: str, *, is_new: bool, counts_ties: bool) -> tuple[int, int]:
        """Add a run's items to what is said at the end: how many there are, and how many failed."""
        run_items = self.lake.scan("run_items", benchmark=self.task.benchmark, run_id=run_id)
        failed = pl.col("status") != DONE
        counts = run_items.select(n=pl.len(), failed=failed.sum(), tied=(pl.col("ties").list.len() > 0).sum())
        n, n_failed, n_tied = counts.collect().row(0)
        self.result.expected += n
        self.result.scored += n - n_failed
        self.result.failed += n_failed
        # A baseline's ties say nothing: random is nothing but ties.
        self.result.tied += n_tied if counts_ties else 0
        self.result.cached += 0 if is_new else n
        return n, n_failed

    def made_of(self, stamp: str) -> str:
        """What a run of that stamp is made from in this lake."""
        return fingerprint(stamp, [asked.stamp for asked in self.asked])

    def _row(self, system: System, run_id: str, stamp: str, n_items: int, n_failed: int) -> pl.DataFrame:
        status = "complete" if self.selection.is_whole else "partial"
        if n_failed:
            status = "failed" if n_failed == n_items else "partial"
        row = {
            "run_id": run_id,
            "system": system.name,
            "benchmark": self.task.benchmark,
            "task": self.task.name,
            "chunker": system.chunker,
            "retriever": system.retriever.name,
            "origin": "built-in",
            "parameters": canonical_json({**system.parameters(), **dict(self.selection.where)}),
            "versions": canonical_json({name: version(name) for name in LIBRARIES}),
            "status": status,
            "n_items": n_items,
            "limit": self.selection.limit,
            "fingerprint": stamp,
        }
        return pl.DataFrame([row], schema=table("runs").columns)

    def _score(
        self, run_id: str, protocol: Protocol, asked: Asked, chunker: str | None, *, is_chance: bool = False
    ) -> None:
        run = {"benchmark": self.task.benchmark, "run_id": run_id}
        run_items = self.lake.part("run_items", asked.part, **run)
        if run_items is None:
            return
        folders = {**run, "protocol": protocol.name}
        made_of = fingerprint(run_items.fingerprint, asked.stamp, protocol_hash(protocol), _code())
        if self.lake.stands("scores", asked.part, made_of, **folders):
            return
        hits = self.lake.part("hits", asked.part, **run)
        scores = score_run(
            protocol,
            run_id=run_id,
            hits=self.lake.scan_parts([hits] if hits else [], "hits"),
            completions=self.lake.scan_parts([run_items], "run_items").select("item_id", "completion"),
            asked=asked,
            pool=None if chunker is None else self.pools(chunker, asked).chunks.lazy(),
            relevance=self._relevance(protocol, chunker, asked),
            axis=self.axis(asked),
            is_chance=is_chance,
        )
        self.lake.write("scores", scores, part=asked.part, fingerprint=made_of, **folders)

    def _aggregate(self, run_id: str, protocol: Protocol, oracle: Part | None) -> None:
        folders = {"benchmark": self.task.benchmark, "protocol": protocol.name, "run_id": run_id}
        parts = [part for asked in self.asked if (part := self.lake.part("scores", asked.part, **folders)) is not None]
        made_of = fingerprint([part.fingerprint for part in parts], oracle.fingerprint if oracle else "", _code())
        if not parts or self.lake.stands("aggregates", "all", made_of, **folders):
            return
        scores = self.lake.scan_parts(parts, "scores").drop("benchmark")
        items = pl.concat([asked.items for asked in self.asked]).lazy()
        run_items = self.lake.scan("run_items", benchmark=self.task.benchmark, run_id=run_id)
        aggregates = aggregate(scores, items, run_items)
        if oracle is not None:
            aggregates = with_share_of_oracle(aggregates, self.lake.scan_parts([oracle], "aggregates"))
        self.lake.write("aggregates", aggregates.collect(), part="all", fingerprint=made_of, **folders)

    def _relevance(self, protocol: Protocol, chunker: str | None, asked: Asked) -> pl.LazyFrame | None:
        """How like the gold every chunk of the asked pools is, where the protocol goes by that; measured once."""
        if chunker is None or not RELEVANCE[protocol.relevance].similarity:
            return None
        folders = {"benchmark": self.task.benchmark, "chunker": chunker}
        chunked = self.lake.part("chunkers", chunker)
        made_of = fingerprint(asked.stamp, protocol.gold, chunked.fingerprint if chunked else "", _code())
        if not self.lake.stands("relevance", asked.part, made_of, **folders):
            gold = asked.gold_of(protocol.gold)
            frame = relevance_rows(self.lake, self.pools(chunker, asked), asked.items, gold)
            self.lake.write("relevance", frame, part=asked.part, fingerprint=made_of, **folders)
        stored = self.lake.part("relevance", asked.part, **folders)
        return self.lake.scan_parts([stored] if stored else [], "relevance")

    def _gains(self, protocol: Protocol, chunker: str, asked: Asked) -> pl.DataFrame | None:
        """What the oracle orders by, where relevance is a similarity."""
        relevance = self._relevance(protocol, chunker, asked)
        if relevance is None:
            return None
        column = RELEVANCE[protocol.relevance].similarity
        return relevance.select("item_id", "path", "chunk_no", gain=column).collect()

    def _oracle(self, system: System, protocol: Protocol) -> Part | None:
        """The aggregates of the oracle over the same chunks under the same protocol; the oracle itself has none."""
        bounds = [one for one in retrievers().values() if one.needs == "gold"]
        if system.retriever in bounds or not bounds:
            return None
        oracle = System(system.chunker, system.chunker_stamp, bounds[0], protocol)
        run_id = run_id_of(self.task, oracle, self.stamp(oracle))
        return self.lake.part("aggregates", "all", benchmark=self.task.benchmark, protocol=protocol.name, run_id=run_id)

    def pools(self, chunker: str, asked: Asked) -> ChunkedPools:
        """The asked pools as a chunker cuts them."""
        key = (chunker, asked.stamp)
        if self._pools is None or self._pools[0] != key:
            self._pools = (key, load_pools(self.lake, chunker, asked.pool_ids))
        return self._pools[1]

    def axis(self, asked: Asked) -> LineAxis:
        """The lines of the asked pools' files."""
        if self._axis is None or self._axis[0] != asked.stamp:
            self._axis = (asked.stamp, load_axis(self.lake, asked.pool_ids))
        return self._axis[1]

    def _forget_parts(self, run_id: str) -> None:
        """Take away a run's parts over items that the lake no longer holds."""
        names = {asked.part for asked in self.asked} | {"all"}
        for name in OF_A_RUN:
            for part in self.lake.parts(name, benchmark=self.task.benchmark, run_id=run_id):
                if part.name not in names:
                    self.lake.remove(part)


@cache
def _code() -> str:
    """The digest of the scoring code: an edited metric is computed again, whatever its protocol is called."""
    return fingerprint(folder_digest(Path(__file__).parent))
