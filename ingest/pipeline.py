"""From a source to the lake: read the parts that are new or changed, cut their files, and keep all others."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial

import polars as pl

from ingest import stored_parts
from ingest.benchmarks.contextbench.pools import absent_notes, may_now_be_had, wants_repository
from ingest.benchmarks.declaration import Benchmark, PoolGroup, SubsetRows, part_of, table_rows
from ingest.benchmarks.repoeval import NEEDS_RULE
from ingest.contents.blobs import Contents
from ingest.contents.chunkers import NamedChunker
from ingest.contents.chunks import cut_contents, look_through
from ingest.contents.processes import Workers
from ingest.rejects import Rejects
from ingest.sources.tree import Source
from lake.catalog.benchmarks.beir import Collection
from lake.errors import Exit, GoldspanError
from lake.fingerprint import canonical_json, sha256_of
from lake.make import BuildTarget, made_from, target_of, write_if_changed
from lake.outcome import Outcome
from lake.store import Lake
from lake.tables import UNSEARCHED, declared_rows
from lake.tables.ingested import Items, Pools
from lake.text import counted, listed


def ingest(
    lake: Lake,
    benchmark: Benchmark,
    source: Source,
    *,
    subsets: Sequence[str],
    chunkers: Sequence[NamedChunker],
    workers: Workers,
    limit: int | None = None,
    needs: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """Read a benchmark's subsets into the lake, and cut their files into chunks."""
    if benchmark.is_one_subset and len(subsets) > 1:
        message = f"{benchmark.display_name}: {listed(subsets)} hold the same items and are never pooled"
        raise GoldspanError(message, hint="Ask for one of them: SUBSETS=" + subsets[0], code=Exit.USAGE)
    result = Outcome(tally=lake.tally)
    stored_parts.remove_other_sources(lake, benchmark, source, result)
    if benchmark.kind == "repoeval" and (
        needs or lake.part("files", NEEDS_RULE, benchmark=benchmark.name, kind="searched") is not None
    ):
        benchmark = replace(benchmark, parts=partial(benchmark.parts, with_needs=True))
    reader = _Reader(lake, benchmark, source, Contents(lake), workers, result, say)
    for number, subset in enumerate(subsets):
        # The limit is split over the subsets as evenly as whole numbers allow, with at least 1 for each.
        whole, rest = divmod(limit or 0, len(subsets))
        reader.read(subset, None if limit is None else max(1, whole + (number < rest)))

    cut_contents(lake, benchmark.name, chunkers, say, result, workers if benchmark.needs_symbols else None)
    _declare(lake, benchmark, source, limit)
    parts = [part for subset in subsets for part in stored_parts.parts_of_subset(lake, benchmark, subset)]
    items = lake.scan_parts(parts, "items").select("item_id", "scorable", "why_not").collect()
    refused = [part for subset in subsets for part in stored_parts.rejects_of(lake, benchmark, subset)]
    rejects = lake.scan_parts(refused, "rejects").collect()
    result.expected, result.scored = items.height, int(items["scorable"].sum())
    result.missing = result.expected - result.scored
    result.rejected += rejects.height
    # If any item can be scored, a note of the reader already lists those without a repository.
    unready = items.remove(pl.col("scorable") | (wants_repository() & (result.scored > 0)))
    reasons = unready.select(pl.format("{}: {}", "item_id", "why_not"))
    what = f"{counted(unready.height, 'item')} cannot be scored"
    if items.is_empty():
        what, reasons = "nothing could be read", rejects.select(pl.format("{}, {}: {}", "source", "position", "reason"))
    if unready.height or items.is_empty():
        first, *others = sorted(reasons.to_series().drop_nulls()) or ["its files hold no rows of what was asked for"]
        more = f"; and {len(others):,} more, each with its reason in the lake" if others else ""
        result.warnings.append(f"{benchmark.display_name}: {what}: {first.splitlines()[0]}{more}")
    return result


