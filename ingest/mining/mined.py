"""Benchmarks mined from the user's repository: completions, next lines and issues, each by a fixed rule."""

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Generic, NamedTuple
from urllib.parse import urlsplit

from ingest.benchmarks.config import own_benchmark
from ingest.benchmarks.declaration import Benchmark, declared_files
from ingest.mining.history import History, fetched
from ingest.mining.issues import IssueMiner
from ingest.mining.miner import Completion, MinedTask, choose, folder_of, mine_functions
from ingest.mining.names import GENERATED, Question, SourceFiles, is_source, usages_by_name
from ingest.mining.sample import PROMPT_TOKENS, made_entry
from ingest.sources.git import checked, form_fault
from ingest.sources.repository import MAX_SEARCHED_BYTES
from ingest.sources.tree import UNKNOWN_SIZE, Entry, Tree, TreesSource, UnreadableFileError
from lake.errors import Exit, GoldspanError
from lake.make import made_from
from lake.text import counted, language_of


class MineRequest(NamedTuple):
    """A request to mine a repository; an empty `at` means HEAD, an empty `name` the repository's own name."""

    target: str
    at: str
    name: str
    n: int
    seed: str


@dataclass
class _CodeMiner(Generic[MinedTask]):
    """Mines one kind of task from the files at the head of a history; tasks are drawn evenly over the files."""

    kind: str
    mine: Callable[[str, SourceFiles], Iterable[MinedTask]]
    history: History
    repository: str
    request: MineRequest
    left_out: Counter[str] = field(default_factory=Counter)
    n_candidates: int = 0

    @cached_property
    def listing(self) -> dict[str, str]:
        """Path → git id, for files of known languages."""
        listing = self.history.listing(self.history.head)
        return {path: blob_id for path, blob_id in listing.items() if language_of(path)}

    @cached_property
    def entries(self) -> list[Entry]:
        """The files of known languages; reading one over `MAX_SEARCHED_BYTES` raises an error."""

        def opened(path: str) -> io.BytesIO:
            data = self.history.contents(self.listing.values())[self.listing[path]]
            if data is None or len(data) > MAX_SEARCHED_BYTES:
                raise UnreadableFileError(path, f"it has more than {MAX_SEARCHED_BYTES:,} bytes")
            return io.BytesIO(data)

        return [Entry(path, UNKNOWN_SIZE, partial(opened, path), made_from=of) for path, of in self.listing.items()]

    @cached_property
    def files(self) -> SourceFiles:
        """The repository's own source files; the other files are counted in `left_out`."""
        contents = dict[str, bytes]()
        for entry in self.entries:
            if is_source(entry.path):
                try:
                    contents[entry.path] = entry.read()
                except UnreadableFileError:
                    self.left_out[f"file of more than {MAX_SEARCHED_BYTES:,} bytes"] += 1
            else:
                self.left_out["generated or vendored file" if GENERATED.search(entry.path) else "test file"] += 1
        return SourceFiles(contents, self.left_out)

    @cached_property
    def tasks(self) -> list[MinedTask]:
        """The tasks that were drawn."""
        candidates = list(self.mine(self.repository, self.files))
        self.n_candidates = len(candidates)
        n_same = len(candidates) - len({task.answer.strip() for task in candidates})
        self.left_out.update({"same answer as another": n_same} if n_same else {})
        return choose(candidates, self.request.n, self.request.seed)

    def summary(self) -> str:
        """A sentence with the number of tasks drawn, of candidates, and of those left out by each rule."""
        languages = Counter(language_of(task.location[0]) for task in self.tasks)
        by_language = ", ".join(f"{name} {n:,}" for name, n in sorted(languages.items()))
        left_out = ", ".join(f"{rule}: {n:,}" for rule, n in sorted(self.left_out.items()))
        tasks = counted(languages.total(), f"{self.kind} task")
        drawn = f"{tasks}{by_language and f' ({by_language})'} of {self.n_candidates:,}"
        files = counted(len(self.files.contents), "source file")
        return f"{drawn} in {files}; left out: {left_out or 'none'}"


Miner = _CodeMiner[Completion] | _CodeMiner[Question] | IssueMiner
MinedBenchmark = tuple[Benchmark, TreesSource, tuple[str, ...], Miner]
"""A benchmark named after the repository, its source, its subsets, and its miner."""


def open_repository(request: MineRequest, cache: Path) -> History:
    """The history of the requested repository at the requested commit, in a cache."""
    if "://" in request.target:
        return fetched(checked("address", request.target), cache, request.at)
    folder = Path(request.target).resolve()
    if not folder.is_dir():
        hint = "Give a git repository: a folder, or a URL such as https://github.com/owner/name."
        raise GoldspanError(f"{request.target} is neither a folder nor a URL", hint=hint, code=Exit.MISSING)
    return fetched(folder.as_uri(), cache, request.at)


