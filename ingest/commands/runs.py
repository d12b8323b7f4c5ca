"""`python -m ingest tasks`, `run`, `check`, `submissions`, `show`: hand out items and import the results of systems."""

import json
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

import polars as pl
import typer

from ingest.programs.command import ANSWER_SECONDS
from ingest.rejects import Rejects
from ingest.runs.bundled_runs import DECLARATION, SUBMISSIONS, check_submission, import_submissions
from ingest.runs.find_trajectories import AUTO, REPOSITORY, TASK_FILE, Ids, trajectories_of, trajectory_files
from ingest.runs.importer import TrajectoryFile
from ingest.runs.importing import import_run
from ingest.runs.program_runs import RIPGREP, import_search, search_by, write_below
from ingest.runs.request import ImportRequest
from ingest.runs.trajectory import ParsedCall, Trajectory, most_often, union
from ingest.sources.input_file import InputFile
from lake.benchmarks import check_benchmark, tasks_of
from lake.catalog.protocol import Task
from lake.console import DEFAULT_LAKE, Console, JsonOption, LakeOption, LimitOption, MemoryOption, QuietOption, setting
from lake.errors import MAX_EXAMPLES, Exit, GoldspanError, typed
from lake.offsets import split_lines
from lake.outcome import Outcome
from lake.pools import Where, of_where, parse_items, with_items
from lake.store import Lake
from lake.tables import UNSEARCHED
from lake.text import counted, escaped, listed

_RUN = "Import a ranking, completions or trajectories as a run, or run your own search program on the items."
_CHECK = "Check an import without writing anything; a submission needs only its folder."

app = typer.Typer()

FileArgument = Annotated[
    Path | None, typer.Argument(metavar="FILE", help="Results: plain, .gz or .zst; trajectories: a ZIP or folder too.")
]
TimeoutOption = Annotated[float, setting("TIMEOUT", "Seconds to wait for an answer.", min=0.01)]
FileFormatOption = Annotated[str, setting("FORMAT", "Format, as in `list formats` (default: recognised).", "--format")]
UnknownOption = Annotated[bool, setting("SKIP_UNKNOWN", "Skip items that the benchmark lacks.", "--skip-unknown")]
AskedOption = Annotated[bool, setting("ASKED_ALL", "Count items that FILE does not answer as failures.", "--asked-all")]


@app.command("run", help=_RUN)
@app.command("check", help=_CHECK)
def run(
    context: typer.Context,
    file: FileArgument = None,
    benchmark: Annotated[str, setting("BENCHMARK", "Benchmark that FILE answers.")] = "",
    system: Annotated[str, setting("SYSTEM", "Name of the system.")] = "",
    search: Annotated[str, setting("SEARCH", "Instead of FILE: a command, module:function, or ripgrep.")] = "",
    task: Annotated[str, setting("TASK", "Task (default: the benchmark's first).")] = "",
    format: FileFormatOption = AUTO,  # noqa: A002  # the flag's own name
    skip_unknown: UnknownOption = False,
    asked_all: AskedOption = False,
    chunker: Annotated[str, setting("CHUNKER", "Chunker that made the chunks, if known.")] = "",
    prices: Annotated[Path | None, setting("PRICES", "List of prices (YAML), where FILE has none.")] = None,
    resolved: Annotated[Path | None, setting("RESOLVED", "Resolved items: ids, or SWE-bench's report.")] = None,
    items: Annotated[str, setting("ITEMS", "Items that are asked: repo=…, ids, or a file of ids.")] = "",
    limit: LimitOption = None,
    timeout: TimeoutOption = ANSWER_SECONDS,
    again: Annotated[bool, setting("AGAIN", "Ask again, even if the answers are there.", "--again")] = False,
    lake: LakeOption = DEFAULT_LAKE,
    json: JsonOption = False,
    quiet: QuietOption = False,
    memory_limit: MemoryOption = None,  # set as it is read
) -> None:
    """Import a file, or the answers of a program; `check` writes nothing."""
    console, store, write = Console(quiet=quiet, json=json), Lake(lake), context.info_name == "run"
    if not write and file is not None and (file.name == DECLARATION or (file / DECLARATION).is_file()):
        checked = check_submission(store, file, skip_unknown=skip_unknown, say=console.say)
        raise typer.Exit(console.finish("ingest", checked))
    if not benchmark or bool(search) == (file is not None):
        message = "expected --benchmark, and either FILE or --search"
        hint = "FILE is results; --search is 'COMMAND …', module:function or ripgrep. "
        hint += f"Only `check` of a submission (a folder with {DECLARATION}) needs no --benchmark."
        raise GoldspanError(message, hint=hint, code=Exit.USAGE)
    program = search_by(search, timeout) if search else None
    name = system or (RIPGREP if program and program.format == RIPGREP else "" if write else "mine")
    request = ImportRequest(
        file or Path(), benchmark, name, task, format, skip_unknown, chunker, asked_all, prices, resolved,
        parse_items(items), limit,
    )  # fmt: skip
    with console.lake_lock(store, {"runs"}) if write else nullcontext():
        if program:
            imported = import_search(store, request, program, console, again=again, write=write)
        else:
            imported = import_run(store, request, write=write, say=console.say)
    imported.notes += store.damage
    where, hint = str(lake), "make evaluate"
    if not write:
        where, hint = "nothing was written", f"python -m ingest run {shlex.join(sys.argv[2:])}"
        hint += "" if system else " --system NAME"
    raise typer.Exit(console.finish("ingest", imported.outcome(where, hint)))


