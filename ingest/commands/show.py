"""`python -m ingest show`: what is understood of an agent's file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ingest.commands.runs import FileFormatOption
from ingest.runs.explain import shown_trajectories
from ingest.runs.find_trajectories import trajectory_files
from ingest.runs.registry import AUTO
from ingest.sources.input_file import InputFile
from lake.console import (
    DebugOption,
    MemoryOption,
)
from lake.rejects import Rejects

app = typer.Typer()


@app.command()
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An agent's file, ZIP or folder.")],
    format: FileFormatOption = AUTO,  # noqa: A002  # the flag's own name
    memory_limit: MemoryOption = None,  # set as it is read
    debug: DebugOption = False,
) -> None:
    """Print what is understood of an agent's file, call by call, with what is not.

    A call that showed something of files is a step, and has a number; any other has a dash.
    """
    rejects = Rejects()
    for line in shown_trajectories(trajectory_files(InputFile.at(file), format, rejects)):
        print(line)
    for reject in rejects:
        print(f"refused: {reject.position}: {reject.reason}")
