"""What a page is: one publisher per module in `report/pages`, found by name."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from report.downloads import Stored
from report.items.licences import ItemText
from report.leaderboard.board import build_board
from report.tables_read import TablesRead


@dataclass(frozen=True)
class Page:
    """A page to be rendered from a template, its path in the site and the title of the browser's tab.

    `description` is what it says in a sentence, for those who share its address; `files` are data loaded on demand:
    path in the site → content.
    """

    path: str
    title: str
    template: str
    values: Mapping[str, object]
    description: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)


class SiteMaterial:
    """What pages are made of: the leaderboards of every benchmark, the headline first, and what else is asked for.

    The downloads are written meanwhile; the project is as pyproject.toml describes it. Where `is_local` nobody said
    that the site is published, or of which items it is to show text.
    """

    def __init__(
        self, facts: TablesRead, written: Future[list[Stored]], project: Mapping[str, str], item_text: ItemText | None,
        *, is_local: bool,
    ) -> None:  # fmt: skip
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
    """Makes the pages of one kind; the first line of its module's docstring (`doc`) says what is there.

    Kinds come in the `order` of the navigation, in which `entries` are titles and paths.
    """

    name: str
    order: int
    doc: str
    pages: Callable[[SiteMaterial], Iterable[Page]]
    entries: Callable[[TablesRead], Sequence[tuple[str, str]]] = lambda _: ()

    @property
    def meaning(self) -> str:
        """What a reader finds there, in a sentence."""
        text = self.doc.splitlines()[0].partition(": ")[2]
        return text[0].upper() + text[1:]
