"""What is searched: into how many chunks it is cut, what the order of candidates is worth; and how large slices are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from lake.pools import own_pool
from lake.store import Lake
from lake.text import percent
from report.format import score
from report.models import TaskRow


class ChunkCount(NamedTuple):
    """How many chunks a chunker makes of some files, and their mean non-whitespace characters; 0 without a chunk."""

    n: int
    mean_size: float


def chunk_counts(lake: Lake, tasks: Sequence[TaskRow]) -> Mapping[tuple[str, str], ChunkCount]:
    """By task and chunker, over the pools of the task's scorable items; a content that lies in several counts once."""
    pools = [
        lake.scan("items", benchmark=task.benchmark)
        .filter("scorable")
        .select(task=pl.lit(task.name), pool_id=own_pool(task.pool_prefix, task.pool_by))
        .unique()
        for task in tasks
    ]
    if not pools:
        return {}
    cut = lake.scan("chunk_status").select("chunker", "sha256", "n_covered", n="n_chunks")
    files = lake.scan("files").join(pl.concat(pools), on="pool_id").select("task", "sha256").unique()
    counts = files.join(cut, on="sha256").group_by("task", "chunker").agg(pl.col("n", "n_covered").sum())
    return {
        (task, chunker): ChunkCount(n, covered / max(n, 1)) for task, chunker, n, covered in counts.collect().rows()
    }


def fallbacks(lake: Lake) -> Mapping[str, Mapping[str, int]]:
    """Chunker → reason why it cut a file as another chunker would → number of such files."""
    rows = lake.scan("chunk_status").filter(pl.col("fell_back").is_not_null()).group_by("chunker", "fell_back")
    counts: dict[str, dict[str, int]] = {}
    for chunker, reason, n in rows.agg(pl.len()).sort("chunker", "fell_back").collect().iter_rows():
        counts.setdefault(chunker, {})[reason] = n
    return counts


def left_out(lake: Lake) -> Mapping[str, str]:
    """By chunker whose chunks do not hold all of the files that it cut, what share of their text they hold."""
    rows = lake.scan("chunk_status").filter(pl.col("failed").is_null()).group_by("chunker")
    sums = rows.agg(pl.col("n_covered", "n_nws").sum()).filter(pl.col("n_covered") < pl.col("n_nws")).sort("chunker")
    return {chunker: percent(n_covered, n_nws) for chunker, n_covered, n_nws in sums.collect().iter_rows()}


def pool_orders(lake: Lake) -> Mapping[tuple[str, str], str]:
    """How ties are broken, by benchmark and slice `subset/split/level`: how often gold is the first of its candidates.

    The items are the scorable ones whose gold is one of several candidates.
    """
    items = lake.scan("items").filter(pl.col("scorable") & pl.col("n_candidates").is_not_null())
    gold = lake.scan("gold_spans").filter(pl.col("candidate").is_not_null())
    counted = (
        items.select("benchmark", "item_id", "subset", "split", "level", "n_candidates")
        .join(gold.select("benchmark", "item_id", "candidate"), on=["benchmark", "item_id"])
        .group_by("benchmark", value=pl.concat_str("subset", "split", "level", separator="/"))
        .agg(
            first=(pl.col("candidate") == 0).mean(),
            # By how many have so many candidates: sums of equal numbers do not depend on their order.
            sizes=pl.col("n_candidates").value_counts(sort=False),
        )
        .collect()
    )
    orders = {}
    for benchmark, value, first, sizes in counted.sort("benchmark", "value").iter_rows():
        n_items = sorted((size["n_candidates"], size["count"]) for size in sizes)
        chance = sum(n / size for size, n in n_items) / sum(n for _, n in n_items)
        orders[benchmark, value] = (
            "equal scores keep the candidates' own order: a system that gives all of them the same score has "
            f"accuracy@1 {score(first)}, where chance has {score(chance)}"
        )
    return orders


def slice_sizes(lake: Lake) -> Mapping[tuple[str, str | None, str], tuple[int, int]]:
    """Protocol, task and slice → how many values the slice has, and items in all: a board has the largest alone."""
    tasks, of = lake.scan("runs").select("run_id", "task"), ["protocol", "task", "slice"]
    rows = lake.scan("aggregates").join(tasks, on="run_id", how="left")
    values = rows.group_by(*of, "slice_value").agg(pl.col("n_items").max())
    sizes = values.group_by(of).agg(pl.len(), pl.col("n_items").sum()).collect()
    return {(row[0], row[1], row[2]): (row[3], row[4]) for row in sizes.iter_rows()}
