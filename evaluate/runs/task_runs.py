"""The runs of one task over the selected items: which to make, their own rows, their pooling, and which are stale."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
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
from evaluate.systems import BuiltInSystem, PlannedRun, Run, resolve_systems, runs_of, write_by_run
from evaluate.texts.query_forms import rewritten
from lake.benchmarks import protocols_of
from lake.catalog.protocol import Task
from lake.fingerprint import canonical_json
from lake.make import BuildTarget, made_from, target_of
from lake.outcome import Outcome
from lake.pools import is_picked
from lake.store import Lake, Part
from lake.tables import DONE, TABLES, table
from lake.text import counted

VERSIONS = canonical_json({name: version(name) for name in ("numpy", "polars", "scipy")})
"""The libraries whose versions may change numbers."""
OF_A_RUN = ("hits", "run_items", "costs", "scores", "step_scores", "aggregates", "runs")
"""The tables with parts for each single run. `runs` is removed last, so that a kill leaves no part without a row."""


@dataclass
class TaskRuns:
    """One task's runs over the selected items: `planned` ones, notes on what was `prepared`, and `imported` ones."""

    lake: Lake
    task: Task
    label: str
    everything: Selection
    selection: Selection
    groups: Sequence[tuple[str, ...]]
    planned: Sequence[PlannedRun] = ()
    imported: Sequence[Run] = ()
    prepared: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def __reduce__(self) -> tuple[type["TaskRuns"], tuple[object, ...]]:
        """Sent to another process, it reads its items there: without them it is small."""
        return TaskRuns, tuple(getattr(self, each.name) for each in fields(self))

    @cached_property
    def whole(self) -> Sequence[ItemPart]:
        """The parts of all items: imported runs are scored over every item that they were asked."""
        return list(selected_parts(self.lake, self.task, self.everything, self.groups))

    @cached_property
    def item_parts(self) -> Sequence[ItemPart]:
        """The parts of the selected items."""
        if self.selection == self.everything:
            return self.whole
        return list(selected_parts(self.lake, self.task, self.selection, self.groups))

    @property
    def has_items(self) -> bool:
        """Whether any item is selected."""
        return any(item_part.items.height for item_part in self.item_parts)

    def stored(self, origin: str) -> pl.LazyFrame:
        """The task's rows of `runs` of one origin: `built-in` (made here) or `imported`, sorted."""
        return runs_of(self.lake, self.task).filter(origin=origin)

    def choose(self, patterns: Sequence[str], retrievers: Mapping[str, Retriever], warnings: list[str]) -> None:
        """Set the runs to those of the systems that some patterns match; see :meth:`plan`."""
        rows = self.stored("imported").select("system", "run_id", "chunker").collect().iter_rows()
        self.imported = [Run(run_id, chunker=chunker) for name, run_id, chunker in rows if is_picked(name, patterns)]
        self.planned = self.plan(patterns, retrievers, warnings)

    def plan(
        self, patterns: Sequence[str], retrievers: Mapping[str, Retriever], warnings: list[str]
    ) -> list[PlannedRun]:
        """The runs that some patterns match; `warnings` get a note on chunkers that have not cut all files."""
        if self.task.imported_only or not self.has_items:
            return []
        protocols, chunkers = protocols_of(self.task), dict[str, str]()
        for part in self.lake.parts("chunkers"):
            is_complete, has_chunks = self._cut[part.name]
            if is_complete and has_chunks:
                chunkers[part.name] = part.fingerprint
                continue
            hint = "" if is_complete else "; ingest them with it (--chunkers, or --chunker of your own)"
            note = f"skipped {part.name}: it has no chunks for the files of {self.task.benchmark}{hint}"
            warnings += [note] if note not in warnings else []
        # Agents' contexts are scored even if nothing can be ranked.
        if not chunkers and not any(protocol.context is not None for protocol in protocols):
            raise self.lake.lacks(f"no chunker has chunks of the files of {self.task.benchmark}")
        # Systems with a run over just these items are kept current, like those that always run.
        rows = self.stored("built-in").select("system", "selection", "limit").collect().iter_rows()
        made = {system for system, where, limit in rows if Selection.of_run(where, limit) == self.selection}
        systems = resolve_systems(self.task, patterns, chunkers, retrievers, protocols, () if patterns else made)
        return list(map(self._run, systems))

    @cached_property
    def _cut(self) -> Mapping[str, tuple[bool, bool]]:
        return cut_files(self.lake, pl.concat([item_part.pool_ids for item_part in self.item_parts]))

    def _run(self, system: BuiltInSystem) -> PlannedRun:
        needs = {retriever.needs for retriever in system.retriever.parts()}
        given = self.lake.part("vectors", GIVEN) if "vectors" in needs else None
        rules = self.lake.part("symbol_rules", DEFINITION_RULES) if "definitions" in needs else None
        made_by = system.fingerprint(self.task, self.label, self.selection.parameters())
        stamp, protocol = made_from([given, rules], made_by), system.protocol.name if system.protocol else ""
        run_id = f"{self.task.name}--{system.name}--{stamp[:8]}".replace("/", ".")
        return PlannedRun(run_id, protocol, system.chunker, system.retriever.is_chance, system=system, stamp=stamp)

    def work(self) -> Iterator[tuple[ItemPart, str, Sequence[Run]]]:
        """What is ranked and scored at once: a part, a chunker (empty for imported runs), and the runs over it."""
        for item_part in self.item_parts:
            for chunker in dict.fromkeys(run.system.chunker for run in self.planned):
                yield item_part, chunker, [run for run in self.planned if run.chunker == chunker]
        for item_part in self.whole:
            if self.imported:
                yield item_part, "", self.imported

    def prepare(self, track: TrackSteps, warnings: list[str]) -> None:
        """Do the work that retrievers do once per run, for runs that are not current."""
        for run in [run for run in self.planned if not self.row(run).is_current]:
            arguments = VectorStore(self.lake), partial(self._texts, run.system), track
            prepares = [retriever.prepare for retriever in run.system.retriever.parts() if retriever.prepare]
            if notes := {name: note for prepare in prepares for name, note in prepare(*arguments).items()}:
                self.prepared[run.run_id] = notes
                noted = ", ".join(map(" ".join, notes.items()))
                warnings.append(f"{run.system.name}, {self.task.name}: {noted}")

    def _texts(self, system: BuiltInSystem) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
        for item_part in self.item_parts:
            queries = rewritten(item_part.queries, system.retriever.query_form)
            for pool_ids in split_pools(self.lake, item_part.pool_ids, POOL_FILES_AT_ONCE):
                pools = load_pools(self.lake, system.chunker, pool_ids, with_blank=self.task.ranks_blank)
                pool_queries = queries.filter(pl.col("pool_id").is_in(pool_ids.implode()))
                yield pools.texts.text, pool_queries["text"].to_list()

    def conclude(self) -> Outcome:
        """Write the planned runs' own rows; return the counts of their items."""
        result, rows, todo, counts = Outcome(), [], dict[str, BuildTarget](), self.counts(self.planned)
        items, whole = replace(self.selection, limit=None).parameters(), self.selection.is_whole
        for run in self.planned:
            n, n_failed, n_tied, why = counts[run.run_id]
            # Ties of baselines are not reported: `random` is nothing but ties.
            n_tied = 0 if BASELINE in run.system.retriever.tags else n_tied
            result.add(Outcome(expected=n, scored=n - n_failed, failed=n_failed, tied=n_tied))
            if n_failed:
                result.warnings.append(self.failure(run.system.name, n, n_failed, why.removeprefix("GoldspanError: ")))
            target = self.row(run)
            if not target.is_current:
                todo[run.run_id], system = target, run.system
                parameters = {**system.parameters(), **self.prepared.get(run.run_id, {}), **items}
                rows.append(
                    {
                        "run_id": run.run_id,
                        "system": system.name,
                        "benchmark": self.task.benchmark,
                        "task": self.task.name,
                        "chunker": system.chunker,
                        "retriever": system.retriever.name,
                        "origin": "built-in",
                        "parameters": canonical_json(parameters),
                        "versions": VERSIONS,
                        "status": "failed"
                        if n and n_failed == n
                        else "partial"
                        if n_failed or not whole
                        else "complete",
                        "n_items": n,
                        "limit": self.selection.limit,
                        "protocol": run.protocol or None,
                        "selection": [{"column": column, "value": value} for column, value in self.selection.where],
                        "fingerprint": run.stamp,
                    }
                )
        if todo:
            write_by_run(todo, pl.DataFrame(rows, schema=table("runs").columns))
        return result

    def row(self, run: PlannedRun) -> BuildTarget:
        """The target of a run's row; the run's stamp contains the digest of the code."""
        folders, inputs = {"benchmark": self.task.benchmark, "run_id": run.run_id}, self.item_parts
        return target_of(self.lake, "runs", part="all", inputs=inputs, parameters=run.stamp, code=(), **folders)

    def failure(self, runs: str, n: int, n_failed: int, why: str) -> str:
        """A sentence on the items that some runs failed on."""
        return f"{runs}, {self.task.name}: {n_failed:,} of {counted(n, 'item')} failed{f': {why}' if why else ''}"

    def counts(self, runs: Sequence[Run]) -> dict[str, tuple[int, int, int, str]]:
        """Per run: how many items it has, how many failed, how many are tied at a cut-off, and why the first failed."""
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
        counts = dict.fromkeys((run.run_id for run in runs), (0, 0, 0, ""))
        return counts | {run_id: (n, failed, tied, why) for run_id, n, failed, tied, why in rows.collect().iter_rows()}

    def remove_other_parts(self, stored: Mapping[str, Sequence[Part]]) -> None:
        """Remove those of :func:`parts_by_run` whose items the lake no longer has, or has in a part with others."""
        for item_parts, runs, is_ours in ((self.item_parts, self.planned, True), (self.whole, self.imported, False)):
            names = {part.part for part in item_parts} | {"all"}
            for part in (part for run in runs for part in stored.get(run.run_id, ())):
                if part.name not in names and (is_ours or TABLES[part.table].made_by == "evaluate"):
                    self.lake.remove(part)

    def remove_stale(self, retrievers: Mapping[str, Retriever], stored: Mapping[str, Sequence[Part]]) -> list[str]:
        """Remove unfinished built-in runs and those that today's items and code would not make; say how many."""
        rows = self.stored("built-in").select("run_id", "retriever", "limit", "selection").collect()
        current, stale = dict[Selection, set[str]](), []
        # A retriever with arguments may have another name in a run: a model its folder's name, not its path. Systems
        # are named one by one, to include those that run only on request.
        patterns = [f"*+{name}" for name in sorted(retrievers) if ":" in name or name in {*rows["retriever"]}]
        for run_id, retriever, limit, where in rows.iter_rows():
            if retriever in retrievers and retrievers[retriever].why_missing:
                # Without its model, one cannot decide whether the run would be made identically again.
                continue
            selection = Selection.of_run(where, limit)
            if selection not in current:
                is_over = self.selection.is_whole and not selection.is_whole
                others = self if selection == self.selection else replace(self, selection=selection)
                again = [] if is_over else others.plan(patterns, retrievers, [])
                current[selection] = {run.run_id for run in again if others.row(run).is_current}
            if run_id not in current[selection]:
                stale.append(run_id)
        # Runs with parts but without a row were interrupted.
        has_row = {run_id for run_id, parts in stored.items() if any(part.table == "runs" for part in parts)}
        prefix = f"{self.task.name}--".replace("/", ".")
        unfinished = [run_id for run_id in stored if run_id not in has_row and run_id.startswith(prefix)]
        for part in (part for run_id in (*stale, *unfinished) for part in stored[run_id]):
            self.lake.remove(part)
        return [f"removed {counted(len(stale), 'run')} of earlier data or code"] if stale else []


