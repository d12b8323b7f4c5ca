"""Benchmarks: one declaration each, saying what it is, which raw files it needs and how their rows are read."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

import polars as pl

from ingest.sources.rows import JsonObject, read_rows
from ingest.sources.tree import HUB, CommitFiles, Entry, Source, Tree
from lake.fingerprint import sha256_of
from lake.pools import stratified
from lake.rejects import Rejects, excerpt_of
from lake.tables import table
from lake.text import counted, is_encodable

Paths = tuple[str, ...]
"""Keys joined by dots; of several paths, the first that leads somewhere."""
Fields = Mapping[str, Paths]
"""Field → the paths at which a row may have it: upstream's own, or those that a declaration of one's own names."""
NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$"
"""What own data may be called."""
MISSING = object()
_T = TypeVar("_T")


@dataclass(frozen=True)
class RawFiles:
    """The raw files one subset is made of; `notes`, sentences for the last block, are whole when all is read."""

    tasks: Sequence[Entry]
    pools: Sequence[Tree]
    repositories: CommitFiles | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def entries(self) -> list[Entry]:
        """Every file that is read."""
        return [*self.tasks, *(entry for tree in self.pools for entry in tree.entries)]


@dataclass(frozen=True)
class PoolGroup:
    """Pools stored as one part; without a name, contents of the group that follows, too many for one frame."""

    name: str
    files: pl.DataFrame
    blobs: pl.DataFrame
    kind: str = "searched"


Rows = Sequence[Mapping[str, object]] | pl.DataFrame


@dataclass
class SubsetRows:
    """The rows that a benchmark's reader gives for a part; `pools` are asked for once, and may be made one by one."""

    items: pl.DataFrame
    queries: pl.DataFrame
    gold: pl.DataFrame
    pools: Iterable[PoolGroup]
    more: Mapping[str, pl.DataFrame] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        benchmark: str,
        items: Rows,
        queries: Iterable[tuple[str, str, str]],
        gold: Rows,
        pools: Iterable[PoolGroup],
    ) -> "SubsetRows":
        """The rows of a benchmark, which need not name it; of queries their items, query rules and texts."""
        items, gold = (
            table_rows(name, rows).with_columns(benchmark=pl.lit(benchmark))
            for name, rows in (("items", items), ("gold_spans", gold))
        )
        return cls(items, query_rows(benchmark, queries), gold, pools)


def table_rows(name: str, rows: Rows) -> pl.DataFrame:
    """Rows of a table; a column that is not said is missing, one that is none of the table's is left out."""
    columns = table(name).columns
    if not isinstance(rows, pl.DataFrame):
        return pl.DataFrame(rows, schema=columns)
    return pl.concat([pl.DataFrame(schema=columns), rows], how="diagonal").select(list(columns))


def query_rows(benchmark: str, texts: Iterable[tuple[str, str, str]]) -> pl.DataFrame:
    """Rows of the table `queries`, of items, query rules and texts."""
    rows = [(benchmark, item_id, rule, text, sha256_of(text.encode())) for item_id, rule, text in texts]
    return pl.DataFrame(rows, schema=table("queries").columns, orient="row")


def reject_refused(tree: Tree, rejects: Rejects, location: str = "") -> None:
    """Reject what a tree refused."""
    for refused in tree.refused:
        rejects.add(location or tree.location, f"entry {refused.path}", refused.reason)


class PartToRead(NamedTuple):
    """Some of a subset's items, read when asked; its name is or begins with `part_of(subset)`."""

    name: str
    read: Callable[[Rejects], SubsetRows]


def in_one_part(
    read: Callable[..., SubsetRows], raw: RawFiles, subset: str, limit: int | None, rejects: Rejects, **options: object
) -> Iterator[PartToRead]:
    """The parts of a benchmark whose subsets are one part each, which `read(raw, subset, rejects)` reads.

    With a limit a seeded sample of the items with their gold; their pools stay whole.
    """

    def limited(rejects: Rejects) -> SubsetRows:
        rows = read(raw, subset, rejects, **options)
        if limit is None:
            return rows
        items, scorable = rows.items, rows.items.filter("scorable")
        if limit < items.height and 0 < scorable.height < items.height:
            of = f"{scorable.height:,} of {counted(items.height, 'item')}"
            raw.notes.append(f"drawn from {of}: the others cannot be scored")
            items = scorable
        items = stratified(items, limit)
        queries, gold = (
            frame.join(items.select("item_id"), on="item_id", how="semi", maintain_order="left")
            for frame in (rows.queries, rows.gold)
        )
        return replace(rows, items=items, queries=queries, gold=gold)

    yield PartToRead(subset, limited)


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
        reject_refused(tree, rejects)
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


