"""Chunks and definitions of what the pools hold: cut what is new, and remember what cutting it gave.

A content is parsed once for all chunkers and definitions, several contents at a time where there are processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import NamedTuple

import polars as pl

from ingest.contents.blobs import pool_frames
from ingest.contents.chunkers import Chunker
from ingest.contents.chunkers_by_name import COMMAND, given_before, is_declared
from ingest.contents.chunking import Chunked, chunk_blobs, measure_cuts
from ingest.contents.look_through import Content, look_through, look_without_trees
from ingest.contents.processes import Workers
from ingest.contents.symbols import declare_rules, endings_of, note_symbols, symbol_rows, symbols_of
from lake.declarations import Resolved
from lake.fingerprint import canonical_json, fingerprint
from lake.holding import numbered
from lake.make import BuildTarget, Slot, made_from, write_if_changed
from lake.naming import SEARCHED
from lake.offsets import Offsets
from lake.outcome import Outcome
from lake.store import Lake, Part
from lake.tables import declared_row
from lake.text import counted, percent

CUT_AT_ONCE, PARSED_AT_ONCE = 20_000, 2_500
"""Contents that are done between two writes: what a kill can cost."""
HELD_AT_ONCE = 500
"""Contents whose definitions and cuts are held as objects before they are rows."""
_HANDED_OUT = 50
"""Contents that a process is given together."""
_SYMBOLS = ""
"""The name of the definitions among those of chunkers."""

CRASHED = "the parser crashed"


def parse_ahead(lake: Lake, benchmark: str, chunkers: Sequence[Resolved[Chunker]], workers: Workers) -> None:
    """Hand the first of what :func:`cut_contents` will parse to the processes, which parse while others are read."""
    todo = _Todo.of(lake, benchmark, chunkers, has_symbols=True)
    if todo is not None and todo.parses(chunkers):
        _, blobs = next(todo.new.batches(HELD_AT_ONCE))
        workers.begin(look_through, _contents(blobs, _declared(chunkers), has_symbols=True), _HANDED_OUT)


def cut_contents(
    lake: Lake,
    benchmark: str,
    chunkers: Sequence[Resolved[Chunker]],
    say: Callable[[str], None],
    result: Outcome,
    workers: Workers | None = None,
) -> None:
    """Cut every content of the benchmark's pools that a chunker has not cut yet.

    With workers its definitions are found too, in processes: what kills its parser is in rejects and is counted.
    """
    todo = _Todo.of(lake, benchmark, chunkers, has_symbols=workers is not None)
    if todo is None:
        return
    if _SYMBOLS in todo.done:
        declare_rules(lake, todo.made[_SYMBOLS])
    # First, so that nothing cut by this code is ever called what other code cut.
    for chunker in chunkers:
        _declare_chunker(lake, chunker, todo.made[chunker.name].fingerprint)
    for name, n in todo.new.n_of.items():
        if n:
            say(f"{name}: cutting {counted(n, 'file')}" if name else f"symbols: parsing {counted(n, 'file')}")
    declared = _declared(chunkers)
    by = workers if todo.parses(chunkers) else None
    for n_done, blobs in todo.new.batches(CUT_AT_ONCE if by is None else PARSED_AT_ONCE):
        slices = blobs.iter_slices(CUT_AT_ONCE if by is None else HELD_AT_ONCE)
        definitions, cuts = zip(*(_seen(some, declared, by) for some in slices), strict=True)
        frames = {name: Chunked.joined([cut[name] for cut in cuts]).tables for name in cuts[0]}
        frames[_SYMBOLS] = [pl.concat(table) for table in zip(*definitions, strict=True)]
        for chunker in chunkers:
            if chunker not in declared:
                frames[chunker.name] = chunk_blobs(chunker, blobs.filter(_todo(chunker.name))).tables
        for name in todo.done:
            of_maker = blobs.filter(_todo(name))
            if of_maker.height:
                _of_batch(todo.made[name], of_maker).write(*frames[name])
        # Not held while the next are read.
        del blobs, definitions, cuts, frames
        if n_done < len(todo.new):
            say(f"{n_done:,} of {len(todo.new):,} files are done")
    if workers is not None and len(todo.new) > HELD_AT_ONCE:
        # They hold what so many contents have left in them.
        workers.stop()
    if _SYMBOLS in todo.done:
        note_symbols(todo.made[_SYMBOLS], result)
    for chunker in chunkers:
        result.warnings += _left_out(lake, benchmark, todo.files, chunker.name)
        _note_failures(lake, benchmark, todo.files, chunker.name, result)


class _Todo(NamedTuple):
    """A benchmark's files, by maker where what it makes is stored and the contents it has looked at, and new contents.

    A maker is a chunker, or that of the definitions.
    """

    files: list[Part]
    made: dict[str, BuildTarget]
    done: dict[str, pl.DataFrame]
    new: _NewContents

    @classmethod
    def of(
        cls, lake: Lake, benchmark: str, chunkers: Sequence[Resolved[Chunker]], *, has_symbols: bool
    ) -> _Todo | None:
        """The work on a benchmark; None where its pools hold no files."""
        files = [part for kind in SEARCHED for part in lake.parts("files", benchmark=benchmark, kind=kind)]
        if not files or lake.scan_parts(files, "files").head(1).collect().is_empty():
            return None
        wanted = lake.scan_parts(files, "files").select("sha256", ending=pl.lit(None, pl.String)).unique()
        made = {_SYMBOLS: symbols_of(lake), **{chunker.name: _chunks(lake, chunker) for chunker in chunkers}}
        done = {chunker.name: _done_before(made[chunker.name], "chunk_status") for chunker in chunkers}
        if has_symbols:
            endings = endings_of(lake, files)
            wanted, without = endings.lazy(), endings.filter(pl.col("ending").is_null()).select("sha256")
            if without.height < endings.height:
                done = {_SYMBOLS: pl.concat([without, _done_before(made[_SYMBOLS], "symbol_status")]), **done}
        return cls(files, made, done, _NewContents(lake, wanted, done))

    def parses(self, chunkers: Sequence[Resolved[Chunker]]) -> bool:
        """Whether there is something to parse, in files of known languages: that is done in processes."""
        parsers = [_SYMBOLS, *(chunker.name for chunker in chunkers if chunker.declaration.grammars)]
        return _SYMBOLS in self.done and any(self.new.n_of[name] for name in parsers)


def _declared(chunkers: Sequence[Resolved[Chunker]]) -> list[Resolved[Chunker]]:
    """The chunkers that a process knows by name."""
    return [chunker for chunker in chunkers if is_declared(chunker.name)]


def _done_before(made: BuildTarget, status: str) -> pl.DataFrame:
    """The contents, sha256, that a table says were looked at."""
    done = [part.scan(status).select("sha256").collect() for part in made.current()]
    return pl.concat([pl.DataFrame(schema={"sha256": pl.String}), *done])


def _of_batch(made: BuildTarget, blobs: pl.DataFrame) -> BuildTarget:
    """The parts made of some contents."""
    return made.named(fingerprint(blobs["sha256"].sort().to_list())[:16])


class _NewContents:
    """Contents with text that some makers have not looked at, in the order of the parts that hold them: read once.

    A batch has for each maker a column of its name, behind `todo:`, that says whether it has the content to do.
    """

    def __init__(self, lake: Lake, wanted: pl.LazyFrame, done: Mapping[str, pl.DataFrame]) -> None:
        self._lake, self._blobs = lake, lake.parts("blobs")
        text = numbered(lake, "blobs", self._blobs, lambda blobs: blobs.filter(pl.col("n_lines") > 0).select("sha256"))
        todo = text.lazy().rename({"part": "place"}).join(wanted, on="sha256")
        for maker, contents in done.items():
            seen = contents.lazy().unique().with_columns(pl.lit(value=False).alias(f"todo:{maker}"))
            todo = todo.join(seen, on="sha256", how="left").with_columns(pl.col(f"todo:{maker}").fill_null(value=True))
        columns = [pl.lit(value=False), *(pl.col(f"todo:{maker}") for maker in done)]
        self._todo = todo.filter(pl.any_horizontal(columns)).sort("place", "sha256").collect()
        self.n_of = {maker: int(self._todo[f"todo:{maker}"].sum()) for maker in done}

    def __len__(self) -> int:
        return self._todo.height

    def batches(self, at_once: int) -> Iterator[tuple[int, pl.DataFrame]]:
        """The number of contents done with each batch, and its rows of `blobs`, in the order of sha256."""
        for start in range(0, len(self), at_once):
            batch = self._todo[start : start + at_once]
            stored = [self._blobs[number] for number in batch["place"].unique().sort()]
            blobs = self._lake.scan_parts(stored, "blobs").join(batch.drop("place").lazy(), on="sha256")
            yield start + batch.height, blobs.collect().sort("sha256")


def _todo(name: str) -> pl.Expr:
    return pl.col(f"todo:{name}")


def _seen(
    blobs: pl.DataFrame, chunkers: Sequence[Resolved[Chunker]], workers: Workers | None
) -> tuple[list[pl.DataFrame], dict[str, Chunked]]:
    """The rows made of some contents: with workers the tables of their definitions, and by chunker their chunks."""
    names = [chunker.name for chunker in chunkers]
    blobs = _of_makers(blobs, names, has_symbols=workers is not None)
    contents = _contents(blobs, chunkers, has_symbols=workers is not None)
    definitions: list[pl.DataFrame] = []
    if workers is None:
        seen = look_through(contents)
    else:
        answers = workers.map(look_through, contents, _HANDED_OUT)
        pairs = zip(contents, answers, strict=True)
        seen = [look_without_trees(content, CRASHED) if answer is None else answer for content, answer in pairs]
        todo = blobs.filter(_todo(_SYMBOLS))
        of_each = [each.definitions for content, each in zip(contents, seen, strict=True) if content.ending]
        definitions = symbol_rows(todo["sha256"].to_list(), todo["ending"].to_list(), of_each)
    offsets, cuts = Offsets.of_blobs(blobs), {}
    for name in names:
        answered = [(each.cuts[name], points) for each, points in zip(seen, offsets, strict=True) if name in each.cuts]
        cuts[name] = measure_cuts(name, blobs.filter(_todo(name)), answered)
    return definitions, cuts


def _of_makers(blobs: pl.DataFrame, names: Sequence[str], *, has_symbols: bool) -> pl.DataFrame:
    """The contents that some chunkers have to cut, or whose definitions are to be found."""
    to_do = [_todo(name) for name in (*([_SYMBOLS] if has_symbols else []), *names)]
    return blobs.filter(pl.any_horizontal(pl.lit(value=False), *to_do))


def _contents(blobs: pl.DataFrame, chunkers: Sequence[Resolved[Chunker]], *, has_symbols: bool) -> list[Content]:
    names = [chunker.name for chunker in chunkers]
    ending = pl.when(_todo(_SYMBOLS)).then("ending") if has_symbols else pl.lit(None, pl.String)
    blobs = _of_makers(blobs, names, has_symbols=has_symbols)
    rows = blobs.select("text", ending.alias("ending"), "language", *(_todo(name) for name in names)).iter_rows()
    return [
        Content(text, ending or "", language, tuple(name for name, todo in zip(names, todos, strict=True) if todo))
        for text, ending, language, *todos in rows
    ]


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
    """The share of the benchmark's text that lies in no chunk, where there is some."""
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
