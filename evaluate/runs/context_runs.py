"""Score the runs of a task of contexts, all that are not done together; and aggregate those of any task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from evaluate.batches import batches, rows_of
from evaluate.partition import scoring_code
from evaluate.score.conformance import protocol_hash
from evaluate.score.contexts.chance import expected_contexts
from evaluate.score.contexts.material import load_material, load_runs, rules_of
from evaluate.score.contexts.scoring import Scored, score_contexts
from evaluate.selection import ItemPart
from evaluate.statistics.pooling import pooled, with_share_of_oracle
from evaluate.systems import PlannedRun, Run
from lake.catalog.protocol import Protocol
from lake.make import Input, Product, product_of, write_by_run
from lake.naming import GOLD_RUN
from lake.tables import table

_OF_CHANCE, _OF_STEPS = ("scores",), ("step_scores", "scores")
"""What an expectation has, and what everything else has."""

ITEMS_AT_ONCE = 200
"""So many items are scored together: the lines of all files that runs name for them are in memory."""


def score_runs(asked: Sequence[ItemPart], protocols: Sequence[Protocol], runs: Sequence[Run]) -> None:
    """Score some runs by rules of contexts on every part of the items, as far as it is not done.

    Args:
        asked: The parts.
        protocols: The rules, each with rules of contexts.
        runs: The runs.
    """
    by_chance, others = ([run for run in runs if run.is_chance == is_chance] for is_chance in (True, False))
    for part in asked:
        _expect_part(part, protocols, by_chance)
    for protocol in protocols:
        for part in asked:
            todo = _to_do(part, protocol, others)
            for batch in batches(list(todo), "hits", [part]):
                scored = _scored(part, protocol, batch)
                _write({run: todo[run] for run in batch}, protocol, scored.scores, scored.steps)


def scores_of(asked: ItemPart, protocol: Protocol, runs: Sequence[Run]) -> list[pl.DataFrame]:
    """What some runs score on one part, not stored: the columns of `scores` without `protocol` and its hash."""
    listed = [run for run in runs if not run.is_chance]
    chunkers = {run.run_id: run.chunker or "" for run in runs if run.is_chance}
    expected = expected_contexts(asked, [protocol], chunkers)[protocol.name]
    return [*(_scored(asked, protocol, batch).scores for batch in batches(listed, "hits", [asked])), expected]


def aggregate_runs(asked: Sequence[ItemPart], protocols: Sequence[Protocol], runs: Sequence[Run]) -> None:
    """Aggregate what runs score under some protocols, as far as it is not done."""
    if not asked:
        return
    lake, benchmark = asked[0].lake, asked[0].benchmark
    products: dict[Run, Product] = {}
    # The oracles first: what they bound is made from their aggregates.
    for run in sorted(runs, key=lambda run: not run.protocol):
        folders = {"benchmark": benchmark, "run_id": run.run_id}
        inputs: list[Input] = [
            part
            for protocol in protocols
            for one in asked
            if (part := lake.part("scores", one.part, protocol=protocol.name, **folders))
        ]
        bounds = [products[one] for one in products if one.protocol and one.chunker == run.chunker]
        if inputs:
            inputs += bounds if _is_bounded(run) else []
            code = (pooled, with_share_of_oracle)
            products[run] = product_of(lake, "aggregates", part="all", inputs=inputs, code=code, **folders)
    todo = {run: product for run, product in products.items() if not product.is_current}
    if todo:
        frames = [rows for protocol in protocols for rows in _aggregated(asked, protocol, list(products), list(todo))]
        write_by_run({run.run_id: product for run, product in todo.items()}, pl.concat(frames))


def _is_bounded(run: Run) -> bool:
    return isinstance(run, PlannedRun) and not run.protocol


def _aggregated(
    asked: Sequence[ItemPart], protocol: Protocol, runs: Sequence[Run], todo: Sequence[Run]
) -> Iterator[pl.DataFrame]:
    """The aggregates of some of the runs under one protocol, the oracles among them before what they bound."""
    lake = asked[0].lake
    oracles = {run.chunker: run.run_id for run in _scored_by(protocol, runs) if run.protocol}
    bounds = {run.run_id: oracles[run.chunker] for run in runs if _is_bounded(run) and run.chunker in oracles}
    items, known = pl.concat([one.described for one in asked]).lazy(), list[pl.DataFrame]()
    stored = [
        part
        for run_id in sorted(set(oracles.values()) - {run.run_id for run in todo})
        for part in lake.parts("aggregates", benchmark=asked[0].benchmark, run_id=run_id)
    ]
    if stored:
        columns = table("aggregates").columns
        known.append(lake.scan_parts(stored, "aggregates").filter(protocol=protocol.name).select(*columns).collect())
    for batch in batches(_scored_by(protocol, todo), "scores", asked, protocol=protocol.name):
        scores = pl.concat([rows_of(one, "scores", batch, protocol=protocol.name) for one in asked])
        run_items = pl.concat([rows_of(one, "run_items", batch) for one in asked])
        means = pooled(protocol, scores.drop("benchmark"), items, run_items).collect()
        known.append(means.filter(pl.col("run_id").is_in(list(oracles.values()))))
        yield with_share_of_oracle(means.lazy(), pl.concat(known).lazy(), bounds).collect()


def _expect_part(asked: ItemPart, protocols: Sequence[Protocol], runs: Sequence[Run]) -> None:
    """What stands for every order of its pool, under all protocols at once: they are scored for the same orders."""
    todo = {protocol: products for protocol in protocols if (products := _to_do(asked, protocol, runs))}
    chunkers = {run.run_id: run.chunker or "" for run in runs if any(run in products for products in todo.values())}
    found = expected_contexts(asked, list(todo), chunkers)
    for protocol, products in todo.items():
        _write(products, protocol, found[protocol.name])


def _scored_by(protocol: Protocol, runs: Sequence[Run]) -> list[Run]:
    """The runs that a protocol scores."""
    return [run for run in runs if run.protocol in ("", protocol.name)]


def _to_do(asked: ItemPart, protocol: Protocol, runs: Sequence[Run]) -> dict[Run, Product]:
    """The runs' scores on a part that are not current; runs that have nothing on that part have none."""
    lake = asked.lake
    # All parts of the symbols have one fingerprint, that of the code that found them.
    symbols = {part.fingerprint: part for part in lake.parts("symbols", rules=rules_of(protocol).symbols)}
    gold_edits = asked.parts_of("edits", run_id=GOLD_RUN)
    todo = {}
    for run in _scored_by(protocol, runs):
        answered, edits = (asked.parts_of(name, run_id=run.run_id) for name in ("run_items", "edits"))
        product = product_of(
            lake,
            *(_OF_CHANCE if run.is_chance else _OF_STEPS),
            part=asked.part,
            inputs=[*answered, *edits, asked, *gold_edits, *(symbols[name] for name in sorted(symbols))],
            parameters=protocol_hash(protocol),
            code=scoring_code(protocol),
            protocol=protocol.name,
            benchmark=asked.benchmark,
            run_id=run.run_id,
        )
        if answered and not product.is_current:
            todo[run] = product
    return todo


