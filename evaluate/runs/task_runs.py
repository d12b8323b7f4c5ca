"""The runs of one task over the selected items: which to make, their own rows, their pooling, and which are stale."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib.metadata import version

import polars as pl

from evaluate.embedding.vectors import GIVEN, VectorStore
from evaluate.metrics import metrics_of
from evaluate.rank.chunk_texts import DEFINITION_RULES
from evaluate.rank.pools import POOL_FILES_AT_ONCE, cut_files, load_pools, split_pools
from evaluate.retrievers import BASELINE, Retriever, TrackSteps
from evaluate.runs.pooling import aggregate_runs, keep_ledgers, systems_of
from evaluate.selection import ItemPart, Selection, selected_parts
from evaluate.systems import BuiltInSystem, PlannedRun, Run, resolve_systems
from evaluate.texts.query_forms import rewritten
from lake.benchmarks import protocols_of
from lake.catalog.protocol import Task
from lake.fingerprint import canonical_json
from lake.make import BuildTarget, made_from, target_of, write_by_run
from lake.outcome import Outcome
from lake.pools import is_picked, where_parameters
from lake.store import Lake, Part
from lake.tables import DONE, TABLES, table
from lake.text import counted

VERSIONS = canonical_json({name: version(name) for name in ("numpy", "polars", "scipy")})
"""The libraries whose versions may change numbers."""
OF_A_RUN = ("hits", "run_items", "costs", "scores", "step_scores", "aggregates", "runs")
"""The tables with parts for each single run. `runs` is removed last, so that a kill leaves no part without a row."""


@dataclass
class TaskRuns:
    """One task's runs over the selected items, of systems that some patterns match, imported ones included.

    Imported runs are scored over every item that they were asked, so `whole` has the parts of all items.
    """

    lake: Lake
    task: Task
    item_parts: Sequence[ItemPart]
    whole: Sequence[ItemPart]
    selection: Selection
    patterns: Sequence[str]
    label: str
    result: Outcome
    retrievers: Mapping[str, Retriever]
    known_chunkers: Mapping[str, str] | None = None
    prepared: dict[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def has_items(self) -> bool:
        """Whether any item is selected."""
        return any(item_part.items.height for item_part in self.item_parts)

    @property
    def takes_contexts(self) -> bool:
        """Whether agents' contexts are scored: then there is something to do even if nothing can be ranked."""
        return any(protocol.context is not None for protocol in protocols_of(self.task))

    @cached_property
    def chunkers(self) -> Mapping[str, str]:
        """Every chunker that has cut all files of the selected items → the fingerprint of its chunks' inputs."""
        if self.known_chunkers is not None:
            return self.known_chunkers
        complete, cut = {}, cut_files(self.lake, pl.concat([item_part.pool_ids for item_part in self.item_parts]))
        for part in self.lake.parts("chunkers"):
            if cut[part.name].is_complete and cut[part.name].has_chunks:
                complete[part.name] = part.fingerprint
                continue
            hint = "" if cut[part.name].is_complete else "; ingest them with it (--chunkers, or --chunker of your own)"
            note = f"skipped {part.name}: it has no chunks for these files{hint}"
            self.result.warnings = [*dict.fromkeys([*self.result.warnings, note])]
        if not complete and not self.takes_contexts:
            raise self.lake.lacks(f"no chunker has chunks of the files of {self.task.benchmark}")
        return complete

    @cached_property
    def plan(self) -> Sequence[PlannedRun]:
        """The runs to make."""
        return self.planned(self.patterns)

    def planned(self, patterns: Sequence[str]) -> Sequence[PlannedRun]:
        """The runs that some patterns match; none if the task takes imported runs only, or no item is selected."""
        if self.task.imported_only or not self.has_items or (self.takes_contexts and not self.chunkers):
            return []
        # Systems with a run over just these items are kept current, like those that always run.
        rows = self.stored("built-in").select("system", "selection", "limit").collect().iter_rows()
        made = {system for system, where, limit in rows if Selection.of_run(where, limit) == self.selection}
        known = self.chunkers, self.retrievers, protocols_of(self.task), () if patterns else made
        return [self._run(system) for system in resolve_systems(self.task, patterns, *known)]

    def stored(self, origin: str) -> pl.LazyFrame:
        """The task's rows of `runs` of one origin: `built-in` (made here) or `imported`."""
        return self.lake.scan("runs", benchmark=self.task.benchmark).filter(task=self.task.name, origin=origin)

    def _run(self, system: BuiltInSystem) -> PlannedRun:
        needs = {retriever.needs for retriever in system.retriever.parts()}
        given = self.lake.part("vectors", GIVEN) if "vectors" in needs else None
        rules = self.lake.part("symbol_rules", DEFINITION_RULES) if "definitions" in needs else None
        stamp = made_from([given, rules], system.fingerprint(self.task, self.label, self.selection.parameters()))
        protocol = system.protocol.name if system.protocol else ""
        run_id = f"{self.task.name}--{system.name}--{stamp[:8]}".replace("/", ".")
        return PlannedRun(run_id, protocol, system.chunker, system.retriever.is_chance, system=system, stamp=stamp)

    @cached_property
    def imported(self) -> Sequence[Run]:
        """The imported runs that the patterns match."""
        rows = self.stored("imported").sort("run_id").select("system", "run_id", "chunker").collect().iter_rows()
        return [Run(run_id, chunker=chunker) for name, run_id, chunker in rows if is_picked(name, self.patterns)]

    def jobs(self) -> Iterator[tuple[ItemPart, str, Sequence[Run]]]:
        """The jobs, each scored at once: a part, a chunker (empty for imported runs), and the runs over its chunks."""
        for item_part in self.item_parts:
            for chunker in dict.fromkeys(run.system.chunker for run in self.plan):
                yield item_part, chunker, [run for run in self.plan if run.chunker == chunker]
        for item_part in self.whole:
            if self.imported:
                yield item_part, "", self.imported

    def prepare(self, track: TrackSteps) -> None:
        """Do the work that retrievers do once per run, for runs that are not current, and keep the notes on it."""
        for run in [run for run in self.plan if not self._row(run).is_current]:
            arguments = VectorStore(self.lake), partial(self._texts, run.system), track
            prepares = [retriever.prepare for retriever in run.system.retriever.parts() if retriever.prepare]
            if notes := {name: note for prepare in prepares for name, note in prepare(*arguments).items()}:
                self.prepared[run.run_id] = notes
                noted = ", ".join(map(" ".join, notes.items()))
                self.result.warnings.append(f"{run.system.name}, {self.task.name}: {noted}")

    def _texts(self, system: BuiltInSystem) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
        for item_part in self.item_parts:
            queries = rewritten(item_part.queries, system.retriever.query_form)
            for pool_ids in split_pools(self.lake, item_part.pool_ids, POOL_FILES_AT_ONCE):
                pools = load_pools(self.lake, system.chunker, pool_ids, with_blank=self.task.ranks_blank)
                pool_queries = queries.filter(pl.col("pool_id").is_in(pool_ids.implode()))
                yield pools.texts.text, pool_queries["text"].to_list()

    def conclude(self) -> None:
        """Write the planned runs' own rows, with the notes from preparing them, and count their items."""
        counts = self._count(self.plan)
        rows = [self._run_row(run, *counts[run.run_id]) for run in self.plan]
        todo = {run.run_id: target for run in self.plan if not (target := self._row(run)).is_current}
        if todo:
            frame = pl.DataFrame(rows, schema=table("runs").columns)
            write_by_run(todo, frame.filter(pl.col("run_id").is_in(list(todo))))

    def _run_row(self, run: PlannedRun, n: int, n_failed: int, why: str) -> dict[str, object]:
        system, where, prepared = run.system, self.selection.where, self.prepared.get(run.run_id, {})
        if n_failed:
            self._warn_of(system.name, n, n_failed, why.removeprefix("GoldspanError: "))
        is_complete = self.selection.is_whole and not n_failed
        status = "complete" if is_complete else "failed" if n_failed and n_failed == n else "partial"
        return {
            "run_id": run.run_id,
            "system": system.name,
            "benchmark": self.task.benchmark,
            "task": self.task.name,
            "chunker": system.chunker,
            "retriever": system.retriever.name,
            "origin": "built-in",
            "parameters": canonical_json({**system.parameters(), **prepared, **where_parameters(where)}),
            "versions": VERSIONS,
            "status": status,
            "n_items": n,
            "limit": self.selection.limit,
            "protocol": run.protocol or None,
            "selection": [{"column": column, "value": value} for column, value in where],
            "fingerprint": run.stamp,
        }

    def _row(self, run: PlannedRun) -> BuildTarget:
        """The target of a run's row; the run's stamp contains the digest of the code."""
        folders = {"benchmark": self.task.benchmark, "run_id": run.run_id}
        return target_of(
            self.lake, "runs", part="all", inputs=self.item_parts, parameters=run.stamp, code=(), **folders
        )

    def _warn_of(self, runs: str, n: int, n_failed: int, why: str) -> None:
        failed = f"{n_failed:,} of {counted(n, 'item')} failed{f': {why}' if why else ''}"
        self.result.warnings.append(f"{runs}, {self.task.name}: {failed}")

    def _count(self, runs: Sequence[Run]) -> dict[str, tuple[int, int, str]]:
        """Add runs' items to the outcome; per run: how many items, how many of them failed, and why the first did."""
        cuts = {k for p in protocols_of(self.task) for metric, k in metrics_of(p) if metric.cut == "results" and k}
        is_cut = pl.col("ties").list.set_intersection(list(cuts)).list.len() > 0
        of_run = {"benchmark": self.task.benchmark}
        parts = [part for run in runs for part in self.lake.parts("run_items", run_id=run.run_id, **of_run)]
        rows = (
            self.lake.scan_parts(parts, "run_items")
            .group_by("run_id")
            .agg(
                n=pl.len(),
                failed=(pl.col("status") != DONE).sum(),
                tied=is_cut.sum(),
                why=pl.col("error").sort_by("item_id").drop_nulls().first().fill_null(""),
            )
        )
        counts = {run_id: of for run_id, *of in rows.collect().iter_rows()}
        for run in runs:
            n, n_failed, n_tied, _ = counts.setdefault(run.run_id, [0, 0, 0, ""])
            # Ties of baselines are not reported: `random` is nothing but ties.
            is_told = isinstance(run, PlannedRun) and BASELINE not in run.system.retriever.tags
            self.result.add(Outcome(expected=n, scored=n - n_failed, failed=n_failed, tied=n_tied if is_told else 0))
        return {run_id: (n, n_failed, why) for run_id, (n, n_failed, _, why) in counts.items()}

    def pool(self) -> None:
        """Pool the scores and the ledgers of all runs, and count the items of imported runs."""
        protocols = protocols_of(self.task)
        aggregate_runs(self.item_parts, protocols, self.plan)
        aggregate_runs(self.whole, protocols, self.imported)
        if self.whole:
            keep_ledgers(self.whole, systems_of(self.lake, self.task))
        counts = self._count(self.imported)
        if failed := [of_run for of_run in counts.values() if of_run[1]]:
            n, n_failed, why = zip(*failed, strict=True)
            self._warn_of(counted(len(failed), "imported run"), sum(n), sum(n_failed), next(filter(None, why), ""))

    def remove_other_parts(self) -> None:
        """Remove parts of items that the lake no longer has, or that now share a part with other items."""
        stored = self._parts_by_run()
        for item_parts, runs, is_ours in ((self.item_parts, self.plan, True), (self.whole, self.imported, False)):
            names = {part.part for part in item_parts} | {"all"}
            for part in (part for run in runs for part in stored[run.run_id]):
                if part.name not in names and (is_ours or TABLES[part.table].made_by == "evaluate"):
                    self.lake.remove(part)

    def remove_stale(self) -> None:
        """Remove built-in runs that today's items, chunks and code would not make, so that no page mixes two states.

        Unfinished runs are removed too, and so are trials when all items are selected.
        """
        rows = self.stored("built-in").select("run_id", "retriever", "limit", "selection").sort("run_id").collect()
        current: dict[Selection, set[str]] = {}
        known, stale, have_run = self.retrievers, [], {*rows["retriever"]}
        for run_id, retriever, limit, where in rows.iter_rows():
            if retriever in known and known[retriever].why_missing:
                # Without its model, one cannot decide whether the run would be made identically again.
                continue
            selection = Selection.of_run(where, limit)
            if selection not in current:
                is_over = self.selection.is_whole and not selection.is_whole
                # A retriever with arguments may have another name in a run: a model its folder's name, not its path.
                may_have_run = {name for name in known if ":" in name or name in have_run}
                current[selection] = set() if is_over else self._current(selection, sorted(may_have_run))
            if run_id not in current[selection]:
                stale.append(run_id)
        stored = self._parts_by_run()
        # Runs with parts but without a row were interrupted.
        has_row = {run_id for run_id, parts in stored.items() if any(part.table == "runs" for part in parts)}
        prefix = f"{self.task.name}--".replace("/", ".")
        unfinished = [run_id for run_id in stored if run_id not in has_row and run_id.startswith(prefix)]
        for part in (part for run_id in (*stale, *unfinished) for part in stored[run_id]):
            self.lake.remove(part)
        if stale:
            self.result.changes.append(f"removed {counted(len(stale), 'run')} of earlier data or code")

    def _current(self, selection: Selection, retrievers: Sequence[str]) -> set[str]:
        """The runs by some retrievers over a selection of the items that would be made identically again."""
        work = self
        if selection != self.selection:
            item_parts = list(selected_parts(self.lake, self.task, selection))
            work = replace(self, item_parts=item_parts, selection=selection, result=Outcome())
        # Named one by one, to include systems that run only on request.
        return {run.run_id for run in work.planned([f"*+{name}" for name in retrievers]) if work._row(run).is_current}

    def _parts_by_run(self) -> defaultdict[str, list[Part]]:
        of_run = defaultdict[str, list[Part]](list)
        for part in (part for name in OF_A_RUN for part in self.lake.parts(name, benchmark=self.task.benchmark)):
            of_run[part.folders["run_id"]].append(part)
        return of_run
