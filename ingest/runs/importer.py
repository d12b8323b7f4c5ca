"""The formats that rankings, completions and trajectories made elsewhere come in, and which of them a file is of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

import polars as pl

import ingest.runs.formats
from ingest.runs.trajectories.trajectory import Trajectory
from ingest.runs.trajectories.trajectory_file import TrajectoryFile
from ingest.sources.input_file import InputFile
from lake import declarations
from lake.catalog.task import AnswerKind
from lake.errors import unknown_name
from lake.make import write_if_changed
from lake.store import Lake
from lake.tables import declared_row
from lake.text import listed

AUTO = "auto"
"""The format of a file whose content says it."""


@dataclass(frozen=True)
class Importer:
    """A format that predictions made elsewhere come in.

    Attributes:
        name: What `--format` calls it; `aliases` are other names that it answers to.
        meaning: What such a file looks like, in a sentence or two.
        recognise: `recognise(head, path)` says whether a file is of this format, by the beginning of its unpacked
            content; the path is there for what content cannot tell.
        read: Gives the rows in frames of bounded size, in the file's order, as its kind has them. Every row has
            `position`, its place in the file counted from 1; the other columns are these, and what a format has none of
            may be left out.

            ranking: item_id; document (`path#L10-L20`), or path, line_start, line_end (0-based, half-open); rank,
            score, query_sha256, gold (the number of the candidate that is right, as the file has it). A row without a
            document is a list that holds none; with `error` there is no list, and that is why.

            completion: repo, path, line (0-based), context_start (0-based), target_text, prompt_sha256,
            completion.
        trajectories: In its place for the kind trajectory: what one file holds, one after the other. It raises nothing
            but the `DamagedError` of the file's own methods, whatever the file holds.
        companions: For the kind trajectory: the paths of files that belong to the file of a path and are read with it
            (`file.beside`), not by themselves; they need not exist. One that ends in `/` is a folder with all it holds.
        lists_files: For the kind trajectory: whether it says itself which files count as named beside their lines. Of
            other formats every file of which lines were seen does.
        as_trec_eval: Where its ranks say nothing, its scores order a list, as they do for trec_eval.
        unit: What a position counts: lines, rows or entries.
        example: How such a file begins.
    """

    name: str
    title: str
    meaning: str
    recognise: Callable[[bytes, str], bool]
    read: Callable[[InputFile], Iterator[pl.DataFrame]] = field(default=lambda _: iter(()))
    trajectories: Callable[[TrajectoryFile], Iterator[Trajectory]] = field(default=lambda _: iter(()))
    companions: Callable[[str], Sequence[str]] = field(default=lambda _: ())
    lists_files: bool = False
    as_trec_eval: bool = False
    kind: AnswerKind = "ranking"
    unit: str = "line"
    example: str = ""
    aliases: tuple[str, ...] = ()


@cache
def importers() -> dict[str, Importer]:
    """Every declared importer by name, in the order of the names."""
    return declarations.discover(ingest.runs.formats, Importer)


def declare_formats(lake: Lake) -> None:
    """Store what pages say of the formats."""
    columns = ("name", "title", "meaning", "kind", "example")
    rows = ({name: getattr(importer, name) for name in columns} for importer in importers().values())
    write_if_changed(lake, "formats", "all", pl.concat(declared_row("formats", **row) for row in rows))


def importer_named(name: str) -> Importer:
    """The importer of a name or alias; a `GoldspanError` where there is none."""
    by_name = {alias: importer for importer in importers().values() for alias in (importer.name, *importer.aliases)}
    if name not in by_name:
        raise unknown_name(name, "format", [AUTO, *by_name])
    return by_name[name]


def importer_for(input_file: InputFile, name: str) -> Importer:
    """The importer of a name or alias; for `auto` the importer whose format the file's content is.

    Raises:
        GoldspanError: There is none of that name, or none or several recognise the file.
    """
    if name != AUTO:
        return importer_named(name)
    head = input_file.head
    if not head.strip():
        raise input_file.wrong(what="the file is empty")
    path = "/".join(input_file.path.parts[-2:])
    candidates = [importer for importer in importers().values() if importer.recognise(head, path)]
    if len(candidates) > 1:
        names = " or ".join(importer.name for importer in candidates)
        raise input_file.wrong(what="the file could be of several formats", hint=f"Say which: --format {names}")
    if not candidates:
        first = ascii(head.split(b"\n", 1)[0][:80].decode(errors="replace"))
        hint = f"Formats: {listed(list(importers()))}. `python -m ingest list formats` shows how each begins."
        raise input_file.wrong(what="unknown file format", examples=[first], hint=hint)
    return candidates[0]
