"""Benchmarks mined from the user's repository: completions, next lines and issues, each by a fixed rule."""

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from urllib.parse import urlsplit

from ingest.benchmarks.config import own_benchmark
from ingest.benchmarks.declaration import Benchmark, declared_files
from ingest.mining.history import History
from ingest.mining.issues import IssueMiner
from ingest.mining.miner import choose, mine_functions
from ingest.mining.names import GENERATED, Task, is_source, mine_lines
from ingest.mining.sample import made_tree
from ingest.sources.git import MAX_BLOB_BYTES, form_fault
from ingest.sources.tree import Entry, Source, Tree, UnreadableFileError
from lake.errors import Exit, GoldspanError
from lake.rejects import Rejects
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


@dataclass
class CodeMiner:
    """Mines one kind of task from the files at the head of a history; tasks are drawn evenly over the files."""

    history: History
    repository: str
    n: int
    seed: str
    kind: str
    mine: Callable[[str, Mapping[str, bytes], Counter[str]], Iterable[Task]]
    left_out: Counter[str] = field(default_factory=Counter)
    n_files: int = 0
    n_candidates: int = 0

    @cached_property
    def listing(self) -> dict[str, str]:
        """Path → git id, for files of known languages."""
        listing = self.history.listing(self.history.head)
        return {path: blob_id for path, blob_id in listing.items() if language_of(path)}

    @cached_property
    def tasks(self) -> list[Task]:
        """The tasks that were drawn."""
        sources = [path for path in self.listing if is_source(path)]
        files = self.history.files(self.repository, self.history.head)(Rejects(), sources)
        contents = {file.path: file.data for file in files}
        candidates = list(self.mine(self.repository, contents, self.left_out))
        self.n_files, self.n_candidates = len(contents), len(candidates)
        others = self.listing.keys() - sources
        self.left_out.update("generated or vendored file" if GENERATED.search(path) else "test file" for path in others)
        self.left_out[f"file of more than {MAX_BLOB_BYTES:,} bytes"] = len(sources) - len(contents)
        self.left_out["same answer as another"] = len(candidates) - len({task.answer.strip() for task in candidates})
        return choose(candidates, self.n, self.seed)

    def pool(self) -> Tree:
        """The files of known languages, in RepoEval's folder for the repository; reading a large one is an error."""

        def opened(path: str) -> io.BytesIO:
            data = self.history.contents(self.listing.values())[self.listing[path]]
            if data is None:
                raise UnreadableFileError(path, f"it has more than {MAX_BLOB_BYTES:,} bytes")
            return io.BytesIO(data)

        folder = self.repository.replace("/", "_")
        files = [
            Entry(f"{folder}/{path}", partial(opened, path), made_from=blob_id)
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
        left_out = ", ".join(f"{rule}: {n:,}" for rule, n in sorted(self.left_out.items()) if n)
        tasks = counted(languages.total(), f"{self.kind} task")
        drawn = f"{tasks}{by_language and f' ({by_language})'} of {self.n_candidates:,}"
        return f"{drawn} in {counted(self.n_files, 'source file')}; left out: {left_out or 'none'}"


MinedBenchmark = tuple[Benchmark, Source, Sequence[str], CodeMiner | IssueMiner]
"""A benchmark named after the repository, its source, its subsets, and its miner."""


def mined(
    history: History, target: str, label: str, kinds: Sequence[str], known: Mapping[str, Benchmark], n: int, seed: str
) -> list[MinedBenchmark]:
    """The benchmarks of the repository `target`, one per kind of task; tasks are mined when they are asked for."""
    name, repository, read_from = _names(target, label)
    revision = f"{history.head} n={n}" + (f" seed={seed}" if seed else "")
    drawn, made = (history, repository, n, seed), list[MinedBenchmark]()
    for kind in kinds:
        like, title, meaning = MINED_TASKS[kind]
        own = own_benchmark(known[like], f"{name}-{kind}")
        benchmark = replace(own, title=title.format(name), meaning=meaning)
        miner: CodeMiner | IssueMiner
        if kind == "issue":
            miner, subsets = IssueMiner(*drawn), ["full"]
            tasks = made_tree(".", {"issues.jsonl": miner.rows})
        elif kind == "line":
            miner = CodeMiner(*drawn, "next-line", mine_lines)
            languages = sorted({language_of(path) for path in miner.listing if is_source(path)})
            tasks = made_tree("data", {f"{each}_line.jsonl": partial(miner.rows, each) for each in languages})
            subsets = [f"{language}_line/test" for language in languages]
        else:
            miner, subsets = CodeMiner(*drawn, "completion", mine_functions), ["function-2k"]
            tasks = made_tree("tasks", {"completions.jsonl": miner.rows})
            # Files of all languages; RepoEval's own `find` keeps only Python.
            benchmark = replace(benchmark, find=partial(declared_files, tasks.entries, [miner.pool()]))
        find = {tasks.location: tasks}.get
        source = Source(name=read_from, find=find, label="mined", revision=revision, repositories=history.files)
        made.append((benchmark, source, subsets, miner))
    return made


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