@app.command()
def submissions(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder with <system>/<date>/.")] = SUBMISSIONS,
    lake: LakeOption = DEFAULT_LAKE,
    json: JsonOption = False,
    quiet: QuietOption = False,
    memory_limit: MemoryOption = None,  # set as it is read
) -> None:
    """Import the submissions in a folder and remove runs whose submission is gone; `python -m ingest` does so too."""
    console, store, done = Console(quiet=quiet, json=json), Lake(lake), Outcome()
    if not folder.is_dir():
        message = f"there is no folder {folder}"
        raise GoldspanError(message, hint="Expected a folder with <system>/<date>/system.yaml.", code=Exit.MISSING)
    with console.lake_lock(store, {"runs"}):
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
    """Print how an agent's file is understood, call by call; a call that showed parts of files is a numbered step."""
    rejects, read_with = Rejects(), set[str]()
    files = trajectory_files(InputFile.at(file), format, rejects)
    if files.importer.kind != "trajectory":
        message = f"the file contains a {files.importer.kind}, not trajectories"
        raise GoldspanError(message, hint="Use `python -m ingest check` for it.", code=Exit.USAGE)
    for each, trajectory in trajectories_of(files, Ids({}), rejects):
        read_with |= trajectory.read_with
        print(*map(escaped, _shown(each, trajectory, files.importer.name)), sep="\n")
    if skipped := files.unread(read_with):
        print(f"not read: {most_often(Counter(skipped))}")
    for reject in rejects:
        print(f"refused: {reject.source}, {reject.position}: {reject.reason}")


def _shown(file: TrajectoryFile, trajectory: Trajectory, format_name: str) -> Iterator[str]:
    where = f"{file.path}, {trajectory.position}" if trajectory.position else file.path
    patch = trajectory.patch and f"a patch of {counted(trajectory.patch.count(chr(10)), 'line')}"
    item = f"item {trajectory.item}, " if trajectory.item else ""
    failed = f"; failed: {trajectory.failed}" if trajectory.failed else ""
    steps = counted(len(trajectory.steps), "step")
    yield f"{where}: {format_name}, {item}{steps}, {patch or 'no patch'}{failed}"
    step, shown_at = 0, iter(trajectory.shown_at)
    for event in trajectory.calls or map(ParsedCall, trajectory.steps):
        is_step = bool(event.views) or not trajectory.calls
        step += is_step
        turn, call = next(shown_at, (0, 0)) if is_step else (0, 0)
        whence = f"  (turn {turn}, tool call {call})" if turn else ""
        yield f"  {f'step {step}' if is_step else '-':>8}  {event.call}{whence}".rstrip()
        yield from (f"            {view}" for view in event.views)
        yield from (f"            not understood: {name}" for name in event.unread)
        if event.reads and not event.views:
            yield "            showed no file: it failed, found nothing, or its output is not understood"
    is_union = trajectory.final is not None and trajectory.final == union(trajectory.steps)
    whole = "everything the steps showed" if is_union else "" if trajectory.final else "none"
    yield f"  final context: {whole}".rstrip()
    yield from (f"            {view}" for view in (() if is_union else trajectory.final or ()))
    used = [f"{name} {value}" for name, value in vars(trajectory.usage).items() if value is not None]
    yield from [f"  usage: {', '.join(used)}"] * bool(used)
    yield from (f"  note: {note}" for note in trajectory.notes)
    if trajectory.unread:
        yield f"  not read: {most_often(trajectory.unread)}"


def outcome_of(done: Iterable[Outcome], store: Lake) -> Outcome:
    """The summary printed last: the outcomes of all benchmarks and imports together."""
    outcome = Outcome.of_lake(store, done, "items ready", "make evaluate")
    if outcome.rejected:
        outcome.warnings.append(f"every reject with its reason: the table rejects, in {store.root}/rejects")
    return outcome


