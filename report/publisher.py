"""Pages and publishers: each module in `report/pages` defines one publisher, which is discovered there."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from lake.store import Lake
from report.downloads import Stored
from report.items.licences import ItemText
from report.leaderboard.board import build_board
from report.tables_read import TablesRead


@dataclass(frozen=True)
class Page:
    """A page of the site at `path`, with a sentence for link previews, and data loaded on demand (path → content)."""

    path: str
    title: str
    template: str
    values: Mapping[str, object]
    description: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)


class SiteMaterial(TablesRead):
    """The input of all pages. `is_local`: neither `url` nor `item_text` was given, so it is for this machine only.

    `written_boards` are those of `boards_of` whose pages are written: without editions if their pages are kept.
    """

    def __init__(
        self, lake: Lake, written: Future[list[Stored]], project: Mapping[str, str], item_text: ItemText | None,
        *, is_local: bool,
    ) -> None:  # fmt: skip
        super().__init__(lake)
        self.written, self.project, self.item_text, self.is_local = written, project, item_text, is_local
        self.boards_of = {name: [build_board(self, each) for each in self.boards(name)] for name in self.benchmarks}
        self.written_boards = self.boards_of
        self.every_board = [board for boards in self.boards_of.values() for board in boards]

    @property
    def downloads(self) -> Sequence[Stored]:
        """The files to download; waits until they are written."""
        return self.written.result()


@dataclass(frozen=True)
class Publisher:
    """The maker of all pages of a kind: its module's docstring describes them, `entries` are in the navigation."""

    name: str
    order: int
    doc: str
    pages: Callable[[SiteMaterial], Iterable[Page]]
    entries: Callable[[TablesRead], Sequence[tuple[str, str]]] = lambda _: ()

    @property
    def meaning(self) -> str:
        """A description of the pages: the first line of `doc` after its colon."""
        text = self.doc.splitlines()[0].partition(": ")[2]
        return text[0].upper() + text[1:]
