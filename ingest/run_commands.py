"""The commands that make runs of what others made: `python -m ingest run`, and `check`, which writes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ingest.json_command import PATIENCE
from ingest.runs.import_outcome import Imported, Wanted
from ingest.runs.importing import import_run
from ingest.runs.registry import AUTO
from ingest.searches.import_search import Asking, import_search
from ingest.searches.search import RIPGREP, Search, is_ripgrep
from ingest.submissions.declaration import FILE, FOLDER, is_submission
from ingest.submissions.importing import check_submission, import_submissions
from lake.console import DEFAULT_LAKE, Console, DebugOption, JsonOption, LakeOption, LimitOption, QuietOption
from lake.errors import Exit, GoldspanError
from lake.outcome import Outcome
from lake.store import Lake

commands = typer.Typer(add_completion=False)

FileOrNone = Annotated[
    Path | None,
    typer.Argument(metavar="[FILE]", help="Made elsewhere; plain, .gz or .zst. Trajectories: a ZIP or folder too."),
]
SearchOption = Annotated[
    str,
    typer.Option(
        "--search",
        envvar="GOLDSPAN_SEARCH",
        help="In place of FILE a program that is asked: a command, module:function, or ripgrep.",
    ),
]
TimeoutOption = Annotated[
    float, typer.Option(envvar="GOLDSPAN_TIMEOUT", min=0.01, help="Seconds that a program has for an answer.")
]
AgainOption = Annotated[
    bool, typer.Option("--again", envvar="GOLDSPAN_AGAIN", help="Ask a program again whose answers are there.")
]
BenchmarkOption = Annotated[
    str, typer.Option("--benchmark", envvar="GOLDSPAN_BENCHMARK", help="Whose items it answers.")
]
SystemOption = Annotated[str, typer.Option("--system", envvar="GOLDSPAN_SYSTEM", help="The name of what made it.")]
TaskOption = Annotated[str, typer.Option("--task", envvar="GOLDSPAN_TASK", help="The benchmark's first without it.")]
FileFormatOption = Annotated[
    str, typer.Option("--format", envvar="GOLDSPAN_FORMAT", help="As `list formats` has them.")
]
SkipOption = Annotated[
    bool, typer.Option("--skip-unknown", envvar="GOLDSPAN_SKIP_UNKNOWN", help="Leave out items that are not there.")
]
ChunkerOption = Annotated[
    str, typer.Option("--chunker", envvar="GOLDSPAN_CHUNKER", help="What cut the documents, if known.")
]


@commands.command("run")
def import_(
    benchmark: BenchmarkOption,
    file: FileOrNone = None,
    system: SystemOption = "",
    search: SearchOption = "",
    task: TaskOption = "",
    format: FileFormatOption = AUTO,  # noqa: A002  # the flag's own name
    skip_unknown: SkipOption = False,
    chunker: ChunkerOption = "",
    limit: LimitOption = None,
    timeout: TimeoutOption = PATIENCE,
    again: AgainOption = False,
    lake: LakeOption = DEFAULT_LAKE,
    json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Import a ranking, completions or trajectories made elsewhere as a run, or what a program of one's own answers."""
    console = Console(quiet=quiet, json=json)
    store = Lake(lake)
    asking = _asking(search, file, timeout, limit, again=again)
    wanted = Wanted(file or Path(), benchmark, _system(system, search), task, format, skip_unknown, chunker)
    with locked(store, console, {"runs"}):
        done = _imported(store, wanted, asking, console, write=True)
    done.notes += store.damage
    raise typer.Exit(console.finish("ingest", done.outcome(str(lake), "make evaluate", store.tally)))


