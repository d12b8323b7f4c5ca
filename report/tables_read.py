"""What the pages know: the lake's tables, read once and typed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import polars as pl
from pydantic import ValidationError

from lake.errors import Exit, GoldspanError
from lake.exact import from_steps
from lake.exact import steps as in_steps
from lake.fingerprint import sha256_of
from lake.store import Lake
from lake.usage import run_costs, run_usage
from report.format import slug
from report.models import (
    ALL_ITEMS,
    BenchmarkRow,
    DeclarationRow,
    FormatRow,
    MetricRow,
    ProtocolRow,
    RunCost,
    RunRow,
    SubmissionRow,
    TaskRow,
    UsageMeans,
)
from report.pools import ChunkCount, chunk_counts, fallbacks, left_out, pool_orders, slice_sizes

_D = TypeVar("_D", bound=DeclarationRow)
MAX_STEPS = 20


class TablesRead:
    """Everything the pages are made of; frames named as a table are its rows.

    Raises:
        GoldspanError: There is no benchmark in the lake, or a row cannot be read.
    """

    def __init__(self, lake: Lake) -> None:
        self.lake = lake
        self.benchmarks = self._benchmarks()
        if not self.benchmarks:
            message = "the lake is empty: there is no benchmark to report on"
            hint = "Fill it with: make ingest evaluate"
            raise GoldspanError(message, where=str(lake.root), hint=hint, code=Exit.MISSING)
        self.protocols = self._declared("protocols", ProtocolRow)
        self.tasks = self._declared("tasks", TaskRow)
        self.metrics = self._declared("metrics", MetricRow)
        self.chunkers = self._declared("chunkers", DeclarationRow)
        self.retrievers = self._declared("retrievers", DeclarationRow)
        self.formats = self._declared("formats", FormatRow)
        submitted = lake.read("submissions").sort("date", "submission", "task", descending=[True, False, False])
        self.submissions = [SubmissionRow(row) for row in submitted.iter_rows(named=True)]
        self.runs = self._runs()
        self.scored = lake.scan("boards").select("protocol", "task", "run_id").unique().collect()
        self.slice_sizes = slice_sizes(lake)
        used = sorted({run.task for run in self.runs} & set(self.tasks))
        self.chunk_counts = chunk_counts(lake, [self.tasks[name] for name in used])
        self.fallbacks, self.left_out, self.pool_orders = fallbacks(lake), left_out(lake), pool_orders(lake)
        self.effects, self.characters = lake.read("effects"), lake.read("characters")
        self.steps = coverage_by_step(
            lake, {name: protocol.primary.granularity for name, protocol in self.protocols.items()}
        )
        self.comparisons = self._of_boards("comparisons", "metric", "k")
        self.ledger = self._of_boards("ledger_means")
        self.rejects = lake.read("rejects").sort("stage", "source", "position")

    def _declared(self, name: str, model: type[_D], **added: pl.Expr) -> dict[str, _D]:
        """What one of the tables of declared things declares, by name."""
        by_name = {}
        for row in self.lake.read(name).with_columns(**added).sort("name").iter_rows(named=True):
            try:
                by_name[row["name"]] = model.model_validate({**row, "table": name})
            except ValidationError as error:
                wrong = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()]
                message = f"{name}: the row of {row['name']!r} cannot be read"
                raise GoldspanError(message, examples=wrong, code=Exit.INVALID) from error
        return by_name

    def _benchmarks(self) -> dict[str, BenchmarkRow]:
        # What an item cannot be scored for is not part of what the numbers are over.
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
        counted = {row.pop("benchmark"): row for row in items.to_dicts()}
        for row in counted.values():
            row["why_not"] = sorted(((each["why_not"], each["count"]) for each in row["why_not"]), key=_most_first)
        shown_name = pl.when(pl.col("display_name") == "").then("name").otherwise("display_name")
        label = pl.when(pl.col("tags").list.contains(pl.col("label"))).then("label").otherwise(pl.lit(""))
        title = pl.when(label == "").then(shown_name).otherwise(pl.format("{} ({})", shown_name, label))
        declared = self._declared("benchmarks", BenchmarkRow, subject=pl.col("title"), title=title, label=label)
        described = {name: row.model_copy(update=counted.get(name, {})) for name, row in declared.items()}
        return dict(sorted(described.items(), key=lambda each: (each[1].place, each[0])))

    def _runs(self) -> tuple[RunRow, ...]:
        lake, submissions = self.lake, {submission.run_id: submission for submission in self.submissions}
        costs = {run_id: RunCost(*row) for run_id, *row in _rows(run_costs(lake), RunCost._fields)}
        usage = {run_id: UsageMeans(*row) for run_id, *row in _rows(run_usage(lake), UsageMeans._fields)}
        steps = lake.scan("run_items").filter(pl.col("n_steps").is_not_null()).select("run_id").unique().collect()
        agents = set(steps["run_id"])
        texts = pl.col("format", "file", "parameters", "versions").fill_null("")
        rows = lake.read("runs").with_columns(texts).sort("benchmark", "system", "run_id")
        runs = []
        for row in rows.iter_rows(named=True):
            retriever, run_id = self.retrievers.get(row["retriever"] or ""), row["run_id"]
            added = {
                "notes": tuple(row["notes"] or ()),
                "retriever_title": retriever.title if retriever else "",
                "baseline": retriever is not None and "baseline" in retriever.tags,
                "has_steps": run_id in agents,
                "cost": costs.get(run_id),
                "usage": usage.get(run_id),
                "submission": submissions.get(run_id),
            }
            runs.append(RunRow(**{name: row[name] for name in RunRow.__dataclass_fields__ if name in row} | added))
        return tuple(runs)

    def _of_boards(self, table: str, *measure: str) -> pl.DataFrame:
        """The rows of a table over the slices that boards open on; by the primary metric, where columns name one."""
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

        Once there are runs, a protocol that has scored none of them is not among them, and one that has scored those of
        several tasks is there once for each: numbers of two tasks are not to be compared.
        """
        mine = [each for each in self.protocols.values() if each.benchmark == benchmark and not each.parity_only]
        scored = set(self.scored.select("protocol", "task").iter_rows())
        names = {name for name, _ in scored}
        boards = []
        for protocol in sorted(mine, key=lambda protocol: (protocol.place, protocol.name)):
            tasks = [task for task in protocol.tasks if (protocol.name, task) in scored]
            if len(tasks) > 1:
                boards += [protocol.model_copy(update={"task": task}) for task in tasks]
            elif protocol.name in names or not any(each.name in names for each in mine):
                boards.append(protocol)
        return boards

    def board_rows(self, protocol: ProtocolRow) -> pl.LazyFrame:
        """The rows of table `boards` of a protocol, of one task where the protocol stands for one."""
        rows = self.lake.scan("boards", benchmark=protocol.benchmark, protocol=protocol.name)
        return rows.filter(task=protocol.task) if protocol.task else rows

    def runs_of(self, benchmark: str) -> list[RunRow]:
        """A benchmark's runs."""
        return [run for run in self.runs if run.benchmark == benchmark]

    def chunks_of(self, run: RunRow) -> ChunkCount | None:
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


