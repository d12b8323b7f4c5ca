"""The texts that a system compares, each with the key by which its vector is found: to be embedded by any model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from evaluate.rank.pools import load_pools
from evaluate.retrievers.cosine import chunk_texts, key_of
from evaluate.selection import Selection, edition, selected_parts
from evaluate.systems import retriever_named
from evaluate.texts.query_forms import rewritten
from lake.benchmarks import tasks_of
from lake.errors import Exit, GoldspanError, lookup
from lake.store import Lake


def texts_to_embed(lake: Lake, system: str, benchmarks: Sequence[str]) -> pl.DataFrame:
    """Every text of some benchmarks that a system needs a vector of.

    Args:
        lake: Where items and chunks are.
        system: `chunker+recorded`, `~` and a query form behind it where queries are rewritten.
        benchmarks: Which; all of the lake for none.

    Returns:
        key, kind (`chunk` or `query`), text; each key once, in its order.

    Raises:
        GoldspanError: The name is no such system's, or the lake holds no chunks of that chunker.
    """
    chunker, plus, name = system.partition("+")
    if not plus or not name.startswith("recorded"):
        message = f"{system!r} is no system of vectors that are made elsewhere"
        raise GoldspanError(message, hint="Name a chunker: syntax-1500+recorded", code=Exit.USAGE)
    lookup(chunker, "chunker", {part.name: part for part in lake.parts("chunkers")})
    form = retriever_named(name).query_form
    held = [part.name for part in lake.parts("benchmarks")]
    for one in benchmarks:
        lookup(one, "benchmark", dict.fromkeys(held))
    frames = [frame for one in benchmarks or held for frame in _of_benchmark(lake, one, chunker, form)]
    if not frames:
        message = f"the lake holds nothing that {chunker} cut for these benchmarks"
        raise GoldspanError(message, where=str(lake.root), hint="First: make ingest", code=Exit.MISSING)
    return pl.concat(frames).unique("key", keep="first", maintain_order=True).sort("key")


def _of_benchmark(lake: Lake, benchmark: str, chunker: str, form: str) -> Iterator[pl.DataFrame]:
    selection = Selection((), edition(lake, benchmark).limit)
    for task in tasks_of(lake, benchmark):
        if task.imported_only or task.runs != "always" or (task.chunkers and chunker not in task.chunkers):
            continue
        for asked in selected_parts(lake, task, selection):
            pools = load_pools(lake, chunker, asked.pool_ids, asked.files, with_blank=task.ranks_blank)
            for pool in pools.side_by_side():
                yield _rows("chunk", chunk_texts(pool))
            yield _rows("query", rewritten(asked.queries, form)["text"].to_list())


def _rows(kind: str, texts: Sequence[str]) -> pl.DataFrame:
    distinct = list(dict.fromkeys(texts))
    return pl.DataFrame({"key": [key_of(text) for text in distinct], "kind": kind, "text": distinct})
