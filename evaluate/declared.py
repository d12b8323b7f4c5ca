"""What pages say of tasks, protocols, metrics and retrievers, written as tables by the stage that declares them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from evaluate.metrics import Metric, metrics
from evaluate.retrievers import Retriever, retrievers
from evaluate.score.conformance import protocol_hash
from lake.catalog.protocol import Protocol
from lake.catalog.protocols import protocols
from lake.catalog.task import Task
from lake.catalog.tasks import TASKS
from lake.fingerprint import canonical_json, fingerprint
from lake.make import make
from lake.store import Lake
from lake.tables import declared_row


def declare(lake: Lake) -> None:
    """Write the tables `tasks`, `protocols`, `metrics` and `retrievers`, as far as they are not current."""
    _write(lake, "tasks", (_task(task) for task in TASKS.values()))
    _write(lake, "protocols", (_protocol(protocol) for protocol in protocols().values()))
    _write(lake, "metrics", (_metric(metric) for metric in metrics().values()))
    _write(lake, "retrievers", (_retriever(retriever) for retriever in retrievers().values()))


def _write(lake: Lake, name: str, rows: Iterable[pl.DataFrame]) -> None:
    frame = pl.concat(list(rows))
    make(lake, name, "all", lambda: frame, parameters=frame.to_dicts(), code=())


def _row(name: str, title: str, meaning: str, parameters: Mapping[str, object], **columns: object) -> pl.DataFrame:
    said = canonical_json(parameters)
    row = declared_row(name=name, title=title, meaning=meaning, parameters=said, **columns)
    return row.with_columns(fingerprint=pl.lit(fingerprint(row.to_dicts())))


def _task(task: Task) -> pl.DataFrame:
    parameters: dict[str, object] = {
        "query": task.query_meaning,
        "pool": task.pool_meaning,
        "tie": task.tie,
        "depth": task.depth,
    }
    parameters |= {"pool_prefix": task.pool_prefix, "subsets": task.subsets}
    parameters |= {"imported_only": task.imported_only}
    return _row(task.name, task.title, task.meaning, parameters, version=task.version)


def _protocol(protocol: Protocol) -> pl.DataFrame:
    primary = protocol.primary
    headline = protocol.headline or ("all", "all")
    parameters = {
        "tasks": protocol.tasks,
        "gold": protocol.gold,
        "relevance": protocol.relevance,
        "threshold": protocol.threshold,
        "applies": protocol.applies,
        "full_lists": protocol.full_lists,
        "metrics": protocol.metrics,
        "primary": vars(primary),
        "headline": {"slice": headline[0], "slice_value": headline[1]},
        "hash": protocol_hash(protocol),
        "parity_only": protocol.parity_only,
        "place": protocol.place,
        **({"context": vars(protocol.context)} if protocol.context else {}),
    }
    return _row(
        protocol.name,
        protocol.title,
        protocol.meaning,
        parameters,
        version=protocol.version,
        source=protocol.source,
        primary_metric=f"{primary.metric}@{primary.k}",
    )


_MICRO = {"ratio of sums": "ratio", "equals macro": "same", "undefined": "none"}


def _metric(metric: Metric) -> pl.DataFrame:
    parameters = {
        "granularity": metric.granularity,
        "higher_is_better": metric.direction == "higher",
        "direction": metric.direction,
        "micro": _MICRO[metric.micro],
        "of_steps": metric.is_of_steps,
        "cut": metric.cut,
        "ks": metric.ks,
    }
    return _row(metric.name, metric.title, metric.meaning, parameters)


def _retriever(retriever: Retriever) -> pl.DataFrame:
    return _row(
        retriever.name,
        retriever.title,
        retriever.meaning,
        retriever.parameters,
        version=retriever.version,
        source=retriever.source,
        tags=list(retriever.tags),
    )
