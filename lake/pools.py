"""Selections of items, and the pools they search, file by file and chunk by chunk."""

import os
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeVar

import polars as pl

from lake.catalog.protocol import Task
from lake.errors import Exit, GoldspanError, unknown_name
from lake.fingerprint import seeded_hash
from lake.store import Lake, parts_holding
from lake.text import listed

POOL = {
    **dict.fromkeys(("pool_id", "path"), pl.String()),
    **dict.fromkeys(("chunk_no", "line_start", "line_end"), pl.Int64()),
}
"""The columns of a pool's chunks and their types."""


def files_of(lake: Lake, pool_ids: pl.Series) -> pl.LazyFrame:
    """The rows of `files` that belong to some pools."""
    rows = lake.scan_parts(parts_holding(lake, "files", "pool_id", pool_ids), "files")
    wanted = pl.Series([sorted({*pool_ids})], dtype=pl.List(pl.String))
    return rows.drop("benchmark", "kind").filter(pl.col("pool_id").is_in(wanted))


def own_pool(prefix: str, by: str) -> pl.Expr:
    """The id of an item's pool under a task, from the columns of `items`; without a prefix the item's own pool."""
    if not prefix:
        return pl.col("pool_id")
    if by == "repo":
        return pl.format("{}/{}", pl.lit(prefix), "repo")
    return pl.format("{}/{}/{}:{}", pl.lit(prefix), "repo", "target_path", "target_line")


def with_pools_of(lake: Lake, task: Task, items: pl.LazyFrame) -> pl.LazyFrame:
    """The items of a task, each with the `pool_id` that it searches under that task."""
    if not task.pool_prefix:
        return items
    own = lake.scan("files").filter(pl.col("pool_id").str.starts_with(f"{task.pool_prefix}/")).select("pool_id")
    rows = items.with_columns(pool_id=own_pool(task.pool_prefix, task.pool_by))
    rows = rows.filter(pl.col("subset").is_in(task.subsets)) if task.subsets else rows
    return rows.join(own.unique(), on="pool_id", how="semi", maintain_order="left")


def chunks_of(lake: Lake, chunker: str, contents: pl.DataFrame, *, with_blank: bool) -> pl.LazyFrame:
    """The chunks to rank of some contents (sha256, n_lines): the columns of table `chunks` except the chunker.

    `with_blank` keeps chunks of only white space, and adds one chunk for a file without lines, which no chunker cuts.
    """
    parts = parts_holding(lake, "chunks", "sha256", contents["sha256"], chunker=chunker)
    cut = lake.scan_parts(parts, "chunks").filter(pl.col("sha256").is_in(contents["sha256"].implode()))
    if not with_blank:
        return cut.drop("chunker").filter(pl.col("n_nws") > 0)
    numbers = ("chunk_no", "line_start", "line_end", "byte_start", "byte_end", "n_nws")
    empty = contents.lazy().filter(pl.col("n_lines") == 0)
    empty = empty.select("sha256", **dict.fromkeys(numbers, pl.lit(0, pl.Int64)))
    return pl.concat([cut.drop("chunker"), empty], how="diagonal")


def stratified(items: pl.DataFrame, limit: int) -> pl.DataFrame:
    """A sample of at most `limit` items in their original order, with each repository as near to its share as possible.

    Within one, items are taken by a seeded hash; places left by rounding go to the largest remainders.
    """
    if items.height <= limit:
        return items
    share = pl.col("n") * limit
    lot = pl.col("repo").cast(pl.String).fill_null("").map_elements(seeded_hash, return_dtype=pl.Int64)
    strata = (
        items.group_by("repo")
        .agg(n=pl.len().cast(pl.Int64))
        .with_columns(whole=share // items.height, remainder=share % items.height, lot=lot)
        .sort("remainder", "lot", "repo", descending=[True, False, False])
    )
    left = limit - int(strata["whole"].sum())
    quotas = strata.select("repo", quota=pl.col("whole") + (pl.int_range(pl.len()) < left).cast(pl.Int64))
    position = pl.col("item_id").map_elements(seeded_hash, return_dtype=pl.Int64)
    drawn = items.select("item_id", "repo").with_columns(position=position).sort("position", "item_id")
    drawn = drawn.join(quotas, on="repo", nulls_equal=True, maintain_order="left")
    kept = drawn.filter(pl.int_range(pl.len()).over("repo") < pl.col("quota"))
    return items.join(kept, on="item_id", how="semi", maintain_order="left")


ITEM_COLUMNS = ("item_id", "subset", "split", "level", "context", "difficulty", "language", "repo", "source")
Where = tuple[tuple[str, str], ...]
"""Pairs of column and value; an item is selected if it has one of the given values in each of the columns."""
Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)


