"""What the pages know: the lake's tables, read once and typed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from lake.costs import run_costs
from lake.errors import Exit, GoldspanError
from lake.fingerprint import sha256_of
from lake.store import Lake
from lake.tables.declared import Declared
from report.entities import Benchmark, Cost, Declaration, Protocol, Run, Submission, submissions
from report.parameters import WHOLE, BenchmarkParameters, MetricParameters, ProtocolParameters
from report.pools import ChunkCount, PoolOrder, chunk_counts, fallbacks, left_out, pool_orders
from report.shown import slug
from report.slices import Sizes, of_the_largest
from report.steps import coverage_by_step


@dataclass(frozen=True)
class Facts:
    """Everything the pages are made of; frames named as a table are its rows."""

    benchmarks: Mapping[str, Benchmark]
    protocols: Mapping[str, Protocol]
    tasks: Mapping[str, Declaration]
    metrics: Mapping[str, Declaration]
    chunkers: Mapping[str, Declaration]
    retrievers: Mapping[str, Declaration]
    runs: tuple[Run, ...]
    aggregates: pl.DataFrame
    """Of a slice with more than some values, only those with the most items: see :mod:`report.slices`."""
    slice_sizes: Sizes
    chunk_counts: Mapping[tuple[str, str], ChunkCount]
    """Task and chunker → into how many chunks, how large, the files are cut that the task searches."""
    fallbacks: Mapping[str, Mapping[str, int]]
    """Chunker → why files were cut the plain way → how many of the whole lake."""
    left_out: Mapping[str, str]
    """Chunker whose chunks do not hold all of the files → what share of their text they hold."""
    effects: pl.DataFrame
    characters: pl.DataFrame
    steps: pl.DataFrame
    pool_orders: Mapping[tuple[str, str], PoolOrder]
    comparisons: pl.DataFrame
    """By the protocols' primary metrics, over the slices that boards open with."""
    ledger: pl.DataFrame
    """Rows of `ledger_means` over these slices."""
    rejects: pl.DataFrame
    submissions: tuple[Submission, ...]
    formats: tuple[Declaration, ...]

    def boards(self, benchmark: str) -> list[Protocol]:
        """The protocols whose leaderboards a benchmark's page shows, the headline first.

        Once there are runs, a protocol that has scored none of them is not among them, and one that has scored those of
        several tasks is there once for each: numbers of two tasks are not to be compared.
        """
        mine = [
            protocol
            for protocol in self.protocols.values()
            if protocol.benchmark == benchmark and not protocol.parameters.parity_only
        ]
        scored = set(self.aggregates["protocol"].unique())
        mine = [protocol for protocol in mine if protocol.name in scored] or mine
        ordered = sorted(mine, key=lambda one: (one.parameters.place, one.name))
        return [one for protocol in ordered for one in self._by_task(protocol)]

    def _by_task(self, protocol: Protocol) -> list[Protocol]:
        scored = set(self.aggregates.filter(pl.col("protocol") == protocol.name)["run_id"].unique())
        tasks = {run.task for run in self.runs if run.run_id in scored}
        named = [task for task in protocol.parameters.tasks if task in tasks]
        return [replace(protocol, task=task) for task in named] if len(named) > 1 else [protocol]

    def runs_of(self, benchmark: str) -> list[Run]:
        """A benchmark's runs."""
        return [run for run in self.runs if run.benchmark == benchmark]

    def chunks_of(self, run: Run) -> ChunkCount | None:
        """Into how many chunks what a run searches is cut."""
        return self.chunk_counts.get((run.task, run.chunker or ""))

    @cached_property
    def system_paths(self) -> Mapping[str, str]:
        """System → its page; of names that are alike but for their punctuation each has one of its own."""
        slugs = {system: slug(system)[:80] for system in sorted({run.system for run in self.runs})}
        n_alike = Counter(name.lower() for name in slugs.values())
        return {
            system: f"systems/{name}{f'-{sha256_of(system.encode())[:8]}' if n_alike[name.lower()] > 1 else ''}.html"
            for system, name in slugs.items()
        }

    @cached_property
    def metric_parameters(self) -> Mapping[str, MetricParameters]:
        """How each metric is to be read."""
        return {name: metric.read(MetricParameters) for name, metric in self.metrics.items()}


