"""Chunks and definitions of all pool contents: cut the contents that are new, and store the results.

Each content is parsed once for all chunkers and the definitions, in parallel if there are several processes.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from itertools import compress
from typing import NamedTuple

import polars as pl

from ingest.contents.blobs import pool_frames
from ingest.contents.chunkers import Chunker, Cut, Document
from ingest.contents.chunkers_by_name import declared, given_before, resolve_chunkers
from ingest.contents.chunking import chunk_blobs, cut_document, measure_cuts
from ingest.contents.definitions import Found, definitions_of
from ingest.contents.processes import Workers
from ingest.contents.symbols import declare_rules, endings_of, note_symbols, symbol_rows, symbols_of
from lake.declarations import Resolved
from lake.fingerprint import canonical_json, fingerprint
from lake.make import BuildTarget, Slot, made_from, write_if_changed
from lake.offsets import Offsets
from lake.outcome import Outcome
from lake.store import Lake, Part, numbered
from lake.tables import SEARCHED, declared_rows
from lake.text import counted, percent

CUT_AT_ONCE, PARSED_AT_ONCE = 20_000, 2_500
"""The number of contents between two writes: at most so many are done again after the process is killed."""
HELD_AT_ONCE = 500
"""The number of contents whose definitions and cuts are held as objects before they become rows."""
_HANDED_OUT = 50
_SYMBOLS = ""
"""The key of the definitions among the names of chunkers."""

CRASHED = "the parser crashed"


class Content(NamedTuple):
    """A content to process, and the chunkers that cut it; with an empty `ending`, definitions are not searched."""

    text: str
    ending: str
    language: str
    chunkers: tuple[str, ...]


Seen = tuple[dict[str, Found], dict[str, Cut]]
"""The definitions of a content by set of rules, and its cuts by chunker."""


def look_through(contents: Sequence[Content]) -> list[Seen]:
    """The definitions and cuts of some contents; an error in one does not affect the others."""
    seen = []
    resolved = {names: resolve_chunkers(names) for names in {content.chunkers for content in contents}}
    for content in contents:
        try:
            definitions = definitions_of(content.text, content.ending)
        except Exception as error:
            definitions = {"docs": Found(why_not=f"{type(error).__name__}: {error}")}
        document = Document(content.text, content.language)
        cuts = {chunker.name: cut_document(chunker, document) for chunker in resolved[content.chunkers]}
        seen.append((definitions, cuts))
    return seen


def cut_contents(
    lake: Lake,
    benchmark: str,
    chunkers: Sequence[Resolved[Chunker]],
    say: Callable[[str], None],
    result: Outcome,
    workers: Workers | None = None,
) -> None:
    """Cut every content of the benchmark's pools that a chunker has not cut yet.

    With `workers`, definitions are found too, in processes; contents that crash the parser are rejected and counted.
    """
    files = [part for kind in SEARCHED for part in lake.parts("files", benchmark=benchmark, kind=kind)]
    if not files or lake.scan_parts(files, "files").head(1).collect().is_empty():
        return
    todo = _Todo(lake, files, chunkers, has_symbols=workers is not None)
    if _SYMBOLS in todo.n_of:
        declare_rules(lake, todo.made[_SYMBOLS])
    # Written first, so that chunks cut by this code are never attributed to other code.
    for chunker in chunkers:
        declaration, stamp = chunker.declaration, todo.made[chunker.name].fingerprint
        same = {name: getattr(declaration, name) for name in ("title", "meaning", "version", "source")}
        same |= {"parameters": canonical_json(chunker.parameters), "command": declaration.given or None}
        row = {"name": chunker.name, **same, "fingerprint": stamp}
        write_if_changed(lake, "chunkers", chunker.name, declared_rows("chunkers", [row]))
    for name, n in todo.n_of.items():
        if n:
            say(f"{name}: cutting {counted(n, 'file')}" if name else f"symbols: parsing {counted(n, 'file')}")
    by = workers if todo.is_parsed else None
    written_at_once, held_at_once = (CUT_AT_ONCE, CUT_AT_ONCE) if by is None else (PARSED_AT_ONCE, HELD_AT_ONCE)
    for n_done, blobs in todo.batches(written_at_once):
        made = [todo.make(some, by) for some in blobs.iter_slices(held_at_once)]
        by_maker = {name: zip(*(each[name] for each in made), strict=True) for name in made[0]}
        frames = {name: [pl.concat(table) for table in tables] for name, tables in by_maker.items()}
        for chunker in todo.given:
            frames[chunker.name] = [*chunk_blobs(chunker, blobs.filter(_todo(chunker.name)))]
        for name, tables in frames.items():
            contents = blobs.filter(_todo(name))["sha256"].sort()
            if len(contents):
                todo.made[name].with_suffix(fingerprint(contents.to_list())[:16]).write(*tables)
        # Freed before the next batch is read.
        del blobs, made, by_maker, frames
        if n_done < todo.n:
            say(f"{n_done:,} of {todo.n:,} files are done")
    if workers is not None and todo.n > HELD_AT_ONCE:
        # After so many contents, the processes hold much memory.
        workers.stop()
    if _SYMBOLS in todo.n_of:
        note_symbols(todo.made[_SYMBOLS], result)
    for chunker in chunkers:
        _note_chunks(lake, benchmark, files, chunker.name, result)


def _todo(name: str) -> pl.Expr:
    return pl.col(f"todo:{name}")


class _Todo:
    """The contents with text that some maker still has to process, each read once.

    A maker is a chunker or the search for definitions; in a batch, column `todo:<maker>` is true for its contents.

    Attributes:
        n_of: Maker → the number of contents that it has to process.
        is_parsed: Whether files of known languages have to be parsed, which is done in processes.
    """

    def __init__(
        self, lake: Lake, files: list[Part], chunkers: Sequence[Resolved[Chunker]], *, has_symbols: bool
    ) -> None:
        self._lake, self._blobs = lake, lake.parts("blobs")
        self.given = [chunker for chunker in chunkers if not declared(chunker.name)]
        self._declared = [chunker.name for chunker in chunkers if chunker not in self.given]
        self.made = {_SYMBOLS: symbols_of(lake), **{chunker.name: _chunks(lake, chunker) for chunker in chunkers}}
        wanted = lake.scan_parts(files, "files").select("sha256", ending=pl.lit(None, pl.String)).unique()
        done = {chunker.name: _done_before(self.made[chunker.name], "chunk_status") for chunker in chunkers}
        if has_symbols:
            endings = endings_of(lake, files)
            wanted, without = endings.lazy(), endings.filter(pl.col("ending").is_null()).select("sha256")
            if without.height < endings.height:
                done = {_SYMBOLS: pl.concat([without, _done_before(self.made[_SYMBOLS], "symbol_status")]), **done}
        text = numbered(lake, "blobs", self._blobs, lambda blobs: blobs.filter(pl.col("n_lines") > 0).select("sha256"))
        todo = text.lazy().join(wanted, on="sha256")
        for maker, contents in done.items():
            seen = contents.lazy().unique().with_columns(pl.lit(value=False).alias(f"todo:{maker}"))
            todo = todo.join(seen, on="sha256", how="left").with_columns(_todo(maker).fill_null(value=True))
        self._todo = todo.filter(_any(done)).sort("part", "sha256").collect()
        self.n, self.n_of = self._todo.height, {maker: int(self._todo[f"todo:{maker}"].sum()) for maker in done}
        parsers = [_SYMBOLS, *(chunker.name for chunker in chunkers if chunker.declaration.grammars)]
        self.is_parsed = _SYMBOLS in done and any(self.n_of[name] for name in parsers)

    def batches(self, at_once: int) -> Iterator[tuple[int, pl.DataFrame]]:
        """The number of contents done after each batch, and the batch's rows of `blobs`, sorted by sha256."""
        for start in range(0, self.n, at_once):
            batch = self._todo[start : start + at_once]
            stored = [self._blobs[number] for number in batch["part"].unique().sort()]
            blobs = self._lake.scan_parts(stored, "blobs").join(batch.drop("part").lazy(), on="sha256")
            yield start + batch.height, blobs.collect().sort("sha256")

    def make(self, blobs: pl.DataFrame, workers: Workers | None) -> dict[str, Sequence[pl.DataFrame]]:
        """The rows made from some contents, by maker: the definitions, and the chunks of the declared chunkers."""
        blobs = blobs.filter(_any(name for name in self.n_of if name == _SYMBOLS or name in self._declared))
        ending = pl.when(_todo(_SYMBOLS)).then("ending") if _SYMBOLS in self.n_of else pl.lit(None, pl.String)
        rows = blobs.select("text", ending.alias("ending"), "language", *map(_todo, self._declared)).iter_rows()
        contents = [
            Content(text, ending or "", language, tuple(compress(self._declared, todo)))
            for text, ending, language, *todo in rows
        ]
        if workers is None:
            seen = look_through(contents)
        else:
            answers = workers.map(look_through, contents, _HANDED_OUT)
            failed = Cut([], failed=CRASHED)
            seen = [
                answer or ({"docs": Found(why_not=CRASHED)}, dict.fromkeys(content.chunkers, failed))
                for content, answer in zip(contents, answers, strict=True)
            ]
        tables = dict[str, Sequence[pl.DataFrame]]()
        if _SYMBOLS in self.n_of:
            todo = blobs.filter(_todo(_SYMBOLS))
            of_each = [definitions for content, (definitions, _) in zip(contents, seen, strict=True) if content.ending]
            tables[_SYMBOLS] = symbol_rows(todo["sha256"].to_list(), todo["ending"].to_list(), of_each)
        offsets = Offsets.of_blobs(blobs)
        for name in self._declared:
            cuts = [(of[name], points) for (_, of), points in zip(seen, offsets, strict=True) if name in of]
            tables[name] = measure_cuts(name, blobs.filter(_todo(name)), cuts)
        return tables


