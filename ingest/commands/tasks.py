"""The command `python -m ingest tasks`: items for an agent to work on, and nothing of their answers."""

import json
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

import polars as pl
import typer

from ingest.runs.find_trajectories import REPOSITORY, TASK_FILE
from ingest.runs.program_runs import write_below
from lake.benchmarks import known_tasks, tasks_of
from lake.catalog.protocol import Task
from lake.console import DEFAULT_LAKE, Console, LakeOption, setting
from lake.errors import MAX_EXAMPLES, Exit, GoldspanError, lookup, typed
from lake.offsets import split_lines
from lake.pools import Where, of_where, parse_items, with_items
from lake.store import Lake
from lake.tables import UNSEARCHED
from lake.text import counted

PROMPT, ABOUT, TASKS = "prompt.md", TASK_FILE, "tasks.jsonl"
_COLUMNS = (
    "item_id", "repo", "commit", "language", "pool_id", "target_path", "target_line", "target_text", "n_candidates",
)  # fmt: skip

app = typer.Typer()


@app.command()
def tasks(
    benchmark: Annotated[str, typer.Argument(help="Benchmark.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="A new folder.")],
    items: Annotated[str, setting("ITEMS", "repo=…, ids, or a file of ids; all without it.")] = "",
    format: Annotated[  # noqa: A002  # the flag's own name
        Literal["folders", "jsonl"], typer.Option("--format", help="A folder per item, or one file of lines.")
    ] = "folders",
    no_repositories: Annotated[bool, typer.Option("--no-repositories", help="Without the repository's files.")] = False,
    lake: LakeOption = DEFAULT_LAKE,
) -> None:
    """Hand out items: per item a folder with the question and the repository, and nothing of the answer."""
    store = Lake(lake)
    lookup(benchmark, "benchmark", {task.benchmark: task for task in known_tasks(store).values()})
    where = parse_items(items)
    if where:
        with_items(store, [benchmark], where)
    task = tasks_of(store, benchmark)[0]
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        message = "the folder for the tasks holds something"
        raise GoldspanError(message, where=str(output), hint="Name a new one: -o DIR")
    rows = _items(store, task, where)
    output.mkdir(parents=True, exist_ok=True)
    labels = store.scan_part("benchmarks", task.benchmark).select("label").collect()["label"]
    # Repositories of data so labelled have no public address.
    hosted = "" if {"sample", "mined"} & set(labels) else "https://github.com"
    nameless, unwritten = list[str](), list[str]()
    if format == "jsonl":
        handed_out = ({**_about(task, item, hosted), "prompt": _prompt(item)} for item in rows.iter_rows(named=True))
        text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in handed_out)
        (output / TASKS).write_text(text, encoding="utf-8")
    else:
        for pool_id, of_pool in rows.sort("pool_id", "item_id").group_by("pool_id", maintain_order=True):
            pool_ids = [] if no_repositories else [str(pool_id[0]), f"{pool_id[0]}{UNSEARCHED}"]
            stored = store.scan("files", benchmark=task.benchmark).filter(pl.col("pool_id").is_in(pool_ids))
            texts = stored.select("path", "sha256").join(store.scan("blobs").select("sha256", "text"), on="sha256")
            files = texts.select("path", "text").sort("path").collect().rows()
            for item in of_pool.iter_rows(named=True):
                name, about = str(item["item_id"]), _about(task, item, hosted)
                own = {PROMPT: _prompt(item), ABOUT: f"{json.dumps(about, indent=1, ensure_ascii=False)}\n"}
                if not all(write_below(output, f"{name}/{path}", text) for path, text in own.items()):
                    nameless.append(f"{name}: no folder can be called so")
                    continue
                into = output / PurePosixPath(name) / REPOSITORY
                paths = (path for path, text in files if not write_below(into, path, _without_answer(item, path, text)))
                unwritten += [f"{name}: {path}" for path in paths]
    console = Console()
    written = output / TASKS if format == "jsonl" else output
    console.say(f"tasks: {counted(rows.height - len(nameless), 'item')} of {benchmark} → {written}")
    for problem in [*nameless, *unwritten][:MAX_EXAMPLES]:
        console.say(f"  cannot be written here: {problem}")
    if n_more := len([*nameless, *unwritten][MAX_EXAMPLES:]):
        console.say(f"  and {n_more:,} more")
    made = "SESSIONS" if "trajectory" in task.answered_by else "FILE"
    console.say(typed(f"  next: python -m ingest run {made} --benchmark {benchmark} --system NAME"))
    raise typer.Exit(Exit.INCOMPLETE if nameless or unwritten else Exit.DONE)


def _items(lake: Lake, task: Task, where: Where) -> pl.DataFrame:
    stored = of_where(lake.scan("items", benchmark=task.benchmark), where).filter("scorable")
    queries = lake.scan("queries", benchmark=task.benchmark, query=task.query).select("item_id", "text")
    items = stored.select(_COLUMNS).join(queries, on="item_id").sort("item_id").collect()
    if items.is_empty():
        message, hint = f"no scorable item of {task.benchmark} is selected", "`python -m evaluate status` says what is."
        raise GoldspanError(message, where=str(lake.root), hint=hint, code=Exit.MISSING)
    has_repository = pl.col("commit").is_not_null() | pl.col("target_path").is_not_null()
    if not items.select(has_repository & pl.col("n_candidates").is_null()).to_series().all():
        message = f"the items of {task.benchmark} are about candidates or documents, not about a repository to work in"
        hint = "A program is asked for them one by one: python -m ingest run --search 'COMMAND …'"
        raise GoldspanError(message, hint=hint, code=Exit.USAGE)
    return items


def _without_answer(item: dict[str, object], path: str, text: str) -> str:
    if path != item["target_path"]:
        return text
    lines, start = split_lines(text), int(str(item["target_line"]))
    n_lines = len(split_lines(str(item["target_text"]).removesuffix("\n") + "\n"))
    return "".join([*lines[:start], *lines[start + n_lines :]])


def _prompt(item: dict[str, object]) -> str:
    text = str(item["text"])
    if item["target_path"] is None:
        return text if text.endswith("\n") else f"{text}\n"
    where = f"Complete `{item['target_path']}` from line {int(str(item['target_line'])) + 1} on."
    return f"{where} Before that line stands:\n\n```\n{text}\n```\n"


def _about(task: Task, item: dict[str, object], hosted: str) -> dict[str, object]:
    """The content of `task.json`: ids, where the repository is, and what a result must look like."""
    repo, commit = item["repo"], item["commit"]
    known = {"repository": repo, "commit": commit}
    if commit is not None and hosted:
        known["url"] = f"{hosted}/{repo}"
    if item["target_path"] is not None:
        known |= {"path": item["target_path"], "line": int(str(item["target_line"])) + 1}
    command = f"python -m ingest run FILE --benchmark {task.benchmark} --system NAME"
    shapes = {
        "trajectory": f"a session file of your agent, called like the item: {command}",
        "ranking": 'a ranking: {"id": item_id, "results": [{"path": …, "start": 1, "end": 9, "score": 0.5}]}',
    }
    results = [shape for answer, shape in shapes.items() if answer in task.answered_by]
    about = {"item_id": item["item_id"], "benchmark": task.benchmark, "task": task.name, "language": item["language"]}
    return {**about, **known, "result": results}
