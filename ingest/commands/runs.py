"""The commands that read what others made: `python -m ingest run`, `check`, which writes nothing, and `show`."""

import re
import shlex
import sys
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ingest.programs.command import ANSWER_SECONDS
from ingest.runs.bundled_runs import DECLARATION, SUBMISSIONS, check_submission, import_submissions, is_submission
from ingest.runs.find_trajectories import AUTO, trajectory_files
from ingest.runs.importing import import_run
from ingest.runs.program_runs import RIPGREP, import_search, search_by
from ingest.runs.read_trajectories import shown_trajectories
from ingest.runs.request import ImportRequest
from ingest.sources.input_file import InputFile
from lake.console import DEFAULT_LAKE, Console, JsonOption, LakeOption, LimitOption, MemoryOption, QuietOption, setting
from lake.errors import Exit, GoldspanError
from lake.outcome import Outcome
from lake.pools import parse_items
from lake.rejects import Rejects
from lake.store import Lake

app = typer.Typer()

TimeoutOption = Annotated[float, setting("TIMEOUT", "Seconds to wait for an answer.", min=0.01)]
FileFormatOption = Annotated[str, setting("FORMAT", "Format, as in `list formats` (default: recognised).", "--format")]


def _importing(*, write: bool) -> Callable[..., None]:
    def importing(
        file: Annotated[
            Path | None,
            typer.Argument(
                metavar="FILE", help="Made elsewhere; plain, .gz or .zst. Trajectories: a ZIP or folder too."
            ),
        ] = None,
        benchmark: Annotated[str, setting("BENCHMARK", "Benchmark that FILE answers.")] = "",
        system: Annotated[str, setting("SYSTEM", "Name of the system.")] = "",
        search: Annotated[
            str, setting("SEARCH", "Instead of FILE, a program to ask: a command, module:function, or ripgrep.")
        ] = "",
        task: Annotated[str, setting("TASK", "Task (default: the benchmark's first).")] = "",
        format: FileFormatOption = AUTO,  # noqa: A002  # the flag's own name
        skip_unknown: Annotated[
            bool, setting("SKIP_UNKNOWN", "Skip items that the benchmark does not have.", "--skip-unknown")
        ] = False,
        asked_all: Annotated[
            bool, setting("ASKED_ALL", "Count items that FILE does not answer as failures.", "--asked-all")
        ] = False,
        chunker: Annotated[str, setting("CHUNKER", "Chunker that made the chunks, if known.")] = "",
        prices: Annotated[
            Path | None, setting("PRICES", "List of prices (YAML) for agents whose files name none.")
        ] = None,
        resolved: Annotated[
            Path | None, setting("RESOLVED", "Items that the agent resolved: ids, or SWE-bench's report.")
        ] = None,
        items: Annotated[
            str, setting("ITEMS", "Items that were asked, or are to be: repo=…, ids, or a file of ids.")
        ] = "",
        limit: LimitOption = None,
        timeout: TimeoutOption = ANSWER_SECONDS,
        again: Annotated[bool, setting("AGAIN", "Ask again, even if the answers are there.", "--again")] = False,
        lake: LakeOption = DEFAULT_LAKE,
        json: JsonOption = False,
        quiet: QuietOption = False,
        memory_limit: MemoryOption = None,  # set as it is read
    ) -> None:
        console, store = Console(quiet=quiet, json=json), Lake(lake)
        if not write and file is not None and is_submission(file):
            checked = check_submission(store, file, skip_unknown=skip_unknown, say=console.say)
            raise typer.Exit(console.finish("ingest", checked))
        if not benchmark:
            message = "--benchmark is not given: whose items FILE answers"
            hint = "" if write else f"Or FILE is a submission, a folder that holds {DECLARATION}."
            raise GoldspanError(message, hint=hint, code=Exit.USAGE)
        if bool(search) == (file is not None):
            message = "both FILE and --search are given" if search else "nothing to import is given"
            hint = "Give FILE, made elsewhere, or --search 'COMMAND …', --search module:function, --search ripgrep."
            raise GoldspanError(message, hint=hint, code=Exit.USAGE)
        program = search_by(search, timeout) if search else None
        name = system or (RIPGREP if program and program.format == RIPGREP else "" if write else CHECKED)
        request = ImportRequest(
            file or Path(), benchmark, name, task, format, skip_unknown, chunker, asked_all, prices, resolved,
            parse_items(items), limit,
        )  # fmt: skip
        with console.lake_lock(store, {"runs"}) if write else nullcontext():
            if program is None:
                imported = import_run(store, request, write=write, say=console.say)
            else:
                track = partial(console.track, title="pools searched")
                imported = import_search(
                    store, request, program, again=again, write=write, track=track, say=console.say
                )
        imported.notes += store.damage
        where, hint = str(lake), "make evaluate"
        if not write:
            # The same arguments, with a name if none was given.
            name = re.sub(r"[^\w.-]+", "-", request.file.name.partition(".")[0]).strip("-.") or "mine"
            arguments = [*sys.argv[2:], *(["--system", name] if request.system == CHECKED else [])]
            where, hint = "nothing was written", f"python -m ingest run {shlex.join(arguments)}"
        raise typer.Exit(console.finish("ingest", imported.outcome(where, hint, store.tally)))

    return importing


CHECKED = "checked"

_RUN = "Import a ranking, completions or trajectories made elsewhere as a run, or what a program of your own answers."
app.command("run", help=_RUN)(_importing(write=True))
_CHECK = "Do all that `run` does, but for the writing; of a submission its folder is enough."
app.command("check", help=_CHECK)(_importing(write=False))


@app.command()
def submissions(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Which holds <system>/<date>/.")] = SUBMISSIONS,
    lake: LakeOption = DEFAULT_LAKE,
    json: JsonOption = False,
    quiet: QuietOption = False,
    memory_limit: MemoryOption = None,  # set as it is read
) -> None:
    """Import what lies in the folder of submissions, and take away what left it: `python -m ingest` does so too."""
    console, store = Console(quiet=quiet, json=json), Lake(lake)
    if not folder.is_dir():
        message = f"there is no folder {folder}"
        raise GoldspanError(message, hint="It is to hold <system>/<date>/system.yaml.", code=Exit.MISSING)
    with console.lake_lock(store, {"runs"}):
        done = Outcome()
        statuses = import_submissions(store, folder, done, console.say)
    done.expected, done.scored = len(statuses), statuses.count("scored")
    outcome = replace(outcome_of([done], store), unit="submissions imported")
    raise typer.Exit(console.finish("ingest", outcome))


@app.command()
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An agent's file, ZIP or folder.")],
    format: FileFormatOption = AUTO,  # noqa: A002  # the flag's own name
    memory_limit: MemoryOption = None,  # set as it is read
) -> None:
    """Print what is understood of an agent's file, call by call, with what is not.

    A call that showed something of files is a step, and has a number; any other has a dash.
    """
    rejects = Rejects()
    for line in shown_trajectories(trajectory_files(InputFile.at(file), format, rejects)):
        print(line)
    for reject in rejects:
        print(f"refused: {reject.position}: {reject.reason}")


def outcome_of(done: Iterable[Outcome], store: Lake) -> Outcome:
    """The last block on the benchmarks and the like that were read."""
    outcome = Outcome.of_lake(store, done, "items ready", "make evaluate")
    if outcome.rejected:
        outcome.warnings.append(f"what was rejected, where and why: the table rejects, under {store.root}/rejects")
    return outcome
