"""Benchmarks mined from the user's repository: completions, next lines and issues, each by a fixed rule."""

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ingest.benchmarks.config import own_benchmark
from ingest.benchmarks.declaration import Benchmark, declared_files
from ingest.mining.history import History
from ingest.mining.issues import mine_issues
from ingest.mining.miner import choose, mine_functions
from ingest.mining.names import GENERATED, Task, is_source, mine_lines
from ingest.mining.sample import made_tree
from ingest.rejects import Rejects
from ingest.sources.git import MAX_BLOB_BYTES, form_fault
from ingest.sources.tree import Entry, Source, Tree, UnreadableFileError
from lake.errors import Exit, GoldspanError
from lake.text import counted, language_of

MINED_TASKS: Mapping[str, tuple[str, str, str]] = {
    "completion": (
        "repoeval",
        "Completing the functions of {}",
        "The text before a function's body is the query; gold runs from there to the body's end.",
    ),
    "line": (
        "repobench-r",
        "The next line in {}",
        "The lines before one that first uses another file's definition are the query; gold is that definition.",
    ),
    "issue": (
        "contextbench",
        "Which code did the commits of {} change?",
        "A commit's message is the query, the repository at its parent is searched; gold are the definitions around "
        "the lines that it replaces there.",
    ),
}
"""Kind of task → the benchmark whose rules apply to it, its title and its meaning."""

MinedRows = list[dict[str, Any]]
Mine = Callable[[], tuple[MinedRows, str]]
"""Gives the tasks of one kind as rows, and a sentence on them with the number of those left out by each rule."""


def mined(
    history: History, target: str, label: str, kinds: Sequence[str], known: Mapping[str, Benchmark], n: int, seed: str
) -> list[tuple[Benchmark, Source, Sequence[str], Mine]]:
    """The benchmarks of the repository `target`, one per kind of task, each with its source, subsets and tasks.

    Tasks are mined when they are first asked for.
    """
    name, repository, read_from = _names(target, label)
    revision = f"{history.head} n={n}" + (f" seed={seed}" if seed else "")
    listing = {path: blob_id for path, blob_id in history.listing(history.head).items() if language_of(path)}
    made = list[tuple[Benchmark, Source, Sequence[str], Mine]]()
    for kind in kinds:
        like, title, meaning = MINED_TASKS[kind]
        own = own_benchmark(known[like], f"{name}-{kind}")
        benchmark = replace(own, title=title.format(name), meaning=meaning)
        if kind == "issue":
            mine, subsets = cache(partial(mine_issues, history, repository, n, seed)), ["full"]
            tasks = made_tree(".", {"issues.jsonl": partial(_rows, mine)})
        elif kind == "line":
            mine = cache(partial(_mine_code, history, listing, repository, n, seed, "next-line", mine_lines))
            languages = sorted({language_of(path) for path in listing if is_source(path)})
            tasks = made_tree("data", {f"{each}_line.jsonl": partial(_rows, mine, each) for each in languages})
            subsets = [f"{language}_line/test" for language in languages]
        else:
            mine = cache(partial(_mine_code, history, listing, repository, n, seed, "completion", mine_functions))
            tasks, subsets = made_tree("tasks", {"completions.jsonl": partial(_rows, mine)}), ["function-2k"]
            # Files of all languages; RepoEval's own `find` keeps only Python.
            pool = _pool(history, listing, repository.replace("/", "_"))
            benchmark = replace(benchmark, find=partial(declared_files, tasks.entries, [pool]))
        find = {tasks.location: tasks}.get
        source = Source(name=read_from, find=find, label="mined", revision=revision, repositories=history.files)
        made.append((benchmark, source, subsets, mine))
    return made


def _rows(mine: Mine, language: str = "") -> MinedRows:
    """The tasks as rows, with a language those in its files."""
    return [row for row in mine()[0] if not language or language_of(row["file_path"]) == language]


def _mine_code(
    history: History, listing: Mapping[str, str], repository: str, n: int, seed: str, kind: str,
    mine: Callable[[str, Mapping[str, bytes], Counter[str]], Iterable[Task]],
) -> tuple[MinedRows, str]:  # fmt: skip
    """At most `n` tasks from the files at the head of a history, drawn evenly over them, and a sentence on both."""
    sources = [path for path in listing if is_source(path)]
    files, left_out = history.files(repository, history.head)(Rejects(), sources), Counter[str]()
    contents = {file.path: file.data for file in files}
    candidates = list(mine(repository, contents, left_out))
    others = listing.keys() - sources
    left_out.update("generated or vendored file" if GENERATED.search(path) else "test file" for path in others)
    left_out[f"file of more than {MAX_BLOB_BYTES:,} bytes"] = len(sources) - len(contents)
    left_out["same answer as another"] = len(candidates) - len({task.answer.strip() for task in candidates})
    tasks = choose(candidates, n, seed)
    languages = Counter(language_of(task.path) for task in tasks)
    by_language = ", ".join(f"{name} {n:,}" for name, n in sorted(languages.items()))
    by_rule = ", ".join(f"{rule}: {n:,}" for rule, n in sorted(left_out.items()) if n)
    drawn = f"{counted(len(tasks), f'{kind} task')}{by_language and f' ({by_language})'} of {len(candidates):,}"
    summary = f"{drawn} in {counted(len(contents), 'source file')}; left out: {by_rule or 'none'}"
    return [task.row() for task in tasks], summary


def _pool(history: History, listing: Mapping[str, str], folder: str) -> Tree:
    """The files of known languages, in RepoEval's folder for the repository; reading a large one is an error."""

    def opened(path: str) -> io.BytesIO:
        data = history.contents(listing.values())[listing[path]]
        if data is None:
            raise UnreadableFileError(path, f"it has more than {MAX_BLOB_BYTES:,} bytes")
        return io.BytesIO(data)

    files = [Entry(f"{folder}/{path}", partial(opened, path), made_from=blob_id) for path, blob_id in listing.items()]
    return Tree("files", files)


def _names(target: str, label: str) -> tuple[str, str, str]:
    """The base name of the benchmarks, the repository as `owner/name` or `local/name`, and the target's last part."""
    is_url = "://" in target
    path = urlsplit(target).path if is_url else str(Path(target).resolve())
    last = path.rstrip("/").rsplit("/", 1)[-1].removesuffix(".git")
    name = re.sub(r"[^a-z0-9]+", "-", (label or last).lower()).strip("-")
    if not name or len(name) > 40:
        what = f"{label or last!r} does not give a name of 1 to 40 letters, digits and hyphens"
        raise GoldspanError(what, hint="Give one: --label NAME", code=Exit.USAGE)
    by_url = "/".join(path.strip("/").split("/")[-2:]).removesuffix(".git")
    return name, by_url if is_url and not form_fault("repository", by_url) else f"local/{name}", last
