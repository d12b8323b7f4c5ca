"""Aggregates of a task's runs, made from their scores as far as they are not current."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from evaluate.batches import batches, rows_of
from evaluate.selection import ItemPart
from evaluate.statistics.means import aggregate, with_share_of_oracle
from evaluate.systems import PlannedRun, Run
from lake.catalog.protocol import Protocol
from lake.make import BuildTarget, Input, target_of, write_by_run
from lake.tables import table


def aggregate_runs(item_parts: Sequence[ItemPart], protocols: Sequence[Protocol], runs: Sequence[Run]) -> None:
    """Aggregate what runs score under some protocols, as far as it is not done."""
    if not item_parts:
        return
    lake, benchmark = item_parts[0].lake, item_parts[0].task.benchmark
    targets: dict[Run, BuildTarget] = {}
    # The oracles first: what they bound is made from their aggregates.
    for run in sorted(runs, key=lambda run: not run.protocol):
        folders = {"benchmark": benchmark, "run_id": run.run_id}
        inputs: list[Input] = [
            part
            for protocol in protocols
            for item_part in item_parts
            if (part := lake.part("scores", item_part.part, protocol=protocol.name, **folders))
        ]
        bounds = [targets[target] for target in targets if target.protocol and target.chunker == run.chunker]
        if inputs:
            inputs += bounds if _is_bounded(run) else []
            code = (aggregate, with_share_of_oracle)
            targets[run] = target_of(lake, "aggregates", part="all", inputs=inputs, code=code, **folders)
    todo = {run: target for run, target in targets.items() if not target.is_current}
    if todo:
        frames = [
            rows for protocol in protocols for rows in _aggregated(item_parts, protocol, list(targets), list(todo))
        ]
        write_by_run({run.run_id: target for run, target in todo.items()}, pl.concat(frames))


def _is_bounded(run: Run) -> bool:
    return isinstance(run, PlannedRun) and not run.protocol


def _aggregated(
    item_parts: Sequence[ItemPart], protocol: Protocol, runs: Sequence[Run], todo: Sequence[Run]
) -> Iterator[pl.DataFrame]:
    """The aggregates of some of the runs under one protocol, the oracles among them before what they bound."""
    lake = item_parts[0].lake
    oracles = {run.chunker: run.run_id for run in _scored_by(protocol, runs) if run.protocol}
    bounds = {run.run_id: oracles[run.chunker] for run in runs if _is_bounded(run) and run.chunker in oracles}
    items, known = pl.concat([item_part.items for item_part in item_parts]).lazy(), list[pl.DataFrame]()
    stored = [
        part
        for run_id in sorted(set(oracles.values()) - {run.run_id for run in todo})
        for part in lake.parts("aggregates", benchmark=item_parts[0].task.benchmark, run_id=run_id)
    ]
    if stored:
        columns = table("aggregates").columns
        known.append(lake.scan_parts(stored, "aggregates").filter(protocol=protocol.name).select(*columns).collect())
    for batch in batches(_scored_by(protocol, todo), "scores", item_parts, protocol=protocol.name):
        scores = pl.concat([rows_of(item_part, "scores", batch, protocol=protocol.name) for item_part in item_parts])
        run_items = pl.concat([rows_of(item_part, "run_items", batch) for item_part in item_parts])
        means = aggregate(protocol, scores.drop("benchmark"), items, run_items).collect()
        known.append(means.filter(pl.col("run_id").is_in(list(oracles.values()))))
        yield with_share_of_oracle(means.lazy(), pl.concat(known).lazy(), bounds).collect()


def _scored_by(protocol: Protocol, runs: Sequence[Run]) -> list[Run]:
    """The runs that a protocol scores."""
    return [run for run in runs if run.protocol in ("", protocol.name)]
