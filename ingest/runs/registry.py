"""Which importer reads a file: the one that was named, or the one whose format its content is."""

from __future__ import annotations

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
