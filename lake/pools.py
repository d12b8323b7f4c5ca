"""Parts of a table by the values that they hold; contents; and pools of items: their files, and the chunks of those."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import polars as pl

from lake.catalog.protocol import Task
from lake.store import Lake, Part

PARTS_AT_ONCE = 100
"""The number of parts that one plan reads: of thousands polars would open all at once."""


def parts_holding(lake: Lake, name: str, column: str, values: pl.Series, **folders: str) -> list[Part]:
    """The parts of a table in which a column of text has one of the values, in their own order."""
    parts, places = _parts_with_values(lake, name, column, values, **folders)
    return [parts[number] for number in places.select(pl.col("part").unique().sort()).collect()["part"]]


def contents_of(lake: Lake, sha256: pl.Series, columns: Sequence[str] = ("text", "n_lines")) -> pl.DataFrame:
    """Some contents: sha256 and some columns of `blobs`, sorted by sha256; what the lake does not hold is missing."""
    names = ("sha256", *columns)
    parts, places = _parts_with_values(lake, "blobs", "sha256", sha256)
    # Where several parts hold one content, the first.
    first = places.group_by("sha256").agg(pl.col("part").min()).group_by("part").agg("sha256")
    rows = [
        lake.scan_parts([parts[part]], "blobs").filter(pl.col("sha256").is_in(pl.Series([of_part]))).select(names)
        for part, of_part in first.collect().iter_rows()
    ]
    return pl.concat(rows or [lake.scan_parts([], "blobs").select(names)]).sort("sha256").collect()


def _parts_with_values(
    lake: Lake, name: str, column: str, values: pl.Series, **folders: str
) -> tuple[list[Part], pl.LazyFrame]:
    """A table's parts, and which of the values each holds: the column, and `part`, the part's place in the list."""
    parts = lake.parts(name, **folders)
    known = _values_of_parts(lake.root, name, column, tuple(parts))
    return parts, known.lazy().join(pl.LazyFrame({column: values}), on=column, how="semi")


def numbered(lake: Lake, name: str, parts: list[Part], rows: Callable[[pl.LazyFrame], pl.LazyFrame]) -> pl.DataFrame:
    """The rows that `rows` takes of each of some parts of a table, with `part`, the part's place in the list."""
    frames = []
    for first in range(0, max(1, len(parts)), PARTS_AT_ONCE):
        some = parts[first : first + PARTS_AT_ONCE]
        scans = [lake.scan_parts([part], name) for part in some] or [lake.scan_parts([], name)]
        taken = [rows(scan).with_columns(part=pl.lit(first + number, pl.Int32)) for number, scan in enumerate(scans)]
        frames.append(pl.concat(taken).collect())
    return pl.concat(frames)


@lru_cache(maxsize=16)
def _values_of_parts(root: Path, name: str, column: str, parts: tuple[Part, ...]) -> pl.DataFrame:
    return numbered(Lake(root), name, list(parts), lambda rows: rows.select(column).unique())


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
