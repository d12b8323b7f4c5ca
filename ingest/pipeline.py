"""From a source to the lake: read what is new, cut it, and leave alone what stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from ingest.benchmarks import Benchmark, PoolGroup, RawFiles, Reading, part_of
from ingest.chunkers import Chunker
from ingest.cutting import cut_pools
from ingest.outcome import Ingested
from ingest.sources import Source, UnreadableEntryError
from lake.declarations import Resolved
from lake.fingerprint import canonical_json, fingerprint, sha256_of
from lake.rejects import Rejects
from lake.store import FORMAT_VERSION, Lake, Part
from lake.tables import declared_row, table


def ingest(
    lake: Lake,
    benchmark: Benchmark,
    source: Source,
    *,
    subsets: Sequence[str],
    chunkers: Sequence[Resolved[Chunker]],
    limit: int | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Ingested:
    """Bring a benchmark's subsets and their chunks into the lake; the caller holds its lock.

    Raises:
        GoldspanError: A subset's files are not there, or a chunker gives ranges that are none.
    """
    result = Ingested()
    _forget_other_sources(lake, benchmark, source, result)
    for subset in subsets:
        _ingest_subset(lake, benchmark, source, subset, limit, result, say)
    for chunker in chunkers:
        cut_pools(lake, benchmark, chunker, say, result)
    _declare(lake, benchmark, source, limit)
    parts = [part for subset in subsets for part in _parts(lake, benchmark, subset)]
    counts = lake.scan_parts(parts, "items").select(n=pl.len(), scorable=pl.col("scorable").sum()).collect()
    result.n_items, result.n_scorable = int(counts["n"].item()), int(counts["scorable"].item())
    for subset in subsets:
        result.n_rejected += lake.scan_parts(_rejects(lake, benchmark, subset), "rejects").collect().height
    return result


def _ingest_subset(
    lake: Lake,
    benchmark: Benchmark,
    source: Source,
    subset: str,
    limit: int | None,
    result: Ingested,
    say: Callable[[str], None],
) -> None:
    rejects = Rejects()
    raw = benchmark.find(source, subset, rejects)
    made_of = _made_of(raw, rejects)
    shapes = [
        sorted((column, str(kind)) for column, kind in table(name).columns.items()) for name in ("items", "files")
    ]
    stamp = fingerprint(
        FORMAT_VERSION, shapes, benchmark.name, benchmark.version, subset, limit, source.label, source.revision, made_of
    )
    if _stands(lake, benchmark, subset, stamp):
        result.n_cached += 1
        return
    say(f"{benchmark.display_name} {subset}: reading {len(raw.entries):,} files")
    names = []
    have_pools = _have_pools(lake, _parts(lake, benchmark, subset))
    for part in benchmark.parts(raw, subset, limit, rejects):
        names.append(part.name)
        made_by = fingerprint(stamp, part.name)
        if have_pools and _part_stands(lake, benchmark, part.name, made_by):
            continue
        found = Rejects()
        reading = part.read(found)
        result.notes += [f"{benchmark.display_name} {part.name}: {note}" for note in reading.notes]
        _write(lake, benchmark, part.name, reading, found, made_by, result)
        if len(names) > 1:
            say(f"{benchmark.display_name} {part.name}: {reading.items.height:,} items")
    for stale in _parts(lake, benchmark, subset):
        if stale.name not in names:
            _forget(lake, benchmark, stale.name)
    # Written last and with the names of all parts: where it stands, the subset is whole.
    whole = fingerprint(stamp, sorted(names))
    lake.write("rejects", rejects.frame("ingest"), part=_files_part(benchmark, subset), fingerprint=whole)


def _stands(lake: Lake, benchmark: Benchmark, subset: str, stamp: str) -> bool:
    """Whether a subset is there with all that it needs; what somebody deleted is made again."""
    parts = _parts(lake, benchmark, subset)
    whole = fingerprint(stamp, [part.name for part in parts])
    if not lake.stands("rejects", _files_part(benchmark, subset), whole):
        return False
    if not all(_part_stands(lake, benchmark, part.name, fingerprint(stamp, part.name)) for part in parts):
        return False
    return _have_pools(lake, parts)


def _have_pools(lake: Lake, parts: list[Part]) -> bool:
    """Whether what some parts' items search is there, file by file."""
    pools = lake.scan_parts(parts, "items").filter("scorable").select("pool_id").unique()
    files = lake.scan("files").select("pool_id", "sha256").join(pools, on="pool_id", how="semi")
    without_files = pools.join(files, on="pool_id", how="anti")
    without_blob = files.join(lake.scan("blobs").select("sha256"), on="sha256", how="anti")
    return without_files.collect().is_empty() and without_blob.collect().is_empty()