@commands.command()
def check(
    file: FileOrNone = None,
    benchmark: BenchmarkOption = "",
    system: SystemOption = "checked",
    search: SearchOption = "",
    task: TaskOption = "",
    format: FileFormatOption = AUTO,  # noqa: A002  # the flag's own name
    skip_unknown: SkipOption = False,
    chunker: ChunkerOption = "",
    limit: LimitOption = None,
    timeout: TimeoutOption = PATIENCE,
    lake: LakeOption = DEFAULT_LAKE,
    json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Do all that `run` does, but for the writing; of a submission its folder is enough."""
    console = Console(quiet=quiet, json=json)
    store = Lake(lake)
    if file is not None and is_submission(file):
        with store.naming_damage():
            checked = check_submission(store, file, skip_unknown=skip_unknown, say=console.say)
        raise typer.Exit(console.finish("ingest", checked))
    if not benchmark:
        message = "--benchmark is not given: whose items FILE answers"
        hint = f"Or FILE is a submission, a folder that holds {FILE}."
        raise GoldspanError(message, hint=hint, code=Exit.USAGE)
    asking = _asking(search, file, timeout, limit)
    wanted = Wanted(file or Path(), benchmark, system, task, format, skip_unknown, chunker)
    with store.naming_damage():
        done = _imported(store, wanted, asking, console, write=False)
    raise typer.Exit(
        console.finish("ingest", done.outcome("nothing was written", "python -m ingest run …", store.tally))
    )


@commands.command()
def submissions(
    folder: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="Which holds <system>/<date>/.")] = FOLDER,
    lake: LakeOption = DEFAULT_LAKE,
    json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """Import what lies in the folder of submissions, and take away what left it: `python -m ingest` does so too."""
    console = Console(quiet=quiet, json=json)
    store = Lake(lake)
    if not folder.is_dir():
        message = f"there is no folder {folder}"
        raise GoldspanError(message, hint="It is to hold <system>/<date>/system.yaml.", code=Exit.MISSING)
    with locked(store, console, {"runs"}):
        done = Outcome()
        statuses = import_submissions(store, folder, done, console.say)
    done.expected, done.scored = len(statuses), statuses.count("scored")
    outcome = replace(outcome_of([done], store), unit="submissions imported")
    raise typer.Exit(console.finish("ingest", outcome))


def _asking(search: str, file: Path | None, timeout: float, limit: int | None, *, again: bool = False) -> Asking | None:
    """The program that is asked; None where a file is read.

    Raises:
        GoldspanError: Neither is named, both are, or what is for programs is asked of a file.
    """
    if bool(search) == (file is not None):
        message = "both FILE and --search are given" if search else "what is to be imported is not given"
        hint = "Give FILE, made elsewhere, or --search 'COMMAND …', --search module:function, --search ripgrep."
        raise GoldspanError(message, hint=hint, code=Exit.USAGE)
    if file is not None and limit is not None:
        message = "--limit is of what a program is asked; of a file everything is read"
        raise GoldspanError(message, hint="Leave it out.", code=Exit.USAGE)
    return Asking(Search.of(search, timeout), limit, again) if search else None


def _system(name: str, search: str) -> str:
    return name or (RIPGREP if is_ripgrep(search) else "")


def _imported(lake: Lake, wanted: Wanted, asking: Asking | None, console: Console, *, write: bool) -> Imported:
    if asking is None:
        return import_run(lake, wanted, write=write, say=console.say)
    track = partial(console.track, title="pools searched")
    return import_search(
        lake, wanted, asking, write=write, say=console.say, track=lambda pools, n: track(pools, total=n)
    )


def locked(store: Lake, console: Console, makes: set[str]) -> AbstractContextManager[None]:
    """The lake held by this command alone, which says when it waits for another."""
    waiting = "another run is writing to this lake; waiting for it to end"
    return store.locked(lambda: console.say(waiting), makes=makes, warn=console.warn)


def outcome_of(done: Iterable[Outcome], store: Lake) -> Outcome:
    """What the last block says of the benchmarks and the like that were read."""
    outcome = Outcome(str(store.root), unit="items ready", tally=store.tally, hint="make evaluate")
    outcome.news += store.damage
    for one in done:
        outcome.add(one)
    if outcome.rejected:
        outcome.notes.append(f"what was rejected, where and why: the table rejects, under {store.root}/rejects")
    return outcome
