"""From a source to the lake: read what is new, cut it, and leave alone what stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from ingest.benchmarks import Benchmark, PoolGroup, RawFiles, Reading
from ingest.chunkers import Chunker
from ingest.cutting import cut_pools
from ingest.outcome import Ingested
from ingest.sources import Source, UnreadableEntryError
from lake.declarations import Resolved
from lake.fingerprint import canonical_json, fingerprint, sha256_of
from lake.rejects import Rejects
from lake.sampling import stratified
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
    items = lake.scan("items", benchmark=benchmark.name).filter(pl.col("subset").is_in(list(subsets)))
    counts = items.select(n=pl.len(), scorable=pl.col("scorable").sum()).collect()
    result.n_items, result.n_scorable = int(counts["n"].item()), int(counts["scorable"].item())
    for subset in subsets:
        part = lake.part("rejects", _rejects_part(benchmark, subset))
        result.n_rejected += lake.scan_parts([part], "rejects").collect().height if part else 0
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
    reading = benchmark.read(raw, subset, rejects)
    result.notes += [f"{benchmark.display_name} {subset}: {note}" for note in reading.notes]
    _write(lake, benchmark, subset, _limited(reading, limit), rejects, stamp, result)


def _stands(lake: Lake, benchmark: Benchmark, subset: str, stamp: str) -> bool:
    """Whether a subset is there with all that it needs; what somebody deleted is made again."""
    name = benchmark.name
    if not (
        lake.stands("items", subset, stamp, benchmark=name)
        and lake.stands("gold_spans", subset, stamp, benchmark=name)
        and lake.stands("rejects", _rejects_part(benchmark, subset), stamp)
    ):
        return False
    items = lake.scan("items", benchmark=name).filter((pl.col("subset") == subset) & pl.col("scorable"))
    pools = items.select("pool_id").unique()
    files = lake.scan("files").select("pool_id", "sha256").join(pools, on="pool_id", how="semi")
    without_files = pools.join(files, on="pool_id", how="anti")
    without_blob = files.join(lake.scan("blobs").select("sha256"), on="sha256", how="anti")
    return without_files.collect().is_empty() and without_blob.collect().is_empty()


def _rejects_part(benchmark: Benchmark, subset: str) -> str:
    return f"ingest-{benchmark.name}-{subset}"


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


def _limited(reading: Reading, limit: int | None) -> Reading:
    if limit is None:
        return reading
    items = stratified(reading.items, limit)
    gold = reading.gold.join(items.select("item_id"), on="item_id", how="semi", maintain_order="left")
    return Reading(items, gold, reading.pools, reading.notes)


def _write(
    lake: Lake, benchmark: Benchmark, subset: str, reading: Reading, rejects: Rejects, stamp: str, result: Ingested
) -> None:
    """Store a subset; the items last, so that a part with their fingerprint means that all the rest is there."""
    for group in reading.pools:
        _write_pools(lake, benchmark, subset, group, result)
    lake.write("gold_spans", reading.gold, part=subset, fingerprint=stamp, benchmark=benchmark.name)
    # No rejects are written as well: a part of no rows says that there were none.
    lake.write("rejects", rejects.frame("ingest"), part=_rejects_part(benchmark, subset), fingerprint=stamp)
    lake.write("items", reading.items, part=subset, fingerprint=stamp, benchmark=benchmark.name)


def _write_pools(lake: Lake, benchmark: Benchmark, subset: str, group: PoolGroup, result: Ingested) -> None:
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
        _forget_readers(lake, benchmark, subset, stored, result)
    lake.write("files", group.files, part=group.name, fingerprint=stamp)


def _forget_readers(lake: Lake, benchmark: Benchmark, subset: str, files: Part, result: Ingested) -> None:
    """Take away the other subsets whose items search files that are now others: their gold is of the old ones."""
    pools = lake.scan_parts([files], "files").select("pool_id").unique()
    for part in lake.parts("items", benchmark=benchmark.name):
        if part.name == subset or lake.scan_parts([part], "items").join(pools, on="pool_id").collect().is_empty():
            continue
        _forget_subset(lake, benchmark, part.name)
        result.notes.append(f"{benchmark.display_name} {part.name}: its repositories changed; it is to be read again")


def _forget_subset(lake: Lake, benchmark: Benchmark, subset: str) -> None:
    """Take away a subset's rows, the items first."""
    named = {"benchmark": benchmark.name}
    parts = [lake.part("items", subset, **named), lake.part("gold_spans", subset, **named)]
    for part in [*parts, lake.part("rejects", _rejects_part(benchmark, subset))]:
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
    for subset in benchmark.subsets:
        _forget_subset(lake, benchmark, subset)
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
