"""Contents of a benchmark's pools that were not looked at yet, batch by batch, so that a kill costs one batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from lake.fingerprint import fingerprint
from lake.make import BuildTarget
from lake.naming import SEARCHED
from lake.store import Lake, Part


def searched_files(lake: Lake, benchmark: str) -> list[Part]:
    """The parts of `files` whose contents are searched."""
    return [part for kind in SEARCHED for part in lake.parts("files", benchmark=benchmark, kind=kind)]


def done_before(made: BuildTarget, status: str) -> pl.DataFrame:
    """The contents, sha256, that a table says were looked at."""
    done = [part.scan(status).select("sha256").collect() for part in made.current()]
    return pl.concat([pl.DataFrame(schema={"sha256": pl.String}), *done])


def of_batch(made: BuildTarget, blobs: pl.DataFrame) -> BuildTarget:
    """Where what is made of some contents is stored."""
    return made.named(fingerprint(blobs["sha256"].sort().to_list())[:16])


class NewContents:
    """Contents with text that some makers have not looked at, in the order of the parts that hold them: read once.

    A batch has for each maker a column of its name, behind `todo:`, that says whether it has the content to do.
    """

    def __init__(self, lake: Lake, wanted: pl.LazyFrame, done: Mapping[str, pl.DataFrame]) -> None:
        self._lake, self._blobs = lake, lake.parts("blobs")
        stored = [
            lake.scan_parts([part], "blobs").filter(pl.col("n_lines") > 0).select("sha256", place=pl.lit(number))
            for number, part in enumerate(self._blobs)
        ]
        none = pl.LazyFrame(schema={"sha256": pl.String, "place": pl.Int32})
        todo = pl.concat([none, *stored]).join(wanted, on="sha256")
        for maker, contents in done.items():
            seen = contents.lazy().unique().with_columns(pl.lit(value=False).alias(f"todo:{maker}"))
            todo = todo.join(seen, on="sha256", how="left").with_columns(pl.col(f"todo:{maker}").fill_null(value=True))
        columns = [pl.lit(value=False), *(pl.col(f"todo:{maker}") for maker in done)]
        self._todo = todo.filter(pl.any_horizontal(columns)).sort("place", "sha256").collect()
        self.n_of = {maker: int(self._todo[f"todo:{maker}"].sum()) for maker in done}

    def __len__(self) -> int:
        return self._todo.height

    def batches(self, at_once: int) -> Iterator[tuple[int, pl.DataFrame]]:
        """How many are done with each batch, and its rows of `blobs`, in the order of sha256."""
        for start in range(0, len(self), at_once):
            batch = self._todo[start : start + at_once]
            stored = [self._blobs[number] for number in batch["place"].unique().sort()]
            blobs = self._lake.scan_parts(stored, "blobs").join(batch.drop("place").lazy(), on="sha256")
            yield start + batch.height, blobs.collect().sort("sha256")
