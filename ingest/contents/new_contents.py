"""Contents of a benchmark's pools that were not looked at yet, batch by batch, so that a kill costs one batch."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from lake.fingerprint import fingerprint
from lake.make import BuildTarget
from lake.naming import SEARCHED
from lake.store import Lake, Part


def searched_files(lake: Lake, benchmark: str) -> list[Part]:
    """The parts of `files` whose contents are searched."""
    return [part for kind in SEARCHED for part in lake.parts("files", benchmark=benchmark, kind=kind)]


def n_refused(made: BuildTarget) -> int:
    """How many contents could not be looked at, now or before."""
    return sum(part.scan("rejects").select(pl.len()).collect().item() for part in made.current())


def done_before(made: BuildTarget, status: str) -> pl.DataFrame:
    """The contents, sha256, that a table says were looked at."""
    done = [part.scan(status).select("sha256").collect() for part in made.current()]
    return pl.concat([pl.DataFrame(schema={"sha256": pl.String}), *done])


class NewContents:
    """Contents with text that are wanted and not done, in the order of the parts that hold them: each is read once."""

    def __init__(self, lake: Lake, wanted: pl.LazyFrame, made: BuildTarget, status: str) -> None:
        self._lake, self._blobs, self._made = lake, lake.parts("blobs"), made
        stored = [
            lake.scan_parts([part], "blobs").filter(pl.col("n_lines") > 0).select("sha256", place=pl.lit(number))
            for number, part in enumerate(self._blobs)
        ]
        none = pl.LazyFrame(schema={"sha256": pl.String, "place": pl.Int32})
        todo = pl.concat([none, *stored]).join(wanted, on="sha256")
        todo = todo.join(done_before(made, status).lazy(), on="sha256", how="anti")
        self._todo = todo.sort("place", "sha256").collect()

    def __len__(self) -> int:
        return self._todo.height

    def batches(self, at_once: int) -> Iterator[tuple[int, pl.DataFrame, BuildTarget]]:
        """How many are done with each batch, its rows of `blobs` in the order of sha256, and what is made of them."""
        for start in range(0, len(self), at_once):
            batch = self._todo[start : start + at_once]
            stored = [self._blobs[number] for number in batch["place"].unique().sort()]
            blobs = self._lake.scan_parts(stored, "blobs").join(batch.drop("place").lazy(), on="sha256")
            name = fingerprint(batch["sha256"].sort().to_list())[:16]
            yield start + batch.height, blobs.collect().sort("sha256"), self._made.named(name)
