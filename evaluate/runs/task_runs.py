"""One task over the asked items: which systems to run, and what is concluded from the parts of a run.

Ranking and scoring the parts is `evaluate.partition`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from importlib.metadata import version

import polars as pl

from evaluate.metrics import metrics_of
from evaluate.partition import Partition, PoolCache
from evaluate.query_forms import rewritten
from evaluate.rank.pool_contents import RULES
from evaluate.rank.pools import is_complete, load_pools
from evaluate.retrievers import BASELINE, Material, Track, retrievers
from evaluate.runs.context_runs import ContextRun, aggregate_runs, score_runs
from evaluate.selection import ItemPart, Selection
from evaluate.systems import System, chosen, known_retrievers, picks_imported, run_id_of
from evaluate.vectors import GIVEN, VectorStore
from lake.catalog.protocol import Protocol
from lake.catalog.protocols import protocols_of
from lake.catalog.task import Task
from lake.errors import Exit, GoldspanError
from lake.fingerprint import canonical_json
from lake.make import Product, made_from, product_of
from lake.naming import DONE
from lake.outcome import Outcome
from lake.relevance import RELEVANCE
from lake.store import Lake, Part
from lake.tables import table

OF_A_RUN = ("hits", "run_items", "costs", "scores", "step_scores", "aggregates", "ledger", "ledger_means", "runs")
"""The tables that have parts of a run's own. Its row is taken away last, so that a kill leaves nothing unnamed."""

LIBRARIES = ("numpy", "polars", "scipy")
"""What the numbers are computed with; recorded with every run."""


