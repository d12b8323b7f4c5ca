"""Vectors made elsewhere, brought into the lake for the retriever `recorded`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from evaluate.retrievers import Vectors
from lake.errors import Exit, GoldspanError
from lake.fingerprint import sha256_of_file
from lake.make import make
from lake.store import Lake
from lake.tables import table


def give_vectors(lake: Lake, file: Path, model: str) -> int:
    """Store a Parquet file of vectors in place of those there were; how many it holds.

    Args:
        lake: Where to.
        file: Parquet with `key` (text) and `vector` (a list or array of numbers, all of one length).
        model: What made them.

    Raises:
        GoldspanError: The file is not there or not of this shape, or a vector is not finite or of another length.
    """
    if not file.is_file():
        message = f"there is no file {file}"
        raise GoldspanError(message, hint="--vectors takes a Parquet file with key and vector.", code=Exit.MISSING)
    make(lake, "vectors", "given", partial(_checked, file, model), parameters=[sha256_of_file(file), model])
    return lake.read("vectors").height


def load_vectors(lake: Lake) -> Vectors | None:
    """The vectors that the lake was given; None where it was given none."""
    stored = lake.read("vectors").sort("model", "key")
    if stored.is_empty():
        return None
    dimensions = stored["vector"].list.len()[0]
    matrix = stored["vector"].list.to_array(dimensions).to_numpy().astype(np.float64)
    return Vectors(stored["model"][0], {key: row for row, key in enumerate(stored["key"])}, matrix)


def _checked(file: Path, model: str) -> pl.DataFrame:
    # Imported when needed: no other run of the stage waits for Arrow.
    from lake.parquet import UnreadableParquetError, read_parquet

    def wrong(what: str, examples: list[str] | None = None) -> GoldspanError:
        return GoldspanError(what, where=str(file), examples=examples or [], code=Exit.INVALID)

    def columns_of(found: Sequence[str]) -> list[str]:
        missing = [column for column in ("key", "vector") if column not in found]
        if missing:
            raise wrong(what=f"vectors: missing {missing}, found {list(found)}")
        return ["key", "vector"]

    try:
        frame = read_parquet(file, columns_of)
    except UnreadableParquetError as error:
        raise wrong(what=f"vectors: {error}") from error
    try:
        columns = table("vectors").columns
        frame = frame.select(pl.lit(model).alias("model"), "key", "vector").cast(pl.Schema(columns))
    except pl.exceptions.PolarsError as error:
        raise wrong(what=f"vectors: key is to be a text, vector a list of numbers: {error}".splitlines()[0]) from error
    length = pl.col("vector").list.len()
    bad = frame.filter(
        pl.col("key").is_null()
        | (length != length.max()).fill_null(value=True)
        | ~pl.col("vector").list.eval(pl.element().is_finite()).list.all()
    )
    if bad.height:
        what = f"vectors: {bad.height:,} are not finite or of another length than the others"
        raise wrong(what=what, examples=bad["key"].head(3).cast(pl.String).fill_null("null").to_list())
    if frame.is_empty():
        raise wrong(what="vectors: the file holds none")
    return frame
