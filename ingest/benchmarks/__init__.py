"""Benchmarks: one package each, found by the declaration in it; those in BEIR's layout by their declared collection."""

import functools
import sys
from collections.abc import Mapping

from ingest.benchmarks.beir import benchmark_of
from ingest.benchmarks.declaration import Benchmark
from lake.catalog import benchmarks as catalog
from lake.catalog.benchmarks.beir import Collection
from lake.declarations import discover
from lake.errors import GoldspanError


@functools.cache
def benchmarks() -> Mapping[str, Benchmark]:
    """Every declared benchmark by name."""
    read, collections = discover(sys.modules[__name__], Benchmark), discover(catalog, Collection)
    if twice := sorted(read.keys() & collections.keys()):
        raise GoldspanError(f"benchmark {twice[0]!r} is declared twice", hint="Give one of them another name.")
    return dict(sorted((read | {name: benchmark_of(collection) for name, collection in collections.items()}).items()))
