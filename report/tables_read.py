"""The input of the pages: the lake's tables, read once and typed, and counts over pools and slices."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import Any, TypeVar

import polars as pl

from lake.catalog.protocol import Primary
from lake.errors import Exit, GoldspanError
from lake.fingerprint import sha256_of
from lake.pools import own_pool
from lake.store import Lake
from lake.tables import PROGRAMS
from lake.text import counted, percent
from lake.usage import run_costs, run_usage
from report.charts.figures import KIND_LOOKS, ORACLE_KIND
from report.coverage import coverage_by_step
from report.editions import EDITION_TAG
from report.format import slug

MEASURE = ("granularity", "metric", "k")
"""The key of a column of scores."""

ALL_ITEMS = "all"
"""The name of the slice with every item, and of its only value."""

COMPLETE, FAILED, IMPORTED, BUILT_IN = "complete", "failed", "imported", "built-in"


class TableRow(SimpleNamespace):
    """A row of a table; a declaration's row also has its `table` and `shown_name`, its name for people."""


class BenchmarkRow(TableRow):
    """A benchmark; its `title` ends with its label, `subject` is the declared title, `provenance` its source in words.

    It has counts of its items: n_items, n_scorable, n_repos, languages and subsets of scorable items, and `why_not`.
    `label` marks data other than the published benchmark. Own data (`is_own`) and published results (`is_edition`) are
    scored by the rules of `kind`.
    """


class ProtocolRow(TableRow):
    """A protocol; `task` is set if several of its tasks have runs and this is the protocol for one of them."""

    @property
    def short(self) -> str:
        """Its name without the benchmark (`chunking-v1`), followed by the task's name if `task` is set."""
        name = self.name.partition("@")[2] or self.name
        return f"{name}/{self.task.partition('/')[2]}" if self.task else name


class RunRow(TableRow):
    """A run with its `kind`, the key of KIND_LOOKS it is `drawn` with, its `provenance`, and the chunks it searches.

    `short_name` is the retriever's title, or the system's id if that is missing or ambiguous, `by` the addition to it:
    the chunker, or what an agent is made of. `cost`, `usage` and `submission` are its rows of these tables or None.
    `comparable`: it answered the whole benchmark, so that its scores may be compared with others.
    """


def run_kinds(lake: Lake) -> pl.LazyFrame:
    """The table `runs` with a column `kind`: `oracle`, `baseline`, `agent`, or else `retriever`."""
    agents = lake.scan("run_items").filter(pl.col("n_steps").is_not_null()).select("run_id").unique().collect()
    tagged = lake.scan("retrievers").filter(pl.col("tags").list.contains("baseline")).select("name").collect()
    kinds = {
        "oracle": pl.col("retriever") == "oracle",
        "baseline": pl.col("retriever").is_in(tagged["name"].implode()),
        "agent": pl.col("run_id").is_in(agents["run_id"].implode()),
    }
    first = [pl.when(is_it).then(pl.lit(kind)) for kind, is_it in kinds.items()]
    return lake.scan("runs").with_columns(kind=pl.coalesce(*first, pl.lit("retriever")))


def chunk_counts(lake: Lake, tasks: Sequence[TableRow]) -> pl.LazyFrame:
    """task, chunker, n_chunks, mean chunk_size: chunks in the pools of scorable items, equal contents once."""
    pools = [
        lake.scan("items", benchmark=task.benchmark)
        .filter("scorable")
        .select(task=pl.lit(task.name), pool_id=own_pool(task.pool_prefix, task.pool_by))
        .unique()
        for task in tasks
    ]
    of_tasks = pl.concat([pl.LazyFrame(schema={"task": pl.String(), "pool_id": pl.String()}), *pools])
    files = lake.scan("files").join(of_tasks, on="pool_id").select("task", "sha256").unique()
    counts = files.join(lake.scan("chunk_status"), on="sha256").group_by("task", "chunker")
    sums, size = counts.agg(pl.col("n_chunks", "n_covered").sum()), pl.max_horizontal("n_chunks", 1)
    return sums.select("task", "chunker", "n_chunks", chunk_size=pl.col("n_covered") / size)


_D = TypeVar("_D", bound=TableRow)
_USED = {
    "Tokens": "n_tokens", "US dollars": "usd", "Seconds": "seconds", "Turns": "n_turns", "Tool calls": "n_calls",
}  # fmt: skip
"""Column head → column of agent usage per item: a mean over the `<name>_known` items for which it is known."""


