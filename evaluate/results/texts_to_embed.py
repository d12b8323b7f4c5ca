"""The texts that a system compares, each with the key by which its vector is found: to be embedded by any model."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from evaluate.rank.pools import load_pools
from evaluate.retrievers.dense import chunk_texts, text_key
from evaluate.selection import Selection, edition, selected_parts
from evaluate.systems import retriever_named
from evaluate.texts.query_forms import rewritten
from lake.benchmarks import tasks_of
from lake.console import DEFAULT_LAKE, Console, LakeOption, setting, split_names
from lake.errors import Exit, GoldspanError, lookup
from lake.hints import typed
from lake.store import Lake
from lake.text import counted

app = typer.Typer()


@app.command()
def texts(
    system: Annotated[str, typer.Argument(metavar="SYSTEM", help="CHUNKER+recorded.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Parquet to write.")],
    benchmarks: Annotated[str, setting("BENCHMARKS", "Comma list (default: all).")] = "",
    lake: LakeOption = DEFAULT_LAKE,
) -> None:
    """Write the texts that a system compares, to be embedded elsewhere and given back with --vectors."""
    store, names = Lake(lake), split_names(benchmarks)
    chunker, _, retriever = system.partition("+")
    if not retriever.startswith("recorded"):
        message = f"{system!r} is no system of vectors that are made elsewhere"
        raise GoldspanError(message, hint="Name a chunker: syntax-1500+recorded", code=Exit.USAGE)
    lookup(chunker, "chunker", {part.name: part for part in store.parts("chunkers")})
    form = retriever_named(retriever).query_form
    stored = [part.name for part in store.parts("benchmarks")]
    for name in names:
        lookup(name, "benchmark", dict.fromkeys(stored))
    frames = [frame for name in names or stored for frame in _of_benchmark(store, name, chunker, form)]
    if not frames:
        message = f"the lake holds nothing that {chunker} cut for these benchmarks"
        raise GoldspanError(message, where=str(lake), hint="First: make ingest", code=Exit.MISSING)
    rows = pl.concat(frames).unique("key", keep="first", maintain_order=True).sort("key")
    rows.write_parquet(output)
    kinds = dict(rows["kind"].value_counts().sort("kind").iter_rows())
    counts = ", ".join(counted(kinds.get(kind, 0), kind) for kind in ("chunk", "query"))
    Console().say(f"{counts} → {output}")
    Console().say(typed(f"  next, with key and vector of each: python -m evaluate --systems {system} --vectors FILE"))


def _of_benchmark(lake: Lake, benchmark: str, chunker: str, form: str) -> Iterator[pl.DataFrame]:
    selection = Selection((), edition(lake, benchmark).limit)
    for task in tasks_of(lake, benchmark):
        if task.imported_only or task.runs != "always" or (task.chunkers and chunker not in task.chunkers):
            continue
        for part in selected_parts(lake, task, selection):
            pools = load_pools(lake, chunker, part.pool_ids, with_blank=task.ranks_blank)
            chunks = [text for pool in pools.side_by_side() for text in chunk_texts(pool)]
            for kind, given in (("chunk", chunks), ("query", rewritten(part.queries, form)["text"])):
                distinct = list(dict.fromkeys(given))
                yield pl.DataFrame({"key": [text_key(text) for text in distinct], "kind": kind, "text": distinct})
