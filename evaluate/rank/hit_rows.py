"""Rankings as rows of the lake's tables."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import polars as pl

from evaluate.rank.pools import ChunkedPools
from evaluate.rank.ranking import Ranked
from lake.naming import DONE, RANKING
from lake.offsets import LineOffsets, added_lines
from lake.tables import table
from lake.usage import hardware


def ranked_hit_rows(ranked: Mapping[str, Ranked], pools: ChunkedPools, axis: Callable[[], LineOffsets]) -> pl.DataFrame:
    """The chunks that each run ranked as rows of `hits`.

    `axis` gives the lines of the pools' files; it is asked only where chunks share some.
    """
    where = pools.chunks.lazy().select(
        "pool_id", "chunk", "path", "chunk_no", "line_start", "line_end", "byte_start", "byte_end", n_new_nws="n_nws"
    )
    hits = _by_run(ranked).lazy().join(where, on=["pool_id", "chunk"], how="left", maintain_order="left")
    if pools.share_lines:
        hits = _with_added(hits.collect(), axis())
    return _rows("hits", hits, step=0)


def _by_run(ranked: Mapping[str, Ranked]) -> pl.DataFrame:
    """The hits of all runs, one after the other, with `run_id`."""
    numbers = np.repeat(np.arange(len(ranked)), [of_run.hits.height for of_run in ranked.values()])
    run_id = pl.Series("run_id", list(ranked), pl.String)[numbers]
    return pl.concat([of_run.hits for of_run in ranked.values()]).hstack([run_id])


def _rows(name: str, frame: pl.LazyFrame, **values: str | int) -> pl.DataFrame:
    """A frame with a table's columns and no others: what it has, the given values, and null for the rest."""
    columns, known = table(name).columns, frame.collect_schema()
    rest = {name: values.get(name) for name in columns if name not in known}
    filled = frame.with_columns(pl.lit(value, columns[name]).alias(name) for name, value in rest.items())
    return filled.select(*columns).collect()


def _with_added(hits: pl.DataFrame, axis: LineOffsets) -> pl.LazyFrame:
    """Hits with the characters that each adds to those before it."""
    key = ["run_id", "item_id", "part", "rank"]
    added = added_lines(hits, ["run_id", "item_id", "pool_id", "part"]).lazy()
    new = axis.place(added).select(*key, n_new_nws=axis.n_nws())
    summed = new.group_by(key).agg(pl.col("n_new_nws").sum())
    joined = hits.lazy().drop("n_new_nws").join(summed, on=key, how="left", maintain_order="left")
    return joined.with_columns(pl.col("n_new_nws").fill_null(0))


def run_item_rows(ranked: Mapping[str, Ranked], items: pl.DataFrame, pools: ChunkedPools) -> pl.DataFrame:
    """What happened to each item of some runs, as rows of `run_items`."""
    key = ["run_id", "item_id"]
    returned = (
        _by_run(ranked)
        .lazy()
        .filter(pl.col("part") == RANKING)
        .join(pools.chunks.lazy().select("pool_id", "chunk", "n_nws"), on=["pool_id", "chunk"], how="left")
        .group_by(key)
        .agg(n_returned=pl.len().cast(pl.Int64), n_nws=pl.col("n_nws").sum())
    )
    ties = [(run_id, *item) for run_id, of_run in ranked.items() for item in of_run.ties.items()]
    failed = [(run_id, *item) for run_id, of_run in ranked.items() for item in of_run.failed.items()]
    texts = dict.fromkeys(key, pl.String())
    known = (
        pl.LazyFrame({"run_id": list(ranked)}, {"run_id": pl.String})
        .join(items.lazy().select("item_id"), how="cross")
        .join(pl.LazyFrame(failed, {**texts, "error": pl.String}, orient="row"), on=key, how="left")
        .join(pl.LazyFrame(ties, {**texts, "ties": pl.List(pl.Int64)}, orient="row"), on=key, how="left")
        .join(returned, on=key, how="left")
    )
    status = pl.when(pl.col("error").is_null()).then(pl.lit(DONE)).otherwise(pl.lit("failed"))
    nothing = pl.col("ties").fill_null([]), pl.col("n_returned", "n_nws").fill_null(0)
    return _rows("run_items", known.with_columns(*nothing, status=status))


def cost_rows(ranked: Sequence[Mapping[str, Ranked]], part: str) -> pl.DataFrame:
    """What ranking a part cost, some pools after the others, as rows of `costs`."""
    of_runs = {run_id: [of_run[run_id] for of_run in ranked] for run_id in ranked[0]}
    rows = [
        {
            "run_id": run_id,
            "part": part,
            "index_seconds": sum(some.index_seconds for some in of_run),
            "index_bytes": sum(some.index_bytes for some in of_run),
            "query_seconds": [seconds for some in of_run for seconds in some.query_seconds],
            "hardware": hardware(),
        }
        for run_id, of_run in of_runs.items()
    ]
    return pl.DataFrame(rows, schema=table("costs").columns)
