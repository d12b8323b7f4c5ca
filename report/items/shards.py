"""Items cut into files of like size that hold what is shown of each, so that one is shown after one of them is read."""

from __future__ import annotations

import json
from collections.abc import Iterator

import polars as pl

from report.data_files import data_file, packed

RAW_BYTES = 1_000_000
"""So much JSON goes into a file, which packed is a fifth of it or so."""


def with_shards(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows in their order as JSON: item_id, scorable, json, shard (from 0); what is null is left out of the JSON."""
    rows = frame.select("item_id", "scorable", json=pl.struct(pl.exclude("scorable")).struct.json_encode())
    # Names of what is null take much of what is small.
    rows = rows.with_columns(pl.col("json").str.replace_all(_NULL, ""))
    before = pl.col("json").str.len_bytes().cast(pl.Int64).cum_sum() - 1
    return rows.with_columns(shard=(before // RAW_BYTES).rle_id())


_NULL = r',"[a-z_]+":null'


def bounds(rows: pl.DataFrame) -> list[str]:
    """The first item of each shard: an item lies in the last of those whose first is not behind it."""
    return rows.group_by("shard", maintain_order=True).agg(pl.col("item_id").first())["item_id"].to_list()


def shard_files(rows: pl.DataFrame, folder: str, name: str) -> Iterator[tuple[str, bytes]]:
    """The files of rows from :func:`with_shards`: path and content, which gives packed JSON under `<name>/<shard>`.

    Beside `rows` it has `at`, how many scorable items come before them, and the scorable items `before` and `behind`.
    """
    id_ = pl.when("scorable").then("item_id")
    walked = rows.with_columns(
        at=pl.col("scorable").cum_sum().cast(pl.Int64) - pl.col("scorable").cast(pl.Int64),
        before=id_.forward_fill().shift(1),
        behind=id_.backward_fill().shift(-1),
    )
    edges = [pl.col("at", "before").first(), pl.col("behind").last()]
    joined = walked.group_by("shard", maintain_order=True).agg(*edges, pl.col("json").str.join(","))
    for shard, at, before, behind, text in joined.iter_rows():
        said = json.dumps({"at": at, "before": before, "behind": behind}, ensure_ascii=False)
        content = f'{said[:-1]},"rows":[{text}]}}'
        yield f"{folder}/{shard}.js", data_file(f"{name}/{shard}", packed(content.encode()))
