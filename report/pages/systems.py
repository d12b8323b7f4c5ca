"""System: a page per system: what it is, its numbers by slice, where the gold went, its items, how it was made."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np
import polars as pl

from lake.pools import stratified
from lake.tables.evaluated import LEDGER_TITLES
from lake.verdict import reference_of
from report.downloads import table_files
from report.format import number_key, place_of, score
from report.leaderboard.board import Board, BoardRow, Grid, grids
from report.leaderboard.gold_ledger import shares_in, shares_of
from report.leaderboard.verdicts import in_words, profile
from report.pages.data import written
from report.pages.leaderboard import PUBLISHED_AGAIN
from report.publisher import Page, Publisher, SiteMaterial
from report.tables_read import ALL_ITEMS, RunRow

LEAST_ITEMS = 5  # slices with fewer are not listed among the largest differences
N_ITEMS, N_APART = 10, 3


def systems_on(board: Board, rows: Sequence[BoardRow]) -> Iterator[dict[str, Any]]:
    """The results of some rows of a board, compared with its median system and with the run `against`."""
    systems = board.systems
    middle = systems[len(systems) // 2].run if len(systems) > 1 else None
    items, by_run = items_of(board), _numbers(board)
    for row in rows:
        run_id, against, numbers = row.run.run_id, reference_run(board, row.run), by_run[row.run.run_id]
        pair = board.pairs.get((against.run_id, run_id)) if against else None
        whole = {each["n"] for each in numbers if each["slice"] == ALL_ITEMS}
        apart = [each for each in numbers if each["apart"]]
        known = [each for each in apart if each["n"] >= LEAST_ITEMS and each["n"] not in whole]
        known.sort(key=lambda each: each["apart"])
        yield {
            "board": board,
            "row": row,
            "numbers": numbers,
            "middle": middle,
            "picked": items.get(run_id, {}),
            "against": against,
            "verdict": in_words(pair) if pair and pair["verdict"] else "",
            "above": [each for each in known[: -N_APART - 1 : -1] if each["apart"] > 0],
            "below": [each for each in known[:N_APART] if each["apart"] < 0],
            "widest": max((abs(each["apart"]) for each in apart), default=1.0),
        }


def reference_run(board: Board, run: RunRow) -> RunRow | None:
    """The run that a run is compared with: the benchmark's reference, or for the reference the first other system."""
    scored = [row.run for row in board.every if row.head is not None]
    name = reference_of(board.benchmark.kind, {run.system for run in scored})
    reference = next((run for run in scored if run.system == name), None)
    if reference is None or run.run_id != reference.run_id:
        return reference
    return next((row.run for row in board.systems if row.run.run_id != run.run_id), None)


def _numbers(board: Board) -> Mapping[str, list[dict[str, Any]]]:
    """Run → its primary score per slice and value, all items first, and the systems' `median`."""
    stored, view = board.by_slice, ["slice", "slice_value"]
    of_systems = stored.filter(pl.col("run_id").is_in([row.run.run_id for row in board.systems]))
    medians = of_systems.group_by(view).agg(median=pl.col("value").median())
    rows = stored.join(medians, on=view, how="left").with_columns(apart=pl.col("value") - pl.col("median"))
    columns = ("run_id", *view, "value", "low", "high", "n", "median", "apart")
    by_run = rows.select(columns).rows_by_key("run_id", named=True)
    for mine in by_run.values():
        mine.sort(key=lambda row: (row["slice"] != ALL_ITEMS, place_of(row["slice"]), number_key(row["slice_value"])))
    return by_run