def mined(
    request: MineRequest, history: History, tasks: list[str], declared: Mapping[str, Benchmark]
) -> list[MinedBenchmark]:
    """The benchmarks of a repository, one per kind of task; tasks are mined when they are first read."""
    name, repository, read_from = _names(request)
    pinned = f"{history.head} n={request.n}" + (f" seed={request.seed}" if request.seed else "")
    made = []
    for task in tasks:
        like, title, meaning, mine = MINED_TASKS[task]
        miner, trees, subsets = mine(history, repository, request)
        own = own_benchmark(declared[like], f"{name}-{task}")
        # Files of all languages; RepoEval's own `find` keeps only Python.
        find = own.find
        if task == "completion":
            find = partial(declared_files, trees["tasks"].entries, [trees["files"]], ())
        benchmark = replace(own, title=title.format(name), meaning=meaning, find=find)
        source = TreesSource(trees, name=read_from, label="mined", pinned=pinned, repositories=history)
        made.append((benchmark, source, subsets, miner))
    return made


_Mined = tuple[Miner, dict[str, Tree], tuple[str, ...]]


def _entry(miner: Miner, request: MineRequest, path: str, rows: Callable[[], Iterable[object]]) -> Entry:
    parameters = [miner.history.head, miner.repository, request.n, request.seed, path]
    code = [type(miner)] if isinstance(miner, IssueMiner) else [type(miner), miner.mine]
    return made_entry(path, rows, made_from(parameters=parameters, code=code))


def _completions(history: History, repository: str, request: MineRequest) -> _Mined:
    miner = _CodeMiner("completion", mine_functions, history, repository, request)

    def rows() -> list[object]:
        return [task.row(number, PROMPT_TOKENS["2k"]) for number, task in enumerate(miner.tasks)]

    files = [replace(entry, path=f"{folder_of(repository)}/{entry.path}") for entry in miner.entries]
    tasks = Tree("tasks", [_entry(miner, request, "completions.jsonl", rows)])
    return miner, {"tasks": tasks, "files": Tree("files", files)}, ("function-2k",)


def _questions(repository: str, files: SourceFiles) -> Iterator[Question]:
    for usage in usages_by_name(repository, files):
        yield from usage.questions()


def _lines(history: History, repository: str, request: MineRequest) -> _Mined:
    miner = _CodeMiner("next-line", _questions, history, repository, request)

    def rows(language: str) -> list[object]:
        return [task.as_row() for task in miner.tasks if language_of(task.location[0]) == language]

    languages = sorted({language_of(path) for path in miner.listing if is_source(path)})
    entries = [_entry(miner, request, f"{name}_line.jsonl", partial(rows, name)) for name in languages]
    return miner, {"data": Tree("data", entries)}, tuple(f"{name}_line/test" for name in languages)


def _issues(history: History, repository: str, request: MineRequest) -> _Mined:
    miner = IssueMiner(history, repository, request.n, request.seed)
    entry = _entry(miner, request, "issues.jsonl", lambda: miner.tasks)
    return miner, {".": Tree(".", [entry])}, ("full",)


MINED_TASKS: Mapping[str, tuple[str, str, str, Callable[[History, str, MineRequest], _Mined]]] = {
    "completion": (
        "repoeval",
        "Completing the functions of {}",
        "The text before a function's body is the query; gold runs from there to the body's end.",
        _completions,
    ),
    "line": (
        "repobench-r",
        "The next line in {}",
        "The lines before one that first uses another file's definition are the query; gold is that definition.",
        _lines,
    ),
    "issue": (
        "contextbench",
        "Which code did the commits of {} change?",
        "A commit's message is the query, the repository at its parent is searched; gold are the definitions around "
        "the lines that it replaces there.",
        _issues,
    ),
}
"""Kind of task → the benchmark whose rules apply to it, its title, its meaning, and the function that mines it."""


def _names(request: MineRequest) -> tuple[str, str, str]:
    """The base name of the benchmarks, the repository as `owner/name` or `local/name`, and the target's last part."""
    is_url = "://" in request.target
    path = urlsplit(request.target).path if is_url else str(Path(request.target).resolve())
    last = path.rstrip("/").rsplit("/", 1)[-1].removesuffix(".git")
    name = re.sub(r"[^a-z0-9]+", "-", (request.name or last).lower()).strip("-")
    if not name or len(name) > 40:
        what = f"{request.name or last!r} does not give a name of 1 to 40 letters, digits and hyphens"
        raise GoldspanError(what, hint="Give one: --label NAME", code=Exit.USAGE)
    parts = [part for part in path.split("/") if part] if is_url else []
    by_url = "/".join(parts[-2:]).removesuffix(".git")
    return name, by_url if len(parts) > 1 and not form_fault("repository", by_url) else f"local/{name}", last
