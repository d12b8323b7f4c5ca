"""Chunks of what the pools hold: cut what is new, and remember what cutting it gave."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version

import polars as pl

from ingest.contents.chunkers import Chunker
from ingest.contents.chunking import chunk_blobs
from ingest.contents.cuts_ahead import CutsAhead, reads_trees
from ingest.contents.own_chunkers import COMMAND
from ingest.outcome import Ingested
from lake.code import code_digest
from lake.declarations import Resolved
from lake.fingerprint import canonical_json, fingerprint
from lake.naming import SEARCHED
from lake.rejects import Rejects
from lake.store import FORMAT_VERSION, Lake, Part
from lake.tables import declared_row
from lake.text import counted, percent

BLOBS_AT_ONCE = 20_000
"""How many contents are cut between two writes: what a kill can cost, and what memory must hold."""


def cuts_ahead(lake: Lake, chunkers: Sequence[Resolved[Chunker]]) -> CutsAhead:
    """Nothing cut ahead yet, by those of some chunkers that read syntax trees."""
    done = {}
    for chunker in filter(reads_trees, chunkers):
        parts, stamp = lake.parts("chunk_status", chunker=chunker.name), _stamp(chunker)
        current = [part for part in parts if part.fingerprint == stamp]
        done[chunker.name] = set(lake.scan_parts(current, "chunk_status").select("sha256").collect()["sha256"])
    return CutsAhead(done)


def cut_pools(
    lake: Lake,
    benchmark: str,
    chunker: Resolved[Chunker],
    ahead: CutsAhead,
    say: Callable[[str], None],
    result: Ingested,
) -> None:
    """Cut every content of the benchmark's pools that this chunker has not cut yet, as far as it is not cut ahead."""
    stamp = _stamp(chunker)
    parts = [part for kind in SEARCHED for part in lake.parts("files", benchmark=benchmark, kind=kind)]
    holds_files = bool(parts) and not lake.scan_parts(parts, "files").head(1).collect().is_empty()
    if holds_files:
        _cut_new(lake, parts, chunker, stamp, ahead, say)
        result.notes += _left_out(lake, benchmark, parts, chunker.name)
    _count_failures(lake, chunker.name, stamp, result)


def _cut_new(
    lake: Lake,
    parts: list[Part],
    chunker: Resolved[Chunker],
    stamp: str,
    ahead: CutsAhead,
    say: Callable[[str], None],
) -> None:
    """Cut what is not cut yet of some parts of `files`."""
    folders = {"chunker": chunker.name}
    for part in [*lake.parts("chunk_status", **folders), *lake.parts("chunks", **folders)]:
        # One without the other was written just before a kill, or damaged: both are made again, to the same bytes.
        if not all(lake.is_current(name, part.name, stamp, **folders) for name in ("chunks", "chunk_status")):
            lake.remove(part)
    for part in lake.parts("chunk_status", **folders):
        _note_failures(lake, part, stamp)
    wanted = lake.scan_parts(parts, "files").select("sha256").unique()
    done = lake.scan("chunk_status", **folders).select("sha256").collect()["sha256"]
    blobs = lake.parts("blobs")
    todo = _todo(lake, blobs, wanted, done)
    # First, so that nothing cut by this code is ever called what other code cut.
    _declare_chunker(lake, chunker, stamp)
    if todo.is_empty():
        return
    say(f"{chunker.name}: cutting {counted(len(todo), 'file')}")
    for start in range(0, len(todo), BLOBS_AT_ONCE):
        # In the order of the parts, so that each is read for the few batches that need it and not for every one.
        in_batch = todo[start : start + BLOBS_AT_ONCE]
        batch, stored_in = in_batch["sha256"], [blobs[place] for place in in_batch["place"].unique().sort()]
        name = fingerprint(batch.to_list())[:16]
        texts = lake.scan_parts(stored_in, "blobs").filter(pl.col("sha256").is_in(batch.implode())).collect()
        chunked = chunk_blobs(ahead.of(chunker, texts), texts)
        lake.write("chunks", chunked.frame, part=name, fingerprint=stamp, **folders)
        _note_failures(lake, lake.write("chunk_status", chunked.status, part=name, fingerprint=stamp, **folders), stamp)
        if len(todo) > BLOBS_AT_ONCE:
            say(f"{chunker.name}: {start + len(batch):,} of {len(todo):,} files are cut")


