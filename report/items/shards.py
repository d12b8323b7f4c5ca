"""Items cut into files of like size that hold what is shown of each, so that one is shown after one of them is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from report.data_files import data_file, packed

RAW_BYTES = 450_000
"""So much JSON goes into a file, which packed is a third of it or less."""


def with_shards(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows in their order as JSON: item_id, json, shard (from 0)."""
    rows = frame.select("item_id", json=pl.struct(pl.all()).struct.json_encode())
    before = pl.col("json").str.len_bytes().cast(pl.Int64).cum_sum() - 1
    return rows.with_columns(shard=(before // RAW_BYTES).rle_id())


def bounds(rows: pl.DataFrame) -> list[str]:
    """The first item of each shard: an item lies in the last of those whose first is not behind it."""
    return rows.group_by("shard", maintain_order=True).agg(pl.col("item_id").first())["item_id"].to_list()


def shard_files(rows: pl.DataFrame, folder: str, name: str) -> Iterator[tuple[str, bytes]]:
    """The files: path, content; each gives a list of objects, packed JSON, under `<name>/<shard>`.

    Args:
        rows: As :func:`with_shards` gives them.
        folder: Where they lie.
        name: What scripts ask for them by.
    """
    joined = rows.group_by("shard", maintain_order=True).agg(pl.col("json").str.join(","))
    for shard, json in joined.iter_rows():
        yield f"{folder}/{shard}.js", data_file(f"{name}/{shard}", packed(f"[{json}]".encode()))


def json_file(name: str, value: Mapping[str, object]) -> bytes:
    """A file that gives an object as packed JSON."""
    import json

    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return data_file(name, packed(text.encode("utf-8", "surrogatepass")))
