"""Benchmarks: one declaration each, saying what it is, which raw files it needs and how their rows are read."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import polars as pl

from ingest.benchmarks.schema import DataSchema
from ingest.sources.tree import HUB, RawFiles, Source
from lake.fingerprint import sha256_of
from lake.pools import stratified
from lake.rejects import Rejects
from lake.tables import table
from lake.text import counted


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
    """The rows that a benchmark's reader gives for a part; `pools` are asked for once, and may be made one by one.

    They do not say which benchmark's they are until they are `named`: data of one's own is read as a published one is.
    """

    items: pl.DataFrame
    queries: pl.DataFrame
    gold: pl.DataFrame
    pools: Iterable[PoolGroup]
    more: Mapping[str, pl.DataFrame] = field(default_factory=dict)

    @classmethod
    def of(
        cls, items: Rows, queries: Iterable[tuple[str, str, str]], gold: Rows, pools: Iterable[PoolGroup]
    ) -> "SubsetRows":
        """Rows of as many columns as there are; of queries their items, query rules and texts."""
        texts = [
            {"item_id": item_id, "query": rule, "text": text, "sha256": sha256_of(text.encode())}
            for item_id, rule, text in queries
        ]
        return cls(table_rows("items", items), table_rows("queries", texts), table_rows("gold_spans", gold), pools)

    def named(self, benchmark: str) -> "SubsetRows":
        """The rows with the name of the benchmark that they are of."""
        name, pool_id = pl.lit(benchmark), pl.lit(f"{benchmark}/") + pl.col("pool_id")
        return replace(
            self,
            items=self.items.with_columns(benchmark=name, pool_id=pool_id),
            queries=self.queries.with_columns(benchmark=name),
            gold=self.gold.with_columns(benchmark=name),
            # One at a time, as they are made.
            pools=(replace(group, files=group.files.with_columns(pool_id=pool_id)) for group in self.pools),
        )


def table_rows(name: str, rows: Rows) -> pl.DataFrame:
    """Rows of a table; a column that is not said is missing, one that is none of the table's is left out."""
    columns = table(name).columns
    if not isinstance(rows, pl.DataFrame):
        return pl.DataFrame(rows, schema=columns)
    return pl.concat([pl.DataFrame(schema=columns), rows], how="diagonal").select(list(columns))


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
