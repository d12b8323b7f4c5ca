"""Scores that lie outside this lake, another lake's or published ones, and whether they are of the same data and rules.

Items are matched by id. Where the same id stands for other data, or other rules scored it, nothing is compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import polars as pl

from lake.catalog.protocol import Protocol as Rules
from lake.catalog.task import Task
from lake.errors import Exit, GoldspanError
from lake.naming import SEARCHED
from lake.store import Lake
from lake.tables import TABLES, table
from lake.text import counted, listed


class Source(Protocol):
    """What a lake and a folder of published tables have in common."""

    def scan(self, name: str, **folders: str) -> pl.LazyFrame:
        """A table's rows, of some of its folders alone; no rows where the table is not there."""


class Published:
    """Published tables: `scores.parquet` and, where they lie beside it, what else a report publishes.

    Args:
        path: A file of scores, or the folder that holds it.

    Raises:
        GoldspanError: There is no such file, or what it holds are no scores.
    """

    def __init__(self, path: Path) -> None:
        # What lies beside a file of another name may be of another time.
        beside = path.parent if path.name.startswith("scores") else None
        self._folder = path if path.is_dir() else beside
        self._scores = _files(path, "scores") if path.is_dir() else [path]
        if not self._scores or not all(file.is_file() for file in self._scores):
            message = f"--against {path}: there is no lake and no file of scores"
            hint = "Name a lake's folder, or the scores.parquet that a report publishes."
            raise GoldspanError(message, hint=hint, code=Exit.MISSING)
        try:
            found = pl.scan_parquet(self._scores).collect_schema().names()
        except (pl.exceptions.PolarsError, OSError) as error:
            message = f"--against {path}: no Parquet that can be read"
            raise GoldspanError(message, hint="Download or export it again.", code=Exit.INVALID) from error
        if missing := [name for name in ("benchmark", "system", *table("scores").columns) if name not in found]:
            message = f"--against {path}: no scores, as columns are missing: {listed(missing)}"
            hint = "A report publishes such a file, data/scores.parquet; `report export RUN --table scores` makes one."
            raise GoldspanError(message, hint=hint, code=Exit.INVALID)

    def scan(self, name: str, **folders: str) -> pl.LazyFrame:
        """A table's rows, of some of its folders alone; no rows where the table is not there."""
        declared = table(name)
        columns = {**declared.columns, **{one: pl.String() for one in declared.folders}}
        if files := self._scores if name == "scores" else _files(self._folder, name):
            frame = pl.scan_parquet(files)
            frame = frame.select(one for one in frame.collect_schema() if one in columns or one == "system")
        elif name == "runs":
            named = self.scan("scores").select("run_id", "system", "benchmark").unique()
            frame = named.with_columns(task=pl.lit(None, pl.String), status=pl.lit("complete"))
        else:
            frame = pl.LazyFrame(schema=columns)
        return frame.filter(**folders) if folders else frame


def source_at(path: Path) -> Source:
    """What lies at a path: a lake, or published scores.

    Raises:
        GoldspanError: Neither does.
    """
    is_lake = path.is_dir() and any((path / name).is_dir() for name in TABLES)
    return Lake(path) if is_lake else Published(path)


def _files(folder: Path | None, name: str) -> list[Path]:
    """The file of a published table, or the parts that it was split into."""
    return [] if folder is None else sorted([*folder.glob(f"{name}.parquet"), *folder.glob(f"{name}-[0-9]*.parquet")])


def held_against(task: Task, rules: Rules, sources: Sequence[Source], scores: Sequence[pl.LazyFrame]) -> Iterator[str]:
    """See that what a run scored elsewhere is of the data and rules of a run here; sentences on what cannot be told.

    Sources and scores, rows of that table, are first those elsewhere, then this lake's.

    Raises:
        GoldspanError: They are not; it says in what.
    """
    hashes, scored = ([one.select(name).unique().sort(name).collect() for one in scores] for name in _OF_SCORES)
    if not hashes[0].equals(hashes[1]):
        message = f"{rules.name}: the two were scored by different rules, which the protocol's hash tells"
        hint = "Score both with the same version of this project, or leave the protocol out with --protocol."
        there, here = (" ".join(each.to_series().str.head(12)) for each in hashes)
        raise GoldspanError(message, examples=[f"{there} there, {here} here"], hint=hint, code=Exit.INVALID)
    known = (one.scan("benchmarks").filter(name=task.benchmark).select("label").collect() for one in sources)
    labels = ["".join(one["label"]) if one.height else None for one in known]
    if labels[0] is not None and labels[0] != labels[1]:
        message = f"{task.benchmark}: the two hold different data: labelled {labels[1]!r} here, {labels[0]!r} there"
        hint = "Ingest the same source into both lakes; an empty label is the published data."
        raise GoldspanError(message, hint=hint, code=Exit.INVALID)
    unknown = ["the benchmark's label"] if labels[0] is None else []
    shared = scored[0].join(scored[1], on="item_id")
    prefixed = pl.lit(f"{task.pool_prefix}/") + pl.col("repo") if task.pool_prefix else pl.col("pool_id")
    items = sources[1].scan("items", benchmark=task.benchmark).select("item_id", pool_id=prefixed)
    asked = items.join(shared.lazy(), on="item_id", how="semi").collect().lazy()
    for what, columns in _IDENTITY.items():
        key = columns[0]
        sides = [
            _told(one, what, task, rules).select(columns).join(asked, on=key, how="semi").unique().collect()
            for one in sources
        ]
        if sides[0].is_empty():
            unknown += [what] if sides[1].height else []
            continue
        apart = [one.join(two, on=columns, how="anti", nulls_equal=True) for one, two in (sides, sides[::-1])]
        wrong = asked.join(pl.concat(apart).lazy(), on=key, how="semi").collect()["item_id"].sort().to_list()
        if wrong:
            message = f"{rules.name}: {what} of {len(wrong):,} of {counted(shared.height, 'shared item')} differ"
            hint = "Equal ids stand for different data here and there: ingest the same source and version into both."
            raise GoldspanError(message, examples=wrong, hint=hint, code=Exit.INVALID)
    for where, mine in zip(("there", "here"), scored, strict=True):
        if n := mine.height - shared.height:
            yield f"{rules.name}: {counted(n, 'item')} scored {where} alone: left out of the difference"
    if unknown:
        named = ", ".join(unknown)
        yield f"{task.benchmark}: not published beside the scores, so not held against this lake's: {named}"


_OF_SCORES = ("protocol_hash", "item_id")
_IDENTITY = {
    "the queries": ["item_id", "sha256"],
    "the gold": ["item_id", "path", "line_start", "line_end", "candidate", "times", "grade"],
    "the searched files": ["pool_id", "path", "sha256"],
}
"""What of an item must be equal → the columns that tell it, the first its own."""


def _told(source: Source, what: str, task: Task, rules: Rules) -> pl.LazyFrame:
    if what == "the queries":
        return source.scan("queries", benchmark=task.benchmark, query=task.query)
    if what == "the gold":
        return source.scan("gold_spans", benchmark=task.benchmark).filter(gold=rules.gold)
    return pl.concat([source.scan("files", benchmark=task.benchmark, kind=kind) for kind in SEARCHED])
