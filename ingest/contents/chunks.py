"""Chunks of what the pools hold: cut what is new, and remember what cutting it gave.

What needs a content's syntax tree is done while the tree is at hand: one parse for all chunkers and definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version

import numpy as np
import polars as pl

from ingest.contents.blobs import pool_frames
from ingest.contents.chunkers import Chunker, Cut, Document
from ingest.contents.chunkers_by_name import COMMAND, given_before, is_declared, resolve_chunkers
from ingest.contents.chunking import chunk_blobs, cut_document
from ingest.contents.new_contents import NewContents, done_before, searched_files
from ingest.contents.syntax_trees import GRAMMARS
from lake.declarations import Resolved
from lake.fingerprint import canonical_json
from lake.make import BuildTarget, Slot, made_from, write_if_changed
from lake.outcome import Outcome
from lake.store import Lake, Part
from lake.tables import declared_row
from lake.text import counted, percent

BLOBS_AT_ONCE = 20_000
"""How many contents are cut between two writes: what a kill can cost, and what memory must hold."""

CRASHED = "the parser crashed"


def cut_by_each(document: Document, chunkers: Sequence[str]) -> list[Cut]:
    """How some chunkers cut a file; one that fails says so in its cut."""
    return [cut_document(chunker, document) for chunker in resolve_chunkers(chunkers)]


class PrecomputedCuts:
    """Cuts that were made before their chunker's turn came, until it takes them."""

    def __init__(self, done: Mapping[str, Collection[str]]) -> None:
        self._done = done
        self._cuts: dict[str, dict[str, Cut]] = {name: {} for name in done}

    def wanted(self, sha256: str) -> tuple[str, ...]:
        """The chunkers that have not cut a content yet."""
        return tuple(name for name, done in self._done.items() if sha256 not in done and sha256 not in self._cuts[name])

    def keep(self, sha256: str, chunkers: Sequence[str], cuts: Sequence[Cut]) -> None:
        """Keep how chunkers cut a content."""
        for name, cut in zip(chunkers, cuts, strict=True):
            # Whole numbers in a row: lists of pairs would take ten times the memory.
            packed = np.array(cut.ranges, np.int32).reshape(-1, 2)
            self._cuts[name][sha256] = cut._replace(ranges=packed)  # type: ignore[arg-type] # unpacked when taken

    def of(self, chunker: Resolved[Chunker], blobs: pl.DataFrame) -> Resolved[Chunker]:
        """The same chunker, which answers for these blobs, in their order, what is kept; the others are cut first."""
        if chunker.name not in self._done:
            return chunker
        kept = self._cuts[chunker.name]
        for sha256, text, language in blobs.select("sha256", "text", "language").iter_rows():
            if sha256 not in kept:
                names = tuple({chunker.name: None, **dict.fromkeys(self.wanted(sha256))})
                self.keep(sha256, names, cut_by_each(Document(text, language), names))
        left = iter(blobs["sha256"])

        def answer(_: Document, **_numbers: int) -> Cut:
            cut = kept.pop(next(left))
            return cut._replace(ranges=[(start, end) for start, end in cut.ranges])

        return replace(chunker, declaration=replace(chunker.declaration, chunk=answer))


def remove_undeclared(lake: Lake) -> list[str]:
    """Take away chunkers that are not declared any more, nor given nor named by an imported run; a sentence of each."""
    used = set(lake.scan("runs").filter(origin="imported").select("chunker").collect()["chunker"])
    gone = []
    for part in lake.parts("chunkers"):
        name = part.name
        if name in given_before(lake) or name in used or is_declared(name):
            continue
        rejects = [stored for stored in lake.parts("rejects") if stored.name.startswith(f"chunks-{name}:")]
        chunks = [stored for table in ("chunks", "chunk_status") for stored in lake.parts(table, chunker=name)]
        for stale in [*rejects, *chunks, part]:
            lake.remove(stale)
        gone.append(f"{name} is no longer declared: its chunks were taken away, its runs go when you evaluate again")
    return gone


