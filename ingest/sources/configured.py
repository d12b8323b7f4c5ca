"""Data sets and folders wherever a declaration of one's own says they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ingest.sources.archive import open_archive
from ingest.sources.datasets import HubRows, entry_of_hub, entry_of_saved, is_saved
from ingest.sources.disk import entry_on_disk
from ingest.sources.folder import read_folder
from ingest.sources.tree import Source, Tree


@dataclass(frozen=True)
class ConfiguredSource(Source):
    """Places by name, those among `trees` a folder or a zip of files, the others data sets; see `Source`."""

    name: str
    label: str
    revision: str
    places: Mapping[str, Path | HubRows]
    trees: frozenset[str]
    licences: Mapping[str, str] = field(default_factory=dict)

    def find(self, path: str) -> Tree | None:
        """A place that is declared, called by its own name: folders above it are nobody's business."""
        place = self.places.get(path)
        if place is None:
            return None
        if isinstance(place, HubRows):
            entry = entry_of_hub(place)
        elif path in self.trees:
            location = place.resolve().name
            return read_folder(place, location) if place.is_dir() else open_archive(place, location)
        elif is_saved(place):
            entry = entry_of_saved(place)
        else:
            entry = entry_on_disk(place, place.name, place.name, place.stat().st_size)
        return Tree(entry.path, [entry])
