"""The bundled sample in the publishers' layouts: places in packages that are required anyway, and in own Java code."""

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, cached_property, partial
from importlib.metadata import PackageNotFoundError, PackagePath, distribution
from itertools import product
from pathlib import Path

from pydantic import BaseModel

from ingest.mining.miner import PROMPT_TOKENS, completion_row
from ingest.mining.names import FileUsage, lines_of
from ingest.sources.folder import folder_source, read_folder
from ingest.sources.tree import Entry, Source, Tree, entry_on_disk
from lake.errors import Exit, GoldspanError
from lake.fingerprint import fingerprint, sha256_of, sha256_of_file
from lake.make import made_from

DATA = Path(__file__).parent / "data"
PLACES_FILE = DATA / "places.jsonl"
"""The places of the sample's tasks in files: one line per repository. Each package is pure Python, permissively
licensed and pinned to one version for every platform in requirements.txt, so that the sample is the same everywhere."""


class Uses(BaseModel):
    """A file's imports and the definitions that it imports, as byte ranges of the texts that `lines_of` gives."""

    imports: list[tuple[int, int]]
    candidates: list[tuple[str, int, int]]


class Places(BaseModel):
    """The places of a repository's tasks; its files are those of the package `pin`, or own Java code if that is empty.

    `completions`: level → path, lines [start, end) from 0 and, for a function, its name; `next_lines`: setting → path,
    line from 0 and number of the candidate that the line uses.
    """

    repository: str
    pin: str
    licence: str
    language: str
    split: str
    completions: dict[str, list[tuple[str, int, int, str] | tuple[str, int, int]]]
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

    @cached_property
    def usages(self) -> dict[str, FileUsage]:
        """What the files with next-line tasks use of other files."""
        texts, usages = {path: "".join(lines).encode() for path, lines in self.lines.items()}, {}
        for path, uses in self.files.items():
            text, import_rows = texts[path], set[int]()
            for start, end in uses.imports:
                import_rows.update(range(text.count(b"\n", 0, start), text.count(b"\n", 0, end) + 1))
            statements = [text[start:end].decode() for start, end in uses.imports]
            candidates = [texts[other][start:end].decode() for other, start, end in uses.candidates]
            usages[path] = FileUsage(self.repository, path, self.lines[path], statements, import_rows, candidates)
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
        return replace(folder_source(home, "sample", "sample"), revision=revision, licences=licences)
    if benchmark not in ("repobench-r", "repoeval"):
        hint = "There is one of contextbench, repobench-r and repoeval. Give a folder: SOURCE=<folder>."
        raise GoldspanError(f"there is no sample of {benchmark}", hint=hint, code=Exit.MISSING)
    repositories = [each for each in read_places() if each.completions or benchmark == "repobench-r"]
    entries = [[(file.path, file.made_from) for file in each.entries] for each in repositories]
    recipes = [each.model_dump_json() for each in repositories]
    digest = made_from(parameters=[recipes, entries], code=[read_places])
    rows = dict[str, Callable[[], Iterable[object]]]()
    if benchmark == "repobench-r":
        by_name = {each.repository: each for each in repositories}
        for language, setting in product(("java", "python"), ("cff", "cfr")):
            rows[f"{language}_{setting}.jsonl"] = partial(_next_line_rows, repositories, language, setting)
        trees = {"data": made_tree("data", rows, digest)}
    else:
        by_name = {each.repository.replace("/", "_"): each for each in repositories}
        for level, (context, limit) in product(("function", "line"), PROMPT_TOKENS.items()):
            file = f"{level}_level_completion_{context}_context_codex.test.jsonl"
            rows[file] = partial(_completion_rows, repositories, level, limit)
        trees = {"datasets": made_tree("datasets", rows, digest, "\r\n")}
        for folder in ("function_level", "line_and_api_level"):
            in_folder = [(f"{folder}/{name}", file) for name in sorted(by_name) for file in by_name[name].entries]
            moved = [replace(file, path=f"{above}/{file.path}") for above, file in in_folder]
            trees[f"repositories/{folder}"] = Tree(f"repositories/{folder}", moved)
    revision = " ".join(each.pin for each in repositories if each.pin)
    licences = {name: each.licence for name, each in by_name.items()}
    return Source(name="sample", find=trees.get, label="sample", revision=revision, licences=licences)


def _completion_rows(repositories: Sequence[Places], level: str, limit: int) -> Iterator[object]:
    for each in repositories:
        for number, (path, start, end, *name) in enumerate(each.completions[level]):
            lines, function = each.lines[path], "".join(map(str, name))
            yield completion_row(each.repository, path, lines, start, end, function, number, limit)


def _next_line_rows(repositories: Sequence[Places], language: str, setting: str) -> list[dict[str, object]]:
    rows = []
    for each in [each for each in repositories if each.language == language]:
        rows += [each.usages[path].row(line, gold, each.split) for path, line, gold in each.next_lines[setting]]
    return sorted(rows, key=lambda row: str(row["level"]))


@cache
def read_places(file: Path = PLACES_FILE) -> list[Places]:
    """The repositories of the sample."""
    return [Places.model_validate_json(line) for line in file.read_text(encoding="utf-8").splitlines()]


def read_package(pin: str) -> dict[str, Entry]:
    """The `.py` files of an installed package (`click==8.5.1`), by path, with the digests that its wheel recorded."""
    name, _, version = pin.partition("==")
    recorded = list[PackagePath]()
    with suppress(PackageNotFoundError):
        installed = distribution(name)
        recorded = list((installed.files if installed.version == version else None) or ())
    files = dict[str, Entry]()
    for file in recorded:
        if file.suffix == ".py" and ".." not in file.parts and file.hash:
            entry = entry_on_disk(Path(str(file.locate())), str(file))
            files[entry.path] = replace(entry, made_from=file.hash.value)
    if not files:
        what = f"the sample is cut from the package {pin}, which is not installed with a record of its files"
        hint = "Install it from its wheel: python -m pip install --force-reinstall --no-deps -r requirements.txt"
        raise GoldspanError(what, hint=hint, code=Exit.MISSING)
    return dict(sorted(files.items()))


def made_tree(
    folder: str, rows: Mapping[str, Callable[[], Iterable[object]]], digest: str = "", end: str = "\n"
) -> Tree:
    """A folder of files of rows, by path, which are made when they are read."""

    def opened(of_file: Callable[[], Iterable[object]]) -> io.BytesIO:
        return io.BytesIO("".join(f"{json.dumps(row)}{end}" for row in of_file()).encode())

    files = [Entry(path, partial(opened, rows[path]), made_from=digest) for path in sorted(rows)]
    return Tree(folder, files)
