"""The input of the pages: the lake's tables, read once and typed, and counts over pools and slices."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import polars as pl

from lake.averages import AVERAGES
from lake.catalog.protocol import Primary
from lake.errors import Exit, GoldspanError, unknown_name
from lake.exact import exact_mean, from_steps
from lake.exact import steps as in_steps
from lake.fingerprint import sha256_of
from lake.pools import own_pool
from lake.store import Lake
from lake.text import percent
from lake.usage import run_costs, run_usage
from report.charts.figures import ORACLE_KIND
from report.downloads import run_kinds
from report.format import score, slug
from report.models import ALL_ITEMS, BenchmarkRow, DeclarationRow, ProtocolRow, RunRow


class ChunkCount(NamedTuple):
    """The number of chunks of some files, and their mean non-whitespace characters (0 if there is no chunk)."""

    n: int
    mean_size: float


def chunk_counts(lake: Lake, tasks: Sequence[DeclarationRow]) -> Mapping[tuple[str, str], ChunkCount]:
    """(task, chunker) → chunks in the pools of the task's scorable items; equal contents count once."""
    pools = [
        lake.scan("items", benchmark=task.benchmark)
        .filter("scorable")
        .select(task=pl.lit(task.name), pool_id=own_pool(task.pool_prefix, task.pool_by))
        .unique()
        for task in tasks
    ]
    if not pools:
        return {}
    cut = lake.scan("chunk_status").select("chunker", "sha256", "n_covered", n="n_chunks")
    files = lake.scan("files").join(pl.concat(pools), on="pool_id").select("task", "sha256").unique()
    counts = files.join(cut, on="sha256").group_by("task", "chunker").agg(pl.col("n", "n_covered").sum())
    return {
        (task, chunker): ChunkCount(n, covered / max(n, 1)) for task, chunker, n, covered in counts.collect().rows()
    }


def fallbacks(lake: Lake) -> Mapping[str, Mapping[str, int]]:
    """Chunker → reason for falling back to another chunker → number of files."""
    rows = lake.scan("chunk_status").filter(pl.col("fell_back").is_not_null()).group_by("chunker", "fell_back")
    counts: dict[str, dict[str, int]] = {}
    for chunker, reason, n in rows.agg(pl.len()).sort("chunker", "fell_back").collect().iter_rows():
        counts.setdefault(chunker, {})[reason] = n
    return counts


def left_out(lake: Lake) -> Mapping[str, str]:
    """Chunker → share of the files' text covered by its chunks, for chunkers that do not cover all of it."""
    rows = lake.scan("chunk_status").filter(pl.col("failed").is_null()).group_by("chunker")
    sums = rows.agg(pl.col("n_covered", "n_nws").sum()).filter(pl.col("n_covered") < pl.col("n_nws")).sort("chunker")
    return {chunker: percent(n_covered, n_nws) for chunker, n_covered, n_nws in sums.collect().iter_rows()}


def pool_orders(lake: Lake) -> Mapping[tuple[str, str], str]:
    """(benchmark, value of `subset/split/level`) → a sentence on ties: accuracy@1 of equal scores, and of chance.

    Equal scores keep the candidates' order. Only scorable items whose gold is one of several candidates count.
    """
    items = lake.scan("items").filter(pl.col("scorable") & pl.col("n_candidates").is_not_null())
    gold = lake.scan("gold_spans").filter(pl.col("candidate").is_not_null())
    value = pl.concat_str("subset", "split", "level", separator="/")
    orders = (
        items.select("benchmark", "item_id", "n_candidates", value=value)
        .join(gold.select("benchmark", "item_id", "candidate"), on=["benchmark", "item_id"])
        .group_by("benchmark", "value")
        .agg(first=(pl.col("candidate") == 0).mean(), chance=exact_mean(1 / pl.col("n_candidates")))
        .collect()
    )
    return {
        (benchmark, value): "equal scores keep the candidates' own order: a system that gives all of them the same "
        f"score has accuracy@1 {score(first)}, where chance has {score(chance)}"
        for benchmark, value, first, chance in orders.iter_rows()
    }