def _scored(asked: ItemPart, protocol: Protocol, batch: Sequence[Run]) -> Scored:
    runs = load_runs(asked, protocol, [run.run_id for run in batch])
    found = []
    # Of no items there are scores too: none, in the right columns.
    for first in range(0, max(1, asked.described.height), ITEMS_AT_ONCE):
        items = asked.described.slice(first, ITEMS_AT_ONCE)
        some = runs.on(items)
        material = load_material(replace(asked, described=items), protocol, some)
        # What a run was not asked has no row of `run_items`, and no score.
        key = ["run_id", "item_id"]
        scored = score_contexts(protocol, material, some)
        found.append([rows.join(some.run_items, on=key, how="semi", maintain_order="left") for rows in scored])
    return Scored(*(pl.concat(frames) for frames in zip(*found, strict=True)))


def _write(products: Mapping[Run, Product], protocol: Protocol, scores: pl.DataFrame, *steps: pl.DataFrame) -> None:
    """Store runs' scores on a part, step by step where they have steps, and in all."""
    sealed = {"protocol": pl.lit(protocol.name), "protocol_hash": pl.lit(protocol_hash(protocol))}
    tables = zip(_OF_STEPS if steps else _OF_CHANCE, (*steps, scores), strict=True)
    rows = [rows.lazy().with_columns(**sealed).select(*table(name).columns) for name, rows in tables]
    write_by_run({run.run_id: product for run, product in products.items()}, *pl.collect_all(rows))