@dataclass(frozen=True)
class Benchmark:
    """A benchmark, as `python -m ingest list` and the pages say it.

    Attributes:
        markers: Files or folders one of which its folder holds; `*` stands for any part of a name.
        find: `find(source, subset, rejects)` → the raw files.
        parts: `parts(raw, subset, limit, rejects)` → the subset's items, part by part and always in the same parts;
            with a limit a seeded sample of so many in all. It takes `fields` where it has a schema, RepoEval's also
            `with_needs`.
        at_hand: Which subsets a source on this machine holds, where all of them are read when none is named.
        is_one_subset: Its subsets hold the same items, so that one alone may stand in a lake.
        is_collection: Documents of one's own: a source that does not hold it is named only where it is asked for.
        like: Of own data the benchmark by whose rules it is read, asked and scored; empty for that itself.
        names_commits: Its rows name repositories at commits, which are cloned where no file beside the rows holds them;
            beside each part of its pools that are searched is one of the same name and kind `rest`.
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
    parts: Callable[..., Iterator[PartToRead]]
    schema: DataSchema | None = None
    at_hand: Callable[[Source], Sequence[str]] | None = None
    is_one_subset: bool = False
    more: tuple[str, ...] = ()
    needs_symbols: bool = False
    tags: tuple[str, ...] = ()
    place: int = 100
    repository_licences: Mapping[str, str] = field(default_factory=dict)
    has_excerpts: bool = True
    names_commits: bool = False
    is_collection: bool = False
    like: str = ""

    @property
    def kind(self) -> str:
        """The declared benchmark by whose rules it is read, asked and scored: itself, but for own data."""
        return self.like or self.name

    def clones(self, source: Source) -> bool:
        """Whether repositories of items that come from there are cloned when that is asked for."""
        is_sample = source.name == source.label == "sample"
        return self.names_commits and not is_sample and source.repositories is None

    def wanted(self, source: Source, requested: Sequence[str]) -> list[str]:
        """The subsets to read: those asked for that it has, else all at hand, else its default ones."""
        mine = [subset for subset in requested if subset in self.subsets]
        if not mine and self.at_hand is not None and source.name != HUB:
            mine = list(self.at_hand(source))
        return mine or list(self.default_subsets)


def part_of(subset: str) -> str:
    """The name of a subset's part, or what those of its parts begin with."""
    return subset.replace("/", "-")


class FieldError(ValueError):
    """A row without what is read of it, or with something else there; the message says what is wrong."""


def check(holds: bool, reason: str) -> None:
    """Refuse a row of which something does not hold."""
    if not holds:
        raise FieldError(reason)


def get_path(row: Mapping[str, object], paths: Paths) -> tuple[str, object]:
    """The first of some paths that leads somewhere and what is there; else the last, and `MISSING`."""
    path, value = "", MISSING
    for path in paths:
        value = row
        for key in path.split("."):
            value = value.get(key, MISSING) if isinstance(value, dict) else MISSING
        if value is not MISSING:
            break
    return path, value


def field_error(row: Mapping[str, object], paths: Paths, wanted: str = "") -> FieldError:
    """The fault of a field that is not there, or not what is wanted."""
    path, value = get_path(row, paths)
    tried = " or ".join(f"`{tried}`" for tried in paths)
    return FieldError(f"{tried} is missing{wanted and f'; it {wanted}'}" if value is MISSING else f"`{path}` {wanted}")


def text_at(row: Mapping[str, object], paths: Paths, instead: str | None = None) -> str:
    """The text at a path; `instead`, where one is given, of a row that has none."""
    path, value = get_path(row, paths)
    if instead is not None and (value is MISSING or value is None):
        return instead
    if not isinstance(value, str):
        raise field_error(row, paths, "must be a text")
    return encodable(value, path)


def encodable(text: str, what: str) -> str:
    """A text that can be written: JSON can hold half a surrogate pair."""
    check(is_encodable(text), f"`{what}` holds half a surrogate pair, which is no character")
    return text


def parse_rows(
    entry: Entry, rejects: Rejects, parse: Callable[[str, JsonObject], _T], keys: Sequence[str] = ()
) -> Iterator[tuple[str, _T]]:
    """The position of each of a data set's rows and what `parse(position, row)` makes of it, or a reject."""
    for position, row in read_rows(entry, rejects, keys):
        try:
            value = parse(position, row)
        except FieldError as error:
            rejects.add(entry.path, position, str(error), excerpt_of(row))
        else:
            yield position, value


def upstream_rows(entry: Entry, rejects: Rejects, fields: Fields, usual: Fields) -> Iterator[tuple[str, JsonObject]]:
    """A data set's rows under upstream's keys: what `fields` has elsewhere goes where `usual` has it first."""

    def as_upstream(_: str, row: JsonObject) -> JsonObject:
        if fields == usual:
            return row
        under: dict[str, object] = {}
        for name, paths in fields.items():
            if paths == usual[name]:
                under |= {key: row[key] for key in paths if key in row}
            else:
                path, under[usual[name][0]] = get_path(row, paths)
                check(under[usual[name][0]] is not MISSING, f"`{path}` is missing: its {name} must be there")
        return under

    keys = [path.partition(".")[0] for paths in fields.values() for path in paths]
    return parse_rows(entry, rejects, as_upstream, keys)