def slice_sizes(lake: Lake) -> Mapping[tuple[str, str | None, str], tuple[int, int]]:
    """(protocol, task, slice) → number of values and of items in all; a board has only the largest values."""
    tasks, of = lake.scan("runs").select("run_id", "task"), ["protocol", "task", "slice"]
    rows = lake.scan("aggregates").join(tasks, on="run_id", how="left")
    values = rows.group_by(*of, "slice_value").agg(pl.col("n_items").max())
    sizes = values.group_by(of).agg(pl.len(), pl.col("n_items").sum()).collect()
    return {(row[0], row[1], row[2]): (row[3], row[4]) for row in sizes.iter_rows()}


_D = TypeVar("_D", bound=DeclarationRow)
MAX_STEPS = 20
_USED = {
    "Tokens": "n_tokens", "US dollars": "usd", "Seconds": "seconds", "Turns": "n_turns", "Tool calls": "n_calls",
}  # fmt: skip
"""Column head → column of agent usage per item: a mean over the `<name>_known` items for which it is known."""


class TablesRead:
    """The lake's tables for the pages; a frame named like a table contains its rows.

    Raises:
        GoldspanError: The lake contains no benchmark, or a row cannot be read.
    """

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
            if protocol.primary.aggregate not in AVERAGES:
                raise unknown_name(protocol.primary.aggregate, "average", AVERAGES, code=Exit.INVALID)
        self.tasks = self._declared("tasks", DeclarationRow)
        self.metrics = self._declared("metrics", DeclarationRow)
        self.chunkers = self._declared("chunkers", DeclarationRow)
        self.retrievers = self._declared("retrievers", DeclarationRow)
        self.formats = lake.read("formats").sort("name").to_dicts()
        submitted = lake.read("submissions").sort("date", "submission", "task", descending=[True, False, False])
        self.submissions = submitted.to_dicts()
        self.runs = self._runs()
        self.scored = lake.scan("boards").select("protocol", "task", "run_id").unique().collect()
        self.slice_sizes = slice_sizes(lake)
        used = sorted({run.task for run in self.runs} & set(self.tasks))
        self.chunk_counts = chunk_counts(lake, [self.tasks[name] for name in used])
        self.fallbacks, self.left_out, self.pool_orders = fallbacks(lake), left_out(lake), pool_orders(lake)
        self.effects = lake.read("effects")
        self.steps = coverage_by_step(lake, {name: each.primary.granularity for name, each in self.protocols.items()})
        self.comparisons = self._of_boards("comparisons", "metric", "k")
        self.ledger = self._of_boards("ledger_means")
        self.rejects = lake.read("rejects").sort("stage", "source", "position")

    def _declared(self, name: str, kind: type[_D], **added: str) -> dict[str, _D]:
        """The rows of a table of declarations by name, with some values added."""
        rows = self.lake.read(name).sort("name").iter_rows(named=True)
        return {row["name"]: kind(**row, table=name, **added) for row in rows}

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
        declared = self._declared("benchmarks", BenchmarkRow)
        for name, benchmark in declared.items():
            vars(benchmark).update(counts.get(name, nothing))
            benchmark.why_not = sorted(benchmark.why_not, key=lambda reason: (-reason["count"], reason["why_not"]))
            benchmark.subject = benchmark.title
            benchmark.label = benchmark.label if benchmark.label in benchmark.tags else ""
            benchmark.title = f"{benchmark.shown_name} ({benchmark.label})" if benchmark.label else benchmark.shown_name
        return dict(sorted(declared.items(), key=lambda each: (each[1].place, each[0])))

    def _runs(self) -> tuple[RunRow, ...]:
        lake, submissions = self.lake, {row["run_id"]: row for row in self.submissions}
        costs, usage = ({row["run_id"]: row for row in of(lake).collect().to_dicts()} for of in (run_costs, run_usage))
        for row in usage.values():
            row["numbers"] = [(head, row[name], row[f"{name}_known"]) for head, name in _USED.items()]
        texts = pl.col("format", "file", "parameters", "versions").fill_null("")
        rows = run_kinds(lake).with_columns(texts).sort("benchmark", "system", "run_id").collect()
        titles = {name: each.title or name for name, each in self.retrievers.items()}
        systems = rows.select("system", "retriever", "chunker").unique().iter_rows()
        n_called = Counter((titles.get(retriever, retriever), chunker) for _, retriever, chunker in systems)
        runs = []
        for row in rows.iter_rows(named=True):
            run_id, kind, title = row["run_id"], row.pop("kind"), titles.get(row["retriever"], row["retriever"])
            added = {
                "notes": row["notes"] or [],
                "retriever_title": title if title and n_called[title, row["chunker"]] == 1 else "",
                "baseline": kind in ("baseline", ORACLE_KIND),
                "has_steps": kind == "agent",
                "cost": costs.get(run_id),
                "usage": usage.get(run_id),
                "submission": submissions.get(run_id),
            }
            runs.append(RunRow(**row | added))
        return tuple(runs)

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
        mine = [each for each in self.protocols.values() if each.benchmark == benchmark and not each.parity_only]
        scored = set(self.scored.select("protocol", "task").iter_rows())
        names = {name for name, _ in scored}
        boards = []
        for protocol in sorted(mine, key=lambda protocol: (protocol.place, protocol.name)):
            tasks = [task for task in protocol.tasks if (protocol.name, task) in scored]
            if len(tasks) > 1:
                boards += [ProtocolRow(**vars(protocol) | {"task": task}) for task in tasks]
            elif protocol.name in names or not any(each.name in names for each in mine):
                boards.append(protocol)
        return boards

    def board_rows(self, protocol: ProtocolRow) -> pl.LazyFrame:
        """The rows of table `boards` of a protocol, or of its task if it has one, without the columns naming them."""
        rows = self.lake.scan("boards", benchmark=protocol.benchmark, protocol=protocol.name)
        of_task = rows.filter(task=protocol.task) if protocol.task else rows
        return of_task.drop("benchmark", "protocol", "task")

    def runs_of(self, benchmark: str) -> list[RunRow]:
        """The runs of a benchmark."""
        return [run for run in self.runs if run.benchmark == benchmark]

    def chunks_of(self, run: RunRow) -> ChunkCount | None:
        """The chunks that a run searches; None if they are not known."""
        return self.chunk_counts.get((run.task, run.chunker or ""))

    @cached_property
    def system_paths(self) -> Mapping[str, str]:
        """System → path of its page; names that give the same slug are told apart by a hash."""
        slugs = {system: slug(system)[:80] for system in sorted({run.system for run in self.runs})}
        n_alike = Counter(name.lower() for name in slugs.values())
        return {
            system: f"systems/{name}{f'-{sha256_of(system.encode())[:8]}' if n_alike[name.lower()] > 1 else ''}.html"
            for system, name in slugs.items()
        }


