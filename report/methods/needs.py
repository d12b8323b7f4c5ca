"""Gold by need: what it is of a benchmark's items, and some of them with it, so that anyone can check."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from lake.sampling import seeded_hash
from lake.store import Lake
from report.addresses import item_address
from report.entities import Benchmark

N_DRAWN = 50


class Drawn(NamedTuple):
    """An item with its gold: `path:first–last`, lines counted from 1."""

    item_id: str
    address: str
    spans: Sequence[str]


class Needs(NamedTuple):
    """What the completions of a benchmark's items need, by how many, and some items, drawn by a seed."""

    benchmark: Benchmark
    counts: Sequence[tuple[str, int]]
    drawn: Sequence[Drawn]


def needs_of(lake: Lake, benchmark: Benchmark) -> Needs | None:
    """Gold by need of a benchmark that has such."""
    gold = lake.scan("gold_spans", benchmark=benchmark.name).filter(gold="needs")
    spans = gold.sort("item_id", "path", "line_start").select("item_id", "path", "line_start", "line_end").collect()
    if spans.is_empty():
        return None
    kinds = lake.scan("items", benchmark=benchmark.name).filter(pl.col("need").is_not_null()).group_by("need")
    counts = kinds.agg(n=pl.len()).sort("n", "need", descending=[True, False]).collect()
    by_item: dict[str, list[str]] = {}
    for item_id, path, start, end in spans.iter_rows():
        by_item.setdefault(item_id, []).append(f"{path}:{start + 1}–{end}")
    chosen = sorted(by_item, key=seeded_hash)[:N_DRAWN]
    drawn = [Drawn(one, item_address(benchmark.name, one), by_item[one]) for one in sorted(chosen)]
    return Needs(benchmark, counts.rows(), drawn)
