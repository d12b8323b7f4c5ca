"""Selections of items: by the values of their columns, by their ids, or a seeded sample of so many of them."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeVar

import polars as pl

from lake.catalog.protocol import Task
from lake.errors import Exit, GoldspanError, unknown_name
from lake.pools import with_pools_of
from lake.store import Lake
from lake.text import listed

SEED = "goldspan-1"


def seeded_hash(*parts: str) -> int:
    """A hash of some texts and the project's seed, and of nothing else: 63 bits, so that `Int64` holds it."""
    data = "\0".join((SEED, *parts)).encode()
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big") >> 1


def stratified(items: pl.DataFrame, limit: int) -> pl.DataFrame:
    """At most `limit` items, every repository as near to its share as whole rows allow, in the order they had.

    Those of a repository are taken in the order of their seeded hash, and what rounding leaves over goes by largest
    remainder, so a larger limit holds the items of a smaller one but for rounding.
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
    return items.join(kept.select("item_id"), on="item_id", how="semi", maintain_order="left")


ITEM_COLUMNS = ("item_id", "subset", "split", "level", "context", "difficulty", "language", "repo", "source")
Where = tuple[tuple[str, str], ...]
"""Pairs of column and value: an item is selected that has, in each of the columns, one of its values."""
Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)


def parse_items(items: str, flag: str = "--items") -> Where:
    """`subset=function-2k,repo=x`, ids, and files of an id a line (`ids.txt`, `@ids.txt`), as sorted pairs."""
    pairs: set[tuple[str, str]] = set()
    for word in items.replace(",", " ").split():
        column, equals, value = word.partition("=")
        if (file := Path(word.removeprefix("@"))).is_file():
            lines = map(str.strip, file.read_text(encoding="utf-8", errors="replace").splitlines())
            ids = {("item_id", line) for line in lines if line}
            if not ids:
                raise GoldspanError(f"{flag} {word}: the file holds no id", hint="One id a line.", code=Exit.INVALID)
            pairs |= ids
        elif word.startswith("@"):
            raise GoldspanError(f"{flag} {word}: there is no such file", hint="One id a line.", code=Exit.MISSING)
        elif not equals and word not in ITEM_COLUMNS:
            pairs.add(("item_id", word))
        elif column in ITEM_COLUMNS and value:
            pairs.add((column, value))
        else:
            message = f"{flag} {word!r}: items are selected by column=value, by their ids, or by a file of ids"
            hint = f"Columns are {', '.join(ITEM_COLUMNS)}. No option changes a protocol: it is sealed."
            raise GoldspanError(message, hint=hint, code=Exit.USAGE)
    return tuple(sorted(pairs))


def by_column(where: Where) -> Mapping[str, Sequence[str]]:
    """Column → its values."""
    columns: dict[str, list[str]] = {}
    for column, value in where:
        columns.setdefault(column, []).append(value)
    return columns


def where_parameters(where: Where) -> dict[str, object]:
    """Column → its values for fingerprints and parameters: a single value stands without a list."""
    return {column: values[0] if len(values) == 1 else values for column, values in by_column(where).items()}


def of_where(items: Frame, where: Where) -> Frame:
    """The selected of some items."""
    for column, values in by_column(where).items():
        items = items.filter(pl.col(column).is_in(values))
    return items


def is_picked(name: str, patterns: Sequence[str]) -> bool:
    """Whether some patterns pick a system by its whole name, which may be any; without patterns all are."""
    return not patterns or any(pattern == name or fnmatchcase(name, pattern) for pattern in patterns)


def drawn_ids(lake: Lake, task: Task, where: Where, limit: int | None) -> pl.Series | None:
    """The ids of a seeded sample, by repository, of the selected items that can be scored; None where all are in it."""
    if limit is None:
        return None
    items = with_pools_of(lake, task, of_where(lake.scan("items", benchmark=task.benchmark), where))
    scorable = items.filter("scorable").select("item_id", "repo").collect()
    return None if scorable.height <= limit else stratified(scorable, limit)["item_id"]


def with_items(lake: Lake, benchmarks: Iterable[str], where: Where) -> list[str]:
    """The benchmarks of which a selection leaves items."""
    benchmarks = list(benchmarks)
    items = pl.concat([lake.scan("items", benchmark=name).select("benchmark", *ITEM_COLUMNS) for name in benchmarks])
    wanted = by_column(where).get("item_id", [])
    known = items.filter(pl.col("item_id").is_in(wanted)).select("item_id").collect()["item_id"]
    if unknown := sorted({*wanted} - {*known}):
        raise unknown_name(unknown[0], "item", items.select("item_id").collect()["item_id"])
    left = of_where(items, where).select(pl.col("benchmark").unique()).collect()["benchmark"].to_list()
    if not left:
        pairs = listed([f"{column}={value}" for column, value in where])
        message = f"no item of {listed(benchmarks)} has {pairs}"
        columns = [pl.col(column).unique().drop_nulls().sort().head(10) for column in by_column(where)]
        values = [items.select(column).collect().to_series() for column in columns]
        hint = "; ".join(f"{each.name} is one of {listed(each.to_list())}" for each in values)
        raise GoldspanError(message, where=str(lake.root), hint=f"{hint}.", code=Exit.MISSING)
    return [name for name in benchmarks if name in left]
