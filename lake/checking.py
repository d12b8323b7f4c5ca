"""Whether a frame is what its table declares."""

from __future__ import annotations

import polars as pl

from lake.errors import Exit, GoldspanError
from lake.fingerprint import canonical_json
from lake.tables import Table


def check(declared: Table, frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with its columns in the declared order.

    Raises:
        GoldspanError: Columns, types, nulls, keys or rules are not as declared, e.g.
            `scores: missing ['value'], unexpected ['values']`.
    """
    columns = declared.columns
    missing = [column for column in columns if column not in frame.columns]
    unexpected = [column for column in frame.columns if column not in columns]
    if missing or unexpected:
        message = f"{declared.name}: missing {missing}, unexpected {unexpected}"
        raise GoldspanError(message, code=Exit.INVALID)
    found = frame.schema
    wrong = [f"{name} is {found[name]}, not {kind}" for name, kind in columns.items() if found[name] != kind]
    if wrong:
        message = f"{declared.name}: wrong types"
        raise GoldspanError(message, examples=wrong, code=Exit.INVALID)
    ordered = frame.select(list(columns))
    _, failure = declared.schema.filter(ordered)
    if len(failure):
        rows = failure.invalid().select(declared.key).head(3).rows(named=True)
        broken = ", ".join(f"{rule} ({count:,} rows)" for rule, count in sorted(failure.counts().items()))
        message = f"{declared.name}: rows break {broken}"
        raise GoldspanError(message, examples=[canonical_json(row) for row in rows], code=Exit.INVALID)
    return ordered
