"""Rankings as rows of the lake's tables."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from evaluate.rank.pools import ChunkedPools
from evaluate.rank.ranking import Ranked
from lake.costs import hardware
from lake.lines import LineAxis, added_lines
from lake.naming import DONE, RANKING
from lake.tables import table


def hit_rows(run_id: str, ranked: Ranked, pools: ChunkedPools, axis: Callable[[], LineAxis]) -> pl.DataFrame:
    """Ranked chunks as rows of `hits`.

    Args:
        run_id: The run.
        ranked: What was ranked.
        pools: The pools, cut.
        axis: Gives the lines of the pools' files; asked only where chunks share some.
    """
    where = pools.chunks.select(
        "pool_id", "chunk", "path", "chunk_no", "line_start", "line_end", "byte_start", "byte_end", n_new_nws="n_nws"
    )
    hits = ranked.hits.join(where, on=["pool_id", "chunk"], how="left", maintain_order="left")
    if pools.share_lines:
        hits = _with_added(hits, axis())
    return _rows("hits", hits, run_id=run_id, step=0)


def _rows(name: str, frame: pl.DataFrame, **values: str | int) -> pl.DataFrame:
    """A frame with a table's columns and no others: what it has, the given values, and null for the rest."""
    columns = table(name).columns
    rest = {name: values.get(name) for name in columns if name not in frame.columns}
    return frame.with_columns(pl.lit(value, columns[name]).alias(name) for name, value in rest.items()).select(*columns)


def _with_added(hits: pl.DataFrame, axis: LineAxis) -> pl.DataFrame:
    """Hits with the characters that each adds to those before it."""
    key = ["item_id", "part", "rank"]
    new = axis.place(added_lines(hits, ["item_id", "pool_id", "part"]).lazy()).select(*key, n_new_nws=axis.n_nws())
    summed = new.group_by(key).agg(pl.col("n_new_nws").sum()).collect()
    added = hits.drop("n_new_nws").join(summed, on=key, how="left", maintain_order="left")
    return added.with_columns(pl.col("n_new_nws").fill_null(0))


def run_item_rows(run_id: str, items: pl.DataFrame, ranked: Ranked, pools: ChunkedPools) -> pl.DataFrame:
    """What happened to each item of a run, as rows of `run_items`."""
    returned = (
        ranked.hits.filter(pl.col("part") == RANKING)
        .join(pools.chunks.select("pool_id", "chunk", "n_nws"), on=["pool_id", "chunk"], how="left")
        .group_by("item_id")
        .agg(n_returned=pl.len().cast(pl.Int64), n_nws=pl.col("n_nws").sum())
    )
    ties = [(item_id, k) for item_id, cut_offs in ranked.ties.items() for k in cut_offs]
    tied = pl.DataFrame(ties, {"item_id": pl.String, "ties": pl.Int64}, orient="row")
    failed = pl.DataFrame(list(ranked.failed.items()), {"item_id": pl.String, "error": pl.String}, orient="row")
    known = (
        items.select("item_id")
        .join(failed, on="item_id", how="left", maintain_order="left")
        .join(tied.group_by("item_id", maintain_order=True).agg("ties"), on="item_id", how="left")
        .join(returned, on="item_id", how="left")
    )
    status = pl.when(pl.col("error").is_null()).then(pl.lit(DONE)).otherwise(pl.lit("failed"))
    nothing = pl.col("ties").fill_null([]), pl.col("n_returned", "n_nws").fill_null(0)
    return _rows("run_items", known.with_columns(*nothing, status=status), run_id=run_id)


def cost_row(run_id: str, part: str, ranked: Ranked) -> pl.DataFrame:
    """What ranking a part cost, as a row of `costs`."""
    row = {
        "run_id": run_id,
        "part": part,
        "index_seconds": ranked.index_seconds,
        "index_bytes": ranked.index_bytes,
        "query_seconds": ranked.query_seconds,
        "hardware": hardware(),
    }
    return pl.DataFrame([row], schema=table("costs").columns)
