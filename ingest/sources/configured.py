"""Data sets and folders wherever a declaration of one's own says they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ingest.sources.archive import open_archive
from ingest.sources.datasets import HubRows, entry_of_hub, entry_of_saved, is_saved
from ingest.sources.disk import entry_on_disk
from ingest.sources.folder import read_folder
from ingest.sources.tree import Entry, Recorded, Tree


@dataclass(frozen=True)
class ConfiguredSource:
    """Places by name; see `Source` for what the other attributes say.

    Attributes:
        trees: Which of them are a folder or a zip of files; the others are data sets.
    """

    name: str
    label: str
    revision: str
    places: Mapping[str, Path | HubRows]
    trees: frozenset[str]
    licences: dict[str, str] = field(default_factory=dict)

    def tree(self, *paths: str) -> Tree | None:
        """The first of some places that is declared, called by its own name: folders above it are nobody's business."""
        for path in paths:
            place = self.places.get(path)
            if isinstance(place, HubRows):
                return _tree_of(entry_of_hub(place))
            if place is not None:
                return _files_of(place) if path in self.trees else _tree_of(_entry_of(place))
        return None

    def recorded(self) -> Sequence[Recorded]:
        """None: a declaration names data alone."""
        return ()


def _files_of(place: Path) -> Tree:
    location = place.resolve().name
    return read_folder(place, location) if place.is_dir() else open_archive(place, location)


def _entry_of(place: Path) -> Entry:
    is_folder = is_saved(place)
    return entry_of_saved(place) if is_folder else entry_on_disk(place, place.name, place.name, place.stat().st_size)


def _tree_of(entry: Entry) -> Tree:
    """A tree that holds one file."""
    return Tree(entry.path, [entry])
