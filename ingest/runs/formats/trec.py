"""TREC runs: six columns, as trec_eval and everything after it reads them."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from ingest.runs.importer import Importer
from ingest.runs.ranking_rows import as_numbers, refuse
from ingest.sources.input_file import InputFile

# The document may hold spaces; the other five columns may not.
_ROW = r"^\s*(\S+)\s+(\S+)\s+(.+?)\s+(\S+)\s+(\S+)\s+(\S+)\s*$"

MIN_COLUMNS = 6
_EXAMPLE = "function-2k/acme_rockets/0 Q0 src/engine.py#L10-L20 1 0.93 my-run"


def recognise(head: bytes, name: str) -> bool:
    """A first line of six columns, the fourth a whole number and the fifth a number."""
    columns = head.removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", 1)[0].split()
    if len(columns) < MIN_COLUMNS or not columns[-3].isdigit():
        return False
    try:
        float(columns[-2])
    except ValueError:
        return False
    return True


def read(input_file: InputFile) -> Iterator[pl.DataFrame]:
    """Item, document, rank and score of every line; the second and the last column say nothing of the ranking."""
    for lines in input_file.lines():
        group = pl.col("text").str.extract_groups(_ROW).struct.field
        rows = lines.with_columns(
            item_id=_unescaped(group("1")), document=_unescaped(group("3")), rank=group("4"), score=group("5")
        )
        broken = rows.filter(pl.col("item_id").is_null())
        refuse(input_file, broken, "not six columns", shown=pl.col("text"), hint=f"A TREC run has lines as: {_EXAMPLE}")
        yield as_numbers(input_file, rows.drop("text"), "rank", "score")


def _unescaped(column: pl.Expr) -> pl.Expr:
    """Spaces, which would end a column, are written `%20`, and so `%` is `%25`: as `report export` writes them."""
    return column.str.replace_all("%20", " ", literal=True).str.replace_all("%25", "%", literal=True)


TREC = Importer(
    name="trec",
    title="TREC run",
    meaning="Six columns: query, Q0, document, rank, score, run; plain, .gz or .zst. A space inside a name is %20. "
    "Where the ranks are all alike (all 0, all 1) the scores decide, as trec_eval has them.",
    recognise=recognise,
    read=read,
    as_trec_eval=True,
    example=_EXAMPLE,
)
