"""Rows that could not be read or scored, kept with their location and the reason."""

import reprlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import dataframely as dy
import polars as pl

from lake.limits import MAX_REJECTS
from lake.tables import table
from lake.tables.ingested import RejectRows

EXCERPT_LENGTH = 200
_PLACE_LENGTH, _REASON_LENGTH = 1_000, 2_000


@dataclass(frozen=True, order=True)
class Reject:
    """One rejected row; `source` is a path relative to the data source's root, `position` a text such as `line 12`."""

    source: str
    position: str
    reason: str
    excerpt: str = ""


@dataclass
class Rejects:
    """A collector of one step's rejects; beyond MAX_REJECTS they are only counted per file, in `more`."""

    kept: list[Reject] = field(default_factory=list)
    more: Counter[str] = field(default_factory=Counter)
    has_excerpts: bool = True

    def add(self, source: str, position: str, reason: str, excerpt: str = "") -> None:
        """Add a reject; the excerpt is cut to 200 characters, and lone surrogates are escaped."""
        excerpt = excerpt[:EXCERPT_LENGTH] if self.has_excerpts else ""
        texts = (source, position[:_PLACE_LENGTH], reason[:_REASON_LENGTH], excerpt)
        source, *rest = (text.encode(errors="backslashreplace").decode() for text in texts)
        if len(self.kept) < MAX_REJECTS:
            self.kept.append(Reject(source, *rest))
        else:
            self.more[source] += 1

    def __len__(self) -> int:
        return len(self.kept) + len(self.more)

    def __iter__(self) -> Iterator[Reject]:
        yield from self.kept
        for source, n in sorted(self.more.items()):
            yield Reject(source, "further places", f"{n:,} more were refused; {MAX_REJECTS:,} are kept one by one")

    def frame(self, stage: str) -> dy.DataFrame[RejectRows]:
        """The rejects as rows of table `rejects`; several reasons at one position become one row."""
        rows = [{"stage": stage, **vars(reject)} for reject in sorted(self)]
        by_place = pl.DataFrame(rows, table("rejects").columns).group_by(RejectRows.primary_key(), maintain_order=True)
        reasons = pl.col("reason").unique(maintain_order=True).str.join("; ")
        return RejectRows.cast(by_place.agg(reasons, pl.col("excerpt").first()))


_SHORT = reprlib.Repr()
_SHORT.maxlevel = 3
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = _SHORT.maxfrozenset = 8
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = EXCERPT_LENGTH


def excerpt_of(value: object) -> str:
    """The repr of a value, of bounded length even for large or deeply nested values."""
    return _SHORT.repr(value)[:EXCERPT_LENGTH]
