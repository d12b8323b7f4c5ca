"""Score and aggregate the runs of a task of contexts: all that are not done, together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import polars as pl

from evaluate.made_by import AGGREGATING_CODE, scoring_code
from evaluate.score.conformance import protocol_hash
from evaluate.score.contexts.chance import expected_contexts
from evaluate.score.contexts.material import load_material, load_runs, rules_of
from evaluate.score.contexts.scoring import Scored, score_contexts
from evaluate.selection import ItemPart
from evaluate.statistics.oracle_share import with_share_of_oracle
from evaluate.statistics.pooling import pooled
from lake.catalog.protocol import Protocol
from lake.make import Input, Product, product_of
from lake.naming import GOLD_RUN
from lake.store import Lake, Part
from lake.tables import table

ITEMS_AT_ONCE = 200
"""So many items are scored together: the lines of all files that runs name for them are in memory."""

ROWS_AT_ONCE = 3_000_000
"""About how many rows of hits are scored together, and of scores aggregated: what memory must hold."""


@dataclass(frozen=True)
class ContextRun:
    """A run that is to be scored.

    Attributes:
        run_id: The run.
        protocol: The one protocol it is scored under; empty for every one.
        chunker: Who cut what it searched; None where nobody knows, or nothing was cut.
        is_chance: It stands for every order of its pool.
        oracle: Protocol → the run that bounds it.
    """

    run_id: str
    protocol: str = ""
    chunker: str | None = None
    is_chance: bool = False
    oracle: Mapping[str, str] = field(default_factory=dict, compare=False)


def score_runs(
    lake: Lake, asked: Sequence[ItemPart], protocols: Sequence[Protocol], runs: Sequence[ContextRun]
) -> None:
    """Score some runs on every part of the items and aggregate them, as far as it is not done.

    Args:
        lake: Where from and where to.
        asked: The parts.
        protocols: The rules, each with rules of contexts.
        runs: The runs.
    """
    for part in asked:
        _expect_part(lake, part, protocols, [run for run in runs if run.is_chance])
    for protocol in protocols:
        mine = _of(protocol, runs)
        for part in asked:
            _score_part(lake, part, protocol, [run for run in mine if not run.is_chance])
        aggregate_runs(lake, asked, protocol, mine)


def aggregate_runs(lake: Lake, asked: Sequence[ItemPart], protocol: Protocol, runs: Sequence[ContextRun]) -> None:
    """Aggregate the scores of some runs under a protocol, as far as it is not done; those that bound others first."""
    bounds = {run.oracle[protocol.name] for run in runs if protocol.name in run.oracle}
    folders = {"benchmark": asked[0].benchmark, "protocol": protocol.name}
    for wave in (True, False):
        mine = [run for run in runs if (run.run_id in bounds) == wave]
        for batch in _batches(lake, mine, lambda run: lake.parts("scores", run_id=run.run_id, **folders)):
            _aggregate(lake, asked, protocol, batch)


def _score_part(lake: Lake, asked: ItemPart, protocol: Protocol, runs: Sequence[ContextRun]) -> None:
    shared = _read_by_all(lake, asked, protocol)
    products = {run: product for run in runs if (product := _product(lake, asked, protocol, run, shared)) is not None}
    todo = [run for run, product in products.items() if not product.is_current]
    for batch in _batches(lake, todo, partial(_hits, lake, asked)):
        scored = _scored(lake, asked, protocol, [run.run_id for run in batch])
        frames = _by_run(scored.steps), _by_run(scored.scores)
        for run in batch:
            _write(products[run], protocol, *(by_run.get(run.run_id) for by_run in frames))


def _expect_part(lake: Lake, asked: ItemPart, protocols: Sequence[Protocol], runs: Sequence[ContextRun]) -> None:
    """What stands for every order of its pool, under all protocols at once: they are scored for the same orders."""
    todo: dict[str, dict[str, Product]] = {}
    for protocol in protocols:
        shared = _read_by_all(lake, asked, protocol)
        products = {run.run_id: _product(lake, asked, protocol, run, shared) for run in _of(protocol, runs)}
        todo[protocol.name] = {name: one for name, one in products.items() if one is not None and not one.is_current}
    wanted = [protocol for protocol in protocols if todo[protocol.name]]
    chunkers = {run.run_id: run.chunker or "" for run in runs if any(run.run_id in of for of in todo.values())}
    found = expected_contexts(lake, asked, wanted, chunkers)
    for protocol in wanted:
        scores = _by_run(found[protocol.name])
        for run_id, product in todo[protocol.name].items():
            _write(product, protocol, None, scores.get(run_id))


def _of(protocol: Protocol, runs: Sequence[ContextRun]) -> list[ContextRun]:
    """The runs that a protocol scores."""
    return [run for run in runs if run.protocol in ("", protocol.name)]


def scores_of(lake: Lake, asked: ItemPart, protocol: Protocol, runs: Sequence[ContextRun]) -> list[pl.DataFrame]:
    """What some runs score on one part, not stored: the columns of `scores` without `protocol` and its hash."""
    batches = _batches(lake, [run for run in runs if not run.is_chance], partial(_hits, lake, asked))
    frames = [_scored(lake, asked, protocol, [run.run_id for run in batch]).scores for batch in batches]
    chunkers = {run.run_id: run.chunker or "" for run in runs if run.is_chance}
    return [*frames, expected_contexts(lake, asked, [protocol], chunkers)[protocol.name]]


def _scored(lake: Lake, asked: ItemPart, protocol: Protocol, names: Sequence[str]) -> Scored:
    runs = load_runs(lake, asked, protocol, names)
    found = []
    # Of no items there are scores too: none, in the right columns.
    for first in range(0, max(1, asked.described.height), ITEMS_AT_ONCE):
        items = asked.described.slice(first, ITEMS_AT_ONCE)
        some = runs.on(items)
        material = load_material(lake, replace(asked, described=items), protocol, some)
        found.append(score_contexts(protocol, material, some))
    scores = _by_measure([one.scores for one in found], ["granularity", "metric", "k"])
    return Scored(scores, _by_measure([one.steps for one in found], ["granularity"]))


def _by_measure(frames: Sequence[pl.DataFrame], measure: Sequence[str]) -> pl.DataFrame:
    """The rows of some items below the others', in the order in which they are when all are scored together."""
    rows = pl.concat(frames)
    order = rows.select(measure).unique(maintain_order=True).with_row_index("place")
    return rows.join(order, on=measure, maintain_order="left").sort("place", maintain_order=True).drop("place")


