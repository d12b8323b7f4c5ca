"""What a page is: one publisher per module in `report/pages`, found by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property

from lake.store import Lake
from report.charts.converter import Drawing
from report.downloads import Stored
from report.facts import Facts
from report.items.licences import ItemText
from report.leaderboard.board import Board, build_board


@dataclass(frozen=True)
class Entry:
    """A place in the navigation."""

    title: str
    path: str


@dataclass(frozen=True)
class Page:
    """A page to be rendered from a template, its path in the site and the title of the browser's tab."""

    path: str
    title: str
    template: str
    values: Mapping[str, object]
    """What the template needs besides the frame's own."""
    said: str = ""
    """What it says in a sentence, for those who share its address: a verdict where there is one."""
    files: Mapping[str, bytes | Drawing] = field(default_factory=dict)
    """Files that belong to it, such as figures and data loaded on demand: path in the site → content."""


@dataclass(frozen=True)
class Project:
    """What the footer and the citation say of the project."""

    name: str
    version: str
    summary: str
    licence: str


@dataclass(frozen=True)
class Material:
    """What pages are made of."""

    lake: Lake
    facts: Facts
    written: Future[list[Stored]]
    """The downloads, which another process writes meanwhile."""
    project: Project
    item_text: ItemText = ItemText.NONE

    @property
    def downloads(self) -> Sequence[Stored]:
        """The files to download."""
        return self.written.result()

    @cached_property
    def boards(self) -> Mapping[str, Sequence[Board]]:
        """The leaderboards of every benchmark, the headline first."""
        facts = self.facts
        return {name: [build_board(facts, protocol) for protocol in facts.boards(name)] for name in facts.benchmarks}

    @property
    def every_board(self) -> list[Board]:
        """All of them."""
        return [board for boards in self.boards.values() for board in boards]


@dataclass(frozen=True)
class Publisher:
    """Makes the pages of one kind; `order` is its place in the navigation."""

    name: str
    order: int
    meaning: str
    pages: Callable[[Material], Iterable[Page]]
    entries: Callable[[Facts], Sequence[Entry]] = lambda _: ()
