"""The bundled sample in the publishers' layouts: places in packages that are required anyway, and in own Java code."""

import base64
import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, cached_property, partial
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from pydantic import BaseModel

from ingest.mining.miner import Completion, Level, folder_of
from ingest.mining.names import FileUsage, Question, lines_of
from ingest.sources.folder import FolderSource, read_folder
from ingest.sources.tree import UNKNOWN_SIZE, Entry, Source, Tree, TreesSource
from lake.errors import Exit, GoldspanError
from lake.fingerprint import fingerprint, sha256_of, sha256_of_file
from lake.make import made_from

DATA = Path(__file__).parent / "data"
PLACES_FILE = DATA / "places.jsonl"
"""The places of the sample's tasks in files: one line per repository. Each package is pure Python, permissively
licensed and pinned to one version for every platform in requirements.txt, so that the sample is the same everywhere."""


PROMPT_TOKENS: Mapping[str, int] = {"1k": 667, "2k": 1333, "4k": 2667}
"""The maximum number of `regex` tokens in a prompt. RepoCoder allows 1,000, 2,000 or 4,000 of Codex's tokens; three of
those are about two `regex` tokens (RepoEval's own prompts, where cut, have a median of 1,326 at 2k and 2,679 at 4k)."""


ByteSpan = tuple[str, int, int]
"""Path, and bytes `[start, end)` of the text that `lines_of` gives."""


class Uses(BaseModel):
    """A file's import statements, as byte ranges, and the definitions that it imports from its repository."""

    imports: list[tuple[int, int]]
    candidates: list[ByteSpan]


class Places(BaseModel):
    """The places of a repository's tasks; its files are those of the package `pin`, or own Java code if that is empty.

    Attributes:
        completions: Level → path, lines [start, end) from 0 and, for a function, its name.
        next_lines: Setting → path, line from 0 and number of the candidate that the line uses.
    """

    repository: str
    pin: str
    licence: str
    language: str
    split: str
    completions: dict[Level, list[tuple[str, int, int, str] | tuple[str, int, int]]]
    files: dict[str, Uses]
    next_lines: dict[str, list[tuple[str, int, int]]]

    @cached_property
    def entries(self) -> list[Entry]:
        """The files of the repository."""
        if self.pin:
            return list(read_package(self.pin).values())
        folder = read_folder(DATA / "java" / self.repository, self.repository)
        return [replace(entry, made_from=sha256_of(entry.read())) for entry in folder.entries]

    @cached_property
    def lines(self) -> dict[str, list[str]]:
        """The lines of each source file, as the places count them."""
        sources = (file for file in self.entries if file.path.endswith((".py", ".java")))
        return {file.path: lines_of(file.read()) or [] for file in sources}

    def completion_rows(self, level: Level, limit: int) -> Iterable[object]:
        """The completions of a level as rows, with at most `limit` tokens in a prompt."""
        for number, (path, start, end, *name) in enumerate(self.completions.get(level, ())):
            of = (level, self.repository, path, self.lines[path], start, end)
            yield Completion.of(*of, *map(str, name)).row(number, limit)

    def next_line_rows(self, setting: str) -> Iterable[dict[str, object]]:
        """The next-line tasks of a setting as rows."""
        for path, row, gold in self.next_lines[setting]:
            yield Question.of(self._usages[path], row, gold).as_row(self.split)

    @cached_property
    def _usages(self) -> dict[str, FileUsage]:
        texts = {path: "".join(lines).encode() for path, lines in self.lines.items()}
        usages = {}
        for path, uses in self.files.items():
            text, imports, lines = texts[path], uses.imports, self.lines[path]
            rows = (range(text.count(b"\n", 0, start), text.count(b"\n", 0, end) + 1) for start, end in imports)
            statements = [text[start:end].decode() for start, end in imports]
            import_rows = frozenset(row for of_one in rows for row in of_one)
            candidates = [texts[path][start:end].decode() for path, start, end in uses.candidates]
            usages[path] = FileUsage(self.repository, path, lines, statements, import_rows, candidates)
        return usages


def open_sample(benchmark: str) -> Source:
    """The sample of a benchmark; packages are listed, but no file is read before its entry is."""
    if benchmark == "contextbench":
        # Small repositories of our own; each Parquet file has the files of one repository at one commit.
        home = DATA / benchmark
        files = sorted(file for file in home.rglob("*") if file.is_file())
        revision = fingerprint([(file.relative_to(home), sha256_of_file(file)) for file in files])[:16]
        names = {file.name.partition("@")[0].replace("__", "/") for file in (home / "repo_files").iterdir()}
        licences = dict.fromkeys(names, "MIT")
        return FolderSource(home, name="sample", label="sample", pinned=revision, licences=licences)
    if benchmark not in ("repobench-r", "repoeval"):
        hint = "There is one of contextbench, repobench-r and repoeval. Give a folder: SOURCE=<folder>."
        raise GoldspanError(f"there is no sample of {benchmark}", hint=hint, code=Exit.MISSING)
    repositories = read_places()
    revision = " ".join(each.pin for each in repositories if each.pin)
    name_of: Callable[[str], str] = str
    make = _repobench_folders
    if benchmark == "repoeval":
        repositories = [each for each in repositories if each.completions]
        name_of, make = folder_of, _repoeval_folders
    licences = {name_of(each.repository): each.licence for each in repositories}
    trees = {path: Tree(path, entries) for path, entries in make(repositories).items()}
    return TreesSource(trees, name="sample", label="sample", pinned=revision, licences=licences)


