"""Scores that a report has published, and whether they are of the same data and rules as a lake's.

Items are matched by id. Where the same id stands for other data, or other rules scored it, nothing is compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import polars as pl

from lake.catalog.protocol import Protocol, Task
from lake.errors import Exit, GoldspanError
from lake.store import Lake
from lake.tables import TABLES, table
from lake.text import counted, listed


class Published:
    """Published tables: `scores.parquet` (or the folder that holds it), and what else a report publishes beside it."""

    def __init__(self, path: Path) -> None:
        if any((path / name).is_dir() for name in TABLES):
            hint = f"`python -m report --lake {path} --site before` publishes it: --against before/data/scores.parquet"
            raise GoldspanError(f"--against {path}: a lake, give its scores.parquet", hint=hint, code=Exit.USAGE)
        # What lies beside a file of another name may be of another time.
        beside = path.parent if path.name.startswith("scores") else None
        self._folder = path if path.is_dir() else beside
        self._scores = _files(path, "scores") if path.is_dir() else [path]
        hint = "Name the scores.parquet that a report publishes, or the folder that holds it."
        if not self._scores or not all(file.is_file() for file in self._scores):
            raise GoldspanError(f"--against {path}: no such file of scores", hint=hint, code=Exit.MISSING)
        columns = set[str]()
        with suppress(pl.exceptions.PolarsError, OSError):
            columns = {*pl.scan_parquet(self._scores).collect_schema()}
        if missing := [name for name in ("benchmark", "system", *table("scores").columns) if name not in columns]:
            message = f"--against {path}: no Parquet of scores that can be read; it lacks the columns {listed(missing)}"
            raise GoldspanError(message, hint=hint, code=Exit.INVALID)

    def scan(self, name: str, **folders: str) -> pl.LazyFrame:
        """A table's rows, of some of its folders alone; no rows where the table is not there."""
        declared = table(name)
        columns = {**declared.columns, **dict.fromkeys(declared.folders, pl.String())}
        if files := self._scores if name == "scores" else _files(self._folder, name):
            frame = pl.scan_parquet(files)
            frame = frame.select(column for column in frame.collect_schema() if column in columns or column == "system")
        elif name == "runs":
            runs = self.scan("scores").select("run_id", "system", "benchmark").unique()
            frame = runs.with_columns(task=pl.lit(None, pl.String), status=pl.lit("complete"))
        else:
            frame = pl.LazyFrame(schema=columns)
        return frame.filter(**folders) if folders else frame


def _files(folder: Path | None, name: str) -> list[Path]:
    """The file of a published table, or the parts that it was split into."""
    return [] if folder is None else sorted([*folder.glob(f"{name}.parquet"), *folder.glob(f"{name}-[0-9]*.parquet")])


def check_same_data(
    task: Task, protocol: Protocol, sources: tuple[Published, Lake], scores: Sequence[pl.LazyFrame]
) -> Iterator[str]:
    """See that what a published run scored is of the data and rules of a run here; sentences on what is not known."""
    hashes, scored = (
        [side.select(name).unique().sort(name).collect() for side in scores] for name in ("protocol_hash", "item_id")
    )
    if not hashes[0].equals(hashes[1]):
        there, here = (" ".join(each.to_series().str.head(12)) for each in hashes)
        raise _other(
            f"{protocol.name}: the two were scored by different rules, which the protocol's hash tells",
            "Score both with the same version of this project, or leave the protocol out with --protocol.",
            f"{there} there, {here} here",
        )
    known = (source.scan("benchmarks").filter(name=task.benchmark).select("label").collect() for source in sources)
    labels = ["".join(rows["label"]) if rows.height else None for rows in known]
    if labels[0] not in (None, labels[1]):
        message = f"{task.benchmark}: the two hold different data: labelled {labels[1]!r} here, {labels[0]!r} there"
        raise _other(message, "Ingest the same source for both; an empty label is the published data.")
    # A report publishes no files' hashes.
    unknown = [*(["the benchmark's label"] if labels[0] is None else []), "the searched files"]
    shared = scored[0].join(scored[1], on="item_id")
    of_gold = ["item_id", "path", "line_start", "line_end", "candidate", "times", "grade"]
    for what, name, folders, columns in (
        ("the queries", "queries", {"query": task.query}, ["item_id", "sha256"]),
        ("the gold", "gold_spans", {"gold": protocol.gold}, of_gold),
    ):
        tables = (source.scan(name, benchmark=task.benchmark).filter(**folders).select(columns) for source in sources)
        sides = [rows.join(shared.lazy(), on="item_id", how="semi").unique().collect() for rows in tables]
        if sides[0].is_empty():
            unknown[-1:-1] = [what] if sides[1].height else []
            continue
        apart = [rows.join(other, on=columns, how="anti", nulls_equal=True) for rows, other in (sides, sides[::-1])]
        if wrong := pl.concat(apart)["item_id"].unique().sort().to_list():
            message = f"{protocol.name}: {what} of {len(wrong):,} of {counted(shared.height, 'shared item')} differ"
            hint = "Equal ids stand for different data here and there: ingest the same source and version for both."
            raise _other(message, hint, *wrong)
    for where, mine in zip(("there", "here"), scored, strict=True):
        if n := mine.height - shared.height:
            yield f"{protocol.name}: {counted(n, 'item')} scored {where} alone: left out of the difference"
    yield f"{task.benchmark}: not published beside the scores, so not compared with this lake's: {', '.join(unknown)}"


def _other(what: str, hint: str, *examples: str) -> GoldspanError:
    return GoldspanError(what, examples=examples, hint=hint, code=Exit.INVALID)