def _rows(table: pl.LazyFrame, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return table.select("run_id", *columns).collect().iter_rows()


def _most_first(reason: tuple[str, int]) -> tuple[int, str]:
    return -reason[1], reason[0]


def coverage_by_step(lake: Lake, granularities: Mapping[str, str], max_steps: int = MAX_STEPS) -> pl.DataFrame:
    """The mean coverage of the cumulative union: run_id, protocol, granularity, step (from 1), coverage, n (items).

    Each protocol has it at one granularity, as `granularities` says.

    A trajectory that is over keeps what it had, and one without a step has seen nothing: the items are those whose
    area under the same curve (metric `<granularity>_auc`) has a value.
    """
    of_run = ["run_id", "protocol", "granularity"]
    item, kinds = [*of_run, "item_id"], {"protocol": pl.String(), "granularity": pl.String()}
    ranked_by = pl.LazyFrame(list(granularities.items()), kinds, orient="row")
    stored = lake.scan("step_scores").filter(pl.col("step") <= max_steps, pl.col("n_gold") > 0)
    stored = stored.join(ranked_by, on=["protocol", "granularity"], how="semi")
    # A step counts from its own on: what it adds is spread over all that follow as a sum of gains, in whole numbers, so
    # that the order of the items says nothing.
    covered = in_steps(pl.col("n_cumulative_hit") / pl.col("n_gold"))
    gains = stored.sort(*item, "step").with_columns(gain=covered - covered.shift(1).over(item).fill_null(0))
    by_step = gains.group_by(*of_run, "step").agg(pl.col("gain").sum())
    areas = lake.scan("aggregates").filter(pl.col("metric") == pl.format("{}_auc", "granularity"), slice=ALL_ITEMS)
    # What is a mean over many orders, as chance is, has no steps that could be shown.
    items = areas.filter(pl.col("n") > 0).select(*of_run, "n").join(stored, on=of_run, how="semi")
    steps = pl.LazyFrame({"step": range(1, max_steps + 1)}, schema={"step": pl.Int64})
    return (
        items.join(steps, how="cross")
        .join(by_step, on=[*of_run, "step"], how="left")
        .sort(*of_run, "step")
        .with_columns(coverage=from_steps(pl.col("gain").fill_null(0).cum_sum().over(of_run)) / pl.col("n"))
        .select(*of_run, "step", "coverage", "n")
        .collect()
    )