def coverage_by_step(lake: Lake, granularities: Mapping[str, str], max_steps: int = MAX_STEPS) -> pl.DataFrame:
    """The mean coverage of all that was seen up to each step: run_id, protocol, granularity, step, coverage, n.

    Steps count from 1. After its last step a trajectory keeps its coverage; one without steps has 0. The mean is over
    the `n` items for which metric `<granularity>_auc`, the area under this curve, has a value.
    """
    of_run = ["run_id", "protocol", "granularity"]
    item, kinds = [*of_run, "item_id"], {"protocol": pl.String(), "granularity": pl.String()}
    ranked_by = pl.LazyFrame(list(granularities.items()), kinds, orient="row")
    stored = lake.scan("step_scores").filter(pl.col("step") <= max_steps, pl.col("n_gold") > 0)
    stored = stored.join(ranked_by, on=["protocol", "granularity"], how="semi")
    # The curve is a cumulative sum of each step's gain in coverage, as whole numbers: the order of items cannot matter.
    covered = in_steps(pl.col("n_cumulative_hit") / pl.col("n_gold"))
    gains = stored.sort(*item, "step").with_columns(gain=covered - covered.shift(1).over(item).fill_null(0))
    by_step = gains.group_by(*of_run, "step").agg(pl.col("gain").sum())
    areas = lake.scan("aggregates").filter(pl.col("metric") == pl.format("{}_auc", "granularity"), slice=ALL_ITEMS)
    # A mean over many orders, such as the random baseline, has no steps and is left out.
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