def items_of(board: Board) -> Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]]:
    """Run → items `won` and `lost` most clearly against :func:`reference_run`, and `drawn` by a seed for all.

    An item has its value, the `other` run's and the `difference`, null if unknown, and the `shares` of its gold.
    """
    against = {row.run.run_id: reference_run(board, row.run) for row in board.every if row.head is not None}
    if not against:
        return {}
    lake, folders = board.facts.lake, {"benchmark": board.benchmark.name, "protocol": board.protocol.name}
    is_shown = (pl.col("scorable"), board.value_of_item == board.slice[1])
    stored = lake.scan("items", benchmark=board.benchmark.name).filter(*is_shown)
    items = stored.select("item_id", "repo").sort("item_id").collect()
    scores = lake.scan("scores", **folders).filter(**board.primary.where).select("run_id", "item_id", "value")
    values = grids(scores.collect(), list(against), items["item_id"], value="value")["value"]
    by_run, ids = dict(zip(against, values, strict=True)), items["item_id"].to_numpy()
    scored = items[np.flatnonzero(~np.isnan(values).all(axis=0))]
    sample = np.isin(ids, stratified(scored, N_ITEMS)["item_id"].to_numpy())
    shown: list[tuple[object, ...]] = []
    for run_id, other in against.items():
        value, beside = by_run[run_id], by_run[other.run_id] if other else np.full(len(ids), np.nan)
        gain = beside - value if board.primary.lower_is_better else value - beside
        drawn = np.flatnonzero(sample & ~np.isnan(value))
        for part, at in (("won", _furthest(gain)), ("lost", _furthest(-gain)), ("drawn", drawn)):
            shown += zip(repeat(run_id), repeat(part), ids[at], value[at].tolist(), beside[at].tolist())
    shares = [pl.col(name) / pl.col("n_gold") for name in LEDGER_TITLES]
    ledger = lake.scan("ledger", **folders).filter(pl.col("n_gold") > 0).select("run_id", "item_id", *shares)
    kinds = {"run_id": pl.String, "part": pl.String, "item_id": pl.String, "value": pl.Float64, "other": pl.Float64}
    numbers = pl.LazyFrame(shown, kinds, orient="row").fill_nan(None)
    numbers = numbers.with_columns(difference=pl.col("value") - pl.col("other"))
    rows = numbers.join(ledger, on=["run_id", "item_id"], how="left", maintain_order="left").collect()
    picked: dict[str, dict[str, list[Any]]] = {run: {"won": [], "lost": [], "drawn": []} for run in against}
    for row in rows.iter_rows(named=True):
        picked[row["run_id"]][row["part"]].append(row | {"shares": shares_in(row)})
    return picked


def _furthest(gain: Grid) -> Grid:
    """The positions of the N_ITEMS largest gains, the first of equal ones first."""
    gained = np.flatnonzero(gain > 0)
    return gained[np.argsort(-gain[gained], kind="stable")[:N_ITEMS]]


def _pages(material: SiteMaterial) -> Iterator[Page]:
    # System → benchmark → its results on the first board that has it, and its rows on the others.
    by_system: dict[str, dict[str, dict[str, Any]]] = {run.system: {} for run in material.runs}
    for board in material.every_board:
        name = board.benchmark.name
        new = [row for row in board.every if name not in by_system[row.run.system]]
        for part in systems_on(board, new) if new else ():
            by_system[part["row"].run.system][name] = {"benchmark": board.benchmark, "first": part, "others": []}
        for row in board.every:
            if row not in new:
                by_system[row.run.system][name]["others"].append((board, row))
    for system, by_benchmark in by_system.items():
        runs = [run for run in material.runs if run.system == system]
        made_of = (material.chunkers.get(runs[0].chunker or ""), material.retrievers.get(runs[0].retriever or ""))
        declared = [each for each in made_of if each is not None]
        used = {run.benchmark for run in runs}
        benchmarks = [benchmark for name, benchmark in material.benchmarks.items() if name in used]
        tables = ("scores", "rankings", "aggregates")
        files = {name: table_files(material.downloads, name, benchmarks) for name in tables}
        values = {
            "system": system,
            "runs": runs,
            "own": [run for run in runs if not material.benchmarks[run.benchmark].is_edition],
            "again": PUBLISHED_AGAIN,
            "standings": list(by_benchmark.values()),
            "declared": declared,
            "snippet": written("system.polars", {"tables": files, "system": system}),
            "files": files,
            "citations": [(each.shown_name, each.citation) for each in (*benchmarks, *declared) if each.citation],
            "profile": profile,
            "shares_of": shares_of,
        }
        sentences = [
            f"{system} on {board.benchmark.title}: {board.primary.title} {score(row.number)}, {row.standing}."
            for part in by_benchmark.values()
            for board, row in [(part["first"]["board"], part["first"]["row"])]
            if row.head
        ]
        yield Page(material.system_paths[system], system, "system.html", values, sentences[0] if sentences else "")


SYSTEM_PAGES = Publisher("systems", 90, __doc__, _pages)