def _left_out(lake: Lake, benchmark: str, parts: list[Part], chunker: str) -> list[str]:
    """How much of the benchmark's files lies in no chunk, where that is something."""
    cut = lake.scan("chunk_status", chunker=chunker).filter(pl.col("failed").is_null())
    mine = cut.join(lake.scan_parts(parts, "files"), on="sha256", how="semi").select(pl.col("n_nws", "n_covered").sum())
    n_nws, n_covered = mine.collect().row(0)
    if n_covered == n_nws:
        return []
    return [f"{benchmark}: {percent(n_covered, n_nws)} of its files' text lies in a chunk of {chunker}"]


def _todo(lake: Lake, blobs: Sequence[Part], wanted: pl.LazyFrame, done: pl.Series) -> pl.DataFrame:
    """What is to be cut: sha256, and `place`, the blobs' part that holds it; in the order of both."""
    if not blobs:
        return pl.DataFrame(schema={"place": pl.Int32(), "sha256": pl.String()})
    held = [
        lake.scan_parts([part], "blobs").filter(pl.col("n_lines") > 0).select("sha256", place=pl.lit(place))
        for place, part in enumerate(blobs)
    ]
    todo = pl.concat(held).join(wanted, on="sha256", how="semi").filter(~pl.col("sha256").is_in(done.implode()))
    return todo.select("place", "sha256").sort("place", "sha256").collect()


def _stamp(chunker: Resolved[Chunker]) -> str:
    """What a chunker's chunks are made by: its rule and version, its code, its packages; of a command its files."""
    declared = chunker.declaration
    grammars = [(name, version(name)) for name in (*declared.grammars, declared.library) if name]
    given = [declared.given, declared.command.digest] if declared.command else declared.given
    code = code_digest(declared.chunk, chunk_blobs)
    return fingerprint(FORMAT_VERSION, chunker.name, declared.version, code, grammars, given)


def _note_failures(lake: Lake, part: Part, stamp: str) -> None:
    """A file that a chunker could not cut has no chunks under it, and says so."""
    chunker = part.folders["chunker"]
    failed = lake.scan_parts([part], "chunk_status").filter(pl.col("failed").is_not_null()).collect()
    rejects = Rejects()
    for sha256, why in failed.select("sha256", "failed").iter_rows():
        rejects.add(f"blob {sha256}", f"chunker {chunker}", f"it could not be cut: {why}")
    name = f"chunks-{chunker}-{part.name}"
    if len(rejects) and not lake.is_current("rejects", name, stamp):
        lake.write("rejects", rejects.frame("ingest"), part=name, fingerprint=stamp)


def _count_failures(lake: Lake, chunker: str, stamp: str, result: Ingested) -> None:
    """Say how many files a chunker could not cut, now or in an earlier run; forget what another version could not."""
    current = []
    for part in [part for part in lake.parts("rejects") if part.name.startswith(f"chunks-{chunker}-")]:
        if part.fingerprint == stamp:
            current.append(part)
        else:
            lake.remove(part)
    n_failed = lake.scan_parts(current, "rejects").collect().height if current else 0
    if n_failed:
        result.n_rejected += n_failed
        result.notes.append(f"{chunker} could not cut {counted(n_failed, 'file')}, as rejects says")


def _declare_chunker(lake: Lake, chunker: Resolved[Chunker], stamp: str) -> None:
    declared = chunker.declaration
    row = declared_row(
        "chunkers",
        name=chunker.name,
        title=declared.title,
        meaning=declared.meaning,
        version=declared.version,
        source=declared.source,
        parameters=canonical_json({**chunker.parameters, **({COMMAND: declared.given} if declared.given else {})}),
        fingerprint=stamp,
    )
    if not lake.is_current("chunkers", chunker.name, stamp):
        lake.write("chunkers", row, part=chunker.name, fingerprint=stamp)
