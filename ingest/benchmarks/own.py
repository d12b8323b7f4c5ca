"""Own data under its own name: a benchmark's reader gives its rows, and they are stored under another name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import polars as pl

from ingest.benchmarks.declaration import Benchmark, PoolGroup, SubsetRows

OWN = "own"
"""The label of own data that has a name of its own and no other label."""


def own_benchmark(benchmark: Benchmark, name: str) -> Benchmark:
    """A benchmark's rules for data of another name, with nothing of what is said of the published data."""
    return replace(
        benchmark,
        name=name,
        like=benchmark.name,
        display_name=name,
        title=f"Own data in the manner of {benchmark.display_name}",
        meaning=f"Own data, asked and scored by the rules of {benchmark.display_name}.",
        version=1,
        homepage="",
        licence="",
        repository_licences={},
        citation="",
        paper="",
        place=Benchmark.place,
    )


def under_its_name(reading: SubsetRows, benchmark: Benchmark) -> SubsetRows:
    """The rows that the reader of own data's kind read, under the data's own name, and the pools that it searches."""
    name = pl.lit(benchmark.name).alias("benchmark")
    path = pl.col("pool_id").str.strip_prefix(f"{benchmark.like}/")
    pool_id = (pl.lit(f"{benchmark.name}/") + path).alias("pool_id")
    # The documents of a collection are called after it: they are no repository.
    of_all = [pl.lit(benchmark.name).alias("repo")] if benchmark.is_collection else []
    return replace(
        reading,
        items=reading.items.with_columns(name, pool_id, *of_all),
        queries=reading.queries.with_columns(name),
        gold=reading.gold.with_columns(name),
        pools=_pools(reading.pools, pool_id),
    )


def _pools(groups: Iterable[PoolGroup], pool_id: pl.Expr) -> Iterator[PoolGroup]:
    """The groups one at a time, as they are made."""
    for group in groups:
        yield replace(group, files=group.files.with_columns(pool_id))
