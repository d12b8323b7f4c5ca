"""`python -m ingest list`: what there is to read, and by what it is cut."""

from __future__ import annotations

from typing import Annotated

import typer

from ingest.benchmarks import benchmarks as known_benchmarks
from ingest.benchmarks.config import describe
from ingest.contents.chunkers_by_name import absence, given_before
from ingest.contents.chunkers_by_name import chunkers as known_chunkers
from ingest.runs.find_trajectories import importers
from lake.benchmarks import known_tasks
from lake.console import (
    DEFAULT_LAKE,
    FormatOption,
    LakeOption,
    print_listing,
)
from lake.errors import lookup
from lake.store import Lake

app = typer.Typer()


_IN_A_TABLE = ("name", "display_name", "title", "subsets", "tags")
"""The keys of a benchmark that a person sees."""


@app.command("list")
def list_inputs(
    what: Annotated[str, typer.Argument(help="benchmarks, subsets, chunkers, formats or tasks.")] = "benchmarks",
    lake: LakeOption = DEFAULT_LAKE,
    tag: Annotated[str, typer.Option("--tag", help="Only benchmarks of this tag, and their subsets.")] = "",
    format: FormatOption = "",  # noqa: A002  # the flag's own name
) -> None:
    """What there is: benchmarks, subsets, chunkers, formats of imports, tasks (of the lake)."""
    tags = {name for benchmark in known_benchmarks().values() for name in benchmark.tags}
    wanted = lookup(tag, "tag", {name: name for name in sorted(tags)}) if tag else ""
    declared = [each for each in known_benchmarks().values() if not wanted or wanted in each.tags]
    tasks = known_tasks(Lake(lake)) if what == "tasks" else {}
    listings: dict[str, list[dict[str, object]]] = {
        "benchmarks": [
            {key: value for key, value in describe(each).items() if format or key in _IN_A_TABLE} for each in declared
        ],
        "subsets": [
            {"benchmark": benchmark.name, "name": subset, "default": subset in benchmark.default_subsets}
            for benchmark in declared
            for subset in benchmark.subsets
        ],
        "chunkers": _chunkers(Lake(lake)),
        "formats": [
            {
                "name": importer.name,
                "aliases": list(importer.aliases),
                "meaning": importer.meaning,
                "example": importer.example,
            }
            for importer in importers().values()
        ],
        "tasks": [{"name": task.name, "meaning": task.meaning} for task in tasks.values()],
    }
    print_listing(lookup(what, "listing", listings), format)


def _chunkers(store: Lake) -> list[dict[str, object]]:
    given = [(name, f"Given as {what}", list[str](), "") for name, what in given_before(store).items()]
    declared = [
        (
            declaration.name,
            declaration.meaning,
            list(declaration.defaults),
            (why := absence(declaration)) and f"{why}: make chunkers",
        )
        for declaration in known_chunkers().values()
    ]
    return [dict(zip(("name", "meaning", "defaults", "missing"), row, strict=True)) for row in [*declared, *given]]
