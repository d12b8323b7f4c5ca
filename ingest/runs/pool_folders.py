"""The files of pools as folders on disk, for programs that search them and agents that work in them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import polars as pl

from lake.store import Lake

_AT_ONCE_BYTES = 64_000_000
"""So much text of pools is held at a time; a larger pool is held by itself."""


def pool_folders(
    lake: Lake, benchmark: str, root: Path, pool_ids: pl.Series, unwritten: list[str]
) -> Iterator[tuple[str, Path]]:
    """Every pool with a folder of its files below some root, deleted when the next one is taken; the pools sorted.

    Files whose path is none that can be written here go into `unwritten`, such as `pool: ../a.py`.
    """
    for number, (pool_id, files) in enumerate(_pools(lake, benchmark, pool_ids)):
        folder = root / f"pool-{number}"
        folder.mkdir()
        unwritten += [f"{pool_id}: {path}" for path, text in files.iter_rows() if not write_below(folder, path, text)]
        try:
            yield pool_id, folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _pools(lake: Lake, benchmark: str, pool_ids: pl.Series) -> Iterator[tuple[str, pl.DataFrame]]:
    """Every pool with path and text of its files, read several pools at a time."""
    wanted = pool_ids.unique().to_frame("pool_id").lazy()
    files = lake.scan("files", benchmark=benchmark).select("pool_id", "path", "sha256")
    blobs = lake.scan("blobs")
    sized = files.join(wanted, on="pool_id", how="semi").join(blobs.select("sha256", "n_bytes"), on="sha256")
    of_pool = sized.group_by("pool_id").agg(n_bytes=pl.col("n_bytes").sum()).sort("pool_id")
    batch = pl.col("n_bytes").cum_sum() // _AT_ONCE_BYTES
    for (_,), pools in of_pool.with_columns(batch=batch).collect().group_by("batch", maintain_order=True):
        of_batch = files.join(pools.lazy(), on="pool_id", how="semi")
        texts = blobs.select("sha256", "text").join(of_batch, on="sha256", how="semi")
        rows = of_batch.join(texts, on="sha256").select("pool_id", "path", "text").sort("pool_id", "path").collect()
        for (pool_id,), of_one in rows.group_by("pool_id", maintain_order=True):
            yield str(pool_id), of_one.select("path", "text")


def write_below(folder: Path, path: str, text: str) -> bool:
    """Write a file below a folder, unless its path leads out of it or is none."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts:
        return False
    try:
        file = folder.joinpath(*parts)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    except (OSError, ValueError):
        return False
    return True