class Work:
    """One task's runs over the asked items.

    Args:
        lake: Where from and where to.
        task: What is asked.
        asked: The parts of the items.
        selection: What of the items they are.
        label: The label of the data.
        result: Where it is noted what was done.
        chunkers: Every chunker that has cut all the asked files → what its chunks were made from, where it is known.
    """

    def __init__(
        self,
        lake: Lake,
        task: Task,
        asked: Sequence[ItemPart],
        selection: Selection,
        label: str,
        result: Outcome,
        chunkers: Mapping[str, str] | None = None,
    ) -> None:
        self.lake, self.task, self.asked, self.selection = lake, task, asked, selection
        self.label, self.result = label, result
        self.protocols = protocols_of(task.name)
        self._chunkers = chunkers

    @property
    def takes_contexts(self) -> bool:
        """Whether what agents gathered is scored: there is something to do then though nothing can be ranked."""
        return any(protocol.context is not None for protocol in self.protocols)

    @cached_property
    def _cut_offs(self) -> set[int]:
        """Every rank at which a protocol of the task cuts a list; k 0 is the whole list and cuts none."""
        return {k for p in self.protocols for metric, k in metrics_of(p) if metric.cut == "results" and k}

    def chunkers(self) -> Mapping[str, str]:
        """Every chunker that has cut all the asked files → what its chunks were made from."""
        if self._chunkers is None:
            self._chunkers = self._complete_chunkers()
        return self._chunkers

    def _complete_chunkers(self) -> Mapping[str, str]:
        complete = {}
        pool_ids = pl.concat([asked.pool_ids for asked in self.asked])
        for part in self.lake.parts("chunkers"):
            if is_complete(self.lake, part.name, pool_ids):
                complete[part.name] = part.fingerprint
            elif (note := self._why_left_out(part)) is not None:
                self.result.notes = [*dict.fromkeys([*self.result.notes, note])]
        if not complete and not self.takes_contexts:
            message = f"no chunker has cut the files of {self.task.benchmark}"
            raise GoldspanError(message, where=str(self.lake.root), hint="First: make ingest", code=Exit.MISSING)
        return complete

    def _why_left_out(self, part: Part) -> str | None:
        """Why no retriever is run over a chunker's chunks; None where they are another benchmark's."""
        imported_for = self.lake.scan_parts([part], "chunkers").select("imported_for").collect().item()
        if not imported_for:
            return f"left out: {part.name} has not cut these files; make ingest CHUNKERS={part.name}"
        note = f"left out: {part.name} is an imported list that has no chunk of some files; it is for imported runs"
        return note if imported_for == self.task.benchmark else None

    def plan(self, patterns: Sequence[str]) -> list[System]:
        """The systems to run; none where nothing here answers the task, or nothing is asked."""
        if self.task.imported_only or not any(asked.described.height for asked in self.asked):
            return []
        if self.takes_contexts and not self.chunkers():
            return []
        retrievers = known_retrievers(self.lake, patterns)
        before = () if patterns else self._made_before()
        return chosen(self.task, patterns, self.chunkers(), retrievers, self.protocols, before)

    def _made_before(self) -> set[str]:
        """The systems that have a run over just these items: they are kept as current as those that always run."""
        runs = self.lake.scan("runs", benchmark=self.task.benchmark).filter(
            (pl.col("task") == self.task.name) & (pl.col("origin") == "built-in")
        )
        rows = runs.select("system", "selection", "limit").collect().iter_rows()
        return {system for system, where, limit in rows if Selection.of_run(where, limit) == self.selection}

    def stamp(self, system: System) -> str:
        """What a run is made from, but for the data."""
        needs = {one.needs for one in system.retriever.parts()}
        given = self.lake.part("vectors", GIVEN) if "vectors" in needs else None
        rules = self.lake.part("symbol_rules", RULES) if "definitions" in needs else None
        of_system = system.fingerprint(self.task, self.label, self.selection.said())
        return made_from([given, rules], of_system)

    def run_id(self, system: System) -> str:
        """What a run is called."""
        return run_id_of(self.task, system, self.stamp(system))

    def prepare(self, system: System, track: Track) -> dict[str, str]:
        """Do what a system does for its whole run at once; what is to be said of it with the run's parameters."""
        material = Material(VectorStore(self.lake), partial(self._texts, system), track)
        said: dict[str, str] = {}
        for one in system.retriever.parts():
            said |= one.prepare(material) if one.prepare else {}
        return said

    def _texts(self, system: System) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
        for asked in self.asked:
            pools = load_pools(self.lake, system.chunker, asked.pool_ids, asked.files, with_blank=self.task.ranks_blank)
            yield pools.texts.text, rewritten(asked.queries, system.retriever.query_form)["text"].to_list()

    def conclude(self, system: System, said: Mapping[str, str]) -> None:
        """Write the run's own row, all its parts being there, and count its items.

        Args:
            system: Whose run.
            said: What preparing it had to say.
        """
        stamp = self.stamp(system)
        run_id = run_id_of(self.task, system, stamp)
        n, n_failed = self._count(run_id, counts_ties=BASELINE not in system.retriever.tags)
        self._run_product(stamp, run_id).make(lambda: self._row(system, run_id, stamp, n, n_failed, said))

    def score_imported(self, patterns: Sequence[str]) -> None:
        """Score what was made elsewhere, under every protocol of the task but those of contexts, and count its items.

        Args:
            patterns: Which systems; none for all.
        """
        cache = PoolCache()
        for run_id, chunker in self._imported(patterns).iter_rows():
            for protocol in self.protocols:
                if protocol.context is not None:
                    continue
                if chunker is None and RELEVANCE[protocol.relevance].similarity:
                    # Which chunks are like the gold is measured on chunks, and nobody said how these were cut.
                    continue
                for asked in self.asked:
                    Partition(self.lake, self.task, asked, cache).score(run_id, protocol, chunker)
                aggregate_runs(self.lake, self.asked, protocol, [ContextRun(run_id)])
            self._count(run_id, counts_ties=False)

    def run_ids(self, plan: Sequence[System], patterns: Sequence[str]) -> list[str]:
        """The planned runs, and the imported ones that are asked for."""
        return [*(self.run_id(system) for system in plan), *self._imported(patterns)["run_id"]]

    def _imported(self, patterns: Sequence[str]) -> pl.DataFrame:
        runs = self.lake.scan("runs", benchmark=self.task.benchmark).filter(
            (pl.col("task") == self.task.name) & (pl.col("origin") == "imported")
        )
        found = runs.sort("run_id").collect()
        picked = [name for name in found["system"].unique() if picks_imported(patterns, name)]
        return found.filter(pl.col("system").is_in(picked)).select("run_id", "chunker")

    def _count(self, run_id: str, *, counts_ties: bool) -> tuple[int, int]:
        """Add a run's items to what is said at the end: how many there are, and how many failed."""
        run_items = self.lake.scan("run_items", benchmark=self.task.benchmark, run_id=run_id)
        failed = pl.col("status") != DONE
        is_cut = pl.col("ties").list.set_intersection(list(self._cut_offs)).list.len() > 0
        counts = run_items.select(n=pl.len(), failed=failed.sum(), tied=is_cut.sum())
        n, n_failed, n_tied = counts.collect().row(0)
        self.result.expected += n
        self.result.scored += n - n_failed
        self.result.failed += n_failed
        # A baseline's ties say nothing: random is nothing but ties.
        self.result.tied += n_tied if counts_ties else 0
        return n, n_failed

    def is_current(self, system: System) -> bool:
        """Whether a run's row is there, and would be made just so again."""
        return self._run_product(self.stamp(system), self.run_id(system)).is_current

    def _run_product(self, stamp: str, run_id: str) -> Product:
        """A run's row; its stamp has the digest of the code."""
        folders = {"benchmark": self.task.benchmark, "run_id": run_id}
        return product_of(self.lake, "runs", part="all", inputs=self.asked, parameters=stamp, code=(), **folders)

    def _row(
        self, system: System, run_id: str, stamp: str, n_items: int, n_failed: int, said: Mapping[str, str]
    ) -> pl.DataFrame:
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
            "parameters": canonical_json({**system.parameters(), **said, **dict(self.selection.where)}),
            "versions": canonical_json({name: version(name) for name in LIBRARIES}),
            "status": status,
            "n_items": n_items,
            "limit": self.selection.limit,
            "protocol": system.protocol.name if system.protocol else None,
            "selection": [{"column": column, "value": value} for column, value in self.selection.where],
            "fingerprint": stamp,
        }
        return pl.DataFrame([row], schema=table("runs").columns)

    def aggregate(self, plan: Sequence[System]) -> None:
        """Aggregate the scores of the planned runs under every protocol but those of contexts."""
        protocols = [protocol for protocol in self.protocols if protocol.context is None] if plan else []
        runs = self._runs(plan, protocols)
        for protocol in protocols:
            mine = [run for run in runs if run.protocol in ("", protocol.name)]
            aggregate_runs(self.lake, self.asked, protocol, mine)

    def score_contexts(self, plan: Sequence[System], patterns: Sequence[str]) -> None:
        """Score the planned runs and the imported ones that are asked for, together, under protocols of contexts."""
        protocols = [protocol for protocol in self.protocols if protocol.context is not None]
        if not protocols or not any(asked.described.height for asked in self.asked):
            return
        runs = self._runs(plan, protocols)
        runs += [ContextRun(name) for name in self._imported(patterns)["run_id"]]
        score_runs(self.lake, self.asked, protocols, runs)

    def _runs(self, plan: Sequence[System], protocols: Sequence[Protocol]) -> list[ContextRun]:
        return [
            ContextRun(
                run_id=self.run_id(system),
                protocol=system.protocol.name if system.protocol else "",
                chunker=system.chunker,
                is_chance=system.retriever.is_chance,
                oracle={one.name: oracle for one in protocols if (oracle := self._oracle_run(system, one))},
            )
            for system in plan
        ]

    def _oracle_run(self, system: System, protocol: Protocol) -> str:
        """The run of the oracle over the same chunks under the same protocol; empty for the oracle itself."""
        bounds = [one for one in retrievers().values() if one.needs == "gold"]
        if system.retriever in bounds or not bounds:
            return ""
        return self.run_id(System(system.chunker, system.chunker_stamp, bounds[0], protocol))

    def remove_parts(self, run_id: str) -> None:
        """Remove a run's parts over items that the lake no longer holds."""
        names = {asked.part for asked in self.asked} | {"all"}
        for name in OF_A_RUN:
            for part in self.lake.parts(name, benchmark=self.task.benchmark, run_id=run_id):
                if part.name not in names:
                    self.lake.remove(part)