def load(lake: Lake) -> Facts:
    """Read the tables."""
    declared = _declared(lake, "benchmarks")
    if not declared:
        message = "the lake is empty: there is no benchmark to report on"
        raise GoldspanError(message, where=str(lake.root), hint="Fill it with: make ingest evaluate", code=Exit.MISSING)
    tables = {name: _declared(lake, name) for name in ("tasks", "metrics", "chunkers", "retrievers")}
    stored = _declared(lake, "protocols").items()
    protocols = {name: Protocol(row, row.read(ProtocolParameters)) for name, row in stored}
    aggregates, slice_sizes = of_the_largest(lake)
    submitted = submissions(lake)
    runs, tasks = _runs(lake, tables["retrievers"], submitted), tables["tasks"]
    return Facts(
        benchmarks=_benchmarks(lake, declared),
        protocols=protocols,
        **tables,
        runs=runs,
        aggregates=aggregates,
        slice_sizes=slice_sizes,
        chunk_counts=chunk_counts(lake, [tasks[name] for name in sorted({run.task for run in runs} & set(tasks))]),
        fallbacks=fallbacks(lake),
        left_out=left_out(lake),
        effects=lake.read("effects"),
        characters=lake.read("characters"),
        steps=coverage_by_step(lake),
        pool_orders=pool_orders(lake),
        comparisons=_of_boards(lake, "comparisons", protocols.values(), is_measured=True),
        ledger=_of_boards(lake, "ledger_means", protocols.values()),
        rejects=lake.read("rejects").sort("stage", "source", "position"),
        submissions=submitted,
        formats=tuple(_declared(lake, "formats").values()),
    )


def _of_boards(lake: Lake, name: str, protocols: Iterable[Protocol], *, is_measured: bool = False) -> pl.DataFrame:
    """The rows of a table over the slices that boards open with; where they are of a metric, by the primary one."""
    measured = {"metric": pl.String(), "k": pl.Int64()} if is_measured else {}
    keys = {"protocol": pl.String(), **measured, "slice": pl.String()}
    opened = [
        {"protocol": one.name, "metric": one.parameters.primary.metric, "k": one.parameters.primary.k, "slice": slice_}
        for one in protocols
        for slice_ in {one.parameters.headline.slice, WHOLE, "subset"}
    ]
    return lake.scan(name).join(pl.LazyFrame(opened, keys), on=list(keys), how="semi").collect()


def _declared(lake: Lake, name: str) -> dict[str, Declaration]:
    """What one of the tables of declared things declares, by name."""
    found = {}
    for row in lake.read(name).sort("name").iter_rows(named=True):
        shared = {column: row.pop(column) for column in Declared.columns()}
        del shared["version"], shared["fingerprint"]
        shared["tags"] = tuple(shared["tags"])
        found[shared["name"]] = Declaration(table=name, **shared, further=row)
    return found


def _benchmarks(lake: Lake, declared: Mapping[str, Declaration]) -> dict[str, Benchmark]:
    # What an item cannot be scored for is not part of what the numbers are over.
    repo, language, subset = (pl.col(name).filter("scorable") for name in ("repo", "language", "subset"))
    items = (
        lake.scan("items")
        .group_by("benchmark")
        .agg(
            pl.col("why_not").drop_nulls().value_counts(sort=False),
            n_items=pl.len(),
            n_scorable=pl.col("scorable").sum(),
            n_repos=repo.n_unique(),
            languages=language.unique().sort(),
            subsets=subset.unique().sort(),
        )
        .collect()
    )
    counted = {row["benchmark"]: row for row in items.iter_rows(named=True)}
    nothing = {**dict.fromkeys(("n_items", "n_scorable", "n_repos"), 0), "languages": (), "subsets": (), "why_not": ()}
    found = {}
    for name, declaration in declared.items():
        row = counted.get(name, nothing)
        reasons = sorted((-each["count"], each["why_not"]) for each in row["why_not"])
        found[name] = Benchmark(
            declaration=declaration,
            parameters=declaration.read(BenchmarkParameters),
            **{name: row[name] for name in ("n_items", "n_scorable", "n_repos")},
            languages=tuple(row["languages"]),
            subsets=tuple(row["subsets"]),
            why_not=tuple((reason, -n) for n, reason in reasons),
        )
    return dict(sorted(found.items(), key=lambda each: (each[1].parameters.place, each[0])))


_OF_RUN = (
    *("run_id", "system", "benchmark", "task", "chunker", "retriever"),
    *("origin", "status", "limit", "protocol"),
)


def _runs(lake: Lake, retrievers: Mapping[str, Declaration], submitted: Iterable[Submission]) -> tuple[Run, ...]:
    by_run = {one.run_id: one for one in submitted if one.run_id is not None}
    fields = list(Cost.__dataclass_fields__)
    costs = {row["run_id"]: Cost(*(row[name] for name in fields)) for row in run_costs(lake).collect().to_dicts()}
    steps = lake.scan("run_items").filter(pl.col("n_steps").is_not_null()).select("run_id").unique().collect()
    agents = set(steps["run_id"])
    rows = lake.read("runs").sort("benchmark", "system", "run_id")
    return tuple(
        Run(
            **{name: row[name] for name in _OF_RUN},
            format=row["format"] or "",
            file=row["file"] or "",
            parameters=row["parameters"] or "",
            versions=row["versions"] or "",
            notes=tuple(row["notes"] or ()),
            baseline=row["retriever"] in retrievers and "baseline" in retrievers[row["retriever"]].tags,
            has_steps=row["run_id"] in agents,
            cost=costs.get(row["run_id"]),
            submission=by_run.get(row["run_id"]),
        )
        for row in rows.iter_rows(named=True)
    )
