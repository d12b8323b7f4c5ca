"""Definitions in what the pools hold: found once per content, in processes, and remembered.

Chunkers that read syntax trees cut the content there as well, while its tree is at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import NamedTuple

import polars as pl

from ingest.contents.chunkers import Cut, Document
from ingest.contents.cuts_ahead import CRASHED, CutsAhead, cut_by_each
from ingest.contents.definitions import RULES, Found, definitions_of, ending_of
from ingest.contents.processes import Workers, workers
from ingest.contents.syntax_trees import GRAMMARS
from ingest.outcome import Ingested
from lake.code import code_digest
from lake.fingerprint import fingerprint
from lake.naming import SEARCHED
from lake.rejects import Rejects
from lake.store import FORMAT_VERSION, Lake
from lake.tables import declared_row, table
from lake.text import LANGUAGES, counted

CONTENTS_AT_ONCE = 5_000
"""How many contents are looked through between two writes: what a kill can cost, and what memory must hold."""

TOLD_EVERY = 2_000
"""After how many contents it is said how far the work is."""

_HANDED_OUT = 50
"""How many contents a process is given together."""


class Content(NamedTuple):
    """A content to look through: the ending of its path, its language as a blob, and the chunkers that cut it too."""

    text: str
    ending: str
    language: str
    chunkers: tuple[str, ...]


class Seen(NamedTuple):
    """What was found in a content: definitions by set of rules, and how each chunker cuts it."""

    found: dict[str, Found]
    cuts: list[Cut]


def cut_symbols(
    lake: Lake,
    benchmark: str,
    say: Callable[[str], None],
    result: Ingested,
    n_processes: int | None = None,
    ahead: CutsAhead | None = None,
) -> None:
    """Find the definitions of every content of the benchmark's searched pools that was not looked through yet.

    The language is that of the path's ending; of a content under several, that of its smallest path. Rows are the same
    whatever the number of processes (the machine's cores, where none is given). A content that cannot be parsed, or
    that kills its parser, has no rows, is in rejects and is counted. What is parsed is cut ahead for its chunkers.
    """
    stamp = _stamp()
    wanted, n_several = _wanted(lake, benchmark)
    if wanted.height:
        _cut_new(lake, wanted, stamp, say, n_processes, ahead or CutsAhead({}))
    if n_several:
        result.notes.append(f"files of several languages, read as the smallest path's: {counted(n_several, 'content')}")
    _count_failures(lake, stamp, result)


def _cut_new(
    lake: Lake,
    wanted: pl.DataFrame,
    stamp: str,
    say: Callable[[str], None],
    n_processes: int | None,
    ahead: CutsAhead,
) -> None:
    """Look through what is new."""
    _remove_unfinished(lake, stamp)
    _declare(lake, stamp)
    todo = wanted.join(lake.scan("symbol_status").select("sha256").collect(), on="sha256", how="anti")
    if todo.is_empty():
        return
    say(f"symbols: parsing {counted(todo.height, 'file')}")
    n_done = 0
    with workers(n_processes) as pool:
        # Part by part of the blobs, so that each is read once.
        for stored in lake.parts("blobs"):
            held = lake.scan_parts([stored], "blobs").select("sha256").collect()
            mine = todo.join(held, on="sha256", how="semi").sort("sha256")
            for start in range(0, mine.height, CONTENTS_AT_ONCE):
                batch = mine[start : start + CONTENTS_AT_ONCE]
                texts = lake.scan_parts([stored], "blobs").select("sha256", "text", "language")
                contents = batch.join(texts.join(batch.lazy(), on="sha256", how="semi").collect(), on="sha256")
                _cut_part(lake, contents.sort("sha256"), stamp, pool, ahead)
                before, n_done = n_done, n_done + batch.height
                if n_done // TOLD_EVERY > before // TOLD_EVERY and n_done < todo.height:
                    say(f"symbols: {n_done:,} of {todo.height:,} files are parsed")


def _cut_part(lake: Lake, contents: pl.DataFrame, stamp: str, pool: Workers, ahead: CutsAhead) -> None:
    """Store one batch's definitions under each set of rules, then what could not be parsed, then that it is done."""
    hashes = contents["sha256"].to_list()
    texts = contents.select("sha256", "text", "ending", "language").iter_rows()
    jobs = [Content(text, ending, language, ahead.wanted(sha256)) for sha256, text, ending, language in texts]
    answers = pool.map(look_through, jobs, _HANDED_OUT)
    found = []
    for sha256, job, answer in zip(hashes, jobs, answers, strict=True):
        failed = Seen({"docs": Found(why_not=CRASHED)}, [Cut([], failed=CRASHED) for _ in job.chunkers])
        seen = failed if answer is None else answer
        found.append(seen.found)
        ahead.keep(sha256, job.chunkers, seen.cuts)
    name = fingerprint(hashes)[:16]
    rejects = Rejects()
    for rules in RULES:
        rows = [
            (rules, sha256, one.byte_start, one.byte_end, one.kind, *one[3:])
            for sha256, by_rules in zip(hashes, found, strict=True)
            if rules in by_rules
            for one in by_rules[rules].definitions
        ]
        frame = pl.DataFrame(rows, schema=table("symbols").columns, orient="row")
        lake.write("symbols", frame, part=name, fingerprint=stamp, rules=rules)
    for sha256, ending, by_rules in zip(hashes, contents["ending"], found, strict=True):
        if why := by_rules["docs"].why_not:
            rejects.add(f"blob {sha256}", "symbols", f".{ending} could not be parsed: {why}")
    if len(rejects):
        lake.write("rejects", rejects.frame("ingest"), part=f"symbols-{name}", fingerprint=stamp)
    why_not = [by_rules["docs"].why_not or None for by_rules in found]
    status = pl.DataFrame({"sha256": hashes, "failed": why_not}, schema=table("symbol_status").columns)
    lake.write("symbol_status", status, part=name, fingerprint=stamp)


def look_through(contents: Sequence[Content]) -> list[Seen]:
    """What there is in each of some contents; an odd one does not cost the others theirs."""
    seen = []
    for text, ending, language, chunkers in contents:
        try:
            found = definitions_of(text, ending)
        except Exception as error:
            found = {"docs": Found(why_not=f"{type(error).__name__}: {error}")}
        seen.append(Seen(found, cut_by_each(Document(text, language), chunkers)))
    return seen


def _wanted(lake: Lake, benchmark: str) -> tuple[pl.DataFrame, int]:
    """sha256 and ending of what the benchmark's pools search, and how many contents are of several languages."""
    parts = [part for kind in SEARCHED for part in lake.parts("files", benchmark=benchmark, kind=kind)]
    paths = lake.scan_parts(parts, "files").select("sha256", "path").unique().sort("sha256", "path").collect()
    endings = pl.Series([ending_of(path) for path in paths["path"]], dtype=pl.String)
    known = paths.select("sha256", ending=endings).filter(pl.col("ending").is_in(list(LANGUAGES)))
    languages = known.with_columns(language=pl.col("ending").replace_strict(LANGUAGES))
    several = languages.group_by("sha256").agg(pl.col("language").n_unique()).filter(pl.col("language") > 1)
    with_text = lake.scan("blobs").filter(pl.col("n_lines") > 0).select("sha256").collect()
    wanted = known.unique("sha256", keep="first", maintain_order=True)
    return wanted.join(with_text, on="sha256", how="semi"), several.height


def _stamp() -> str:
    """What the rows are made by: the rules' code, what bounds the parser, the grammars, what endings mean."""
    return fingerprint(
        FORMAT_VERSION, code_digest(definitions_of), [(name, version(name)) for name in GRAMMARS], LANGUAGES
    )


def _remove_unfinished(lake: Lake, stamp: str) -> None:
    """Remove what was made by other code, and what is not whole: written just before a kill, or damaged."""
    for part in lake.parts("symbol_status"):
        n_failed = lake.scan_parts([part], "symbol_status").select(pl.col("failed").count()).collect().item()
        is_whole = all(lake.is_current("symbols", part.name, stamp, rules=rules) for rules in RULES)
        is_told = n_failed == 0 or lake.part("rejects", f"symbols-{part.name}") is not None
        if part.fingerprint != stamp or not is_whole or not is_told:
            lake.remove(part)
    for part in lake.parts("symbols"):
        if lake.part("symbol_status", part.name) is None:
            lake.remove(part)


def _count_failures(lake: Lake, stamp: str, result: Ingested) -> None:
    """Say how many contents could not be parsed, now or in an earlier run; forget what other code could not."""
    parts = [part for part in lake.parts("rejects") if part.name.startswith("symbols-")]
    stored = {f"symbols-{part.name}" for part in lake.parts("symbols", rules="docs")}
    current = [part for part in parts if part.fingerprint == stamp and part.name in stored]
    for stale in parts:
        if stale not in current:
            lake.remove(stale)
    n_failed = lake.scan_parts(current, "rejects").select(pl.len()).collect().item() if current else 0
    if n_failed:
        result.n_rejected += n_failed
        result.notes.append(f"symbols: {counted(n_failed, 'file')} could not be parsed, as rejects says")


def _declare(lake: Lake, stamp: str) -> None:
    """One row per set of rules: what it is."""
    for rules, meaning in RULES.items():
        if not lake.is_current("symbol_rules", rules, stamp):
            row = declared_row(
                "symbol_rules", name=rules, title=f"Definitions, {rules}", meaning=meaning, fingerprint=stamp
            )
            lake.write("symbol_rules", row, part=rules, fingerprint=stamp)
