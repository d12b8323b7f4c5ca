"""A system of another lake, or of published scores, against one of this lake: a gate between two states of a project.

Items are matched by id. Where the same id stands for other data, or other rules scored it, nothing is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import polars as pl

from evaluate.metrics import metric_named, metrics_of
from evaluate.results.board import called
from evaluate.results.compare import Asked, check_known, run_meant
from evaluate.results.compared import Compared, Measured
from evaluate.results.published import Source
from evaluate.runs.comparing import systems_of
from evaluate.statistics.headline import slice_of
from lake.catalog.protocol import Protocol
from lake.catalog.protocols import protocol_named, protocols
from lake.catalog.task import Task
from lake.catalog.tasks import TASKS
from lake.errors import Exit, GoldspanError
from lake.naming import SEARCHED
from lake.store import Lake
from lake.tables import table
from lake.text import counted


def compare_across(
    lake: Lake,
    other: Source,
    a: str,
    b: str,
    asked: Sequence[Asked],
    *,
    protocol_names: Sequence[str] = (),
    slice_name: str = "",
) -> tuple[list[Compared], list[str]]:
    """Compare a system of another place with one of this lake, under every protocol that scored both.

    Args:
        lake: Where the second's scores are, and the items.
        other: Where the first's are.
        a: A run's id, a system's name, or `reference`, there.
        b: Another, here.
        asked: Metrics and cut-offs, of those that are stored; none for each protocol's primary one.
        protocol_names: Under which protocols alone; none for all.
        slice_name: Over which items; the slice that a protocol shows first without it.

    Returns:
        The comparisons, and sentences on what could not be compared.

    Raises:
        GoldspanError: There is no such run or system, the data or rules of the two differ, or no protocol scored both.
    """
    there, here = _runs(other), _runs(lake)
    check_known(there, a)
    check_known(here, b)
    found: list[Compared] = []
    notes: dict[str, None] = {}
    for protocol in map(protocol_named, protocol_names) if protocol_names else protocols().values():
        for task in map(TASKS.__getitem__, protocol.tasks):
            is_of_task = (pl.col("task") == task.name).fill_null(value=True) & (pl.col("protocol") == protocol.name)
            first, second = (run_meant(protocol, one.filter(is_of_task), name) for one, name in ((there, a), (here, b)))
            if first is None or second is None:
                continue
            pair = _Pair(lake, other, task, protocol, first, second)
            pair.check()
            found += pair.compared(asked, slice_name)
            notes |= dict.fromkeys(pair.notes())
    missing = {called(*one) for one in asked} - {called(metric_named(one.metric), one.k) for one in found}
    if missing or not found:
        message = f"no item has a value from both {a} there and {b} here"
        hint = "Across lakes only what is stored is compared: the metrics that a protocol declares."
        raise GoldspanError(message, examples=sorted(missing), hint=hint, code=Exit.MISSING)
    return found, list(notes)


def _runs(source: Source) -> pl.DataFrame:
    """The scored runs: run_id, system, task, status, protocol."""
    if isinstance(source, Lake):
        stored = [(one.folders["run_id"], one.folders["protocol"]) for one in source.parts("scores")]
        scored = pl.LazyFrame(stored, schema={"run_id": pl.String, "protocol": pl.String}, orient="row").unique()
    else:
        scored = source.scan("scores").select("run_id", "protocol").unique()
    runs = source.scan("runs").select("run_id", "system", "task", "status")
    return runs.join(scored, on="run_id").sort("run_id", "protocol").collect()


class _Pair:
    """A run there and a run here, under one protocol."""

    def __init__(self, lake: Lake, other: Source, task: Task, protocol: Protocol, a: str, b: str) -> None:
        self._lake, self._other, self._task, self._protocol, self._pair = lake, other, task, protocol, (a, b)
        folders = {"benchmark": task.benchmark, "protocol": protocol.name}
        sides = ((other, a), (lake, b))
        self._scores = [source.scan("scores", **folders, run_id=run_id) for source, run_id in sides]
        self._items = [one.select("item_id").unique().collect() for one in self._scores]
        self._shared = self._items[0].join(self._items[1], on="item_id").sort("item_id")
        self._unknown: list[str] = []

    def check(self) -> None:
        """See that the two are of the same data under the same rules.

        Raises:
            GoldspanError: They are not; it says in what.
        """
        benchmark, name = self._task.benchmark, self._protocol.name
        hashes = [one.select("protocol_hash").unique().collect()["protocol_hash"].to_list() for one in self._scores]
        if sorted(hashes[0]) != sorted(hashes[1]):
            message = f"{name}: the two were scored by different rules, which the protocol's hash tells"
            hint = "Score both with the same version of this project, or leave the protocol out with --protocol."
            raise GoldspanError(message, examples=[_short(hashes)], hint=hint, code=Exit.INVALID)
        labels = [
            one.scan("benchmarks").filter(name=benchmark).select("label").collect()["label"].to_list()
            for one in (self._other, self._lake)
        ]
        if labels[0] and labels[0] != labels[1]:
            shown = " here, ".join(repr(label) for label in ("".join(labels[1]), "".join(labels[0])))
            message = f"{benchmark}: the two hold different data: labelled {shown} there"
            hint = "Ingest the same source into both lakes; an empty label is the published data."
            raise GoldspanError(message, hint=hint, code=Exit.INVALID)
        if not labels[0]:
            self._unknown.append("the benchmark's label")
        for what, differing in self._differing():
            message = f"{name}: {what} of {len(differing):,} of {counted(self._shared.height, 'shared item')} differ"
            hint = "Equal ids stand for different data here and there: ingest the same source and version into both."
            raise GoldspanError(message, examples=differing, hint=hint, code=Exit.INVALID)

    def notes(self) -> Iterator[str]:
        """What is to be known with the numbers."""
        benchmark = self._task.benchmark
        for place, where in ((0, "there"), (1, "here")):
            if n := self._items[place].height - self._shared.height:
                yield f"{self._protocol.name}: {counted(n, 'item')} scored {where} alone: left out of the difference"
        if self._unknown:
            named = ", ".join(self._unknown)
            yield f"{benchmark}: not published beside the scores, so not held against this lake's: {named}"

    def compared(self, asked: Sequence[Asked], slice_name: str) -> Iterator[Compared]:
        """Every metric that is asked for and that both have."""
        task, protocol, (_, b) = self._task, self._protocol, self._pair
        folders = {"benchmark": task.benchmark, "protocol": protocol.name}
        where = slice_of(protocol, self._lake.scan("aggregates", **folders, run_id=b), slice_name)
        systems = systems_of(self._lake, task).join(_runs(self._lake).select("run_id", "system").unique(), on="run_id")
        by_chance = set(systems.filter("is_expected")["system"])
        names = [
            one.scan("runs").filter(run_id=run_id).select("system").collect()["system"][0]
            for one, run_id in zip((self._other, self._lake), self._pair, strict=True)
        ]
        primary = (metric_named(protocol.primary.metric), protocol.primary.k)
        for metric, k in dict.fromkeys(asked or [primary]):
            if (metric, k) in metrics_of(protocol):
                sides = [one.filter(pl.col("metric") == metric.name, pl.col("k") == k) for one in self._scores]
                sides = [one.select(*table("scores").columns) for one in sides]
                items = self._lake.scan("items", benchmark=task.benchmark)
                measured = Measured(task, protocol, metric, k, where)
                yield from measured.compared(self._pair, sides, items, [name in by_chance for name in names])

    def _differing(self) -> Iterator[tuple[str, list[str]]]:
        """What of the shared items differs, and of which."""
        task = self._task
        items = self._lake.scan("items", benchmark=task.benchmark).join(self._shared.lazy(), on="item_id", how="semi")
        prefixed = pl.lit(f"{task.pool_prefix}/") + pl.col("repo") if task.pool_prefix else pl.col("pool_id")
        asked = items.select("item_id", pool_id=prefixed).collect().lazy()
        for what, (columns, rows_of) in self._identity().items():
            key = columns[0]
            there, here = (
                rows_of(one).select(columns).join(asked, on=key, how="semi").unique().collect()
                for one in (self._other, self._lake)
            )
            if there.is_empty():
                self._unknown += [what] if here.height else []
                continue
            sides = ((there, here), (here, there))
            apart = [one.join(two, on=columns, how="anti", nulls_equal=True).select(key) for one, two in sides]
            differing = asked.join(pl.concat(apart).lazy(), on=key, how="semi").select("item_id").collect()
            if differing.height:
                yield what, differing["item_id"].sort().to_list()

    def _identity(self) -> dict[str, tuple[list[str], Callable[[Source], pl.LazyFrame]]]:
        """What of an item must be equal → the columns that tell it, the first its own, and how they are read."""
        of, query, rule = self._task.benchmark, self._task.query, self._task.own_gold or self._protocol.gold
        gold = ["item_id", "path", "line_start", "line_end", "candidate", "times", "grade"]
        return {
            "the queries": (
                ["item_id", "sha256"],
                lambda one: one.scan("queries", benchmark=of, query=query),
            ),
            "the gold": (gold, lambda one: one.scan("gold_spans", benchmark=of).filter(gold=rule)),
            "the searched files": (
                ["pool_id", "path", "sha256"],
                lambda one: pl.concat([one.scan("files", benchmark=of, kind=kind) for kind in SEARCHED]),
            ),
        }


def _short(hashes: Sequence[Sequence[str]]) -> str:
    there, here = (" ".join(one[:12] for one in each) for each in hashes)
    return f"{there} there, {here} here"