def parse_items(items: str, flag: str = "--items") -> Where:
    """Parse `subset=function-2k,repo=x`, ids, and files with an id per line (`ids.txt`, `@ids.txt`) as sorted pairs."""
    pairs: set[tuple[str, str]] = set()
    for word in items.replace(",", " ").split():
        column, equals, value = word.partition("=")
        if os.path.isfile(file := word.removeprefix("@")):  # noqa: PTH113  # Path.is_file raises if the id is too long
            lines = map(str.strip, Path(file).read_text(encoding="utf-8", errors="replace").splitlines())
            ids = {("item_id", line) for line in lines if line}
            if not ids:
                raise GoldspanError(f"{flag} {word}: the file has no ids", hint="One id per line.", code=Exit.INVALID)
            pairs |= ids
        elif word.startswith("@"):
            raise GoldspanError(f"{flag} {word}: there is no such file", hint="One id per line.", code=Exit.MISSING)
        elif not equals and word not in ITEM_COLUMNS:
            pairs.add(("item_id", word))
        elif column in ITEM_COLUMNS and value:
            pairs.add((column, value))
        else:
            message = f"{flag} {word!r}: items are selected by column=value, by their ids, or by a file of ids"
            hint = f"Columns are {', '.join(ITEM_COLUMNS)}. Protocols are fixed: no option changes them."
            raise GoldspanError(message, hint=hint, code=Exit.USAGE)
    return tuple(sorted(pairs))


def by_column(where: Where) -> Mapping[str, Sequence[str]]:
    """The values per column."""
    columns: dict[str, list[str]] = {}
    for column, value in where:
        columns.setdefault(column, []).append(value)
    return columns


def of_where(items: Frame, where: Where) -> Frame:
    """The items that a selection selects."""
    for column, values in by_column(where).items():
        items = items.filter(pl.col(column).is_in(values))
    return items


def is_picked(name: str, patterns: Sequence[str]) -> bool:
    """Whether one of `patterns` (names or globs) matches a system's whole name; without patterns every name matches."""
    return not patterns or name in patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def drawn_ids(lake: Lake, task: Task, where: Where, limit: int | None) -> pl.Series | None:
    """The ids of a seeded sample of `limit` selected, scorable items, stratified by repository; None if it is all."""
    if limit is None:
        return None
    items = with_pools_of(lake, task, of_where(lake.scan("items", benchmark=task.benchmark), where))
    scorable = items.filter("scorable").select("item_id", "repo").collect()
    return None if scorable.height <= limit else stratified(scorable, limit)["item_id"]


def with_items(lake: Lake, benchmarks: Iterable[str], where: Where) -> list[str]:
    """The benchmarks in which a selection leaves items; unknown ids and an empty selection raise errors."""
    benchmarks = list(benchmarks)
    items = pl.concat([lake.scan("items", benchmark=name).select("benchmark", *ITEM_COLUMNS) for name in benchmarks])
    wanted = by_column(where).get("item_id", [])
    known = items.filter(pl.col("item_id").is_in(wanted)).select("item_id").collect()["item_id"]
    if unknown := sorted({*wanted} - {*known}):
        raise unknown_name(unknown[0], "item", items.select("item_id").collect()["item_id"])
    left = of_where(items, where).select(pl.col("benchmark").unique()).collect()["benchmark"].to_list()
    if not left:
        message = f"no item of {listed(benchmarks)} has {listed(['='.join(pair) for pair in where])}"
        columns = [pl.col(column).unique().drop_nulls().sort().head(10) for column in by_column(where)]
        values = [items.select(column).collect().to_series() for column in columns]
        hint = "; ".join(f"{each.name} is one of {listed(each.to_list())}" for each in values)
        raise GoldspanError(message, where=str(lake.root), hint=f"{hint}.", code=Exit.MISSING)
    return [name for name in benchmarks if name in left]