def _part_stands(lake: Lake, benchmark: Benchmark, part: str, stamp: str) -> bool:
    return (
        lake.stands("items", part, stamp, benchmark=benchmark.name)
        and lake.stands("gold_spans", part, stamp, benchmark=benchmark.name)
        and lake.stands("rejects", _rejects_part(benchmark, part), stamp)
    )


def _parts(lake: Lake, benchmark: Benchmark, subset: str) -> list[Part]:
    """The stored parts of a subset's items."""
    return [part for part in lake.parts("items", benchmark=benchmark.name) if _belongs(part.name, subset)]


def _rejects(lake: Lake, benchmark: Benchmark, subset: str) -> list[Part]:
    """What was refused of a subset: of its files, and of each of its parts."""
    first = _rejects_part(benchmark, "")
    mine = [part for part in lake.parts("rejects") if part.name.startswith(first)]
    return [part for part in mine if _belongs(part.name.removeprefix(first).partition(".")[0], subset)]


def _belongs(part: str, subset: str) -> bool:
    return part == part_of(subset) or part.startswith(f"{part_of(subset)}-")


def _rejects_part(benchmark: Benchmark, part: str) -> str:
    return f"ingest-{benchmark.name}-{part}"


def _files_part(benchmark: Benchmark, subset: str) -> str:
    return f"{_rejects_part(benchmark, part_of(subset))}.files"


def _made_of(raw: RawFiles, rejects: Rejects) -> list[tuple[str, str]]:
    """Every raw file and the sha256 of its bytes; what cannot be read is left to the reader to refuse."""
    digests = []
    for entry in raw.entries:
        try:
            digests.append((entry.path, sha256_of(entry.read())))
        except UnreadableEntryError as error:
            digests.append((entry.path, str(error)))
    refused = [(reject.source, f"{reject.position}: {reject.reason}") for reject in rejects]
    return digests + refused


def _write(
    lake: Lake, benchmark: Benchmark, part: str, reading: Reading, rejects: Rejects, stamp: str, result: Ingested
) -> None:
    """Store a part; the items last, so that a part with their fingerprint means that all the rest is there."""
    for group in reading.pools:
        _write_pools(lake, benchmark, part, group, result)
    lake.write("gold_spans", reading.gold, part=part, fingerprint=stamp, benchmark=benchmark.name)
    # No rejects are written as well: a part of no rows says that there were none.
    lake.write("rejects", rejects.frame("ingest"), part=_rejects_part(benchmark, part), fingerprint=stamp)
    lake.write("items", reading.items, part=part, fingerprint=stamp, benchmark=benchmark.name)


def _write_pools(lake: Lake, benchmark: Benchmark, part: str, group: PoolGroup, result: Ingested) -> None:
    known = lake.scan("blobs").select("sha256").collect()
    new = group.blobs.join(known, on="sha256", how="anti", maintain_order="left")
    if new.height:
        # Contents are only ever added, under a name of their own: no row of another part depends on when it was read.
        name = fingerprint(new["sha256"].sort().to_list())[:16]
        lake.write("blobs", new, part=name, fingerprint=name)
    # Of the files alone: whichever of the subsets that share a pool is read, the part is the same.
    stamp = fingerprint(FORMAT_VERSION, group.files.rows())
    stored = lake.part("files", group.name)
    if stored is not None and stored.fingerprint != stamp:
        _forget_readers(lake, benchmark, part, stored, result)
    lake.write("files", group.files, part=group.name, fingerprint=stamp)


