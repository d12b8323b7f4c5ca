"""The bundled sample in the publishers' layouts: mined from packages installed anyway, and from Java of our own."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path

from filelock import FileLock

from ingest.mining.miner import (
    COMPLETIONS,
    Completion,
    Language,
    Level,
    Recipe,
    folder_of,
    mine_completions,
    mine_next_lines,
)
from ingest.mining.packages import Package, read_package
from ingest.mining.usage import LEVELS, SETTINGS, Question, Setting
from ingest.mining.usage import Level as Difficulty
from ingest.sources.folder import FolderSource, read_folder
from ingest.sources.git import Repositories
from ingest.sources.git_process import GitFolder
from ingest.sources.tree import UNKNOWN_SIZE, Entry, Source, Tree, unusable
from lake.errors import Exit, GoldspanError
from lake.fingerprint import fingerprint, sha256_of, sha256_of_file
from lake.make import made_from

DATA = Path(__file__).parent / "data"
CONTEXTBENCH = DATA / "contextbench"
STREAMS = CONTEXTBENCH / "repositories"
"""ContextBench's: `<owner>/<name>.fast-export`, as `git fast-export` writes one, with every date and author, so that
each commit has the same id wherever it is made."""

PACKAGES: dict[str, Recipe] = {
    "attrs": Recipe("python-attrs/attrs", split="train"),
    "click": Recipe("pallets/click"),
    "fsspec": Recipe("fsspec/filesystem_spec"),
    "gitpython": Recipe("gitpython-developers/GitPython"),
    "httpx2": Recipe("pydantic/httpx2"),
    "jinja2": Recipe("pallets/jinja"),
    "jsonschema": Recipe("python-jsonschema/jsonschema"),
    "markdown-it-py": Recipe("executablebooks/markdown-it-py"),
    "packaging": Recipe("pypa/packaging"),
    "python-dateutil": Recipe("dateutil/dateutil"),
    "rich": Recipe("Textualize/rich"),
}
"""Package → what is mined from it, under the name of where it is developed. Each is pure Python, permissively licensed
and pinned to one version for every platform in requirements.txt, so that the sample is the same everywhere."""

OWN = (
    Recipe("goldspan-sample/orchard", "java"),
    Recipe("goldspan-sample/railway", "java"),
    Recipe("goldspan-sample/lending", "java", split="train"),
)
"""What is mined from `data/java/<repository>`."""

OWN_LICENCE = "MIT"

CONTEXTS: Mapping[str, int] = {"1k": 667, "2k": 1333, "4k": 2667}
"""How many `regex` tokens a prompt has at most. RepoCoder allows 1,000, 2,000 or 4,000 of Codex's tokens; three of
those are about two `regex` tokens (RepoEval's own prompts, where cut, have a median of 1,326 at 2k and 2,679 at 4k)."""

_LANGUAGES: tuple[Language, ...] = ("java", "python")


@dataclass(frozen=True)
class Mined:
    """A repository and what is mined from it."""

    recipe: Recipe
    files: Sequence[Entry]
    licence: str

    @property
    def digest(self) -> str:
        """Changes with any file, and with the recipe."""
        files = [(file.path, file.made_from or sha256_of(file.read())) for file in self.files]
        return fingerprint(asdict(self.recipe), files)

    @cached_property
    def completions(self) -> dict[Level, list[Completion]]:
        """The completions that the recipe asks."""
        return mine_completions(self._read(), self.recipe)

    @cached_property
    def next_lines(self) -> dict[tuple[Setting, Difficulty], list[Question]]:
        """The next lines that the recipe asks."""
        return mine_next_lines(self._read(), self.recipe)

    def _read(self) -> dict[str, bytes]:
        return {file.path: file.read() for file in self.files}


@dataclass(frozen=True)
class SampleSource(Source):
    """A benchmark's layout over what is mined: folder → files; its revision is the packages it is cut from."""

    folders: Mapping[str, Sequence[Entry]]

    def find(self, path: str) -> Tree | None:
        """As of `Source`."""
        return Tree(path, self.folders[path]) if path in self.folders else None


def open_sample(benchmark: str) -> SampleSource:
    """The sample of a benchmark; packages are listed, nothing is read or mined before an entry is."""
    if benchmark not in ("repobench-r", "repoeval"):
        hint = "There is one of contextbench, repobench-r and repoeval. Give a folder: SOURCE=<folder>."
        raise GoldspanError(f"there is no sample of {benchmark}", hint=hint, code=Exit.MISSING)
    packages = [(read_package(name), recipe) for name, recipe in PACKAGES.items()]
    revision = " ".join(package.pin for package, _ in packages)
    mined = [of_package(package, recipe) for package, recipe in packages]
    if benchmark == "repoeval":
        licences = {folder_of(project.recipe.repository): project.licence for project in mined}
        folders = repoeval_folders(mined)
    else:
        mined += map(of_folder, OWN)
        licences = {project.recipe.repository: project.licence for project in mined}
        folders = repobench_folders(mined)
    return SampleSource(folders, name="sample", label="sample", pinned=revision, licences=licences)


def of_package(package: Package, recipe: Recipe) -> Mined:
    """What a recipe mines from an installed package."""
    return Mined(recipe, list(package.files.values()), package.licence)


def of_folder(recipe: Recipe) -> Mined:
    """What a recipe mines from a folder of Java of our own, `java/<repository>`."""
    return Mined(recipe, read_folder(DATA / "java" / recipe.repository, recipe.repository).entries, OWN_LICENCE)


def repoeval_folders(repositories: Sequence[Mined]) -> dict[str, list[Entry]]:
    """RepoEval's folders → their files, sorted; task files are made when they are read."""

    def rows(level: Level, limit: int) -> Iterator[object]:
        for project in repositories:
            yield from (row.row(n, limit) for n, row in enumerate(project.completions[level]))

    def files(folder: str) -> list[Entry]:
        by_folder = sorted((folder_of(project.recipe.repository), project.files) for project in repositories)
        paths = [(f"{folder}/{repo}/{file.path}", file) for repo, files in by_folder for file in files]
        return [Entry(path, file.size, file.read, made_from=file.made_from) for path, file in paths]

    made = {
        f"{level}_level_completion_{context}_context_codex.test.jsonl": partial(rows, level, limit)
        for level in COMPLETIONS
        for context, limit in CONTEXTS.items()
    }
    repository_folders = {f"repositories/{name}": files(name) for name in ("function_level", "line_and_api_level")}
    return {"datasets": _made_when_read(made, repositories, "\r\n"), **repository_folders}


def repobench_folders(repositories: Sequence[Mined]) -> dict[str, list[Entry]]:
    """RepoBench-R's folder → its files of rows, sorted and made when they are read."""

    def rows(language: Language, setting: Setting) -> Iterator[object]:
        mined = [project for project in repositories if project.recipe.language == language]
        for level, project in ((level, project) for level in LEVELS for project in mined):
            yield from (question.as_row(project.recipe.split) for question in project.next_lines[setting, level])

    made = {f"{name}_{setting}.jsonl": partial(rows, name, setting) for name in _LANGUAGES for setting in SETTINGS}
    return {"data": _made_when_read(made, repositories, "\n")}


def _made_when_read(
    files: Mapping[str, Callable[[], Iterator[object]]], repositories: Sequence[Mined], end: str
) -> list[Entry]:
    digest = made_from(parameters=[project.digest for project in repositories], code=[repoeval_folders])

    def made(rows: Callable[[], Iterator[object]]) -> bytes:
        return "".join(f"{json.dumps(row)}{end}" for row in rows()).encode()

    return [Entry(path, UNKNOWN_SIZE, partial(made, rows), made_from=digest) for path, rows in sorted(files.items())]


@dataclass(frozen=True)
class ContextBenchSample(FolderSource):
    """The sample; see `Source` for what the attributes say."""

    cache: Path

    @cached_property
    def own_repositories(self) -> Repositories:
        """Its own, made where the cache does not hold them, and cloned as all others are."""
        folder = self.cache.resolve() / "contextbench-sample" / self.revision
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with FileLock(folder / ".lock"):
                for name, stream in _streams().items():
                    _make(folder / name, stream)
        except OSError as error:
            raise unusable(self.cache, error) from error
        return Repositories(self.cache, base=folder.as_uri())


def contextbench_sample(cache: Path) -> ContextBenchSample:
    """ContextBench's sample, its repositories made in a cache when they are asked for."""
    files = sorted(file for file in CONTEXTBENCH.rglob("*") if file.is_file())
    revision = fingerprint([(file.relative_to(CONTEXTBENCH), sha256_of_file(file)) for file in files])[:16]
    licences = dict.fromkeys(_streams(), OWN_LICENCE)
    return ContextBenchSample(CONTEXTBENCH, cache, name="sample", label="sample", pinned=revision, licences=licences)


def _streams() -> dict[str, Path]:
    """`owner/name` → what a repository is made of."""
    files = sorted(STREAMS.rglob("*.fast-export"))
    return {file.relative_to(STREAMS).with_suffix("").as_posix(): file for file in files}


def _make(folder: Path, stream: Path) -> None:
    """A bare repository of what was exported; one that is there already stays."""
    if folder.is_dir():
        return
    beside = folder.with_name(f"{folder.name}.{os.getpid()}.new")
    beside.parent.mkdir(parents=True, exist_ok=True)
    git = GitFolder(beside)
    git.make()
    with stream.open("rb") as given:
        git.run("fast-import", "--quiet", given=given)
    beside.replace(folder)
