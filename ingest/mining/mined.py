"""Benchmarks mined from the user's repository: completions, next lines and issues, each by a fixed rule."""

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from ingest.benchmarks.config import own_benchmark
from ingest.benchmarks.declaration import Benchmark, declared_files
from ingest.mining.history import History, fetched
from ingest.mining.issues import IssueMiner
from ingest.mining.miner import choose, folder_of, mine_functions
from ingest.mining.names import GENERATED, SourceFiles, Task, is_source, mine_lines
from ingest.mining.sample import made_tree
from ingest.sources.git import MAX_BLOB_BYTES, checked, form_fault
from ingest.sources.tree import UNKNOWN_SIZE, Entry, Source, Tree, UnreadableFileError
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
class CodeMiner:
    """Mines one kind of task from the files at the head of a history; tasks are drawn evenly over the files."""

    history: History
    repository: str
    n: int
    seed: str
    kind: str
    mine: Callable[[str, SourceFiles], Iterable[Task]]
    left_out: Counter[str] = field(default_factory=Counter)
    n_candidates: int = 0

    @cached_property
    def listing(self) -> dict[str, str]:
        """Path → git id, for files of known languages."""
        listing = self.history.listing(self.history.head)
        return {path: blob_id for path, blob_id in listing.items() if language_of(path)}

    @cached_property
    def files(self) -> SourceFiles:
        """The repository's own source files; the other files are counted in `left_out`."""
        sources = [path for path in self.listing if is_source(path)]
        contents = dict(self.history.files(self.repository, self.history.head).read(sources))
        others = self.listing.keys() - sources
        self.left_out.update("generated or vendored file" if GENERATED.search(path) else "test file" for path in others)
        if n_large := len(sources) - len(contents):
            self.left_out[f"file of more than {MAX_BLOB_BYTES:,} bytes"] = n_large
        return SourceFiles(contents, self.left_out)

    @cached_property
    def tasks(self) -> list[Task]:
        """The tasks that were drawn."""
        candidates = list(self.mine(self.repository, self.files))
        self.n_candidates = len(candidates)
        if n_same := len(candidates) - len({task.answer.strip() for task in candidates}):
            self.left_out["same answer as another"] = n_same
        return choose(candidates, self.n, self.seed)

    def pool(self) -> Tree:
        """The files of known languages, in RepoEval's folder for the repository; reading a large one is an error."""

        def opened(path: str) -> io.BytesIO:
            data = self.history.contents(self.listing.values())[self.listing[path]]
            if data is None:
                raise UnreadableFileError(path, f"it has more than {MAX_BLOB_BYTES:,} bytes")
            return io.BytesIO(data)

        files = [
            Entry(f"{folder_of(self.repository)}/{path}", UNKNOWN_SIZE, partial(opened, path), made_from=blob_id)
            for path, blob_id in self.listing.items()
        ]
        return Tree("files", files)

    def rows(self, language: str = "") -> list[object]:
        """The tasks as rows, with a language those in its files."""
        return [task.row() for task in self.tasks if language in ("", language_of(task.path))]

    def summary(self) -> str:
        """A sentence with the number of tasks drawn, of candidates, and of those left out by each rule."""
        languages = Counter(language_of(task.path) for task in self.tasks)
        by_language = ", ".join(f"{name} {n:,}" for name, n in sorted(languages.items()))
        left_out = ", ".join(f"{rule}: {n:,}" for rule, n in sorted(self.left_out.items()))
        tasks = counted(languages.total(), f"{self.kind} task")
        drawn = f"{tasks}{by_language and f' ({by_language})'} of {self.n_candidates:,}"
        files = counted(len(self.files.contents), "source file")
        return f"{drawn} in {files}; left out: {left_out or 'none'}"


def open_repository(request: MineRequest, cache: Path) -> History:
    """The history of the requested repository at the requested commit, in a cache."""
    if "://" in request.target:
        return fetched(checked("address", request.target), cache, request.at)
    folder = Path(request.target).resolve()
    if not folder.is_dir():
        hint = "Give a git repository: a folder, or a URL such as https://github.com/owner/name."
        raise GoldspanError(f"{request.target} is neither a folder nor a URL", hint=hint, code=Exit.MISSING)
    return fetched(folder.as_uri(), cache, request.at)


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

Miner = CodeMiner | IssueMiner
MinedBenchmark = tuple[Benchmark, Source, tuple[str, ...], Miner]
"""A benchmark named after the repository, its source, its subsets, and its miner."""


def mined(
    request: MineRequest, history: History, kinds: list[str], declared: Mapping[str, Benchmark]
) -> list[MinedBenchmark]:
    """The benchmarks of a repository, one per kind of task; tasks are mined when they are first read."""
    name, repository, read_from = _names(request)
    pinned = f"{history.head} n={request.n}" + (f" seed={request.seed}" if request.seed else "")
    made = list[MinedBenchmark]()
    for kind in kinds:
        like, title, meaning = MINED_TASKS[kind]
        own = own_benchmark(declared[like], f"{name}-{kind}")
        benchmark = replace(own, title=title.format(name), meaning=meaning)
        miner: Miner
        subsets: tuple[str, ...]
        rows: Mapping[str, Callable[[], Iterable[object]]]
        if kind == "issue":
            miner, folder, subsets = IssueMiner(history, repository, request.n, request.seed), ".", ("full",)
            rows = {"issues.jsonl": miner.rows}
        elif kind == "line":
            miner, folder = CodeMiner(history, repository, request.n, request.seed, "next-line", mine_lines), "data"
            languages = sorted({language_of(path) for path in miner.listing if is_source(path)})
            rows = {f"{language}_line.jsonl": partial(miner.rows, language) for language in languages}
            subsets = tuple(f"{language}_line/test" for language in languages)
        else:
            miner = CodeMiner(history, repository, request.n, request.seed, "completion", mine_functions)
            folder, rows, subsets = "tasks", {"completions.jsonl": miner.rows}, ("function-2k",)
            pool = miner.pool()
        digest = made_from(parameters=[history.head, repository, request.n, request.seed], code=[type(miner)])
        tasks = made_tree(folder, rows, digest)
        if kind == "completion":
            # Files of all languages; RepoEval's own `find` keeps only Python.
            benchmark = replace(benchmark, find=partial(declared_files, tasks.entries, [pool]))
        source = Source(trees={folder: tasks}, name=read_from, label="mined", pinned=pinned, repositories=history.files)
        made.append((benchmark, source, subsets, miner))
    return made


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