def _forget_readers(lake: Lake, benchmark: Benchmark, reader: str, files: Part, result: Ingested) -> None:
    """Take away the other parts whose items search files that are now others: their gold is of the old ones."""
    pools = lake.scan_parts([files], "files").select("pool_id").unique()
    for part in lake.parts("items", benchmark=benchmark.name):
        if part.name == reader or lake.scan_parts([part], "items").join(pools, on="pool_id").collect().is_empty():
            continue
        _forget(lake, benchmark, part.name)
        result.notes.append(f"{benchmark.display_name} {part.name}: its repositories changed; it is to be read again")


def _forget(lake: Lake, benchmark: Benchmark, name: str) -> None:
    """Take away a part's rows, the items first."""
    named = {"benchmark": benchmark.name}
    parts = [lake.part("items", name, **named), lake.part("gold_spans", name, **named)]
    for part in [*parts, lake.part("rejects", _rejects_part(benchmark, name))]:
        if part is not None:
            lake.remove(part)


def _forget_other_sources(lake: Lake, benchmark: Benchmark, source: Source, result: Ingested) -> None:
    """Take away what an earlier source left of a benchmark: the sample and the published data never stand together."""
    part = lake.part("benchmarks", benchmark.name)
    if part is None:
        return
    row = lake.scan_parts([part], "benchmarks").select("source", "revision", "tags").collect().row(0, named=True)
    if row == {"source": _called(source), "revision": source.revision, "tags": _tags(source)}:
        return
    for stored in lake.parts("items", benchmark=benchmark.name):
        _forget(lake, benchmark, stored.name)
    for refused in lake.parts("rejects"):
        if refused.name.startswith(_rejects_part(benchmark, "")):
            lake.remove(refused)
    for stale in lake.parts("files"):
        if stale.name.partition(".")[0] == benchmark.name:
            lake.remove(stale)
    now, before = _called(source), row["source"]
    if now != before:
        result.notes.append(f"{benchmark.display_name} now comes from {now}; before it came from {before}")


def _tags(source: Source) -> list[str]:
    return [source.label] if source.label else []


def _called(source: Source) -> str:
    """What pages call a source: a folder by its own name, for its path is nobody else's business."""
    return Path(source.name).name or source.name


def _declare(lake: Lake, benchmark: Benchmark, source: Source, limit: int | None) -> None:
    """The benchmark's own row: what it is, and what of it this lake holds."""
    items = lake.read("items", benchmark=benchmark.name)
    parameters = {
        "label": source.label,
        "limit": limit,
        "n_items": items.height,
        "n_scorable": int(items["scorable"].sum()),
        "n_repos": items["repo"].n_unique(),
        "languages": sorted(items["language"].unique()),
        "subsets": sorted(items["subset"].unique()),
        "licences": {repo: source.licences.get(repo, "") for repo in sorted(items["repo"].unique())},
        "gold_rules": dict(benchmark.gold_rules),
        "homepage": benchmark.homepage,
    }
    row = declared_row(
        name=benchmark.name,
        display_name=benchmark.display_name,
        title=benchmark.title,
        meaning=benchmark.meaning,
        version=benchmark.version,
        tags=_tags(source),
        source=_called(source),
        revision=source.revision,
        licence=benchmark.licence,
        citation=benchmark.citation,
        paper=benchmark.paper,
        parameters=canonical_json(parameters),
    )
    stamp = fingerprint(row.to_dicts())
    if not lake.stands("benchmarks", benchmark.name, stamp):
        lake.write("benchmarks", row.with_columns(fingerprint=pl.lit(stamp)), part=benchmark.name, fingerprint=stamp)
