"""Scores that a report has published, as one side of a comparison, and the check that they are of the same data."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import polars as pl

from lake.catalog.protocol import Protocol, Task
from lake.errors import Exit, GoldspanError
from lake.store import Lake
from lake.tables import table
from lake.text import counted, listed


class Published:
    """Published tables: `scores.parquet` (or its folder), and the other tables that a report publishes with it."""

    def __init__(self, path: Path) -> None:
        # Tables next to a file of another name may be of another date.
        beside = path.parent if path.name.startswith("scores") else None
        self._folder = path if path.is_dir() else beside
        self._scores = _files(path, "scores") if path.is_dir() else [path]
        hint = "Every site contains it: `python -m report --site before`, then --against before/data/scores.parquet."
        if not self._scores or not all(file.is_file() for file in self._scores):
            raise GoldspanError(f"--against {path}: no such file of scores", hint=hint, code=Exit.MISSING)
        columns = set[str]()
        with suppress(pl.exceptions.PolarsError, OSError):
            columns = {*pl.scan_parquet(self._scores).collect_schema()}
        if missing := [name for name in ("benchmark", "system", *table("scores").columns) if name not in columns]:
            message = f"--against {path}: not a readable scores.parquet: it lacks the columns {listed(missing)}"
            raise GoldspanError(message, hint=hint, code=Exit.INVALID)

    def scan(self, name: str, **folders: str) -> pl.LazyFrame:
        """A table's rows, only from some of its folders if given; no rows if the table is not published."""
        if files := self._scores if name == "scores" else _files(self._folder, name):
            frame = pl.scan_parquet(files)
        elif name == "runs":
            runs = self.scan("scores").select("run_id", "system", "benchmark").unique()
            frame = runs.with_columns(task=pl.lit(None, pl.String), status=pl.lit("complete"))
        else:
            declared = table(name)
            frame = pl.LazyFrame(schema={**declared.columns, **dict.fromkeys(declared.folders, pl.String())})
        return frame.filter(**folders) if folders else frame


def _files(folder: Path | None, name: str) -> list[Path]:
    """The file of a published table, or its parts if it was split."""
    return [] if folder is None else sorted([*folder.glob(f"{name}.parquet"), *folder.glob(f"{name}-[0-9]*.parquet")])


def check_same_data(
    task: Task, protocol: Protocol, sources: tuple[Published, Lake], scores: Sequence[pl.LazyFrame]
) -> Iterator[str]:
    """Check that a published run has the same rules and data as a run here; yield sentences on what is unknown."""
    scored, sides = [rows.select("item_id").unique().collect() for rows in scores], ("there", "here")
    shared, unknown = scored[0].join(scored[1], on="item_id"), list[str]()
    of_gold = ["item_id", "path", "line_start", "line_end", "candidate", "times", "grade"]
    for what, name, where, columns in (
        ("the rules", "scores", {}, ["protocol_hash"]),
        ("the benchmark's label", "benchmarks", {"name": task.benchmark}, ["label"]),
        ("the queries", "queries", {"benchmark": task.benchmark, "query": task.query}, ["item_id", "sha256"]),
        ("the gold", "gold_spans", {"benchmark": task.benchmark, "gold": protocol.gold}, of_gold),
    ):
        read = scores if name == "scores" else [source.scan(name).filter(**where) for source in sources]
        there, here = (rows.select(columns).unique().sort(columns).collect() for rows in read)
        if "item_id" in columns:
            there, here = (rows.join(shared, on="item_id", how="semi", maintain_order="left") for rows in (there, here))
        if there.is_empty():
            unknown += [what] if here.height else []
        elif not there.equals(here):
            apart = (
                there.join(here, on=columns, how="anti", nulls_equal=True),
                here.join(there, on=columns, how="anti", nulls_equal=True),
            )
            rows = ((side, *row) for side, differing in zip(sides, apart, strict=True) for row in differing.rows())
            hint = "Score both with the same version of this project, on the same source ingested alike, or leave the "
            hint += "protocol out with --protocol."
            message, examples = f"{protocol.name}: the two differ in {what}", [" ".join(map(str, row)) for row in rows]
            raise GoldspanError(message, examples=examples, hint=hint, code=Exit.INVALID)
    for side, mine in zip(sides, scored, strict=True):
        if n := mine.height - shared.height:
            yield f"{protocol.name}: {counted(n, 'item')} scored {side} only: left out of the difference"
    # A report does not publish the hashes of files.
    unchecked = ", ".join([*unknown, "the searched files"])
    yield f"{task.benchmark}: not checked against this lake, as not published with the scores: {unchecked}"
