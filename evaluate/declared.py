"""What pages say of tasks, protocols, metrics and retrievers, written as tables by the stage that declares them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from evaluate.metrics import Metric, metrics
from evaluate.retrievers import Retriever
from evaluate.score.conformance import protocol_hash
from lake.catalog.protocol import Protocol
from lake.catalog.protocols import protocols
from lake.catalog.task import Task
from lake.catalog.tasks import TASKS
from lake.fingerprint import canonical_json, fingerprint
from lake.make import put
from lake.store import Lake
from lake.tables import declared_row


def declare(lake: Lake, known: Iterable[Retriever]) -> None:
    """Write the tables `tasks`, `protocols`, `metrics` and `retrievers`, as far as they are not current.

    Args:
        lake: Where to.
        known: Every retriever that may have a run.
    """
    _write(lake, "tasks", (_task(task) for task in TASKS.values()))
    _write(lake, "protocols", (_protocol(protocol) for protocol in protocols().values()))
    _write(lake, "metrics", (_metric(metric) for metric in metrics().values()))
    _write(lake, "retrievers", map(_retriever, known))


def _write(lake: Lake, name: str, rows: Iterable[pl.DataFrame]) -> None:
    put(lake, name, "all", pl.concat(list(rows)))


def _row(table: str, parameters: Mapping[str, object], **columns: object) -> pl.DataFrame:
    row = declared_row(table, parameters=canonical_json(parameters), **columns)
    return row.with_columns(fingerprint=pl.lit(fingerprint(row.to_dicts())))


def _task(task: Task) -> pl.DataFrame:
    return _row(
        "tasks",
        {"depth": task.depth, "subsets": task.subsets, "imported_only": task.imported_only},
        name=task.name,
        title=task.title,
        meaning=task.meaning,
        version=task.version,
        benchmark=task.benchmark,
        query=task.query_meaning,
        pool=task.pool_meaning,
        tie=task.tie,
        pool_prefix=task.pool_prefix,
    )


def _protocol(protocol: Protocol) -> pl.DataFrame:
    primary, context = protocol.primary, protocol.context
    headline = protocol.headline or ("all", "all")
    parameters = {
        "threshold": protocol.threshold,
        "applies": protocol.applies,
        "full_lists": protocol.full_lists,
        **({"context": vars(context)} if context else {}),
    }
    return _row(
        "protocols",
        parameters,
        name=protocol.name,
        title=protocol.title,
        meaning=protocol.meaning,
        version=protocol.version,
        source=protocol.source,
        primary_metric=f"{primary.metric}@{primary.k}",
        benchmark=TASKS[protocol.tasks[0]].benchmark,
        tasks=list(protocol.tasks),
        gold=protocol.gold,
        relevance=protocol.relevance,
        metrics=[{"metric": metric, "ks": list(ks)} for metric, ks in protocol.metrics],
        primary=vars(primary),
        headline={"slice": headline[0], "slice_value": headline[1]},
        has_contexts=context is not None,
        leaves_out_failed=context is not None and context.failed == "left out",
        hash=protocol_hash(protocol),
        parity_only=protocol.parity_only,
        place=protocol.place,
    )


_MICRO = {"ratio of sums": "ratio", "equals macro": "same", "undefined": "none"}


def _metric(metric: Metric) -> pl.DataFrame:
    return _row(
        "metrics",
        {"granularity": metric.granularity, "ks": metric.ks},
        name=metric.name,
        title=metric.title,
        meaning=metric.meaning,
        direction=metric.direction,
        micro=_MICRO[metric.micro],
        of_steps=metric.is_of_steps,
        cut=metric.cut,
    )


def _retriever(retriever: Retriever) -> pl.DataFrame:
    return _row(
        "retrievers",
        retriever.parameters,
        name=retriever.name,
        title=retriever.title,
        meaning=retriever.meaning,
        version=retriever.version,
        source=retriever.source,
        tags=list(retriever.tags),
    )
