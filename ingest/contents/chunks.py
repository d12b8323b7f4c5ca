"""Chunks and definitions of pool contents: those that are new are cut, each parsed once for all, in parallel."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from itertools import compress

import polars as pl

from ingest.contents.blobs import pool_frames
from ingest.contents.chunkers import Cut, Document, NamedChunker
from ingest.contents.chunkers_by_name import declared, given_before, resolve_chunkers
from ingest.contents.chunking import chunk_blobs, cut_document, measure_cuts
from ingest.contents.definition_nodes import Definition
from ingest.contents.definitions import RULES, definitions_of
from ingest.contents.processes import Workers
from ingest.contents.syntax_trees import GRAMMARS
from ingest.rejects import Rejects
from lake.fingerprint import canonical_json, fingerprint
from lake.make import BuildTarget, Slot, made_from, write_if_changed
from lake.offsets import Offsets
from lake.outcome import Outcome
from lake.store import Lake, Part, numbered
from lake.tables import SEARCHED, declared_rows, table
from lake.text import LANGUAGES, counted, percent

CUT_AT_ONCE, PARSED_AT_ONCE = 20_000, 2_500
"""The number of contents between two writes: at most so many are done again after the process is killed."""
_HANDED_OUT = 100
_SYMBOLS = ""
"""The key of the definitions among the names of chunkers."""

CRASHED = "the parser crashed"
_Definitions = tuple[Mapping[str, list[Definition]], str]  # by set of rules, or why there are none


def look_through(names: Sequence[str], blobs: pl.DataFrame, failed: str = "") -> dict[str, Sequence[pl.DataFrame]]:
    """The rows made from contents, by maker: definitions, and chunks by `names`; `failed` is why there are none."""
    chunkers, definitions = resolve_chunkers(names), list[_Definitions]()
    cuts = {name: list[tuple[Cut, Offsets]]() for name in names}
    rows = blobs.select("text", "ending", "language", _todo(_SYMBOLS), *map(_todo, names)).iter_rows()
    for (text, ending, language, has_symbols, *todo), points in zip(rows, Offsets.of_blobs(blobs), strict=True):
        if has_symbols:
            try:
                definitions.append(({}, failed) if failed else definitions_of(text, ending))
            except Exception as error:
                definitions.append(({}, f"{type(error).__name__}: {error}"))
        document = Document(text, language)
        for chunker in compress(chunkers, todo):
            cut = Cut([], failed=failed) if failed else cut_document(chunker, document)
            cuts[chunker.name].append((cut, points))
    chunks = {name: measure_cuts(name, blobs.filter(_todo(name)), cuts[name]) for name in names}
    return {_SYMBOLS: symbol_rows(blobs.filter(_todo(_SYMBOLS)), definitions), **chunks}


def cut_contents(
    lake: Lake,
    benchmark: str,
    chunkers: Sequence[NamedChunker],
    say: Callable[[str], None],
    result: Outcome,
    workers: Workers | None = None,
) -> None:
    """Cut the contents that a chunker has not cut yet; with `workers`, find definitions too, in processes."""
    files = [part for kind in SEARCHED for part in lake.parts("files", benchmark=benchmark, kind=kind)]
    if not files or lake.scan_parts(files, "files").head(1).collect().is_empty():
        return
    made = {_SYMBOLS: _definitions(lake)} if workers is not None else {}
    for chunker in chunkers:
        # The row is written first, so that chunks cut by this code are never attributed to other code.
        declaration, made[chunker.name] = chunker.declaration, _chunks(lake, chunker)
        row = {name: getattr(declaration, name) for name in ("title", "meaning", "source")}
        row |= {"name": chunker.name, "fingerprint": made[chunker.name].fingerprint}
        row |= {"parameters": canonical_json(chunker.parameters), "command": declaration.given or None}
        write_if_changed(lake, "chunkers", chunker.name, declared_rows("chunkers", [row]))
    stored = lake.parts("blobs")
    todo = _contents_to_do(lake, files, stored, made)
    n_of = {name: n for name in made if (n := int(todo[f"todo:{name}"].sum()))}
    for name, n in n_of.items():
        say(f"{name}: cutting {counted(n, 'file')}" if name else f"symbols: parsing {counted(n, 'file')}")
    parsers = {_SYMBOLS, *(chunker.name for chunker in chunkers if chunker.declaration.grammars)}
    by = workers if parsers & n_of.keys() else None
    written_at_once = CUT_AT_ONCE if by is None else PARSED_AT_ONCE
    given = [chunker for chunker in chunkers if not declared(chunker.name)]
    work = partial(look_through, [chunker.name for chunker in chunkers if chunker not in given])
    for start in range(0, todo.height, written_at_once):
        batch = todo[start : start + written_at_once]
        parts = [stored[number] for number in batch["part"].unique().sort()]
        with_text = lake.scan_parts(parts, "blobs").join(batch.drop("part").lazy(), on="sha256")
        blobs = with_text.collect().sort("sha256")
        jobs = [*blobs.iter_slices(_HANDED_OUT)]
        done = by.map(work, jobs, lambda some: some.iter_slices(1)) if by else [(blobs, work(blobs))]
        made_of = [rows or work(some, failed=CRASHED) for some, rows in done]
        by_maker = {name: zip(*(rows[name] for rows in made_of), strict=True) for name in made_of[0]}
        tables = {name: [pl.concat(table) for table in tables] for name, tables in by_maker.items()}
        tables |= {chunker.name: [*chunk_blobs(chunker, blobs.filter(_todo(chunker.name)))] for chunker in given}
        for name, target in made.items():
            if contents := blobs.filter(_todo(name))["sha256"].to_list():
                _batch(target, fingerprint(contents)[:16]).write(*tables[name])
        # Freed before the next batch is read.
        del blobs, jobs, done, made_of, by_maker, tables
        if start + batch.height < todo.height:
            say(f"{start + batch.height:,} of {todo.height:,} files are done")
    if workers is not None:
        if todo.height > 500:
            # After so many contents, the processes hold much memory.
            workers.stop()
        if n_failed := sum(part.scan("rejects").collect().height for part in _current(made[_SYMBOLS])):
            result.rejected += n_failed
            message = f"symbols: {counted(n_failed, 'file')} could not be parsed (reasons: table rejects)"
            result.warnings.append(message)
    for chunker in chunkers:
        _note_chunks(lake, benchmark, files, chunker.name, result)


def _todo(name: str) -> pl.Expr:
    return pl.col(f"todo:{name}")


def _contents_to_do(lake: Lake, files: list[Part], stored: list[Part], made: Mapping[str, BuildTarget]) -> pl.DataFrame:
    """The contents to process: `sha256`, `part` (its index in `stored`), `ending`, `todo:<maker>` for each maker."""
    text = numbered(lake, "blobs", stored, lambda blobs: blobs.filter(pl.col("n_lines") > 0).select("sha256"))
    # The ending of a content is that of its first path with a known one, or null.
    ending = pl.col("path").str.extract(r"\.([^./]*)$").str.to_lowercase()
    paths = lake.scan_parts(files, "files").select("sha256", "path", ending=ending)
    known = paths.filter(pl.col("ending").is_in(list(LANGUAGES))).sort("path")
    first = known.unique("sha256", keep="first", maintain_order=True).select("sha256", "ending")
    endings = paths.select("sha256").unique().join(first, on="sha256", how="left")
    todo = text.lazy().join(endings, on="sha256").with_columns(pl.lit(value=False).alias(f"todo:{_SYMBOLS}"))
    for name, target in made.items():
        status = "chunk_status" if name else "symbol_status"
        done = [part.scan(status).select("sha256").collect() for part in _current(target)]
        seen = pl.concat([pl.DataFrame(schema={"sha256": pl.String}), *done])["sha256"]
        is_new, has_definitions = pl.col("sha256").is_in(seen.implode()).not_(), pl.col("ending").is_not_null()
        todo = todo.with_columns((is_new if name else is_new & has_definitions).alias(f"todo:{name}"))
    return todo.filter(pl.any_horizontal(pl.col("^todo:.*$"))).sort("part", "sha256").collect()


def _batch(target: BuildTarget, suffix: str) -> BuildTarget:
    """The target of one batch of contents: the same parts with a suffix to their names."""
    return replace(target, slots=[slot._replace(part=slot.part + suffix) for slot in target.slots])


def _current(target: BuildTarget) -> list[BuildTarget]:
    """The stored batches of a target that are current; outdated ones are removed."""
    lake, current = target.lake, list[BuildTarget]()
    parts = [(slot.part, part.name) for slot in target.slots for part in lake.parts(slot.table, **slot.folders)]
    for suffix in sorted({name.removeprefix(start) for start, name in parts if name.startswith(start)}):
        batch = _batch(target, suffix)
        if batch.is_current:
            current.append(batch)
        else:
            batch.remove()
    return current


def _definitions(lake: Lake) -> BuildTarget:
    """The target for definitions, a part per batch of contents; the sets of rules are described in the lake."""
    slots = [Slot("symbols", "", {"rules": rules}) for rules in RULES]
    slots += [Slot("rejects", "symbols-", {}), Slot("symbol_status", "", {})]
    packages = [(name, version(name)) for name in GRAMMARS]
    made = made_from(parameters=packages, code=[definitions_of, symbol_rows, pool_frames])
    for rules, meaning in RULES.items():
        row = {"name": rules, "title": f"Definitions, {rules}", "meaning": meaning, "fingerprint": made}
        write_if_changed(lake, "symbol_rules", rules, declared_rows("symbol_rules", [row]))
    return BuildTarget(lake, slots, made)


def symbol_rows(blobs: pl.DataFrame, definitions: Sequence[_Definitions]) -> list[pl.DataFrame]:
    """The definitions in some contents: frames of `symbols` per set of rules, then of `rejects` and `symbol_status`."""
    rows, rejects = list[tuple[object, ...]](), Rejects()
    for content, ending, (by_rules, why) in zip(blobs["sha256"], blobs["ending"], definitions, strict=True):
        for rules, symbols in by_rules.items():
            rows += [(rules, content, *definition) for definition in symbols]
        if why:
            rejects.add(f"blob {content}", "symbols", f".{ending} could not be parsed: {why}")
    every = pl.DataFrame(rows, schema=table("symbols").columns, orient="row")
    failed = [why or None for _, why in definitions]
    status = pl.DataFrame({"sha256": blobs["sha256"], "failed": failed}, schema=table("symbol_status").columns)
    return [*(every.filter(rules=rules) for rules in RULES), rejects.frame("ingest"), status]


def remove_undeclared(lake: Lake) -> list[str]:
    """Remove chunkers that are not declared, not given by the user and in no imported run; a message for each."""
    used = {*lake.scan("runs").filter(origin="imported").select("chunker").collect()["chunker"], *given_before(lake)}
    gone = [part for part in lake.parts("chunkers") if part.name not in used and not declared(part.name)]
    for part in gone:
        rejects = [stored for stored in lake.parts("rejects") if stored.name.startswith(f"chunks-{part.name}:")]
        chunks = [stored for kind in ("chunks", "chunk_status") for stored in lake.parts(kind, chunker=part.name)]
        for stale in [*rejects, *chunks, part]:
            lake.remove(stale)
    what = "is no longer declared: its chunks are deleted; the next `evaluate` deletes its runs"
    return [f"{part.name} {what}" for part in gone]


def _chunks(lake: Lake, chunker: NamedChunker) -> BuildTarget:
    cuts, folders = chunker.declaration, {"chunker": chunker.name}
    packages = [(name, version(name)) for name in (*cuts.grammars, *cuts.libraries)]
    given = [cuts.given, cuts.command.digest] if cuts.command else cuts.given
    code: list[Callable[..., object]] = [cuts.chunk, chunk_blobs, pool_frames, *filter(None, [cuts.text])]
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
    if failed := status["failed"].drop_nulls().to_list():
        result.rejected += len(failed)
        why = Counter(sorted(failed)).most_common(1)[0][0]
        of = f"{len(failed):,} of {counted(status.height, 'file')}"
        result.warnings.append(f"{benchmark}: {chunker} failed on {of}, most often: {why}")
