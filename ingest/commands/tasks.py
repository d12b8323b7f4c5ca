"""The command `python -m ingest tasks`: hand out items for an agent to work on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from ingest.task_folders import hand_out
from lake.benchmarks import known_tasks, tasks_of
from lake.console import DEFAULT_LAKE, Console, DebugOption, LakeOption, setting
from lake.errors import MAX_EXAMPLES, Exit, lookup
from lake.selection import parse_items, with_items
from lake.store import Lake
from lake.text import counted

commands = typer.Typer(add_completion=False)


@commands.command()
def tasks(
    benchmark: Annotated[str, typer.Argument(help="Benchmark.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="A new folder.")],
    items: Annotated[str, setting("ITEMS", "repo=…, ids, or a file of ids; all without it.")] = "",
    format: Annotated[  # noqa: A002  # the flag's own name
        Literal["folders", "jsonl"], typer.Option("--format", help="A folder per item, or one file of lines.")
    ] = "folders",
    no_repositories: Annotated[bool, typer.Option("--no-repositories", help="Without the repository's files.")] = False,
    lake: LakeOption = DEFAULT_LAKE,
    debug: DebugOption = False,
) -> None:
    """Hand out items: per item a folder with the question and the repository, and nothing of the answer."""
    store = Lake(lake)
    lookup(benchmark, "benchmark", {task.benchmark: task for task in known_tasks(store).values()})
    where = parse_items(items)
    if where:
        with_items(store, [benchmark], where)
    task = tasks_of(store, benchmark)[0]
    done = hand_out(store, task, where, output, as_lines=format == "jsonl", with_repositories=not no_repositories)
    console = Console()
    console.say(f"tasks: {counted(done.n_items, 'item')} of {benchmark} → {output}")
    for item in done.unwritten[:MAX_EXAMPLES]:
        console.say(f"  cannot be written here: {item}")
    if n_more := len(done.unwritten[MAX_EXAMPLES:]):
        console.say(f"  and {n_more:,} more")
    console.say(f"  next: python -m ingest run SESSIONS --benchmark {benchmark} --system NAME")
    raise typer.Exit(Exit.INCOMPLETE if done.unwritten else Exit.DONE)
