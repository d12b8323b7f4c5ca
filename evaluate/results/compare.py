"""Two systems under one protocol: how far apart the board's own numbers are, what that says, which items flipped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from evaluate.metrics import Metric, metric_named, metrics_of
from evaluate.results.compared import Compared, Measured
from evaluate.results.exploring import aggregated, explored, why_not
from evaluate.runs.comparing import systems_of
from evaluate.statistics.comparisons import MEASURE, SLICE
from evaluate.statistics.headline import average_of, slice_of
from lake.catalog.protocol import Protocol
from lake.catalog.protocols import protocol_named, protocols
from lake.catalog.references import REFERENCE, reference_of
from lake.catalog.task import Task
from lake.catalog.tasks import TASKS
from lake.errors import Exit, GoldspanError, unknown_name
from lake.store import Lake
from lake.verdict import mirrored

Asked = tuple[Metric, int]


def compare(
    lake: Lake, a: str, b: str, asked: Sequence[Asked], *, protocol_names: Sequence[str] = (), slice_name: str = ""
) -> list[Compared]:
    """Compare two systems under every protocol that scored both.

    Args:
        lake: Where their scores are; the caller holds its lock where something exploratory is asked for.
        a: A run's id, a system's name, or `reference` for the one that the task's benchmark declares.
        b: Another.
        asked: Metrics and cut-offs; none for each protocol's primary one.
        protocol_names: Under which protocols alone; none for all.
        slice_name: Over which items, as `subset=function-2k`; the slice that a protocol shows first without it.

    Raises:
        GoldspanError: There is no such run or system, a name means several runs, no protocol scored both, or none of
            those that did gives what is asked.
    """
    runs = lake.scan("runs").select("run_id", "system", "task", "retriever", "status").sort("run_id").collect()
    for name in (a, b):
        check_known(runs, name)
    pairs = [
        (task, protocol, pair)
        for protocol in (map(protocol_named, protocol_names) if protocol_names else protocols().values())
        for task in map(TASKS.__getitem__, protocol.tasks)
        if (pair := _pair(lake, protocol, runs.filter(pl.col("task") == task.name), a, b))
    ]
    if not pairs:
        message = f"no protocol scored both {a} and {b}"
        raise GoldspanError(message, hint="They answer different tasks.", code=Exit.MISSING)
    for metric, k in asked:
        reasons = [why_not(task, protocol, metric, k) for task, protocol, _ in pairs]
        if all(reasons):
            message = f"metric {metric.name}@{k} cannot be had of {a} and {b}"
            raise GoldspanError(message, examples=list(dict.fromkeys(reasons)), code=Exit.USAGE)
    found = [one for task, protocol, pair in pairs for one in _under(lake, task, protocol, pair, asked, slice_name)]
    missing = {(metric.name, k) for metric, k in asked} - {(one.metric, one.k) for one in found}
    if missing or not found:
        message = f"no item has a value from both {a} and {b}"
        examples = [f"{metric}@{k}" for metric, k in sorted(missing)]
        raise GoldspanError(message, examples=examples, code=Exit.MISSING)
    return found


def check_known(runs: pl.DataFrame, name: str) -> None:
    """See that a name is that of one of some runs or their systems.

    Raises:
        GoldspanError: It is none; the message asks "did you mean".
    """
    if name != REFERENCE and runs.filter((pl.col("run_id") == name) | (pl.col("system") == name)).is_empty():
        raise unknown_name(name, "run or system", [*runs["system"], *runs["run_id"]])


def _pair(lake: Lake, protocol: Protocol, runs: pl.DataFrame, a: str, b: str) -> list[str]:
    """The runs of a task that two names mean, of those scored under a protocol; empty where one means none."""
    scored = {part.folders["run_id"] for part in lake.parts("aggregates", protocol=protocol.name)}
    known = runs.filter(pl.col("run_id").is_in(list(scored)))
    pair = [run_meant(protocol, known, name) for name in (a, b)]
    return [one for one in pair if one] if all(pair) else []


def run_meant(protocol: Protocol, known: pl.DataFrame, name: str) -> str | None:
    """The one run that a name means, of those scored under a protocol; None where it means none.

    Args:
        protocol: Whose benchmark declares the reference.
        known: run_id, system and status of the runs that were scored under it.
        name: A run's id, a system's name, or `reference`.

    Raises:
        GoldspanError: It means several runs.
    """
    meant = reference_of(protocol.name, known["system"]) if name == REFERENCE else name
    mine = known.filter((pl.col("run_id") == meant) | (pl.col("system") == meant))
    complete = mine.filter(pl.col("status") == "complete")
    run_ids = (complete if mine.height > 1 and complete.height else mine)["run_id"].to_list()
    if len(run_ids) > 1:
        message = f"{name} means {len(run_ids)} runs"
        raise GoldspanError(message, examples=run_ids, hint="Name one by its id.", code=Exit.USAGE)
    return run_ids[0] if run_ids else None


def _under(
    lake: Lake, task: Task, protocol: Protocol, pair: Sequence[str], asked: Sequence[Asked], slice_name: str
) -> Iterator[Compared]:
    """Every metric that is asked for and can be had of two runs under one protocol."""
    primary = (metric_named(protocol.primary.metric), protocol.primary.k)
    wanted = [one for one in dict.fromkeys(asked or [primary]) if not why_not(task, protocol, *one)]
    scores, aggregates = (_stored(lake, name, protocol, pair) for name in ("scores", "aggregates"))
    # Only a slice that both have: a run over one repository has no other in common with a run over all.
    is_shared = pl.col("run_id").n_unique().over("slice", "slice_value") == len({*pair})
    where = slice_of(protocol, aggregates.filter(is_shared), slice_name)
    beside = [one for one in wanted if one not in metrics_of(protocol)]
    if beside:
        found = explored(lake, task, protocol, beside, pair)
        scores = pl.concat([scores, found.lazy()])
        aggregates = pl.concat([aggregates, aggregated(lake, task, protocol, found).lazy()])
    items = lake.scan("items", benchmark=task.benchmark)
    aggregates = aggregates.filter(pl.col("slice") == where[0], pl.col("slice_value") == where[1])
    systems = dict(systems_of(lake, task).select("run_id", "is_expected").iter_rows())
    for metric, k in wanted:
        of_metric = (pl.col("metric") == metric.name) & (pl.col("k") == k)
        rows = aggregates.filter(of_metric).collect()
        if rows["run_id"].n_unique() < len({*pair}):
            continue
        own = {run_id: number for run_id, *number in rows.select("run_id", average_of(protocol, metric), "n").rows()}
        sides = [scores.filter(of_metric, pl.col("run_id") == run_id) for run_id in pair]
        stored = lake.scan("comparisons", benchmark=task.benchmark, protocol=protocol.name)
        of_pair = pl.concat([stored, mirrored(stored)]).filter(pl.col("run_a") == pair[0], pl.col("run_b") == pair[1])
        found = of_pair.join(rows.lazy(), on=[*MEASURE, *SLICE], how="semi").collect()
        is_declared = (metric, k) not in beside
        asked_for = Measured(task, protocol, metric, k, where, is_declared=is_declared)
        yield from asked_for.compared(
            pair, sides, items, [systems[one] for one in pair], found, [own[one] for one in pair]
        )


def _stored(lake: Lake, name: str, protocol: Protocol, pair: Sequence[str]) -> pl.LazyFrame:
    parts = [part for run_id in {*pair} for part in lake.parts(name, protocol=protocol.name, run_id=run_id)]
    return lake.scan_parts(parts, name).drop("benchmark")
