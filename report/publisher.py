"""What a page is: one publisher per module in `report/pages`, found by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from report.charts.figures import Figure
from report.downloads import Stored
from report.items.licences import ItemText
from report.leaderboard.board import build_board
from report.tables_read import TablesRead


@dataclass(frozen=True)
class NavigationEntry:
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
    description: str = ""
    """What it says in a sentence, for those who share its address: a verdict where there is one."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Files that belong to it, such as data loaded on demand: path in the site → content."""
    figures: Sequence[Figure] = ()
    """What is drawn for it."""


class SiteMaterial:
    """What pages are made of: the leaderboards of every benchmark, the headline first, and what else is asked for.

    Another process writes the downloads meanwhile; the project is as pyproject.toml describes it. Where `is_local`
    nobody said that the site is published, or of which items it is to show text.
    """

    def __init__(
        self,
        facts: TablesRead,
        written: Future[list[Stored]],
        project: Mapping[str, str],
        item_text: ItemText | None,
        *,
        is_local: bool,
    ) -> None:
        self.facts, self.written, self.project, self.item_text = facts, written, project, item_text
        self.is_local = is_local
        self.boards = {
            name: [build_board(facts, protocol) for protocol in facts.boards(name)] for name in facts.benchmarks
        }
        self.every_board = [board for boards in self.boards.values() for board in boards]

    @property
    def downloads(self) -> Sequence[Stored]:
        """The files to download."""
        return self.written.result()


@dataclass(frozen=True)
class Publisher:
    """Makes the pages of one kind; `order` is its place in the navigation, `doc` its module's docstring."""

    name: str
    order: int
    doc: str
    pages: Callable[[SiteMaterial], Iterable[Page]]
    entries: Callable[[TablesRead], Sequence[NavigationEntry]] = lambda _: ()

    @property
    def meaning(self) -> str:
        """What a reader finds there, in a sentence."""
        text = self.doc.partition(": ")[2]
        return text[0].upper() + text[1:]
