"""Runs that lie beside a benchmark's data: imported with it, and gone with it."""

from __future__ import annotations

from collections.abc import Callable

from ingest.runs.importing import NoItemKnownError, import_run
from ingest.runs.outcome import Imported
from ingest.runs.request import ImportRequest
from ingest.sources.tree import Source
from lake.errors import GoldspanError
from lake.make import write_if_changed
from lake.outcome import Outcome
from lake.rejects import Rejects
from lake.store import Lake
from lake.text import counted

Say = Callable[[str], None]


def import_recorded(lake: Lake, benchmark: str, source: Source, result: Outcome, say: Say = lambda _: None) -> None:
    """Import what a source has recorded, as far as it does not stand; what cannot be imported is a row of `rejects`.

    Answers to items that were not ingested are left out, counted. The caller holds the lake's lock.
    """
    rejects = Rejects()
    for run in source.recorded():
        request = ImportRequest(run.path, benchmark, run.system, skip_unknown=True)
        try:
            import_file(lake, request, run.system, result, say)
        except NoItemKnownError:
            # As other answers to items that were not ingested: nothing is wrong with them.
            result.warnings.append(f"left out: {run.system}: the lake holds none of its items")
        except GoldspanError as error:
            rejects.add(run.path.name, f"system {run.system}", error.what)
            result.warnings.append(f"left out: {run.system}: {error.what}")
    note_rejects(lake, f"recorded-{benchmark}", rejects)
    result.rejected += len(rejects)


def import_file(lake: Lake, request: ImportRequest, name: str, result: Outcome, say: Say) -> Imported:
    """Import a file, and say in the last block what was read of it; the caller holds the lake's lock."""
    imported = import_run(lake, request, write=True, say=say)
    result.rejected += imported.n_rejected
    result.changes += imported.notes
    n_items = counted(imported.n_items, "item")
    result.warnings.append("; ".join([f"{name}: {imported.counts['n_done']:,} of {n_items}", *imported.summary()]))
    return imported


def note_rejects(lake: Lake, part: str, rejects: Rejects) -> None:
    """Store what was refused as a part of its own, in place of what it was before."""
    if len(rejects):
        write_if_changed(lake, "rejects", part, rejects.frame("ingest"))
    elif (stale := lake.part("rejects", part)) is not None:
        lake.remove(stale)
