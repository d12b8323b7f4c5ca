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
    """Check that a published run has the same data and rules as a run here; yield sentences on what is unknown."""
    hashes, scored = (
        [side.select(name).unique().sort(name).collect() for side in scores] for name in ("protocol_hash", "item_id")
    )
    if not hashes[0].equals(hashes[1]):
        there, here = (" ".join(each.to_series().str.head(12)) for each in hashes)
        raise _other(
            f"{protocol.name}: the two were scored by different rules (the protocol hashes differ)",
            "Score both with the same version of this project, or leave the protocol out with --protocol.",
            f"{there} there, {here} here",
        )
    known = (source.scan("benchmarks").filter(name=task.benchmark).select("label").collect() for source in sources)
    labels = ["".join(rows["label"]) if rows.height else None for rows in known]
    if labels[0] not in (None, labels[1]):
        message = f"{task.benchmark}: the two have different data: labelled {labels[1]!r} here, {labels[0]!r} there"
        raise _other(message, "Ingest the same source for both; an empty label is the published data.")
    # A report does not publish the hashes of files.
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
            hint = "The same ids name different data here and there: ingest the same source and version for both."
            raise _other(message, hint, *wrong)
    for where, mine in zip(("there", "here"), scored, strict=True):
        if n := mine.height - shared.height:
            yield f"{protocol.name}: {counted(n, 'item')} scored {where} only: left out of the difference"
    yield f"{task.benchmark}: not checked against this lake, as not published with the scores: {', '.join(unknown)}"


def _other(what: str, hint: str, *examples: str) -> GoldspanError:
    return GoldspanError(what, examples=examples, hint=hint, code=Exit.INVALID)
