"""Benchmarks: one declaration each, saying what it is, which raw files it needs and how they are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from ingest.sources import Entry, Source, Tree
from lake.rejects import Rejects


@dataclass(frozen=True)
class RawFiles:
    """The raw files one subset is made of, not yet read.

    Attributes:
        tasks: Files that hold the items, in the order they are read.
        pools: The trees the items search in.
    """

    tasks: Sequence[Entry]
    pools: Sequence[Tree]

    @property
    def entries(self) -> list[Entry]:
        """Every file that is read."""
        return [*self.tasks, *(entry for tree in self.pools for entry in tree.entries)]


@dataclass(frozen=True)
class PoolGroup:
    """Pools that come from one place and are stored as one part.

    Attributes:
        name: The part's name: `<benchmark>.<group>`.
        files: Rows of the table `files`.
        blobs: Rows of the table `blobs`, each content once.
    """

    name: str
    files: pl.DataFrame
    blobs: pl.DataFrame


@dataclass
class Reading:
    """What a benchmark's reader answers for one subset.

    Attributes:
        items: Rows of the table `items`.
        gold: Rows of the table `gold_spans`.
        pools: What the items search in; pools of one group are stored together, so a group is always read whole.
        notes: Sentences for the last block: counts of what was clamped, replaced or merged.
    """

    items: pl.DataFrame
    gold: pl.DataFrame
    pools: Sequence[PoolGroup]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Benchmark:
    """A benchmark, as `python -m ingest list` and the pages say it.

    Attributes:
        name: As in paths and on the command line.
        display_name: As its authors write it.
        title: A few words.
        meaning: What it asks, in a sentence that reads well on a page.
        version: Raised whenever the rows read from equal files may change.
        homepage: Where its publishers have it.
        licence: Of the published data.
        citation: BibTeX.
        paper: Where it is described.
        subsets: What may be asked for.
        default_subsets: What is read when nothing is asked for.
        markers: Files or folders one of which its folder holds.
        gold_rules: Gold rule → what it calls the answer.
        find: `find(source, subset, rejects)` → the raw files.
        read: `read(raw, subset, rejects)` → the rows.
    """

    name: str
    display_name: str
    title: str
    meaning: str
    version: int
    homepage: str
    licence: str
    citation: str
    paper: str
    subsets: tuple[str, ...]
    default_subsets: tuple[str, ...]
    markers: tuple[str, ...]
    gold_rules: Mapping[str, str]
    find: Callable[[Source, str, Rejects], RawFiles]
    read: Callable[[RawFiles, str, Rejects], Reading]
