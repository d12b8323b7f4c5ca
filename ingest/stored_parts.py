"""The parts of a benchmark in a lake: find them, check that they are complete, and remove those out of date."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ingest.benchmarks.config import PUBLISHED_LABEL, RESERVED
from ingest.benchmarks.declaration import Benchmark, part_of
from ingest.runs.importing import delete_imported_runs
from ingest.sources.tree import Source
from lake.benchmarks import TASKS
from lake.errors import Exit, GoldspanError
from lake.fingerprint import fingerprint
from lake.make import BuildTarget, Slot
from lake.outcome import Outcome
from lake.store import Lake, Part
from lake.tables import GOLD_RUN, UNSEARCHED, table
from lake.text import counted, listed


def parts_of_subset(lake: Lake, benchmark: Benchmark, subset: str) -> list[Part]:
    """The stored `items` parts of a subset, by their names."""
    start, parts = f"{part_of(subset)}-", lake.parts("items", benchmark=benchmark.name)
    return [part for part in parts if f"{part.name}-".startswith(start)]


def rejects_of(lake: Lake, benchmark: Benchmark, subset: str = "") -> list[Part]:
    """The stored `rejects` parts of a subset (of all subsets if empty): of its files, and of each of its parts."""
    start = rejects_part(benchmark, part_of(subset))
    return [part for part in lake.parts("rejects") if part.name.startswith(start)]


def rejects_part(benchmark: Benchmark, part: str) -> str:
    """The name of the `rejects` part that goes with an `items` part."""
    # Own data may be named like another benchmark plus `-…`; no name contains a dot, so `.` keeps them apart.
    return f"own-{benchmark.name}.{part}" if benchmark.like else f"ingest-{benchmark.name}-{part}"


def whole_subset(
    lake: Lake, benchmark: Benchmark, subset: str, stamp: str = "", names: Sequence[str] = ()
) -> BuildTarget:
    """The target for the rejects of a subset's files; written last, it marks all parts (`names`) as complete."""
    slot = Slot("rejects", f"{rejects_part(benchmark, part_of(subset))}.files", {})
    return BuildTarget(lake, [slot], fingerprint(stamp, names))


def whole_part(lake: Lake, benchmark: Benchmark, part: str, stamp: str = "") -> BuildTarget:
    """The target for all tables of a part; `items` is written last, so a part with items is complete."""
    folders = {"benchmark": benchmark.name}
    # Rows given with the items are stored in tables of runs, under the run `gold`.
    of_gold = {**folders, "run_id": GOLD_RUN}
    slots = [
        Slot("gold_spans", part, folders),
        *(Slot("queries", part, of_query) for of_query in query_folders(benchmark)),
        *(Slot(name, part, {key: of_gold[key] for key in table(name).folders}) for name in benchmark.more),
        # Rejects are written even if there are none: a part without rows records that.
        Slot("rejects", rejects_part(benchmark, part), {}),
        Slot("items", part, folders),
    ]
    return BuildTarget(lake, slots, fingerprint(stamp, part))


def query_folders(benchmark: Benchmark) -> list[dict[str, str]]:
    """The Hive folders of the queries: one for each query rule that a task of the benchmark names."""
    rules = {task.query for task in TASKS.values() if task.benchmark == benchmark.kind}
    return [{"benchmark": benchmark.name, "query": rule} for rule in sorted(rules)]


def have_pools(lake: Lake, parts: list[Part]) -> bool:
    """Whether the lake holds every file of the pools of some `items` parts, searched or not, with its content."""
    if not parts:
        return True
    pools = lake.scan_parts(parts, "items").filter("scorable").select("pool_id").unique()
    # The files of a repository that are not searched must be complete as well.
    wanted = pl.concat([pools, pools.select(pl.col("pool_id") + UNSEARCHED)])
    files = lake.scan("files").select("pool_id", "sha256").join(wanted, on="pool_id", how="semi")
    known = lake.scan("pools").select("pool_id").join(wanted, on="pool_id", how="semi")
    lost = [
        pools.join(known, on="pool_id", how="anti"),
        pl.concat([pools, known]).join(files, on="pool_id", how="anti"),
        files.join(lake.scan("blobs").select("sha256"), on="sha256", how="anti"),
    ]
    return all(rows.collect().is_empty() for rows in lost)