@cache
def read_places(file: Path = PLACES_FILE) -> list[Places]:
    """The repositories of the sample."""
    return [Places.model_validate_json(line) for line in file.read_text(encoding="utf-8").splitlines()]


def read_package(pin: str) -> dict[str, Entry]:
    """The `.py` files of an installed package (`click==8.5.1`), by path; each is checked when read."""
    name, _, version = pin.partition("==")
    record, files = "", dict[str, Entry]()
    with suppress(PackageNotFoundError):
        installed = distribution(name)
        # The RECORD itself: from Python 3.12 on, `Distribution.files` omits recorded files that no longer exist.
        record = (installed.read_text("RECORD") or "") if installed.version == version else ""
    for recorded, digest, size in csv.reader(record.splitlines()):
        if recorded.endswith(".py") and ".." not in recorded.split("/"):
            opened = partial(_open_checked, Path(str(installed.locate_file(recorded))), f"{recorded} of {pin}", digest)
            files[recorded] = Entry(recorded, int(size), opened, made_from=digest)
    if not files:
        what = f"the sample is cut from the package {pin}, which is not installed with a record of its files"
        raise GoldspanError(what, hint=_INSTALL, code=Exit.MISSING)
    return dict(sorted(files.items()))


_INSTALL = "Install it from its wheel: python -m pip install --force-reinstall --no-deps -r requirements.txt"


def _open_checked(file: Path, name: str, digest: str) -> io.BytesIO:
    data = file.read_bytes() if file.is_file() else b""
    checksum = f"sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()}"
    if checksum != digest.rstrip("="):
        raise GoldspanError(f"{name} is not what its wheel recorded", where=str(file), hint=_INSTALL, code=Exit.INVALID)
    return io.BytesIO(data)


def _repoeval_folders(repositories: Sequence[Places]) -> dict[str, list[Entry]]:
    def rows(level: Level, limit: int) -> Iterable[object]:
        return (row for repository in repositories for row in repository.completion_rows(level, limit))

    def files(folder: str) -> list[Entry]:
        by_folder = sorted((folder_of(each.repository), each.entries) for each in repositories)
        return [replace(file, path=f"{folder}/{repo}/{file.path}") for repo, files in by_folder for file in files]

    levels: tuple[Level, ...] = ("function", "line")
    made = {
        f"{level}_level_completion_{context}_context_codex.test.jsonl": partial(rows, level, limit)
        for level in levels
        for context, limit in PROMPT_TOKENS.items()
    }
    repository_folders = {f"repositories/{name}": files(name) for name in ("function_level", "line_and_api_level")}
    return {"datasets": _made_when_read(made, repositories, "\r\n"), **repository_folders}


def _repobench_folders(repositories: Sequence[Places]) -> dict[str, list[Entry]]:
    def rows(language: str, setting: str) -> Iterable[object]:
        of_language = (each for each in repositories if each.language == language)
        made = (row for repository in of_language for row in repository.next_line_rows(setting))
        return sorted(made, key=lambda row: str(row["level"]))

    names = [(language, setting) for language in ("java", "python") for setting in ("cff", "cfr")]
    made = {f"{language}_{setting}.jsonl": partial(rows, language, setting) for language, setting in names}
    return {"data": _made_when_read(made, repositories, "\n")}


def _made_when_read(
    files: Mapping[str, Callable[[], Iterable[object]]], repositories: Sequence[Places], end: str
) -> list[Entry]:
    entries = [[(file.path, file.made_from) for file in each.entries] for each in repositories]
    recipes = [each.model_dump_json() for each in repositories]
    digest = made_from(parameters=[recipes, entries], code=[read_places])
    return [made_entry(path, rows, digest, end) for path, rows in sorted(files.items())]


def made_entry(path: str, rows: Callable[[], Iterable[object]], digest: str, end: str = "\n") -> Entry:
    """A file of rows that is made when it is read."""

    def opened() -> io.BytesIO:
        return io.BytesIO("".join(f"{json.dumps(row)}{end}" for row in rows()).encode())

    return Entry(path, UNKNOWN_SIZE, opened, made_from=digest)
