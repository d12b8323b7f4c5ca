"""Which importer reads a file: the one that was named, or the one whose format its content is."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import polars as pl

import ingest.runs.formats
from ingest.runs.importer import Importer
from ingest.sources.input_file import InputFile
from lake.declarations import discover
from lake.errors import unknown_name
from lake.make import write_if_changed
from lake.store import Lake
from lake.tables import declared_row
from lake.text import listed

AUTO = "auto"
"""The format of a file whose content says it."""


@cache
def importers() -> dict[str, Importer]:
    """Every declared importer by name, in the order of the names."""
    return discover(ingest.runs.formats, Importer)


def declare_formats(lake: Lake) -> None:
    """What pages say of the formats that are recognised by their content."""
    known = [one for one in importers().values() if not one.is_experimental]
    rows = [(one.name, one.title, one.meaning, one.kind, one.example) for one in known]
    columns = ("name", "title", "meaning", "kind", "example")
    frame = pl.concat(declared_row("formats", **dict(zip(columns, row, strict=True))) for row in rows)
    write_if_changed(lake, "formats", "all", frame)


def importer_named(name: str) -> Importer:
    """The importer of a name or alias.

    Raises:
        GoldspanError: There is none.
    """
    named = {alias: one for one in importers().values() for alias in (one.name, *one.aliases)}
    if name not in named:
        raise unknown_name(name, "format", [AUTO, *named])
    return named[name]


def recognised(head: bytes, path: str, known: Iterable[Importer]) -> list[Importer]:
    """The formats that a file may be of by its beginning; experimental ones only where it may be of no other."""
    found = [one for one in known if one.recognise(head, path)]
    return [one for one in found if not one.is_experimental] or found


def naming_hint(found: Importer) -> str:
    """How to have a file read by a format of which no real file has been seen."""
    return f"It may be {found.title}, which is experimental, read only by name: --format {found.name}"


def importer_for(input_file: InputFile, name: str) -> Importer:
    """The importer of a name or alias; for `auto` the one whose format the file's content is.

    Raises:
        GoldspanError: There is none of that name, or none or several recognise the file.
    """
    if name != AUTO:
        return importer_named(name)
    head = input_file.head
    if not head.strip():
        raise input_file.wrong(what="the file is empty")
    known = importers()
    found = recognised(head, "/".join(input_file.path.parts[-2:]), known.values())
    if found and found[0].is_experimental:
        raise input_file.wrong(what="the file's content does not show its format", hint=naming_hint(found[0]))
    if len(found) == 1:
        return found[0]
    if found:
        names = " or ".join(one.name for one in found)
        raise input_file.wrong(what="the file could be of several formats", hint=f"Say which: --format {names}")
    first = ascii(head.split(b"\n", 1)[0][:80].decode(errors="replace"))
    hint = f"Formats: {listed(list(known))}. `python -m ingest list formats` shows how each begins."
    raise input_file.wrong(what="unknown file format", examples=[first], hint=hint)
