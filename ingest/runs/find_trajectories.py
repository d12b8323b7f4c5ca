"""The format of a file; the trajectory files in a file, folder or ZIP, their trajectories, and the item of each."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import PurePosixPath

import polars as pl

import ingest.runs.formats
from ingest.rejects import Rejects
from ingest.runs.importer import Importer, TrajectoryFile, item_in
from ingest.runs.trajectory import Trajectory
from ingest.runs.values import str_at
from ingest.sources.folder import open_archive, read_folder
from ingest.sources.input_file import InputFile
from ingest.sources.tree import Entry, Tree, UnreadableFileError, entry_on_disk
from lake.declarations import discover
from lake.errors import Exit, GoldspanError, lookup
from lake.fingerprint import fingerprint, sha256_of_file
from lake.make import write_if_changed
from lake.store import Lake
from lake.tables import declared_rows
from lake.text import counted, listed

AUTO = "auto"  # the format is detected from the file's content
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")  # the first bytes of an archive; the second form is that of an empty one
TASK_FILE, REPOSITORY = "task.json", "repository"  # what `ingest tasks` writes for an item next to its prompt
_LEAST_QUESTION = 20  # characters: a shorter query may occur in any text


@cache
def importers() -> dict[str, Importer]:
    """Every declared importer by name, sorted by name."""
    return discover(ingest.runs.formats, Importer)


def declare_formats(lake: Lake) -> None:
    """Store the descriptions of the formats, for pages."""
    columns = ("name", "title", "meaning", "kind", "example")
    rows = ({name: getattr(importer, name) for name in columns} for importer in importers().values())
    write_if_changed(lake, "formats", "all", declared_rows("formats", rows))


def importers_by_name() -> dict[str, Importer]:
    """The importers by each name and alias that `--format` accepts."""
    return {alias: importer for importer in importers().values() for alias in (importer.name, *importer.aliases)}


def importer_for(input_file: InputFile, name: str) -> Importer:
    """The importer with a name or alias; for `auto`, the only one that recognises the content, or an error."""
    if name != AUTO:
        return lookup(name, "format", importers_by_name())
    head = input_file.head()
    if not head.strip():
        raise input_file.wrong(what="the file is empty")
    path = "/".join(input_file.source.parts[-2:])
    candidates = [importer for importer in importers().values() if importer.recognise(head, path)]
    if len(candidates) > 1:
        names = " or ".join(importer.name for importer in candidates)
        raise input_file.wrong(what="the file could be of several formats", hint=f"Choose one: --format {names}")
    if not candidates:
        first = head.split(b"\n", 1)[0][:80].decode(errors="replace")
        hint = "A ranking is a table with a heading (item_id, document, score), {item: {document: score}}, or a TREC "
        hint += f"run, in UTF-8. Formats: {listed(list(importers()))}; `python -m ingest list formats` shows each."
        raise input_file.wrong(what="unknown file format", examples=[ascii(first)], hint=hint)
    return candidates[0]


@dataclass(frozen=True)
class TrajectoryFiles:
    """The importer and its files; `sha256` is of the input file, or of all files read of a folder or as companions."""

    importer: Importer
    input_file: InputFile
    files: list[TrajectoryFile]
    skipped: list[str] = field(default_factory=list)
    sha256: str = ""

    def unread(self, read_with: Collection[str]) -> list[str]:
        """The names under which skipped files are counted, but for those that were `read_with` another."""
        return [f"file *{PurePosixPath(path).suffix or path}" for path in self.skipped if path not in read_with]


def trajectory_files(input_file: InputFile, format_name: str, rejects: Rejects) -> TrajectoryFiles:
    """The files to import in a folder, a ZIP or a single file; a `GoldspanError` if no format fits, or several do."""
    path, is_folder = input_file.source, input_file.source.is_dir()
    if not (is_folder or path.is_file()):
        hint = "FILE must be a ranking, completions, trajectories or a folder of them."
        raise GoldspanError(f"there is no file {path}", hint=hint, code=Exit.MISSING)
    if not (is_folder or input_file.head().startswith(_ZIP)):
        return _single_file(input_file, importer_for(input_file, format_name))
    by_name = {name: importer for name, importer in importers_by_name().items() if importer.kind == "trajectory"}
    if format_name != AUTO:
        by_name = {format_name: lookup(format_name, "format of trajectories in a folder or ZIP", by_name)}
    known = {importer.name: importer for importer in by_name.values()}
    tree: Tree = read_folder(path, input_file.name) if is_folder else open_archive(path.resolve(), input_file.name)
    tree.reject_refused(rejects)
    # Repositories handed out to an agent are left out: they are not records of its work.
    tasks = {entry.path.rpartition("/")[0] for entry in tree.entries if entry.path.rpartition("/")[2] == TASK_FILE}
    handed_out = tuple(f"{folder}/{REPOSITORY}/".lstrip("/") for folder in tasks)
    entries = [entry for entry in tree.entries if not entry.path.startswith(handed_out)]
    by_format, skipped, damaged = dict[str, list[TrajectoryFile]](), list[str](), dict[str, TrajectoryFile]()
    for file in _files(entries).values():
        try:
            head = file.head()
        except UnreadableFileError as error:
            damaged[f"{file.path}: {error.reason}"] = file
            continue
        formats = [name for name, importer in known.items() if importer.recognise(head, file.path)]
        for name in formats:
            by_format.setdefault(name, []).append(file)
        skipped += [file.path] * (not formats)
    if not by_format:
        examples = [*(f"{reject.position}: {reject.reason}" for reject in rejects), *damaged, *skipped]
        what = f"it holds no trajectories, but {counted(len(examples), 'file')} of another kind or unreadable"
        hint = "`python -m ingest list formats` shows how each begins."
        code = Exit.MISSING if is_folder else Exit.INVALID
        raise GoldspanError(what, where=str(path), examples=examples, hint=hint, code=code)
    if len(by_format) > 1:
        counts = ", ".join(f"{name} ({counted(len(files), 'file')})" for name, files in sorted(by_format.items()))
        hint = f"Choose one: --format {' or '.join(sorted(by_format))}"
        raise input_file.wrong(what=f"it holds trajectories of several formats: {counts}", hint=hint)
    ((name, files),) = by_format.items()
    owners = {claim: file.path for file in files for claim in known[name].companions(file.path)}
    # Files that are damaged from the start are kept: the import reports what is lost with them.
    own = [file for file in (*files, *damaged.values()) if not _is_companion(file.path, owners)]
    skipped = [path for path in skipped if not _is_companion(path, owners)]
    contents = [(entry.path, entry.sha256()) for entry in entries] if is_folder else []
    sha256 = fingerprint(contents, [*tree.refused.items()]) if is_folder else sha256_of_file(path)
    return TrajectoryFiles(known[name], input_file, sorted(own, key=lambda file: file.path), skipped, sha256)


def _single_file(given: InputFile, importer: Importer) -> TrajectoryFiles:
    """A file with its companions, if they exist."""
    paths, folder = [given.name], given.source.parent
    for claim in importer.companions(given.name):
        if claim.endswith("/") and (folder / claim).is_dir():
            paths += [f"{claim}{entry.path}" for entry in read_folder(folder / claim, claim).entries]
        elif not claim.endswith("/") and (folder / claim).is_file():
            paths.append(claim)
    every = _files(entry_on_disk(folder / path, path) for path in paths)
    digests = [sha256_of_file(folder / path) for path in paths]
    sha256 = digests[0] if len(paths) == 1 else fingerprint(paths, digests)
    return TrajectoryFiles(importer, given, [every[given.name]], sha256=sha256)


def _is_companion(path: str, owners: Mapping[str, str]) -> bool:
    """Whether a file is read together with another, because of its own path or a folder it is in."""
    folders = (path[: index + 1] for index, mark in enumerate(path) if mark == "/")
    return any(owners.get(claim, path) != path for claim in (path, *folders))


def _files(entries: Iterable[Entry]) -> dict[str, TrajectoryFile]:
    every = dict[str, TrajectoryFile]()
    every.update((entry.path, TrajectoryFile(entry, all=every)) for entry in entries)
    return every


@dataclass(frozen=True)
class Ids:
    """Items that a trajectory may name: `known` maps item and upstream ids to items, `questions` items to queries."""

    known: dict[str, str]
    questions: Callable[[], Mapping[str, str]] = dict

    @classmethod
    def of(cls, items: pl.DataFrame, questions: Callable[[], Mapping[str, str]]) -> "Ids":
        """The ids of some items; an upstream id that several items share is left out."""
        items = items.select("upstream_id", "item_id").unique(maintain_order=True)
        others = items.filter(pl.col("upstream_id").is_unique() & pl.col("upstream_id").is_not_null())
        return cls({**dict(others.iter_rows()), **{item: item for item in items["item_id"]}}, questions)

    def of_trajectory(self, trajectory: Trajectory, file: TrajectoryFile) -> str:
        """The item's name: as recorded, else from path, task, root or prompts, else the file's if it holds no other."""
        item = trajectory.item or self.in_path(file.path) or _of_task(file) or self.in_path(trajectory.root)
        return item or self._of_prompts(trajectory.prompts) or ("" if trajectory.position else file.name)

    def _of_prompts(self, prompts: Sequence[str]) -> str:
        """The item whose query, white space aside, occurs in a prompt; empty if there is none, or several."""
        texts = [" ".join(text.split()) for text in prompts]
        occurring = [question for question in self._of_question if any(question in text for text in texts)]
        # A query may be the beginning of another.
        longest = [question for question in occurring if sum(question in other for other in occurring) == 1]
        return self._of_question[longest[0]] if len(longest) == 1 else ""

    @cached_property
    def _of_question(self) -> dict[str, str]:
        plain = [(" ".join(text.split()), item) for item, text in self.questions().items() if item in self.known]
        counts = Counter(text for text, _ in plain)
        return {text: item for text, item in plain if counts[text] == 1 and len(text) >= _LEAST_QUESTION}

    def item_of(self, name: str) -> str | None:
        """The item with a name, even if a trial's folder cut it off; None if there is none, or several."""
        if name in self.known:
            return self.known[name]
        is_cut = len(name) == 32  # Harbor names a trial's folder after this many characters of its task
        items = {item for known, item in self.known.items() if is_cut and known.startswith(name)}
        return items.pop() if len(items) == 1 else None

    def in_path(self, path: str) -> str:
        """The item that a file or folder in a path is named after, endings aside; the last counts. Empty if none."""
        for part in reversed(path.split("/")):
            while part:
                if part in self.known:
                    return part
                part = part.rpartition(".")[0]
        return ""


def _of_task(file: TrajectoryFile) -> str:
    paths = (str(folder / TASK_FILE) for folder in PurePosixPath(file.path).parents)
    with suppress(UnreadableFileError):
        return next(filter(None, (str_at(file.all[path].json(), "item_id") for path in paths if path in file.all)), "")
    return ""


def trajectories_of(files: TrajectoryFiles, ids: Ids, rejects: Rejects) -> Iterator[tuple[TrajectoryFile, Trajectory]]:
    """All trajectories; a damaged one has failed if its content or its path names the item, else it is a reject."""
    for file in files.files:
        n_whole = 0
        try:
            for trajectory in files.importer.trajectories(file):
                n_whole += 1
                yield file, trajectory
        except UnreadableFileError as error:
            file.damages.insert(0, error)
        if not n_whole and not file.damages:
            rejects.add(file.path, "file", "it holds no trajectory")
        for damage in file.damages:
            item = item_in(damage) or ("" if n_whole and damage.position else ids.in_path(file.path))
            if item:
                yield file, Trajectory((), None, item, position=damage.position, failed=damage.reason)
            else:
                rejects.add(file.path, damage.position or "file", damage.reason)
