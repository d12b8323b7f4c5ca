"""Rows of tables, or of some of their columns, in few words, and stored ones changed."""

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from lake.store import Lake, Part
from lake.tables import TABLES, declared_rows, table

TYPES = {name: kind for declared in TABLES.values() for name, kind in declared.columns.items()}

USUAL: Mapping[str, Mapping[str, object]] = {
    "protocols": {"relevance": "", "has_contexts": False, "leaves_out_failed": False, "parity_only": False, "place": 1,
                  "headline": {"slice": "all", "slice_value": "all"}, "hash": "c0ffee11c0ffee11"},
    "runs": {"parameters": "{}", "versions": "{}", "status": "complete", "fingerprint": "f"},
    "run_items": {"status": "done", "n_nws": 100, "ties": []},
    "hits": {"part": "ranking", "step": 0},
    "aggregates": {"k": 0, "slice": "all", "slice_value": "all", "n_failed": 0, "n_not_applicable": 0, "unit": "item"},
}  # fmt: skip
SCORE = {"run_id": "run", "protocol": "rules", "granularity": "chunk", "metric": "recall", "k": 5, "protocol_hash": "h"}


def frame(rows: Iterable[Sequence[object]], *columns: str, **others: pl.DataType) -> pl.LazyFrame:
    """Rows under columns, which have the types that the tables give them, and under others."""
    return pl.LazyFrame(list(rows), {name: TYPES[name] for name in columns} | others, orient="row")


def score_rows(given: Mapping[str, Sequence[object]], **same: object) -> pl.LazyFrame:
    """Rows of `scores`: some columns as given, the others alike in every row, as said, as usual or null."""
    return filled("scores", pl.DataFrame(given, {name: TYPES[name] for name in given}), **SCORE | same).lazy()


def filled(name: str, given: pl.DataFrame, **same: object) -> pl.DataFrame:
    """Rows of a table: some columns as given, the others alike in every row, as said, or null."""
    columns = table(name).columns
    others = {column: pl.lit(same.get(column)) for column in columns if column not in given.columns}
    return given.with_columns(**others).select(*columns).cast(pl.Schema(columns))


def chunk_rows(*sha256: str, chunker: str = "c") -> pl.DataFrame:
    """Rows of `chunks`: a chunk of nothing in each of some contents."""
    numbers = ("chunk_no", "line_start", "line_end", "byte_start", "byte_end", "n_nws")
    rows = [{"chunker": chunker, "sha256": sha, **dict.fromkeys(numbers, 0)} for sha in sha256]
    return pl.DataFrame(rows, schema=table("chunks").columns)


def write(
    lake: Lake,
    name: str,
    rows: Iterable[Mapping[str, object]],
    *,
    part: str = "0",
    fingerprint: str = "f",
    **folders: str,
) -> Part:
    """Write rows; missing columns come from the folders or are usual values, else null (empty for declarations).

    A table without a folder for runs or protocols gets a part named after the given one.
    """
    columns = table(name).columns
    usual = {**USUAL.get(name, {}), **{folder: of for folder, of in folders.items() if folder in columns}}
    for folder in {"run_id", "protocol"} & (folders.keys() - {*table(name).folders}):
        part = folders.pop(folder)
    if "display_name" in columns:
        frame = declared_rows(name, [usual | dict(each) for each in rows])
    else:
        empty = dict.fromkeys(columns) | usual
        frame = pl.DataFrame([empty | dict(each) for each in rows], schema=columns)
    return lake.write(name, frame, part=part, fingerprint=fingerprint, **folders)


def change(lake: Lake, name: str, *parts: Part, **columns: pl.Expr) -> None:
    """Write parts of a table, or all of them, again with some columns changed, under their fingerprints."""
    for part in parts or lake.parts(name):
        rows = lake.scan_parts([part], name).select(*table(name).columns).with_columns(**columns)
        lake.write(name, rows.collect(), part=part.name, fingerprint=part.fingerprint, **part.folders)