def cuts_ahead(lake: Lake, chunkers: Sequence[Resolved[Chunker]]) -> PrecomputedCuts:
    """Nothing cut ahead yet, by those of some chunkers that read the trees of :mod:`ingest.contents.syntax_trees`."""
    reading = [chunker for chunker in chunkers if chunker.declaration.grammars == GRAMMARS]
    return PrecomputedCuts(
        {chunker.name: set(done_before(_chunks(lake, chunker), "chunk_status")["sha256"]) for chunker in reading}
    )


def cut_pools(
    lake: Lake,
    benchmark: str,
    chunker: Resolved[Chunker],
    ahead: PrecomputedCuts,
    say: Callable[[str], None],
    result: Outcome,
) -> None:
    """Cut every content of the benchmark's pools that this chunker has not cut yet, as far as it is not cut ahead."""
    parts, chunks, name = searched_files(lake, benchmark), _chunks(lake, chunker), chunker.name
    if parts and not lake.scan_parts(parts, "files").head(1).collect().is_empty():
        new = NewContents(lake, lake.scan_parts(parts, "files").select("sha256").unique(), chunks, "chunk_status")
        # First, so that nothing cut by this code is ever called what other code cut.
        _declare_chunker(lake, chunker, chunks.fingerprint)
        if len(new):
            say(f"{name}: cutting {counted(len(new), 'file')}")
        for n_done, blobs, made in new.batches(BLOBS_AT_ONCE):
            cut = chunk_blobs(ahead.of(chunker, blobs), blobs)
            made.write(cut.frame, cut.rejects, cut.status)
            if len(new) > BLOBS_AT_ONCE:
                say(f"{name}: {n_done:,} of {len(new):,} files are cut")
        result.warnings += _left_out(lake, benchmark, parts, name)
        _note_failures(lake, benchmark, parts, name, result)


def _chunks(lake: Lake, chunker: Resolved[Chunker]) -> BuildTarget:
    """A chunker's chunks of every batch of new contents, by its code and packages and by the code that measures."""
    declared, folders = chunker.declaration, {"chunker": chunker.name}
    packages = [(name, version(name)) for name in (*declared.grammars, declared.library) if name]
    given = [declared.given, declared.command.digest] if declared.command else declared.given
    code: list[Callable[..., object]] = [declared.chunk, chunk_blobs, pool_frames]
    code += [declared.text] if declared.text is not None else []
    made = made_from(parameters=[chunker.name, packages, given], code=code)
    rejects = Slot("rejects", f"chunks-{chunker.name}:", {})
    return BuildTarget(lake, [Slot("chunks", "", folders), rejects, Slot("chunk_status", "", folders)], made)


def _left_out(lake: Lake, benchmark: str, parts: list[Part], chunker: str) -> list[str]:
    """How much of the benchmark's files lies in no chunk, where that is something."""
    cut = lake.scan("chunk_status", chunker=chunker).filter(pl.col("failed").is_null())
    mine = cut.join(lake.scan_parts(parts, "files"), on="sha256", how="semi").select(pl.col("n_nws", "n_covered").sum())
    n_nws, n_covered = mine.collect().row(0)
    if n_covered == n_nws:
        return []
    return [f"{benchmark}: {percent(n_covered, n_nws)} of its files' text lies in a chunk of {chunker}"]


def _note_failures(lake: Lake, benchmark: str, parts: list[Part], chunker: str, result: Outcome) -> None:
    """Count the benchmark's files that a chunker could not cut, and say how many, where it failed and why."""
    wanted = lake.scan_parts(parts, "files").select("sha256").unique()
    status = lake.scan("chunk_status", chunker=chunker).join(wanted, on="sha256", how="semi").select("failed").collect()
    failed = status["failed"].drop_nulls()
    if failed.is_empty():
        return
    result.rejected += len(failed)
    why, n = failed.value_counts().sort(["count", "failed"], descending=[True, False]).row(0)
    of = f"all {counted(status.height, 'file')}" if len(failed) == status.height else counted(len(failed), "file")
    most = "" if n == len(failed) else f" ({n:,} of them; each with its reason in the table rejects)"
    result.warnings.append(f"{benchmark}: {chunker} failed on {of}: {why}{most}")


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
    write_if_changed(lake, "chunkers", chunker.name, row)
