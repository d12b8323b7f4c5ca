"""Definitions in what the pools hold: found once per content, in processes, and remembered.

Chunkers that read syntax trees cut the content there as well, while its tree is at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import NamedTuple

import polars as pl

from ingest.contents.blobs import pool_frames
from ingest.contents.chunkers import Cut, Document
from ingest.contents.chunks import CRASHED, PrecomputedCuts, cut_by_each
from ingest.contents.definitions import RULES, Found, definitions_of, ending_of, symbol_rows
from ingest.contents.new_contents import NewContents, n_refused, searched_files
from ingest.contents.processes import Workers
from ingest.contents.syntax_trees import GRAMMARS
from lake.make import BuildTarget, Slot, made_from, write_if_changed
from lake.outcome import Outcome
from lake.store import Lake
from lake.tables import declared_row
from lake.text import LANGUAGES, counted

CONTENTS_AT_ONCE = 5_000
"""How many contents are looked through between two writes: what a kill can cost, and what memory must hold."""

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
    result: Outcome,
    workers: Workers,
    ahead: PrecomputedCuts | None = None,
) -> None:
    """Find the definitions of every content of the benchmark's searched pools that was not looked through yet.

    The ending of its smallest path decides a content's language. What kills its parser is in rejects and is counted.
    """
    wanted, n_several = _wanted(lake, benchmark)
    symbols, ahead = _symbols(lake), ahead or PrecomputedCuts({})
    new = NewContents(lake, wanted.lazy(), symbols, "symbol_status")
    for rules, meaning in RULES.items() if wanted.height else ():
        stamp, title = symbols.fingerprint, f"Definitions, {rules}"
        row = declared_row("symbol_rules", name=rules, title=title, meaning=meaning, fingerprint=stamp)
        write_if_changed(lake, "symbol_rules", rules, row)
    if len(new):
        say(f"symbols: parsing {counted(len(new), 'file')}")
    for n_done, contents, made in new.batches(CONTENTS_AT_ONCE):
        made.write(*_found(contents, workers, ahead))
        if n_done < len(new):
            say(f"symbols: {n_done:,} of {len(new):,} files are parsed")
    if n_several:
        result.warnings.append(
            f"files of several languages, read as the smallest path's: {counted(n_several, 'content')}"
        )
    if n_failed := n_refused(symbols):
        result.rejected += n_failed
        result.warnings.append(f"symbols: {counted(n_failed, 'file')} could not be parsed, as rejects says")


def _symbols(lake: Lake) -> BuildTarget:
    """The definitions of every batch of contents that were new at a time, with what could not be parsed."""
    slots = [Slot("symbols", "", {"rules": rules}) for rules in RULES]
    slots += [Slot("rejects", "symbols-", {}), Slot("symbol_status", "", {})]
    return BuildTarget(
        lake, slots, made_from(parameters=[(name, version(name)) for name in GRAMMARS], code=[symbol_rows, pool_frames])
    )


def _found(contents: pl.DataFrame, workers: Workers, ahead: PrecomputedCuts) -> list[pl.DataFrame]:
    hashes = contents["sha256"].to_list()
    texts = contents.select("sha256", "text", "ending", "language").iter_rows()
    jobs = [Content(text, ending, language, ahead.wanted(sha256)) for sha256, text, ending, language in texts]
    answers = workers.map(look_through, jobs, _HANDED_OUT)
    definitions = []
    for sha256, job, answer in zip(hashes, jobs, answers, strict=True):
        failed = Seen({"docs": Found(why_not=CRASHED)}, [Cut([], failed=CRASHED) for _ in job.chunkers])
        seen = failed if answer is None else answer
        definitions.append(seen.found)
        ahead.keep(sha256, job.chunkers, seen.cuts)
    return symbol_rows(hashes, contents["ending"].to_list(), definitions)


def look_through(contents: Sequence[Content]) -> list[Seen]:
    """What there is in each of some contents; an odd one does not cost the others theirs."""
    seen = []
    for text, ending, language, chunkers in contents:
        try:
            definitions = definitions_of(text, ending)
        except Exception as error:
            definitions = {"docs": Found(why_not=f"{type(error).__name__}: {error}")}
        seen.append(Seen(definitions, cut_by_each(Document(text, language), chunkers)))
    return seen


def _wanted(lake: Lake, benchmark: str) -> tuple[pl.DataFrame, int]:
    """sha256 and ending of what the benchmark's pools search, and how many contents are of several languages."""
    files = lake.scan_parts(searched_files(lake, benchmark), "files")
    paths = files.select("sha256", "path").unique().sort("sha256", "path").collect()
    endings = pl.Series([ending_of(path) for path in paths["path"]], dtype=pl.String)
    known = paths.select("sha256", ending=endings).filter(pl.col("ending").is_in(list(LANGUAGES)))
    languages = known.with_columns(language=pl.col("ending").replace_strict(LANGUAGES))
    several = languages.group_by("sha256").agg(pl.col("language").n_unique()).filter(pl.col("language") > 1)
    return known.unique("sha256", keep="first", maintain_order=True), several.height
