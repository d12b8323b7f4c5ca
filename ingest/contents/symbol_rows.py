"""Definitions that were found in contents as rows of the lake; with the rules, all that decides what those rows are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from ingest.contents.definitions import RULES, Found
from lake.rejects import Rejects
from lake.tables import table


def symbol_rows(
    sha256: Sequence[str], endings: Sequence[str], found: Sequence[Mapping[str, Found]]
) -> list[pl.DataFrame]:
    """What was found in some contents: a frame of `symbols` for each set of rules, of `rejects` and of `symbol_status`.

    Args:
        sha256: The contents.
        endings: Those of their paths.
        found: What each set of rules found in each of them.
    """
    frames = []
    for rules in RULES:
        rows = [
            (rules, content, one.byte_start, one.byte_end, one.kind, *one[3:])
            for content, by_rules in zip(sha256, found, strict=True)
            if rules in by_rules
            for one in by_rules[rules].definitions
        ]
        frames.append(pl.DataFrame(rows, schema=table("symbols").columns, orient="row"))
    rejects = Rejects()
    why_not = [by_rules["docs"].why_not or None for by_rules in found]
    for content, ending, why in zip(sha256, endings, why_not, strict=True):
        if why:
            rejects.add(f"blob {content}", "symbols", f".{ending} could not be parsed: {why}")
    status = pl.DataFrame({"sha256": sha256, "failed": why_not}, schema=table("symbol_status").columns)
    return [*frames, rejects.frame("ingest"), status]
