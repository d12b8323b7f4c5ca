"""Rows that could not be read or scored: kept with their place and reason, never dropped in silence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import polars as pl

from lake.tables import table

EXCERPT_LENGTH = 200


@dataclass(frozen=True, order=True)
class Reject:
    """One thing that was refused.

    Attributes:
        source: The file it stands in, relative to the source's own root.
        position: Where in it: `line 12`, `entry ../x`, `item function-2k/x/3`.
        reason: What is wrong, and what to do where that is not plain.
        excerpt: The beginning of what was refused.
    """

    source: str
    position: str
    reason: str
    excerpt: str = ""


@dataclass
class Rejects:
    """Collects what one step refuses; two reasons at one place become one row."""

    found: list[Reject] = field(default_factory=list)

    def add(self, source: str, position: str, reason: str, excerpt: str = "") -> None:
        """Note one refusal; the excerpt is cut to 200 characters, half a surrogate pair is written as an escape."""
        texts = (source, position, reason, excerpt[:EXCERPT_LENGTH])
        self.found.append(Reject(*(text.encode(errors="backslashreplace").decode() for text in texts)))

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Reject]:
        return iter(self.found)

    def frame(self, stage: str) -> pl.DataFrame:
        """The refusals as rows of the table `rejects`."""
        columns = table("rejects").columns
        rows = [{"stage": stage, **vars(reject)} for reject in sorted(self.found)]
        return (
            pl.DataFrame(rows, schema=columns)
            .group_by("stage", "source", "position", maintain_order=True)
            .agg(pl.col("reason").unique(maintain_order=True).str.join("; "), pl.col("excerpt").first())
        )
