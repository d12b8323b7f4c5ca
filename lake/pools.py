"""What items search: the files of their pools, and the chunks that a chunker cuts those into."""

from __future__ import annotations

import polars as pl

from lake.catalog.protocol import Task
from lake.holding import parts_holding
from lake.store import Lake

POOL = {
    **dict.fromkeys(("pool_id", "path"), pl.String()),
    **dict.fromkeys(("chunk_no", "line_start", "line_end"), pl.Int64()),
}
"""The columns of the chunks of pools."""


def files_of(lake: Lake, pool_ids: pl.Series) -> pl.LazyFrame:
    """The rows of `files` of some pools."""
    rows = lake.scan_parts(parts_holding(lake, "files", "pool_id", pool_ids), "files")
    wanted = pl.Series([sorted({*pool_ids})], dtype=pl.List(pl.String))
    return rows.drop("benchmark", "kind").filter(pl.col("pool_id").is_in(wanted))


def own_pool(prefix: str, by: str) -> pl.Expr:
    """The pool that an item searches under a task, of the columns of `items`; its own where the task has no prefix."""
    if not prefix:
        return pl.col("pool_id")
    if by == "repo":
        return pl.format("{}/{}", pl.lit(prefix), "repo")
    return pl.format("{}/{}/{}:{}", pl.lit(prefix), "repo", "target_path", "target_line")


def with_pools_of(lake: Lake, task: Task, items: pl.LazyFrame) -> pl.LazyFrame:
    """The items that a task asks, each with the pool that it searches in it."""
    if not task.pool_prefix:
        return items
    own = lake.scan("files").filter(pl.col("pool_id").str.starts_with(f"{task.pool_prefix}/")).select("pool_id")
    rows = items.with_columns(pool_id=own_pool(task.pool_prefix, task.pool_by))
    rows = rows.filter(pl.col("subset").is_in(task.subsets)) if task.subsets else rows
    return rows.join(own.unique(), on="pool_id", how="semi", maintain_order="left")


def chunks_of(lake: Lake, chunker: str, contents: pl.DataFrame, *, with_blank: bool) -> pl.LazyFrame:
    """The chunks of some contents (sha256, n_lines) that are ranked: the columns of table `chunks` but for the chunker.

    `with_blank`: chunks of white space alone are among them, and a file without a line, which none cuts, is one.
    """
    parts = parts_holding(lake, "chunks", "sha256", contents["sha256"], chunker=chunker)
    cut = lake.scan_parts(parts, "chunks").filter(pl.col("sha256").is_in(contents["sha256"].implode()))
    if not with_blank:
        return cut.drop("chunker").filter(pl.col("n_nws") > 0)
    numbers = ("chunk_no", "line_start", "line_end", "byte_start", "byte_end", "n_nws")
    zeros = [pl.lit(0, pl.Int64).alias(name) for name in numbers]
    empty = contents.lazy().filter(pl.col("n_lines") == 0).select("sha256", *zeros)
    return pl.concat([cut.drop("chunker"), empty], how="diagonal")