class TablesRead:
    """The lake's tables for the pages, each frame named like its table; GoldspanError if there is no benchmark."""

    def __init__(self, lake: Lake) -> None:
        self.lake = lake
        self.benchmarks = self._benchmarks()
        if not self.benchmarks:
            message = "the lake is empty: there is no benchmark to report on"
            hint = "Fill it with: make ingest evaluate"
            raise GoldspanError(message, where=str(lake.root), hint=hint, code=Exit.MISSING)
        self.protocols = self._declared("protocols", ProtocolRow, task="")
        for protocol in self.protocols.values():
            protocol.primary = Primary(**protocol.primary)
        self.tasks, self.metrics, self.chunkers, self.retrievers = (
            self._declared(name, TableRow) for name in ("tasks", "metrics", "chunkers", "retrievers")
        )
        self._count_covered()
        self.formats = lake.read("formats").sort("name").to_dicts()
        submitted = lake.read("submissions").sort("date", "submission", "task", descending=[True, False, False])
        self.submissions = submitted.to_dicts()
        self.runs = self._runs()
        self.scored = lake.scan("boards").select("protocol", "task", "run_id").unique().collect()
        self.effects = lake.read("effects")
        # (protocol, task, slice) → number of values and of items in all; a board has only the largest values.
        of = ["protocol", "task", "slice"]
        sized = lake.scan("aggregates").join(lake.scan("runs").select("run_id", "task"), on="run_id", how="left")
        sizes = sized.group_by(*of, "slice_value").agg(pl.col("n_items").max()).group_by(of)
        self.slice_sizes = sizes.agg(pl.len(), pl.col("n_items").sum()).collect().rows_by_key(of, unique=True)
        self.steps = coverage_by_step(lake, {name: each.primary.granularity for name, each in self.protocols.items()})
        self.comparisons = self._of_boards("comparisons", "metric", "k")
        self.ledger = self._of_boards("ledger_means")
        self.rejects = lake.read("rejects").sort("stage", "source", "position")

    def _declared(self, name: str, kind: type[_D], **added: str) -> dict[str, _D]:
        """The rows of a table of declarations by name, with some values added."""
        rows = self.lake.read(name).sort("name").iter_rows(named=True)
        return {
            row["name"]: kind(**row, **added, table=name, shown_name=row.get("display_name") or row["name"])
            for row in rows
        }

    def _benchmarks(self) -> dict[str, BenchmarkRow]:
        # Only scorable items count, since scores are over them.
        repo, language, subset = (pl.col(name).filter("scorable") for name in ("repo", "language", "subset"))
        items = (
            self.lake.scan("items")
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
        counts: dict[str, dict[str, Any]] = {row.pop("benchmark"): row for row in items.to_dicts()}
        nothing = {"why_not": [], "n_items": 0, "n_scorable": 0, "n_repos": 0, "languages": [], "subsets": []}
        known = {"sample": "the built-in sample", "hub": "the Hugging Face Hub"}
        declared = self._declared("benchmarks", BenchmarkRow)
        for name, row in declared.items():
            vars(row).update(counts.get(name, nothing))
            row.why_not = sorted(row.why_not, key=lambda reason: (-reason["count"], reason["why_not"]))
            row.label = row.label if row.label in row.tags else ""
            row.subject, row.title = row.title, f"{row.shown_name} ({row.label})" if row.label else row.shown_name
            row.gold_rules = {rule["name"]: rule["meaning"] for rule in row.gold_rules}
            row.kind, row.is_edition = row.like or name, EDITION_TAG in row.tags
            row.is_own = bool(row.like) and not row.is_edition
            what = "declaration" if row.source.lower().endswith((".yaml", ".yml")) else "folder"
            row.provenance = known.get(row.source, f"a local copy, {what} “{row.source}”")
        return dict(sorted(declared.items(), key=lambda each: (each[1].place, each[0])))

    def _count_covered(self) -> None:
        """Add to each chunker why and how often files fell back to another, and the share of text in its chunks."""
        of_read = pl.col("n_covered", "n_nws").filter(pl.col("failed").is_null()).sum()
        status = self.lake.scan("chunk_status").group_by("chunker", "fell_back").agg(of_read, n=pl.len())
        stored = status.sort("chunker", "fell_back").collect()
        for name, chunker in self.chunkers.items():
            mine = stored.filter(chunker=name)
            chunker.fallbacks = mine.drop_nulls("fell_back").select("fell_back", "n").rows()
            n_covered, n_nws = (int(mine[name].sum()) for name in ("n_covered", "n_nws"))
            chunker.covered = percent(n_covered, n_nws) if n_covered < n_nws else ""

    def _runs(self) -> list[RunRow]:
        lake, submissions = self.lake, {row["run_id"]: row for row in self.submissions}
        costs, usage = ({row["run_id"]: row for row in of(lake).collect().to_dicts()} for of in (run_costs, run_usage))
        for row in usage.values():
            row["numbers"] = [(head, row[name], row[f"{name}_known"]) for head, name in _USED.items()]
        stored = run_kinds(lake).with_columns(pl.col("format", "file", "parameters", "versions").fill_null(""))
        # A retriever's title names its system, unless others have the same title and chunker.
        title = pl.col("retriever").replace({name: each.title or name for name, each in self.retrievers.items()})
        is_clear = pl.col("system").n_unique().over(title, "chunker") == 1
        stored = stored.with_columns(title=pl.when(is_clear).then(title).fill_null("")).collect().lazy()
        tasks = {*stored.select("task").collect()["task"]} & self.tasks.keys()
        # Of the lake alone: editions have no counts of chunks, but the lake may have some of their files.
        counts = chunk_counts(Lake(lake.root), [self.tasks[name] for name in sorted(tasks)])
        with_counts = stored.join(counts, on=["task", "chunker"], how="left")
        rows = with_counts.sort("benchmark", "system", "run_id").collect().to_dicts()
        return [_run(row, *(of.get(row["run_id"]) for of in (costs, usage, submissions))) for row in rows]

    def _of_boards(self, table: str, *measure: str) -> pl.DataFrame:
        """A table's rows over headline slices, `all` and `subset`; the columns `measure` match the primary metric."""
        kinds = {"protocol": pl.String(), "metric": pl.String(), "k": pl.Int64(), "slice": pl.String()}
        opened = [
            (protocol.name, protocol.primary.metric, protocol.primary.k, slice_)
            for protocol in self.protocols.values()
            for slice_ in {protocol.headline["slice"], ALL_ITEMS, "subset"}
        ]
        keys = ["protocol", *measure, "slice"]
        return self.lake.scan(table).join(pl.LazyFrame(opened, kinds, orient="row"), on=keys, how="semi").collect()

    def boards(self, benchmark: str) -> list[ProtocolRow]:
        """The protocols whose leaderboards a benchmark's page shows, the headline first.

        If any of them has scored runs, those that have not are left out. A protocol with scored runs of several tasks
        is listed once per task, because scores of different tasks must not be compared.
        """
        every = sorted(self.protocols.values(), key=lambda protocol: (protocol.place, protocol.name))
        mine = [each for each in every if each.benchmark == benchmark and not each.parity_only]
        scored = {*self.scored.select("protocol", "task").iter_rows()}
        names = {name for name, _ in scored}
        boards = []
        for protocol in [each for each in mine if each.name in names] or mine:
            tasks = [task for task in protocol.tasks if (protocol.name, task) in scored]
            of_tasks = [ProtocolRow(**vars(protocol) | {"task": task}) for task in tasks]
            boards += of_tasks if len(tasks) > 1 else [protocol]
        return boards

    def board_rows(self, protocol: ProtocolRow) -> pl.LazyFrame:
        """The rows of table `boards` of a protocol, or of its task if it has one, without the columns naming them."""
        rows = self.lake.scan("boards", benchmark=protocol.benchmark, protocol=protocol.name)
        of_task = rows.filter(task=protocol.task) if protocol.task else rows
        return of_task.drop("benchmark", "protocol", "task")

    def runs_of(self, benchmark: str) -> list[RunRow]:
        """The runs of a benchmark."""
        return [run for run in self.runs if run.benchmark == benchmark]

    @cached_property
    def system_paths(self) -> Mapping[str, str]:
        """System → path of its page; names that give the same slug are told apart by a hash."""
        slugs = {system: slug(system)[:80] for system in sorted({run.system for run in self.runs})}
        n_alike = Counter(name.lower() for name in slugs.values())
        return {
            system: f"systems/{name}{f'-{sha256_of(system.encode())[:8]}' if n_alike[name.lower()] > 1 else ''}.html"
            for system, name in slugs.items()
        }


_Row = dict[str, Any]


def _run(row: _Row, cost: _Row | None, usage: _Row | None, submission: _Row | None) -> RunRow:
    """A row of :func:`run_kinds` as a run; its `title` is that of its retriever, empty if it is ambiguous."""
    run = RunRow(**row | {"notes": row["notes"] or []}, cost=cost, usage=usage, submission=submission)
    run.baseline, run.has_steps = row["kind"] in ("baseline", ORACLE_KIND), row["kind"] == "agent"
    run.comparable = run.status == COMPLETE and run.limit is None
    own = "baseline" if run.baseline else "retriever" if run.origin == BUILT_IN else run.origin
    run.kind = "agent" if run.has_steps else submission["kind"] if submission else own
    run.drawn = row["kind"] if run.baseline else run.kind if run.kind in KIND_LOOKS else "retriever"
    models = usage["models"].split(", ") if usage else []
    model = counted(len(models), "model") if len(models) > 1 else "".join(models)
    made_of = [run.format, model, submission["date"] if submission else ""] if run.has_steps else []
    run.short_name = run.title or run.system
    run.by = (run.chunker or "") if run.title else ", ".join(filter(None, made_of))
    run.full_name = f"{run.title} over {run.chunker}" if run.title and run.chunker else run.short_name
    answers = "trajectories" if run.has_steps else "ranking"
    is_own = run.origin == BUILT_IN or run.format in PROGRAMS
    run.provenance = "run here" if is_own else f"scored here from the submitted {answers}"
    return run
