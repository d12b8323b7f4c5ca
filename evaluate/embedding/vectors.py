"""The vectors in the lake: given by the user for retriever `recorded`, or computed here and kept."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from lake.errors import Exit, GoldspanError
from lake.fingerprint import fingerprint, sha256_of, sha256_of_file
from lake.make import target_of
from lake.store import Lake, Part, numbered
from lake.tables import table

EncodedText = TypeVar("EncodedText", str, tuple[str, str])

Made = tuple[npt.NDArray[np.float32], list[int]]
"""A matrix with one row per text, and the number of tokens cut off from each text."""
TEXTS_PER_PART = 512
"""The number of vectors computed and stored at once; those stored survive an interruption."""
GIVEN = "given"
"""The maker's name for vectors that the user gave."""


def give_vectors(lake: Lake, file: Path, model: str) -> int:
    """Store a Parquet file of vectors (key, vector), replacing those given before; return their number."""
    given = target_of(lake, "vectors", part=GIVEN, parameters=[sha256_of_file(file), model], code=[_checked])
    given.make(lambda: _checked(file, model))
    return VectorStore(lake).n_cut(GIVEN).height


def key_of(text: str) -> str:
    """The key of the vector that a model computed for a text: the sha256 of the text in UTF-8."""
    return sha256_of(text.encode(errors="surrogatepass"))


KeyedVectors = Mapping[str, npt.NDArray[np.float32]]
"""Vectors by the key of their text, all of one length."""


class VectorStore:
    """The vectors of a lake; only those that are looked up are read."""

    def __init__(self, lake: Lake) -> None:
        self.lake = lake
        self._known: dict[str, tuple[list[Part], pl.DataFrame]] = {}

    def read(self, maker: str, keys: Iterable[str]) -> KeyedVectors:
        """The vectors of some keys, as far as they exist; `maker` is GIVEN or a model's identity."""
        wanted = pl.DataFrame({"key": list(dict.fromkeys(keys))}, {"key": pl.String()})
        parts, of_keys = self._keys_of(maker)
        numbers = of_keys.join(wanted, on="key")["part"].unique().sort()
        vectors = self.lake.scan_parts([parts[number] for number in numbers], "vectors")
        rows = vectors.filter(pl.col("key").is_in(wanted["key"].implode())).unique("key").sort("key").collect()
        if rows.is_empty():
            return {}
        matrix = rows["vector"].list.to_array(rows["vector"].list.len()[0]).to_numpy().astype(np.float32)
        return dict(zip(rows["key"], matrix, strict=True))

    def n_cut(self, maker: str) -> pl.DataFrame:
        """The texts for which a maker has vectors: key, n_cut."""
        return self._keys_of(maker)[1].select("key", "n_cut")

    def make(
        self, maker: str, texts: Mapping[str, EncodedText], make: Callable[[Sequence[EncodedText]], Made]
    ) -> Iterator[None]:
        """Compute and store the vectors of texts by key; yields after every part."""
        every = iter(texts)
        while keys := list(islice(every, TEXTS_PER_PART)):
            matrix, n_cut = make([texts[key] for key in keys])
            columns = {"model": [maker] * len(keys), "key": keys, "vector": list(matrix), "n_cut": n_cut}
            part = f"{_prefix(maker)}{fingerprint(sorted(keys))}"
            frame = pl.DataFrame(columns, table("vectors").columns)
            target_of(self.lake, "vectors", part=part, parameters=[maker, sorted(keys)]).write(frame)
            self._known.pop(maker, None)
            yield

    def get(
        self, maker: str, texts: Mapping[str, EncodedText], make: Callable[[Sequence[EncodedText]], Made]
    ) -> KeyedVectors:
        """The vectors of texts by key; missing ones are computed and stored."""
        vectors = self.read(maker, texts)
        missing = {key: text for key, text in texts.items() if key not in vectors}
        return self.read(maker, texts) if list(self.make(maker, missing, make)) else vectors

    def _keys_of(self, maker: str) -> tuple[list[Part], pl.DataFrame]:
        """A maker's parts, and for each key the index of the part that contains it."""
        if maker not in self._known:
            parts = [part for part in self.lake.parts("vectors") if part.name.startswith(_prefix(maker))]
            every = numbered(self.lake, "vectors", parts, lambda rows: rows.select("key", "n_cut"))
            self._known[maker] = (parts, every.unique("key", keep="first", maintain_order=True))
        return self._known[maker]


def _prefix(maker: str) -> str:
    return maker if maker == GIVEN else f"{fingerprint(maker)[:16]}-"


def _checked(file: Path, model: str) -> pl.DataFrame:
    # Imported when needed: other runs of the stage do not need Arrow.
    from lake.limits import UnreadableParquetError, read_batches

    def wrong(what: str, examples: Sequence[str] = ()) -> GoldspanError:
        return GoldspanError(f"vectors: {what}", where=str(file), examples=examples, code=Exit.INVALID)

    try:
        frame = pl.concat(read_batches(file, lambda _: ("key", "vector")))
        frame = frame.select(pl.lit(model).alias("model"), "key", "vector", n_cut=None)
        frame = frame.cast(pl.Schema(table("vectors").columns))
    except (UnreadableParquetError, pl.exceptions.PolarsError) as error:
        raise wrong(f"key must be a text, vector a list of numbers: {error}".splitlines()[0]) from error
    length = pl.col("vector").list.len()
    bad = frame.filter(
        pl.col("key").is_null()
        | pl.col("key").is_duplicated()
        | (length != length.max()).fill_null(value=True)
        | ~pl.col("vector").list.eval(pl.element().is_finite()).list.all()
    )
    if bad.height or frame.is_empty():
        what = f"vectors that are not finite, have another length, or lack a key of their own: {bad.height:,}"
        examples = bad["key"].head(3).cast(pl.String).fill_null("null").to_list()
        raise wrong(what if bad.height else "the file has no rows", examples)
    return frame
