"""Rankings as rows of the lake's tables."""

from __future__ import annotations

import platform
from collections.abc import Sequence

import numpy as np
import polars as pl

from evaluate.aggregation import DONE
from evaluate.pools import ChunkedPools
from evaluate.ranking import RANKING, Ranked
from lake.tables import table


def hit_rows(run_id: str, ranked: Ranked, pools: ChunkedPools) -> pl.DataFrame:
    """Ranked chunks as rows of `hits`."""
    where = pools.chunks.select(
        "pool_id", "chunk", "path", "chunk_no", "line_start", "line_end", "byte_start", "byte_end"
    )
    return ranked.hits.join(where, on=["pool_id", "chunk"], how="left", maintain_order="left").select(
        pl.lit(run_id).alias("run_id"),
        "item_id",
        "part",
        pl.lit(0, pl.Int64).alias("step"),
        "rank",
        pl.lit(None, pl.String).alias("path_given"),
        "path",
        "line_start",
        "line_end",
        "byte_start",
        "byte_end",
        pl.lit(None, pl.String).alias("symbol"),
        "chunk_no",
        "score",
    )


def run_item_rows(
    run_id: str, items: pl.DataFrame, ranked: Ranked, hits: pl.DataFrame, pools: ChunkedPools
) -> pl.DataFrame:
    """What happened to each item of a run, as rows of `run_items`."""
    n_nws = pools.chunks.select("pool_id", "path", "chunk_no", "n_nws")
    returned = (
        hits.filter(pl.col("part") == RANKING)
        .select("item_id", "path", "chunk_no")
        .join(items.select("item_id", "pool_id"), on="item_id", maintain_order="left")
        .join(n_nws, on=["pool_id", "path", "chunk_no"], maintain_order="left")
        .group_by("item_id")
        .agg(n_returned=pl.len().cast(pl.Int64), n_nws=pl.col("n_nws").sum())
    )
    noted = pl.DataFrame(
        {
            "item_id": items["item_id"],
            "error": [ranked.failed.get(item_id) for item_id in items["item_id"]],
            "ties": [ranked.ties.get(item_id, []) for item_id in items["item_id"]],
        },
        schema_overrides={"error": pl.String(), "ties": pl.List(pl.Int64())},
    )
    return noted.join(returned, on="item_id", how="left").select(
        pl.lit(run_id).alias("run_id"),
        "item_id",
        pl.when(pl.col("error").is_null()).then(pl.lit(DONE)).otherwise(pl.lit("failed")).alias("status"),
        "error",
        pl.lit(None, pl.Int64).alias("n_steps"),
        pl.col("n_returned").fill_null(0),
        pl.col("n_nws").fill_null(0),
        "ties",
        pl.lit(None, pl.Boolean).alias("has_patch"),
        pl.lit(None, pl.String).alias("completion"),
    )


def cost_row(run_id: str, ranked: Sequence[Ranked]) -> pl.DataFrame:
    """What a run cost: seconds to index in all, seconds per query, bytes of the indexes, and where."""
    seconds = [second for one in ranked for second in one.query_seconds]
    row = {
        "run_id": run_id,
        "index_seconds": sum(one.index_seconds for one in ranked),
        # Nothing was timed where every query failed, or where a run that was cut short had its rankings already.
        "query_p50": float(np.median(seconds)) if seconds else None,
        "query_p95": float(np.quantile(seconds, 0.95)) if seconds else None,
        "index_bytes": sum(one.index_bytes for one in ranked),
        "hardware": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
    }
    return pl.DataFrame([row], schema=table("costs").columns)
