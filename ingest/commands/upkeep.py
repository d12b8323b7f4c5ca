"""`python -m ingest verify` and `clean`: whether a lake is as it was written, and less of it."""

from __future__ import annotations

from typing import Annotated

import typer

from ingest.clean import clean, delete_all
from lake.console import (
    DEFAULT_LAKE,
    Console,
    DebugOption,
    LakeOption,
    setting,
)
from lake.errors import Exit, GoldspanError
from lake.hints import typed
from lake.parts import DAMAGE_HINT, fault_of
from lake.store import EVERY, LOCK, Lake
from lake.tables import TABLES
from lake.text import counted, escaped
from lake.wholeness import missing_tables

app = typer.Typer()


@app.command()
def verify(lake: LakeOption = DEFAULT_LAKE, debug: DebugOption = False) -> None:
    """Compare every part of the lake with what was recorded when it was written; exit code 3 where one does not fit."""
    if not lake.is_dir():
        message = "there is no lake to verify"
        hint = "Name it with --lake, or make one: make ingest"
        raise GoldspanError(message, where=str(lake), hint=hint, code=Exit.MISSING)
    store, n_whole, wrong = Lake(lake), 0, list[str]()
    for part in (part for name in TABLES for part in store.parts(name)):
        why = fault_of(part)
        wrong += [f"{part.path.relative_to(lake).as_posix()}: {why}"] * bool(why)
        n_whole += not why
    wrong += [f"missing, though there are scores: {lacking}" for lacking in missing_tables(lake)]
    print(*map(escaped, wrong), sep="\n", end="\n" if wrong else "")
    Console().say(f"verify: as it was written: {counted(n_whole, 'part')} of {lake}; not: {len(wrong):,}")
    if wrong:
        Console().say(f"  {typed(DAMAGE_HINT)}")
    raise typer.Exit(Exit.INVALID if wrong else Exit.DONE)


@app.command("clean")
def clean_(
    all_: Annotated[bool, setting("ALL", "Imported runs and downloads too.", "--all")] = False,
    lake: LakeOption = DEFAULT_LAKE,
    debug: DebugOption = False,
) -> None:
    """Delete what can be made again from its sources; imported runs and downloads are kept."""
    store, kept = Lake(lake), list[str]()
    if not lake.is_dir():
        done = f"there is no lake in {lake}"
    elif not (lake / LOCK).exists():
        message = "this folder is no lake, so nothing in it is deleted"
        raise GoldspanError(message, where=str(lake), hint="Name a lake with --lake.", code=Exit.USAGE)
    elif all_:
        delete_all(store)
        done = f"deleted {lake}"
    else:
        with Console().lake_lock(store, EVERY):
            kept = list(clean(store))
        done = f"deleted {counted(len(store.tally.removed), 'part')} of {lake}"
    Console().say("\n  kept: ".join([f"clean: {done}", *kept]))
    if kept:
        Console().say(typed("  make clean ALL=1 deletes these too"))