def parts_by_run(lake: Lake, benchmark: str) -> dict[str, list[Part]]:
    """The stored parts of a benchmark's runs, by run id."""
    of_run = defaultdict[str, list[Part]](list)
    for part in (part for name in OF_A_RUN for part in lake.parts(name, benchmark=benchmark)):
        of_run[part.folders["run_id"]].append(part)
    return of_run


def pool(runs: TaskRuns) -> Outcome:
    """Pool the scores and the ledgers of a task's runs; return the counts of the imported runs' items."""
    result, protocols = Outcome(tally=runs.lake.tally), protocols_of(runs.task)
    aggregate_runs(runs.item_parts, protocols, runs.planned)
    aggregate_runs(runs.whole, protocols, runs.imported)
    if runs.whole:
        keep_ledgers(runs.whole, systems_of(runs.lake, runs.task))
    counts = runs.counts(runs.imported).values()
    for n, n_failed, *_ in counts:
        result.add(Outcome(expected=n, scored=n - n_failed, failed=n_failed))
    if failed := [of_run for of_run in counts if of_run[1]]:
        n_items, n_lost, _, why = zip(*failed, strict=True)
        of_runs = counted(len(failed), "imported run")
        result.warnings.append(runs.failure(of_runs, sum(n_items), sum(n_lost), next(filter(None, why), "")))
    return result
