"""Gold by need: what it is of a benchmark's items, and some of them with it, so that anyone can check."""

from __future__ import annotations

import polars as pl

from lake.selection import seeded_hash
from lake.store import Lake
from report.addresses import item_address
from report.models import BenchmarkRow

N_DRAWN = 50


def needs_of(lake: Lake, benchmark: BenchmarkRow) -> dict[str, object] | None:
    """What the completions of a benchmark's items need, by how many, and some items with their gold, if there is any.

    Gold is `path:first–last`, lines counted from 1.
    """
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
    drawn = [
        {"item_id": item, "address": item_address(benchmark.name, item), "spans": by_item[item]}
        for item in sorted(chosen)
    ]
    return {"benchmark": benchmark, "counts": counts.rows(), "drawn": drawn}
