"""The command `python -m ingest own`: data of one's own as a benchmark, without a declaration to write."""

from __future__ import annotations

from typing import Annotated

import typer

from ingest.benchmarks.own_shapes import declare_own
from ingest.clean import CACHE
from ingest.commands.read import read
from lake.console import (
    DEFAULT_LAKE,
    Console,
    DebugOption,
    EngineOption,
    JsonOption,
    LakeOption,
    LimitOption,
    MemoryOption,
    QuietOption,
    setting,
)
from lake.rejects import Rejects

app = typer.Typer()


@app.command()
def own(
    context: typer.Context,
    items: Annotated[
        str, typer.Option("--items", help="File or folder of questions with gold; of the hub: owner/name@REVISION.")
    ],
    repositories: Annotated[
        str,
        typer.Option("--repositories", help="Folder of repositories, or one; github, or a URL to clone from."),
    ] = "",
    name: Annotated[str, typer.Option("--name", help="Name of the data (default: the file's).")] = "",
    query: Annotated[str, typer.Option("--query", help="Key of the question, if it has no usual name.")] = "",
    gold: Annotated[str, typer.Option("--gold", help="Where the gold is: 'KEY[].PATH:LINES', or patch.")] = "",
    chunkers: Annotated[str, setting("CHUNKERS", "Comma list of chunker names.")] = "",
    limit: LimitOption = None,
    engine: EngineOption = "auto",
    memory_limit: MemoryOption = None,  # set as it is read
    lake: LakeOption = DEFAULT_LAKE,
    json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Ingest questions with gold of your own: BEIR folders, issues with a patch, and rows with paths and lines."""
    console, rejects = Console(quiet=quiet, json=json), Rejects()
    written = declare_own(items, repositories, lake / CACHE / "own", rejects, name=name, query=query, gold=gold)
    console.say("\n".join([f"declared in {written.file}", *written.notes]))
    for reject in rejects:
        console.say(f"left out: {reject.position}: {reject.reason}")
    read(
        context, config=str(written.file), config_reads=str(written.reads), repositories=written.clones,
        chunkers=chunkers, limit=limit, engine=engine, lake=lake, json=json, quiet=quiet, debug=debug,
    )  # fmt: skip
