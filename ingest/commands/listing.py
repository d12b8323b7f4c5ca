"""`python -m ingest list`: what there is to read, and by what it is cut."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Annotated

import typer

from ingest.benchmarks import benchmarks as known_benchmarks
from ingest.benchmarks.config import describe
from ingest.contents.chunkers_by_name import absence, given_before
from ingest.contents.chunkers_by_name import chunkers as known_chunkers
from ingest.runs.find_trajectories import importers
from lake.benchmarks import known_tasks
from lake.console import DEFAULT_LAKE, FormatOption, LakeOption, print_listing
from lake.errors import lookup
from lake.store import Lake

app = typer.Typer()

_IN_A_TABLE = ("name", "display_name", "title", "subsets", "tags")


@app.command("list")
def list_inputs(
    what: Annotated[str, typer.Argument(help="benchmarks, subsets, chunkers, formats or tasks.")] = "benchmarks",
    lake: LakeOption = DEFAULT_LAKE,
    tag: Annotated[str, typer.Option("--tag", help="Only benchmarks of this tag, and their subsets.")] = "",
    format: FormatOption = "",  # noqa: A002  # the flag's own name
) -> None:
    """What there is: benchmarks, subsets, chunkers, formats of imports, tasks (of the lake)."""
    declared, store = list(known_benchmarks().values()), Lake(lake)
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
            {key: value for key, value in describe(each).items() if format or key in _IN_A_TABLE} for each in declared
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
