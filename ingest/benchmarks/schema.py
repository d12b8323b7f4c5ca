"""The schema of a declaration of own data: the location of the data, and the fields of its rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ingest.benchmarks.fields import Fields
from ingest.sources.tree import RawFiles, Source, Tree
from lake.rejects import Rejects

NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$"
"""The form of a name for own data."""


@dataclass(frozen=True)
class DataLocation:
    """The location of own data: a folder or zip of files (`is_tree`), or else a data set, which consists of rows."""

    usual: str
    is_tree: bool = False
    is_optional: bool = False


def find_places(places: Mapping[str, DataLocation], source: Source, subset: str, rejects: Rejects) -> RawFiles:
    """The files at the locations of a declaration (which has one subset): its data sets, and the trees to search in."""
    trees = {name: source.find(name) or Tree(name, []) for name in places}
    pools = [trees[name] for name, declared in places.items() if declared.is_tree]
    for tree in pools:
        tree.reject_refused(rejects)
    tasks = [entry for name in places if not places[name].is_tree for entry in trees[name].entries]
    return RawFiles(tasks, pools, source.repositories)


@dataclass(frozen=True)
class DataSchema:
    """The keys of a declaration (`--config`) of own data: `places` are keys below `data`, `fields` below `fields`.

    `find` works like the benchmark's own, on a source whose trees are named as in `places`; default: `find_places`.
    """

    places: Mapping[str, DataLocation]
    fields: Fields
    find: Callable[[Source, str, Rejects], RawFiles] | None = None
    subsets: tuple[str, ...] = ()