@app.command()
def tasks(
    benchmark: Annotated[str, typer.Argument(help="Benchmark.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="A new folder.")],
    items: Annotated[str, setting("ITEMS", "repo=…, ids, or a file of ids (default: all).")] = "",
    format: Annotated[  # noqa: A002  # the flag's own name
        Literal["folders", "jsonl"], typer.Option("--format", help="A folder per item, or one file of lines.")
    ] = "folders",
    no_repositories: Annotated[bool, typer.Option("--no-repositories", help="Without the repository's files.")] = False,
    lake: LakeOption = DEFAULT_LAKE,
) -> None:
    """Hand out items: for each a folder with the question and the repository, without the answer."""
    store, console, where = Lake(lake), Console(), parse_items(items)
    check_benchmark(store, benchmark)
    if where:
        with_items(store, [benchmark], where)
    task = tasks_of(store, benchmark)[0]
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        message = "the folder for the tasks is not empty"
        raise GoldspanError(message, where=str(output), hint="Name a new one: -o DIR")
    rows = _items(store, task, where)
    output.mkdir(parents=True, exist_ok=True)
    labels = store.scan_part("benchmarks", task.benchmark).select("label").collect()["label"]
    # Repositories of data with these labels have no public address.
    hosted = "" if {"sample", "mined"} & set(labels) else "https://github.com"
    written, unwritten = output, list[str]()
    if format == "jsonl":
        handed_out = ({**_about(task, item, hosted), "prompt": _prompt(item)} for item in rows.iter_rows(named=True))
        written = output / "tasks.jsonl"
        text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in handed_out)
        written.write_text(text, encoding="utf-8")
    else:
        for (pool_id,), of_pool in rows.sort("pool_id", "item_id").group_by("pool_id", maintain_order=True):
            pool_ids = [] if no_repositories else [str(pool_id), f"{pool_id}{UNSEARCHED}"]
            stored = store.scan("files", benchmark=task.benchmark).filter(pl.col("pool_id").is_in(pool_ids))
            texts = stored.select("path", "sha256").join(store.scan("blobs").select("sha256", "text"), on="sha256")
            files = texts.select("path", "text").sort("path").collect().rows()
            for item in of_pool.iter_rows(named=True):
                about = f"{json.dumps(_about(task, item, hosted), indent=1, ensure_ascii=False)}\n"
                given = [("prompt.md", _prompt(item)), (TASK_FILE, about)]
                given += [(f"{REPOSITORY}/{path}", _without_answer(item, path, text)) for path, text in files]
                paths = ((str(PurePosixPath(item["item_id"]) / path), text) for path, text in given)
                unwritten += [path for path, text in paths if not write_below(output, path, text)]
    console.say(f"tasks: {counted(rows.height, 'item')} of {benchmark} → {written}")
    if unwritten:
        console.say(f"  cannot be written here: {listed(unwritten, MAX_EXAMPLES)}")
    made = "SESSIONS" if "trajectory" in task.answered_by else "FILE"
    console.say(typed(f"  next: python -m ingest run {made} --benchmark {benchmark} --system NAME"))
    raise typer.Exit(Exit.INCOMPLETE if unwritten else Exit.DONE)


def _items(lake: Lake, task: Task, where: Where) -> pl.DataFrame:
    stored = of_where(lake.scan("items", benchmark=task.benchmark), where).filter("scorable")
    queries = lake.scan("queries", benchmark=task.benchmark, query=task.query).select("item_id", "text")
    items = stored.join(queries, on="item_id").sort("item_id").collect()
    if items.is_empty():
        raise lake.lacks(f"no scorable item of {task.benchmark} is selected")
    has_repository = pl.col("commit").is_not_null() | pl.col("target_path").is_not_null()
    if not items.select(has_repository & pl.col("n_candidates").is_null()).to_series().all():
        message = f"the items of {task.benchmark} are about candidates or documents, not about a repository to work in"
        hint = "Run a search program on them instead: python -m ingest run --search 'COMMAND …'"
        raise GoldspanError(message, hint=hint, code=Exit.USAGE)
    return items


def _without_answer(item: Mapping[str, Any], path: str, text: str) -> str:
    if path != item["target_path"]:
        return text
    lines, start = split_lines(text), item["target_line"]
    n_lines = len(split_lines(item["target_text"].removesuffix("\n") + "\n"))
    return "".join([*lines[:start], *lines[start + n_lines :]])


def _prompt(item: Mapping[str, Any]) -> str:
    text: str = item["text"]
    if item["target_path"] is None:
        return text if text.endswith("\n") else f"{text}\n"
    where = f"Complete `{item['target_path']}` from line {item['target_line'] + 1} on."
    return f"{where} The text before that line:\n\n```\n{text}\n```\n"


def _about(task: Task, item: Mapping[str, Any], hosted: str) -> dict[str, object]:
    """The content of `task.json`: ids, the location of the repository, and the form that a result must have."""
    about = {"item_id": item["item_id"], "benchmark": task.benchmark, "task": task.name, "language": item["language"]}
    about |= {"repository": item["repo"], "commit": item["commit"], "path": item["target_path"]}
    about["url"] = f"{hosted}/{item['repo']}" if hosted and item["commit"] else None
    about["line"] = None if item["target_line"] is None else item["target_line"] + 1
    command = f"python -m ingest run FILE --benchmark {task.benchmark} --system NAME"
    shapes = {
        "trajectory": f"a session file of your agent, named after the item: {command}",
        "ranking": 'a ranking: {"id": item_id, "results": [{"path": …, "start": 1, "end": 9, "score": 0.5}]}',
    }
    about["result"] = [shape for answer, shape in shapes.items() if answer in task.answered_by]
    return {name: value for name, value in about.items() if value is not None}
