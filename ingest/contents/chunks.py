"""Chunks of what the pools hold: cut what is new, and remember what cutting it gave."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version

import polars as pl

from ingest.contents.chunkers import Chunker
from ingest.contents.chunking import chunk_blobs
from ingest.outcome import Ingested
from lake.code import code_digest
from lake.declarations import Resolved
from lake.fingerprint import canonical_json, fingerprint
from lake.rejects import Rejects
from lake.store import FORMAT_VERSION, Lake, Part
from lake.tables import declared_row
from lake.text import counted

BLOBS_AT_ONCE = 20_000
"""How many contents are cut between two writes: what a kill can cost, and what memory must hold."""


def cut_pools(
    lake: Lake, benchmark: str, chunker: Resolved[Chunker], say: Callable[[str], None], result: Ingested
) -> None:
    """Cut every content of the benchmark's pools that this chunker has not cut yet."""
    stamp = _stamp(chunker)
    # A benchmark's pools are stored in parts called `<benchmark>.<group>`.
    parts = [part for part in lake.parts("files") if part.name.partition(".")[0] == benchmark]
    holds_files = bool(parts) and not lake.scan_parts(parts, "files").head(1).collect().is_empty()
    if holds_files:
        _cut_new(lake, parts, chunker, stamp, say)
    _count_failures(lake, chunker.name, stamp, result)


def _cut_new(lake: Lake, parts: list[Part], chunker: Resolved[Chunker], stamp: str, say: Callable[[str], None]) -> None:
    """Cut what is not cut yet of some parts of `files`."""
    tally = _tally(lake, chunker.name, stamp)
    for part in lake.parts("chunks", chunker=chunker.name):
        # A part the tally does not know was written just before a kill: it is made again, to the same bytes.
        if part.fingerprint != stamp or part.name not in tally or _lacks_rejects(lake, part, tally[part.name]):
            lake.remove(part)
    stored = {part.name for part in lake.parts("chunks", chunker=chunker.name)}
    tally = {name: part for name, part in tally.items() if name in stored}
    wanted = lake.scan_parts(parts, "files").select("sha256").unique()
    cut = lake.scan("chunks", chunker=chunker.name).select("sha256").unique().collect()["sha256"]
    without_chunks = pl.Series(
        sorted(sha256 for part in tally.values() for sha256 in part.without_chunks), dtype=pl.String
    )
    blobs = lake.parts("blobs")
    todo = _todo(lake, blobs, wanted, pl.concat([cut, without_chunks]))
    if todo.is_empty():
        return
    say(f"{chunker.name}: cutting {counted(len(todo), 'file')}")
    for start in range(0, len(todo), BLOBS_AT_ONCE):
        # In the order of the parts, so that each is read for the few batches that need it and not for every one.
        in_batch = todo[start : start + BLOBS_AT_ONCE]
        batch, stored_in = in_batch["sha256"], [blobs[place] for place in in_batch["place"].unique().sort()]
        name = fingerprint(batch.to_list())[:16]
        texts = lake.scan_parts(stored_in, "blobs").filter(pl.col("sha256").is_in(batch.implode()))
        chunked = chunk_blobs(chunker, texts.collect())
        lake.write("chunks", chunked.frame, part=name, fingerprint=stamp, chunker=chunker.name)
        _note_failures(lake, chunker.name, name, chunked.failed, stamp)
        without = batch.filter(~batch.is_in(chunked.frame["sha256"].unique().implode())).to_list()
        fell_back = dict(sorted(chunked.fell_back.items()))
        tally[name] = _PartTally(len(batch), chunked.frame.height, fell_back, without, len(chunked.failed))
        _declare_chunker(lake, chunker, tally, stamp)
        if len(todo) > BLOBS_AT_ONCE:
            say(f"{chunker.name}: {start + len(batch):,} of {len(todo):,} files are cut")


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
    """What a chunker's chunks are made by: its rule and version, its code, its grammars."""
    declared = chunker.declaration
    grammars = [(name, version(name)) for name in declared.grammars]
    return fingerprint(
        FORMAT_VERSION, chunker.name, declared.version, code_digest(declared.chunk, chunk_blobs), grammars
    )


def _note_failures(lake: Lake, chunker: str, part: str, failed: dict[str, str], stamp: str) -> None:
    """A file that a chunker could not cut has no chunks under it, and says so."""
    if not failed:
        return
    rejects = Rejects()
    for sha256, why in failed.items():
        rejects.add(f"blob {sha256}", f"chunker {chunker}", f"it could not be cut: {why}")
    lake.write("rejects", rejects.frame("ingest"), part=f"chunks-{chunker}-{part}", fingerprint=stamp)


def _lacks_rejects(lake: Lake, part: Part, tally: _PartTally) -> bool:
    return tally.n_failed > 0 and lake.part("rejects", f"chunks-{part.folders['chunker']}-{part.name}") is None


def _count_failures(lake: Lake, chunker: str, stamp: str, result: Ingested) -> None:
    """Say how many files a chunker could not cut, now or in an earlier run; forget what another version could not."""
    parts = [part for part in lake.parts("rejects") if part.name.startswith(f"chunks-{chunker}-")]
    for stale in parts:
        if stale.fingerprint != stamp:
            lake.remove(stale)
    current = [part for part in parts if part.fingerprint == stamp]
    n_failed = lake.scan_parts(current, "rejects").collect().height if current else 0
    if n_failed:
        result.n_rejected += n_failed
        result.notes.append(f"{chunker} could not cut {counted(n_failed, 'file')}, as rejects says")


@dataclass(frozen=True)
class _PartTally:
    """What cutting one part's files gave, remembered beside the chunks."""

    n_files: int
    n_chunks: int
    fell_back: dict[str, int]
    without_chunks: list[str]
    n_failed: int


def _tally(lake: Lake, chunker: str, stamp: str) -> dict[str, _PartTally]:
    part = lake.part("chunkers", chunker)
    if part is None or part.fingerprint != stamp:
        return {}
    parameters = json.loads(lake.scan_parts([part], "chunkers").select("parameters").collect().item())
    return {name: _PartTally(**values) for name, values in parameters["parts"].items()}


def _declare_chunker(lake: Lake, chunker: Resolved[Chunker], tally: dict[str, _PartTally], stamp: str) -> None:
    declared = chunker.declaration
    fell_back: Counter[str] = Counter()
    for part in tally.values():
        fell_back.update(part.fell_back)
    parameters = {
        **chunker.parameters,
        "n_files": sum(part.n_files for part in tally.values()),
        "n_chunks": sum(part.n_chunks for part in tally.values()),
        "fell_back": dict(fell_back),
        "parts": {name: vars(part) for name, part in tally.items()},
    }
    row = declared_row(
        name=chunker.name,
        title=declared.title,
        meaning=declared.meaning,
        version=declared.version,
        source=declared.source,
        parameters=canonical_json(parameters),
        fingerprint=stamp,
    )
    lake.write("chunkers", row, part=chunker.name, fingerprint=stamp)