@dataclass(frozen=True)
class _Reader:
    lake: Lake
    benchmark: Benchmark
    source: Source
    contents: Contents
    workers: Workers
    result: Outcome
    say: Callable[[str], None]

    def read(self, subset: str, limit: int | None) -> None:
        """Read one subset into the lake, part by part; the subset's own part is written last and marks it complete."""
        lake, benchmark, source, result = self.lake, self.benchmark, self.source, self.result
        rejects = Rejects(has_excerpts=benchmark.has_excerpts)
        raw = benchmark.find(source, subset, rejects)
        rules = [benchmark.name, subset, limit, source.label, source.revision, _bound(benchmark.parts)]
        # Rejects count as input too: they record what could not be read of a file.
        files = [(entry.path, entry.made_from or entry.sha256()) for entry in raw.entries]
        files += [(reject.source, f"{reject.position}: {reject.reason}") for reject in rejects]
        stamp = made_from(parameters=[*rules, files], code=[benchmark.find, benchmark.parts])
        whole_part = partial(stored_parts.whole_part, lake, benchmark, stamp=stamp)
        before = stored_parts.parts_of_subset(lake, benchmark, subset)
        absent = lake.scan_parts(before, "items").filter(wants_repository()).collect()
        # A part counts as current only if its pools are there: files that somebody deleted are made again.
        has_pools = stored_parts.have_pools(lake, before)
        targets = [stored_parts.whole_subset(lake, benchmark, subset, stamp, [part.name for part in before])]
        targets += [whole_part(part.name) for part in before]
        is_whole = has_pools and all(target.is_current for target in targets)
        # Repositories that could not be cloned are asked for again, and listed again.
        is_other = is_whole and raw.repositories is not None and may_now_be_had(absent, raw.repositories)
        name = f"{benchmark.display_name} {subset}"
        if is_whole and not is_other:
            result.warnings += [f"{name}: {note}" for note in absent_notes(absent["item_id"])]
            return
        if benchmark.is_one_subset:
            stored_parts.remove_other_subsets(lake, benchmark, subset, result)
        self.say(f"{name}: reading {counted(len(raw.entries), 'file')}")
        if benchmark.needs_symbols:
            self.workers.start(look_through)
        names, is_searchable = [], has_pools and not is_other
        writing = Future[None]()
        writing.set_result(None)
        with ThreadPoolExecutor(1) as writer:
            for part in benchmark.parts(raw, subset, limit, rejects):
                names.append(part.name)
                target = whole_part(part.name)
                if is_searchable and target.is_current:
                    continue
                part_rejects = Rejects(has_excerpts=benchmark.has_excerpts)
                read = part.read(part_rejects)
                rows = read.named(benchmark.name)
                if benchmark.is_collection:
                    # The documents of a collection do not come from a repository: the benchmark's name takes its place.
                    rows = replace(rows, items=Items.cast(rows.items.with_columns(repo="benchmark")))
                writing.result()
                writing = writer.submit(self._write, target, part.name, rows, part_rejects)
                # A part is written while the next one is read, unless its own pools are read as they are written.
                if not isinstance(read.pools, list):
                    writing.result()
                if part.name != part_of(subset):
                    self.say(f"{benchmark.display_name} {part.name}: {counted(rows.items.height, 'item')}")
            writing.result()
        result.warnings += [f"{name}: {note}" for note in raw.notes]
        for stale in stored_parts.parts_of_subset(lake, benchmark, subset):
            if stale.name not in names:
                whole_part(stale.name).remove()
        stored_parts.whole_subset(lake, benchmark, subset, stamp, sorted(names)).write(rejects.frame("ingest"))

    def _write(self, target: BuildTarget, part: str, rows: SubsetRows, rejects: Rejects) -> None:
        repos = rows.items.select("pool_id", "repo", "commit").unique("pool_id")
        repos = pl.concat([repos, repos.with_columns(pl.col("pool_id") + UNSEARCHED)])
        n_replaced = 0
        for group in rows.pools:
            n_replaced += int(group.blobs["flags"].list.contains("not-utf8").sum())
            self.contents.write(group.blobs, group.contents)
            if group.name:
                self._write_files(part, repos, group)
        if n_replaced:
            note = f"not UTF-8: {counted(n_replaced, 'file')}; what could not be decoded is U+FFFD"
            self.result.warnings.append(f"{self.benchmark.display_name} {part}: {note}")
        queries = [rows.queries.filter(query=of["query"]) for of in stored_parts.query_folders(self.benchmark)]
        more = [rows.more[name] for name in self.benchmark.more]
        target.write(rows.gold, *queries, *more, rejects.frame("ingest"), rows.items)

    def _write_files(self, part: str, repos: pl.DataFrame, group: PoolGroup) -> None:
        # The fingerprint covers the files alone: subsets that share a pool then share its part as well.
        folders = {"benchmark": self.benchmark.name, "kind": group.kind}
        parameters = sha256_of(group.files.write_csv().encode())
        files = target_of(self.lake, "files", part=group.name, inputs=(), parameters=parameters, code=(), **folders)
        stored = self.lake.part("files", group.name, **folders)
        if stored is not None and not files.is_current:
            stored_parts.remove_readers(self.lake, self.benchmark, part, stored, self.result)
        pools = group.files.group_by("pool_id").agg(n_files=pl.len().cast(pl.Int64)).sort("pool_id")
        pools = pools.join(repos, on="pool_id", how="left", maintain_order="left")
        pools = table_rows(Pools, pools.with_columns(pl.lit(value).alias(name) for name, value in folders.items()))
        write_if_changed(self.lake, "pools", group.name, pools, **folders)
        files.make(lambda: group.files)


def _bound(value: object) -> list[object]:
    """The values bound to a function's arguments by `partial`; the function's code is fingerprinted separately."""
    if isinstance(value, partial):
        return [bound for given in (value.func, *value.args, *value.keywords.values()) for bound in _bound(given)]
    return [] if callable(value) else [asdict(value) if isinstance(value, Collection) else value]


def _declare(lake: Lake, benchmark: Benchmark, source: Source, limit: int | None) -> None:
    items = lake.scan("items", benchmark=benchmark.name).select("scorable", "repo", "language", "subset").collect()
    parameters = {
        "n_items": items.height,
        "n_scorable": int(items["scorable"].sum()),
        "n_repos": items["repo"].n_unique(),
        **{name: sorted(items[column].unique()) for name, column in (("languages", "language"), ("subsets", "subset"))},
        "homepage": benchmark.homepage,
    }
    # Data with a label is not the published data, so the published licences do not apply.
    licences = {**({} if source.label else benchmark.repository_licences), **source.licences}
    same = ("name", "like", "display_name", "title", "meaning", "version", "licence", "citation", "paper", "place")
    row = {
        **{name: getattr(benchmark, name) for name in same},
        "tags": [source.label] if source.label else [],
        "source": stored_parts.source_name(source),
        "revision": source.revision,
        "parameters": canonical_json(parameters),
        "label": source.label,
        "limit": limit,
        "licences": [{"repo": repo, "licence": licences.get(repo, "")} for repo in sorted(items["repo"].unique())],
        "gold_rules": [{"name": name, "meaning": meaning} for name, meaning in benchmark.gold_rules.items()],
    }
    write_if_changed(lake, "benchmarks", benchmark.name, declared_rows("benchmarks", [row]))
