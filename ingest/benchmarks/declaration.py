"""The declaration of a benchmark: its description, the raw files it needs, and the functions that read their rows."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

import dataframely as dy
import polars as pl

from ingest.benchmarks.fields import Fields
from ingest.contents.blobs import RawContent
from ingest.rejects import Rejects
from ingest.sources.tree import HUB, Entry, RawFiles, Source, Tree
from lake.fingerprint import sha256_of
from lake.pools import stratified
from lake.tables.ingested import Blobs, Files, GoldSpans, Items, QueryRows
from lake.text import counted


@dataclass(frozen=True)
class PoolGroup:
    """Pools stored as one part; without a name, a batch of contents of the next group, split off to save memory."""

    name: str
    files: dy.DataFrame[Files]
    blobs: dy.DataFrame[Blobs]
    kind: str = "searched"
    # By sha256; only those that the lake lacks become rows.
    contents: Mapping[str, RawContent] = field(default_factory=dict)


Rows = Sequence[Mapping[str, object]] | pl.DataFrame
_Rows = TypeVar("_Rows", bound=dy.Schema)


@dataclass
class SubsetRows:
    """The rows of one part without the benchmark's name; `pools` may be a generator, so iterate over it once."""

    items: dy.DataFrame[Items]
    queries: dy.DataFrame[QueryRows]
    gold: dy.DataFrame[GoldSpans]
    pools: Iterable[PoolGroup]
    more: Mapping[str, pl.DataFrame] = field(default_factory=dict)

    @classmethod
    def of(
        cls, items: Rows, queries: Iterable[tuple[str, str, str]], gold: Rows, pools: Iterable[PoolGroup]
    ) -> "SubsetRows":
        """Rows with all columns of their tables, null where not given; `queries` are (item id, query rule, text)."""
        texts = [
            {"item_id": item_id, "query": rule, "text": text, "sha256": sha256_of(text.encode())}
            for item_id, rule, text in queries
        ]
        return cls(table_rows(Items, items), table_rows(QueryRows, texts), table_rows(GoldSpans, gold), pools)

    def named(self, benchmark: str) -> "SubsetRows":
        """The rows with the benchmark's name, which also becomes a prefix of the pool ids."""
        name, pool_id = pl.lit(benchmark), pl.lit(f"{benchmark}/") + pl.col("pool_id")
        items = Items.cast(self.items.with_columns(benchmark=name, pool_id=pool_id))
        queries = QueryRows.cast(self.queries.with_columns(benchmark=name))
        gold = GoldSpans.cast(self.gold.with_columns(benchmark=name))
        # A generator: pools are made and stored one at a time.
        pools = (replace(group, files=Files.cast(group.files.with_columns(pool_id=pool_id))) for group in self.pools)
        return SubsetRows(items, queries, gold, pools, self.more)


def table_rows(schema: type[_Rows], rows: Rows) -> dy.DataFrame[_Rows]:
    """Rows with exactly the columns of a table: those not given are null, those unknown are dropped."""
    nothing = schema.create_empty()
    given = rows if isinstance(rows, pl.DataFrame) else pl.DataFrame(rows, schema=nothing.schema)
    return schema.cast(pl.concat([nothing, given], how="diagonal"))


def drawn_ids(
    items: Sequence[tuple[object, object, bool]], limit: int, notes: list[str], others: str = "cannot be scored"
) -> set[str]:
    """The ids of a seeded sample of items (id, repository, whether it is ready): of those that are ready, if any."""
    ready = [item for item in items if item[2]]
    if limit < len(items) and 0 < len(ready) < len(items):
        notes.append(f"drawn from {len(ready):,} of {counted(len(items), 'item')}: the others {others}")
        items = ready
    frame = pl.DataFrame([item[:2] for item in items], {"item_id": pl.String, "repo": pl.String}, orient="row")
    return set(stratified(frame, limit)["item_id"])


class PartToRead(NamedTuple):
    """A part of a subset's items, read when `read` is called; `name` is or begins with `part_of(subset)`."""

    name: str
    read: Callable[[Rejects], SubsetRows]


def in_one_part(
    read: Callable[..., SubsetRows], raw: RawFiles, subset: str, limit: int | None, rejects: Rejects, **options: object
) -> Iterator[PartToRead]:
    """The only part of a subset, read by `read(raw, subset, rejects)`; with a limit, a sample of its items."""

    def limited(rejects: Rejects) -> SubsetRows:
        rows = read(raw, subset, rejects, **options)
        if limit is None:
            return rows
        ids = drawn_ids(rows.items.select("item_id", "repo", "scorable").rows(), limit, raw.notes)
        is_drawn = pl.col("item_id").is_in(ids)
        items, queries, gold = (frame.filter(is_drawn) for frame in (rows.items, rows.queries, rows.gold))
        return SubsetRows(Items.cast(items), QueryRows.cast(queries), GoldSpans.cast(gold), rows.pools)

    yield PartToRead(subset, limited)


@dataclass(frozen=True)
class DataLocation:
    """A key below `data` in a declaration: rows, or files of a folder or zip; `usual` is the published path."""

    usual: str
    is_tree: bool = False
    is_optional: bool = False
    holds: Callable[[str], bool] = lambda _: True


def declared_files(tasks: Sequence[Entry], pools: Sequence[Tree], source: Source, _: str, rejects: Rejects) -> RawFiles:
    """The `find` of own and mined data, whose files are given."""
    for tree in pools:
        tree.reject_refused(rejects)
    return RawFiles(tasks, pools, source.repositories)


@dataclass(frozen=True)
class Benchmark:
    """A benchmark, as shown by `python -m ingest list` and on pages.

    Attributes:
        markers: Files or folders; a benchmark's folder contains at least one of them. `*` matches any part of a name.
        find: `find(source, subset, rejects)` → the raw files.
        parts: `parts(raw, subset, limit, rejects, fields=…)` → the subset's items, or a seeded sample, in parts.
        data: The keys below `data` in a declaration (`--config`), as `fields` are those below `fields`.
        at_hand: `at_hand(source)` → the subsets to read from a local source if none is named; None: the default ones.
        is_one_subset: Its subsets contain the same items, so a lake may hold only one of them.
        is_collection: A collection of documents; a source that lacks it is mentioned only if it was asked for.
        like: For own data, the benchmark whose rules apply; else empty.
        names_commits: Rows name repositories at commits, which are cloned unless a file next to the rows holds them.
            Each part of searched pools has a part of the same name and kind `rest` for the files not searched.
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
    data: Mapping[str, DataLocation] = field(default_factory=dict)
    fields: Fields = field(default_factory=dict)
    at_hand: Callable[[Source], list[str]] | None = None
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
        """The declared benchmark whose rules apply."""
        return self.like or self.name

    def clones(self, source: Source) -> bool:
        """Whether `--repositories` would clone repositories for items from this source."""
        is_sample = source.name == source.label == "sample"
        return self.names_commits and not is_sample and source.repositories is None

    def wanted(self, source: Source, requested: Sequence[str]) -> list[str]:
        """The subsets to read: the requested ones that exist, else those a local source holds, else the defaults."""
        mine = [subset for subset in requested if subset in self.subsets]
        if not mine and self.at_hand is not None and source.name != HUB:
            mine = self.at_hand(source)
        return mine or list(self.default_subsets)


def part_of(subset: str) -> str:
    """The name of a subset's only part, or the prefix of the names of its parts."""
    return subset.replace("/", "-")