def _any(makers: Iterable[str]) -> pl.Expr:
    return pl.any_horizontal(pl.lit(value=False), *map(_todo, makers))


def _done_before(made: BuildTarget, status: str) -> pl.DataFrame:
    done = [part.scan(status).select("sha256").collect() for part in made.current()]
    return pl.concat([pl.DataFrame(schema={"sha256": pl.String}), *done])


def remove_undeclared(lake: Lake) -> list[str]:
    """Remove chunkers that are not declared, not given by the user and in no imported run; a message for each."""
    used = {*lake.scan("runs").filter(origin="imported").select("chunker").collect()["chunker"], *given_before(lake)}
    gone = []
    for part in lake.parts("chunkers"):
        name = part.name
        if name in used or declared(name):
            continue
        rejects = [stored for stored in lake.parts("rejects") if stored.name.startswith(f"chunks-{name}:")]
        chunks = [stored for table in ("chunks", "chunk_status") for stored in lake.parts(table, chunker=name)]
        for stale in [*rejects, *chunks, part]:
            lake.remove(stale)
        gone.append(f"{name} is no longer declared: its chunks are deleted; the next `evaluate` deletes its runs")
    return gone


def _chunks(lake: Lake, chunker: Resolved[Chunker]) -> BuildTarget:
    cuts, folders = chunker.declaration, {"chunker": chunker.name}
    packages = [(name, version(name)) for name in (*cuts.grammars, cuts.library) if name]
    given = [cuts.given, cuts.command.digest] if cuts.command else cuts.given
    code: list[Callable[..., object]] = [cuts.chunk, chunk_blobs, pool_frames]
    code += [cuts.text] if cuts.text is not None else []
    made = made_from(parameters=[chunker.name, packages, given], code=code)
    rejects = Slot("rejects", f"chunks-{chunker.name}:", {})
    return BuildTarget(lake, [Slot("chunks", "", folders), rejects, Slot("chunk_status", "", folders)], made)


def _note_chunks(lake: Lake, benchmark: str, files: list[Part], chunker: str, result: Outcome) -> None:
    wanted = lake.scan_parts(files, "files").select("sha256").unique()
    status = lake.scan("chunk_status", chunker=chunker).join(wanted, on="sha256", how="semi").collect()
    n_nws, n_covered = status.filter(pl.col("failed").is_null()).select(pl.col("n_nws", "n_covered").sum()).row(0)
    if n_covered != n_nws:
        share = percent(n_covered, n_nws)
        result.warnings.append(f"{benchmark}: {share} of the text of its files is in a chunk of {chunker}")
    failed = status["failed"].drop_nulls()
    result.rejected += len(failed)
    if len(failed):
        why, n = failed.value_counts().sort(["count", "failed"], descending=[True, False]).row(0)
        of = f"all {counted(status.height, 'file')}" if len(failed) == status.height else counted(len(failed), "file")
        most = "" if n == len(failed) else f" ({n:,} of them; all reasons: table rejects)"
        result.warnings.append(f"{benchmark}: {chunker} failed on {of}: {why}{most}")
