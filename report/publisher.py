"""What a page is: one publisher per module in `report/pages`, found by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from lake.store import Lake
from report.downloads import Stored
from report.facts import Facts
from report.items.licences import ItemText
from report.leaderboard.board import Board, boards_of


@dataclass(frozen=True)
class Entry:
    """A place in the navigation."""

    title: str
    path: str


@dataclass(frozen=True)
class Page:
    """A page to be rendered.

    Attributes:
        path: Where it lies in the site.
        title: What the browser's tab says.
        template: The template's file name.
        values: What the template needs besides the frame's own.
        said: What it says in a sentence, for those who share its address: a verdict where there is one.
        picture: The picture that is shown with it then, a path in the site; none where it is empty.
        files: Files that belong to it, such as figures and data loaded on demand: path in the site → content.
    """

    path: str
    title: str
    template: str
    values: Mapping[str, object]
    said: str = ""
    picture: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)


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
    downloads: Sequence[Stored]
    project: Project
    item_text: ItemText = ItemText.NONE

    @cached_property
    def boards(self) -> Mapping[str, Sequence[Board]]:
        """The leaderboards of every benchmark, the headline first."""
        return boards_of(self.facts)

    @property
    def every_board(self) -> list[Board]:
        """All of them."""
        return [board for boards in self.boards.values() for board in boards]


@dataclass(frozen=True)
class Publisher:
    """Makes the pages of one kind.

    Attributes:
        name: What the kind is called.
        order: Where it stands in the navigation.
        meaning: What a reader finds there, in a sentence.
        entries: Its places in the navigation.
        pages: The pages themselves.
    """

    name: str
    order: int
    meaning: str
    entries: Callable[[Facts], Sequence[Entry]]
    pages: Callable[[Material], Iterable[Page]]
