"""What a declaration of own data may say: where the data is, and which fields its rows have."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ingest.benchmarks.fields import Fields
from ingest.sources.tree import RawFiles, Source, Tree
from lake.rejects import Rejects

NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$"
"""What own data may be called."""


@dataclass(frozen=True)
class DataLocation:
    """The location of some of one's own data: a folder or zip of files (`is_tree`), or a data set, which is rows."""

    usual: str
    is_tree: bool = False
    is_optional: bool = False


def find_places(places: Mapping[str, DataLocation], source: Source, subset: str, rejects: Rejects) -> RawFiles:
    """The files in the places of a declaration, which has one subset: its data sets, and the trees to search in."""
    trees = {name: source.find(name) or Tree(name, []) for name in places}
    pools = [trees[name] for name, declared in places.items() if declared.is_tree]
    for tree in pools:
        tree.reject_refused(rejects)
    tasks = [entry for name in places if not places[name].is_tree for entry in trees[name].entries]
    return RawFiles(tasks, pools, source.repositories)


@dataclass(frozen=True)
class DataSchema:
    """The keys of a declaration (`--config`) of data in a benchmark's manner, below `data` and below `fields`.

    `find` is as the benchmark's own, of a source whose trees are called as `places` are; without one, all of them.
    """

    places: Mapping[str, DataLocation]
    fields: Fields
    find: Callable[[Source, str, Rejects], RawFiles] | None = None
    subsets: tuple[str, ...] = ()
