"""A repository of one's own as benchmarks: completions, next lines and issues, each mined by a sealed rule."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from ingest.benchmarks.declaration import Benchmark
from ingest.benchmarks.own import own_benchmark
from ingest.mining.history import History, HistoryRepositories, fetched
from ingest.mining.issues import IssueMiner
from ingest.mining.miner import Recipe
from ingest.mining.sample import Mined, SampleSource, repobench_folders, repoeval_folders
from ingest.sources.git import Repositories, checked, fault_of
from ingest.sources.tree import UNKNOWN_SIZE, Entry, Source
from lake.errors import Exit, GoldspanError
from lake.make import made_from

LABEL = "mined"
TASKS: Mapping[str, str] = {"completion": "repoeval", "line": "repobench-r", "issue": "contextbench"}
"""Kind of task → the benchmark in whose manner it is mined, asked and scored."""
MAX_NAME = 40

_NOT_IN_A_NAME = re.compile(r"[^a-z0-9]+")


class Wanted(NamedTuple):
    """What is to be mined; HEAD and the repository's own name where `at` and `name` are empty."""

    target: str
    at: str
    name: str
    n: int
    seed: str


class OwnBenchmark(NamedTuple):
    """A benchmark under the repository's name, and what it reads."""

    benchmark: Benchmark
    source: Source
    subsets: tuple[str, ...]
    said: Callable[[], str]
    """What was mined and what was left out; asked for when it has been read."""


@dataclass(frozen=True)
class _IssueSource(SampleSource):
    """Issue tasks, and the repository at the commits that they search."""

    own_repositories: Repositories = field(kw_only=True)


def open_repository(wanted: Wanted, cache: Path) -> History:
    """The history that a target and a commit name, in a cache."""
    return fetched(_url(wanted.target), cache, wanted.at)


def mined(wanted: Wanted, history: History, tasks: list[str], declared: Mapping[str, Benchmark]) -> list[OwnBenchmark]:
    """A repository's benchmarks, one for each kind of task; nothing is mined before it is read."""
    name, repository = _names(wanted)
    pinned = f"{history.head} n={wanted.n}" + (f" seed={wanted.seed}" if wanted.seed else "")
    made = []
    for task in tasks:
        title, meaning = _MEANINGS[task]
        benchmark = own_benchmark(declared[TASKS[task]], f"{name}-{task}")
        benchmark = replace(benchmark, title=title.format(name), meaning=meaning)
        source, subsets, said = _SOURCES[task](history, repository, wanted)
        source = replace(source, name=_last(wanted.target), label=LABEL, pinned=pinned)
        made.append(OwnBenchmark(benchmark, source, subsets, said))
    return made


_Mined = tuple[SampleSource, tuple[str, ...], Callable[[], str]]


def _completions(history: History, repository: str, wanted: Wanted) -> _Mined:
    recipe = Recipe(repository, completions=("function",), limit=wanted.n, seed=wanted.seed)
    repo = _at_head(history, recipe)
    source = SampleSource(repoeval_folders([repo]), name=repository)
    return source, ("function-2k",), lambda: f"{len(repo.completions['function']):,} completion tasks, in Python"


def _lines(history: History, repository: str, wanted: Wanted) -> _Mined:
    recipes = [
        Recipe(repository, language, completions=(), next_lines=("cff",), limit=-(-wanted.n // 2), seed=wanted.seed)
        for language in ("java", "python")
    ]
    repos = [_at_head(history, recipe) for recipe in recipes]

    def said() -> str:
        n_java, n_python = (sum(map(len, repo.next_lines["cff"].values())) for repo in repos)
        return f"{n_python:,} next-line tasks in Python, {n_java:,} in Java"

    return SampleSource(repobench_folders(repos), name=repository), ("python_cff/test", "java_cff/test"), said


def _issues(history: History, repository: str, wanted: Wanted) -> _Mined:
    repositories = HistoryRepositories(history.git.folder, history=history)
    miner = IssueMiner(history, repositories, repository, wanted.n, wanted.seed)

    def rows() -> bytes:
        return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in miner.rows).encode()

    digest = made_from(parameters=[history.head, repository, wanted.n, wanted.seed], code=[IssueMiner])
    entry = Entry("issues.jsonl", UNKNOWN_SIZE, rows, made_from=digest)
    return _IssueSource({".": [entry]}, own_repositories=repositories, name=repository), ("full",), miner.said


_SOURCES = {"completion": _completions, "line": _lines, "issue": _issues}
_MEANINGS = {
    "completion": (
        "Completing the functions of {}",
        "The text before a documented Python function's body asks; gold runs from there to the body's end.",
    ),
    "line": (
        "The next line in {}",
        "The lines before one that first uses an imported definition ask; gold is that definition.",
    ),
    "issue": (
        "Which code did the commits of {} change?",
        "A commit's message asks, the repository at its parent is searched; gold are the definitions around the lines "
        "that it replaces there.",
    ),
}


def _at_head(history: History, recipe: Recipe) -> Mined:
    """The repository's source files at the head."""
    repositories = HistoryRepositories(history.git.folder, history=history)
    listing = history.listing(history.head)
    ending = {"java": ".java", "python": ".py"}[recipe.language]
    wanted = {path: blob_id for path, blob_id in sorted(listing.items()) if path.endswith(ending)}

    def read(path: str) -> bytes:
        repositories.contents(wanted.values())
        return repositories.content(wanted[path]) or b""

    files = [Entry(path, UNKNOWN_SIZE, partial(read, path), made_from=blob_id) for path, blob_id in wanted.items()]
    return Mined(recipe, files, "")


def _names(wanted: Wanted) -> tuple[str, str]:
    """What its benchmarks are called by, and `owner/name` of the repository."""
    last = _last(wanted.target)
    name = _NOT_IN_A_NAME.sub("-", (wanted.name or last).lower()).strip("-")
    if not name or len(name) > MAX_NAME:
        what = f"{wanted.name or last!r} gives no name of 1 to {MAX_NAME} letters, digits and hyphens"
        raise GoldspanError(what, hint="Give one: --label NAME", code=Exit.USAGE)
    parts = [part for part in urlsplit(wanted.target).path.split("/") if part] if "://" in wanted.target else []
    by_url = "/".join(parts[-2:]).removesuffix(".git")
    return name, by_url if len(parts) > 1 and not fault_of("repository", by_url) else f"local/{name}"


def _last(target: str) -> str:
    path = urlsplit(target).path if "://" in target else str(Path(target).resolve())
    return path.rstrip("/").rsplit("/", 1)[-1].removesuffix(".git")


def _url(target: str) -> str:
    """The address that git is given."""
    if "://" in target:
        return checked("address", target)
    folder = Path(target).resolve()
    if not folder.is_dir():
        what = f"{target} is neither a folder nor a URL"
        raise GoldspanError(
            what, hint="Name a git repository: a folder, or https://host/owner/name.", code=Exit.MISSING
        )
    return folder.as_uri()
