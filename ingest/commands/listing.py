"""`python -m ingest list`, `verify` and `clean`: list what is available, check the lake's parts, and delete parts."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated

import typer

from ingest.benchmarks import benchmarks as known_benchmarks
from ingest.benchmarks.config import describe
from ingest.contents.chunkers_by_name import absence, given_before
from ingest.contents.chunkers_by_name import chunkers as known_chunkers
from ingest.runs.find_trajectories import importers
from ingest.sources.tree import CACHE
from lake.benchmarks import known_tasks
from lake.console import DEFAULT_LAKE, Console, FormatOption, LakeOption, print_listing, setting
from lake.errors import Exit, GoldspanError, lookup, typed
from lake.parts import ASIDE, DAMAGE_HINT, fault_of, missing_tables
from lake.store import EVERY, LOCK, Lake
from lake.tables import IMPORT_REJECTS, TABLES
from lake.text import counted, escaped, listed

app = typer.Typer()


@app.command("list")
def list_inputs(
    what: Annotated[str, typer.Argument(help="benchmarks, subsets, chunkers, formats or tasks.")] = "benchmarks",
    lake: LakeOption = DEFAULT_LAKE,
    tag: Annotated[str, typer.Option("--tag", help="Only benchmarks of this tag, and their subsets.")] = "",
    format: FormatOption = "",  # noqa: A002  # the flag's own name
) -> None:
    """List what there is: benchmarks, subsets, chunkers, import formats, or tasks (including those of the lake)."""
    declared, store = list(known_benchmarks().values()), Lake(lake)
    in_a_table = ("name", "display_name", "title", "subsets", "tags")
    if tag:
        lookup(tag, "tag", {name: name for name in sorted({name for each in declared for name in each.tags})})
        declared = [each for each in declared if tag in each.tags]

    def chunkers() -> Iterator[dict[str, object]]:
        for each in known_chunkers().values():
            missing = (why := absence(each)) and f"{why}: make chunkers"
            yield {"name": each.name, "meaning": each.meaning, "defaults": list(each.defaults), "missing": missing}
        for name, given in given_before(store).items():
            yield {"name": name, "meaning": f"Given as {given}", "defaults": [], "missing": ""}

    listings: dict[str, Callable[[], Iterable[dict[str, object]]]] = {
        "benchmarks": lambda: (
            {key: value for key, value in describe(each).items() if format or key in in_a_table} for each in declared
        ),
        "subsets": lambda: (
            {"benchmark": each.name, "name": name, "default": name in each.default_subsets}
            for each in declared
            for name in each.subsets
        ),
        "chunkers": chunkers,
        "formats": lambda: (
            {"name": each.name, "aliases": list(each.aliases), "meaning": each.meaning, "example": each.example}
            for each in importers().values()
        ),
        "tasks": lambda: ({"name": task.name, "meaning": task.meaning} for task in known_tasks(store).values()),
    }
    print_listing(list(lookup(what, "listing", listings)()), format)


@app.command()
def verify(lake: LakeOption = DEFAULT_LAKE) -> None:
    """Compare every part of the lake with what was recorded when it was written; exit code 3 if one differs."""
    store = Lake(lake)
    if not lake.is_dir():
        raise store.lacks("there is no lake to verify")
    parts = [part for name in TABLES for part in store.parts(name)]
    wrong = [f"{part.path.relative_to(lake).as_posix()}: {why}" for part in parts if (why := fault_of(part))]
    n_whole = len(parts) - len(wrong)
    wrong += [f"missing, although the lake has scores: {lacking}" for lacking in missing_tables(lake)]
    print(*map(escaped, wrong), sep="\n", end="\n" if wrong else "")
    Console().say(f"verify: {counted(n_whole, 'part')} of {lake} unchanged since written, {len(wrong):,} not")
    if wrong:
        Console().say(f"  {typed(DAMAGE_HINT)}")
    raise typer.Exit(Exit.INVALID if wrong else Exit.DONE)


@app.command()
def clean(
    all_: Annotated[bool, setting("ALL", "Imported runs and downloads too.", "--all")] = False,
    lake: LakeOption = DEFAULT_LAKE,
) -> None:
    """Delete everything that can be made again from its sources; imported runs and downloads are kept."""
    store, console = Lake(lake), Console()
    if not lake.is_dir():
        console.say(f"clean: there is no lake in {lake}")
        return
    if not (lake / LOCK).exists():
        message = "this folder is not a lake; nothing was deleted"
        raise GoldspanError(message, where=str(lake), hint="Name a lake with --lake.", code=Exit.USAGE)
    if all_:
        # Only the lake's own folders: other files in the same folder stay.
        for name in (*TABLES, ASIDE, CACHE):
            shutil.rmtree(lake / name, ignore_errors=True)
        console.say(f"clean: deleted {lake}")
        return
    with console.lake_lock(store, EVERY):
        runs = store.scan("runs").filter(origin="imported").select("run_id", "system", "benchmark").collect()
        run_ids, of_runs = {*runs["run_id"]}, {"runs", "run_items", "hits", "edits", "usage", "costs"}
        by_name = {"rejects": {f"{IMPORT_REJECTS}{run_id}" for run_id in run_ids}, "benchmarks": {*runs["benchmark"]}}
        for part in [part for name in TABLES for part in store.parts(name) if name != "vectors"]:
            is_of_run = part.table in of_runs and part.folders["run_id"] in run_ids
            if not (is_of_run or part.name in by_name.get(part.table, ())):
                store.remove(part)
        shutil.rmtree(lake / ASIDE, ignore_errors=True)
    systems = listed(runs["system"].unique().sort().to_list())
    n_bytes = sum(file.lstat().st_size for file in (lake / CACHE).rglob("*"))
    kept = {
        f"{counted(runs.height, 'imported run')}: {systems}": runs.height,
        "vectors": len(store.parts("vectors")),
        f"downloads, {n_bytes / 1e6:,.1f} MB": n_bytes,
    }
    done = f"clean: deleted {counted(len(store.tally.removed), 'part')} of {lake}"
    console.say("\n  kept: ".join([done, *(what for what, n in kept.items() if n)]))
    if any(kept.values()):
        console.say(typed("  make clean ALL=1 deletes these too"))
