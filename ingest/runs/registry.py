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
    """Store what pages say of the formats that are recognised by their content."""
    columns = ("name", "title", "meaning", "kind", "example")
    known = (importer for importer in importers().values() if not importer.is_experimental)
    rows = [declared_row("formats", **{name: getattr(importer, name) for name in columns}) for importer in known]
    write_if_changed(lake, "formats", "all", pl.concat(rows))


def importer_named(name: str) -> Importer:
    """The importer of a name or alias; a `GoldspanError` where there is none."""
    by_name = {alias: importer for importer in importers().values() for alias in (importer.name, *importer.aliases)}
    if name not in by_name:
        raise unknown_name(name, "format", [AUTO, *by_name])
    return by_name[name]


def recognised(head: bytes, path: str, known: Iterable[Importer]) -> list[Importer]:
    """The formats that a file may be of by its beginning; experimental ones only where it may be of no other."""
    candidates = [importer for importer in known if importer.recognise(head, path)]
    return [importer for importer in candidates if not importer.is_experimental] or candidates


def naming_hint(importer: Importer) -> str:
    """How to have a file read by a format of which no real file has been seen."""
    return f"It may be {importer.title}, which is experimental, read only by name: --format {importer.name}"


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
    candidates = recognised(head, "/".join(input_file.path.parts[-2:]), importers().values())
    if candidates and candidates[0].is_experimental:
        raise input_file.wrong(what="the file's content does not show its format", hint=naming_hint(candidates[0]))
    if len(candidates) > 1:
        names = " or ".join(importer.name for importer in candidates)
        raise input_file.wrong(what="the file could be of several formats", hint=f"Say which: --format {names}")
    if not candidates:
        first = ascii(head.split(b"\n", 1)[0][:80].decode(errors="replace"))
        hint = f"Formats: {listed(list(importers()))}. `python -m ingest list formats` shows how each begins."
        raise input_file.wrong(what="unknown file format", examples=[first], hint=hint)
    return candidates[0]