def _read_by_all(lake: Lake, asked: ItemPart, protocol: Protocol) -> list[Input | None]:
    """What the scores of all runs on a part are made from."""
    # All parts of the symbols have one fingerprint, that of the code that found them.
    symbols = {part.fingerprint: part for part in lake.parts("symbols", rules=rules_of(protocol).symbols)}
    gold_edits = lake.part("edits", asked.part, benchmark=asked.benchmark, run_id=GOLD_RUN)
    return [asked, gold_edits, *(symbols[name] for name in sorted(symbols))]


def _product(
    lake: Lake, asked: ItemPart, protocol: Protocol, run: ContextRun, shared: Sequence[Input | None]
) -> Product | None:
    """A run's scores on a part; None where it has nothing on that part."""
    of_run = {"benchmark": asked.benchmark, "run_id": run.run_id}
    answered, edits = (lake.part(name, asked.part, **of_run) for name in ("run_items", "edits"))
    if answered is None:
        return None
    return product_of(
        lake,
        "step_scores",
        "scores",
        part=asked.part,
        inputs=[answered, edits, *shared],
        parameters=protocol_hash(protocol),
        code=scoring_code(protocol),
        protocol=protocol.name,
        **of_run,
    )


def _batches(
    lake: Lake, runs: Sequence[ContextRun], parts_of: Callable[[ContextRun], list[Part]]
) -> Iterator[list[ContextRun]]:
    """Runs that are gone through together, so many that memory holds the rows of some parts of theirs."""
    batch, n_rows = list[ContextRun](), 0
    for run in runs:
        n = sum(lake.scan_parts([part], part.table).select(pl.len()).collect().item() for part in parts_of(run))
        if batch and n_rows + n > ROWS_AT_ONCE:
            yield batch
            batch, n_rows = [], 0
        batch.append(run)
        n_rows += n
    if batch:
        yield batch


def _hits(lake: Lake, asked: ItemPart, run: ContextRun) -> list[Part]:
    hits = lake.part("hits", asked.part, benchmark=asked.benchmark, run_id=run.run_id)
    return [hits] if hits else []


def _by_run(frame: pl.DataFrame) -> dict[str, pl.DataFrame]:
    return {str(key[0]): rows for key, rows in frame.partition_by("run_id", as_dict=True).items()}


def _write(product: Product, protocol: Protocol, *found: pl.DataFrame | None) -> None:
    """Store a run's scores on a part, step by step and in all; None where there are none."""
    sealed = {"protocol": pl.lit(protocol.name), "protocol_hash": pl.lit(protocol_hash(protocol))}
    frames = []
    for slot, rows in zip(product.slots, found, strict=True):
        declared = table(slot.table).columns
        frame = pl.DataFrame(schema=declared) if rows is None else rows.with_columns(**sealed)
        frames.append(frame.select(list(declared)))
    product.write(*frames)


def _aggregate(lake: Lake, asked: Sequence[ItemPart], protocol: Protocol, runs: Sequence[ContextRun]) -> None:
    """The aggregates of some runs, those of the runs that bound them being there."""
    todo: dict[str, tuple[Product, Part | None]] = {}
    scored: list[Part] = []
    for run in runs:
        folders = {"benchmark": asked[0].benchmark, "protocol": protocol.name, "run_id": run.run_id}
        parts = [part for one in asked if (part := lake.part("scores", one.part, **folders))]
        bound = run.oracle.get(protocol.name)
        oracle = lake.part("aggregates", "all", **{**folders, "run_id": bound}) if bound else None
        product = product_of(lake, "aggregates", part="all", inputs=[*parts, oracle], code=AGGREGATING_CODE, **folders)
        if parts and not product.is_current:
            todo[run.run_id] = (product, oracle)
            scored += parts
    if not todo:
        return
    items = pl.concat([one.described for one in asked]).lazy()
    answered = [part for name in todo for part in lake.parts("run_items", benchmark=asked[0].benchmark, run_id=name)]
    scores, run_items = lake.scan_parts(scored, "scores").drop("benchmark"), lake.scan_parts(answered, "run_items")
    found = pooled(protocol, scores, items, run_items)
    for run_id, rows in _by_run(found.collect()).items():
        product, oracle = todo[run_id]
        if oracle is not None:
            rows = with_share_of_oracle(rows.lazy(), lake.scan_parts([oracle], "aggregates")).collect()
        product.write(rows)