def remove_readers(lake: Lake, benchmark: Benchmark, reader: str, files: Part, result: Outcome) -> None:
    """Remove the other parts whose items search pools in the changed part `files`: their gold is of the old files."""
    pools = lake.scan_parts([files], "files").select("pool_id").unique()
    for part in lake.parts("items", benchmark=benchmark.name):
        searching = lake.scan_parts([part], "items").join(pools, on="pool_id")
        if part.name != reader and not searching.collect().is_empty():
            whole_part(lake, benchmark, part.name).remove()
            what = "its repositories changed; ingest it again"
            result.changes.append(f"{benchmark.display_name} {part.name}: {what}")


def remove_other_subsets(lake: Lake, benchmark: Benchmark, subset: str, result: Outcome) -> None:
    """Remove the stored parts of all other subsets, for benchmarks that allow only one subset in a lake."""
    kept, parts = parts_of_subset(lake, benchmark, subset), lake.parts("items", benchmark=benchmark.name)
    others = [part.name for part in parts if part not in kept]
    stale = [whole_part(lake, benchmark, name) for name in others]
    for target in stale + [whole_subset(lake, benchmark, other) for other in {*benchmark.subsets} - {subset}]:
        target.remove()
    if others:
        result.changes.append(f"{benchmark.display_name} {listed(others)} replaced by {subset} (never pooled)")


def remove_other_sources(lake: Lake, benchmark: Benchmark, source: Source, result: Outcome) -> None:
    """Remove a benchmark's parts from another source: a lake never holds the sample and the published data together."""
    now = source_name(source)
    before = lake.scan_part("benchmarks", benchmark.name).select("source", "revision", "label").collect().rows()
    if before in ([], [(now, source.revision, source.label)]):
        return
    for stored in lake.parts("items", benchmark=benchmark.name):
        whole_part(lake, benchmark, stored.name).remove()
    pools = [part for name in ("files", "pools") for part in lake.parts(name, benchmark=benchmark.name)]
    for stale in [*rejects_of(lake, benchmark), *pools]:
        lake.remove(stale)
    if gone := delete_imported_runs(lake, benchmark.name):
        runs = f"{counted(len(gone), 'imported run')} deleted with the items answered ({listed(gone)})"
        result.changes.append(f"{benchmark.display_name}: {runs}; import again")
    if now != before[0][0]:
        result.changes.append(f"{benchmark.display_name} now comes from {now}; before it came from {before[0][0]}")


def check_replaced(lake: Lake, benchmark: Benchmark, source: Source) -> None:
    """Raise a `GoldspanError` if own data would replace other data of the same name, or be replaced; change nothing."""
    before = lake.scan_part("benchmarks", benchmark.name).select("label", "like").collect().rows()
    now = (source.label, benchmark.like)
    if before in ([], [now]) or {before[0][0], source.label} <= {"", *RESERVED}:
        return
    old, new = (
        RESERVED.get(label or PUBLISHED_LABEL, f"data labelled {label}{f' in the manner of {like}' if like else ''}")
        for label, like in (before[0], now)
    )
    message = f"{benchmark.display_name}: the lake holds {old}; {new} would replace it"
    hint = f"Give own data another name (name: my-data, like: {benchmark.kind}) or a lake (--lake FOLDER) of its own."
    raise GoldspanError(message, where=str(lake.root), hint=hint, code=Exit.USAGE)


def source_name(source: Source) -> str:
    """A source's name on pages: of a path only the last part, so that no local folders are published."""
    return Path(source.name).name or source.name
