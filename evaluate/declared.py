"""What pages say of tasks, protocols, metrics and retrievers, written as tables by the stage that declares them."""

from collections.abc import Iterable, Mapping

from evaluate.metrics import Metric, metrics
from evaluate.retrievers import Retriever
from evaluate.score.conformance import protocol_hash
from lake.benchmarks import known_protocols, known_tasks
from lake.catalog.protocol import Protocol, Task
from lake.fingerprint import canonical_json
from lake.make import write_if_changed
from lake.store import Lake
from lake.tables import declared_rows, table

_MICRO = {"ratio of sums": "ratio", "equals macro": "same", "undefined": "none"}


def declare(lake: Lake, known: Iterable[Retriever]) -> None:
    """Write the tables `tasks`, `protocols`, `metrics` and `retrievers`, as far as they are not current."""
    rows = {
        "tasks": map(_task, known_tasks(lake).values()),
        "protocols": map(_protocol, known_protocols(lake).values()),
        "metrics": map(_metric, metrics().values()),
        "retrievers": (_row("retrievers", retriever, retriever.parameters, revision="") for retriever in known),
    }
    for name, declared in rows.items():
        write_if_changed(lake, name, "all", declared_rows(name, declared))


def _row(name: str, declared: object, parameters: Mapping[str, object], **others: object) -> dict[str, object]:
    """A row of what a declaration has under the names of a table's columns, and of what else is said of it."""
    columns = {column: getattr(declared, column) for column in table(name).columns if hasattr(declared, column)}
    columns |= {column: list(value) for column, value in columns.items() if isinstance(value, tuple)} | others
    return {**columns, "parameters": canonical_json(parameters)}


def _task(task: Task) -> dict[str, object]:
    parameters = {"depth": task.depth, "subsets": task.subsets, "imported_only": task.imported_only}
    return _row("tasks", task, parameters, query=task.query_meaning, pool=task.pool_meaning)


def _protocol(protocol: Protocol) -> dict[str, object]:
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
        protocol,
        parameters,
        primary_metric=f"{primary.metric}@{primary.k}",
        metrics=[{"metric": metric, "ks": list(ks)} for metric, ks in protocol.metrics],
        primary=vars(primary),
        headline={"slice": headline[0], "slice_value": headline[1]},
        has_contexts=context is not None,
        leaves_out_failed=context is not None and context.failed == "left out",
        hash=protocol_hash(protocol),
    )


def _metric(metric: Metric) -> dict[str, object]:
    parameters = {"granularity": metric.granularity, "ks": metric.ks}
    return _row("metrics", metric, parameters, micro=_MICRO[metric.micro], of_steps=metric.is_of_steps)
