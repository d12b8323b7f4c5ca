"""The format of a file, and the trajectory files in the input: a single file, a folder or a ZIP."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import PurePosixPath

import ingest.runs.formats
from ingest.runs.importer import DamagedFileError, Importer, TrajectoryFile
from ingest.sources.folder import open_archive, read_folder
from ingest.sources.input_file import InputFile
from ingest.sources.tree import Entry, Tree, entry_on_disk
from lake.declarations import discover
from lake.errors import Exit, GoldspanError, lookup
from lake.fingerprint import fingerprint, sha256_of_file
from lake.make import write_if_changed
from lake.rejects import Rejects
from lake.store import Lake
from lake.tables import declared_rows
from lake.text import counted, listed

AUTO = "auto"  # the format is detected from the file's content
TASK_FILE, REPOSITORY = "task.json", "repository"  # what `ingest tasks` writes for an item next to its prompt


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
    head = input_file.head
    if not head.strip():
        raise input_file.wrong(what="the file is empty")
    path = "/".join(input_file.path.parts[-2:])
    candidates = [importer for importer in importers().values() if importer.recognise(head, path)]
    if len(candidates) > 1:
        names = " or ".join(importer.name for importer in candidates)
        raise input_file.wrong(what="the file could be of several formats", hint=f"Choose one: --format {names}")
    if not candidates:
        first = ascii(head.split(b"\n", 1)[0][:80].decode(errors="replace"))
        hint = f"Formats: {listed(list(importers()))}. `python -m ingest list formats` shows how each begins."
        if head.startswith((b"\xff\xfe", b"\xfe\xff")):
            hint = "It is written in UTF-16: save it in UTF-8."
        elif head.lstrip().startswith(b"{"):
            hint = f'A ranking in JSON is {{item: {{document: score}}}}, or lines of {{"id", "results": […]}}. {hint}'
        elif not head.lstrip().startswith(b"[") and ("," in first or "\\t" in first):
            hint = f"A table has tabs or commas between its columns, and a heading: item_id, document, score. {hint}"
        raise input_file.wrong(what="unknown file format", examples=[first], hint=hint)
    return candidates[0]


@dataclass(frozen=True)
class TrajectoryFiles:
    """The importer and its files; `sha256` is of the input file, or of all files read of a folder or as companions."""

    importer: Importer
    files: list[TrajectoryFile]
    skipped: list[str] = field(default_factory=list)
    sha256: str = ""


def trajectory_files(input_file: InputFile, format_name: str, rejects: Rejects) -> TrajectoryFiles:
    """The files to import in a folder, a ZIP or a single file; a `GoldspanError` if no format fits, or several do."""
    path, is_folder = input_file.path, input_file.path.is_dir()
    if not (is_folder or input_file.head.startswith(InputFile.ZIP)):
        importer, around, paths = importer_for(input_file, format_name), path.parent, [input_file.name]
        for claim in importer.companions(input_file.name):
            if claim.endswith("/") and (around / claim).is_dir():
                paths += [f"{claim}{entry.path}" for entry in read_folder(around / claim, claim).entries]
            elif not claim.endswith("/") and (around / claim).is_file():
                paths.append(claim)
        every = _files(entry_on_disk(around / path, path, "", 0) for path in paths)
        digests = [sha256_of_file(around / path) for path in paths]
        sha256 = digests[0] if len(paths) == 1 else fingerprint(paths, digests)
        return TrajectoryFiles(importer, [every[input_file.name]], sha256=sha256)
    known = [importer for importer in importers().values() if importer.kind == "trajectory"]
    if format_name != AUTO:
        known = [lookup(format_name, "format", importers_by_name())]
        if known[0].kind != "trajectory":
            message = f"--format {format_name} reads a {known[0].kind}, but a folder or ZIP must hold trajectories"
            raise GoldspanError(message, where=str(path), hint="Give the file itself.", code=Exit.USAGE)
    by_format, skipped, damaged = dict[str, list[TrajectoryFile]](), list[str](), list[tuple[TrajectoryFile, str]]()
    tree: Tree = read_folder(path, input_file.name) if is_folder else open_archive(path.resolve(), input_file.name)
    unread = [(refused.path, refused.reason) for refused in tree.refused]
    # Repositories handed out to an agent are left out: they are not records of its work.
    tasks = {entry.path.rpartition("/")[0] for entry in tree.entries if entry.path.rpartition("/")[2] == TASK_FILE}
    handed_out = tuple(f"{folder}/{REPOSITORY}/".lstrip("/") for folder in tasks)
    entries = [entry for entry in tree.entries if not entry.path.startswith(handed_out)]
    for file in _files(entries).values():
        try:
            head = file.head()
        except DamagedFileError as error:
            damaged.append((file, error.reason))
            continue
        if head.startswith(InputFile.ZIP):
            unread.append((file.path, "an archive inside is not opened; unpack it into the same folder"))
            continue
        formats = [importer.name for importer in known if importer.recognise(head, file.path)]
        for name in formats:
            by_format.setdefault(name, []).append(file)
        skipped += [file.path] * (not formats)
    for entry_path, reason in unread:
        rejects.add(input_file.name, f"entry {entry_path}", reason)
    if not by_format:
        unread += ((file.path, reason) for file, reason in damaged)
        n = f"{counted(len(skipped), 'file')} of another kind, {len(unread):,} that cannot be read"
        what = f"it holds no trajectories: {n if skipped or unread else 'no files'}"
        hint = "`python -m ingest list formats` shows how each begins."
        examples = [*(ascii(f"entry {path}: {reason}")[1:-1] for path, reason in unread), *map(ascii, skipped)]
        code = Exit.MISSING if is_folder else Exit.INVALID
        raise GoldspanError(what, where=str(path), examples=examples, hint=hint, code=code)
    if len(by_format) > 1:
        counts = ", ".join(f"{name} ({counted(len(files), 'file')})" for name, files in sorted(by_format.items()))
        hint = f"Choose one: --format {' or '.join(sorted(by_format))}"
        raise input_file.wrong(what=f"it holds trajectories of several formats: {counts}", hint=hint)
    ((name, files),) = by_format.items()
    importer = importers()[name]
    owners = {claim: file.path for file in files for claim in importer.companions(file.path)}
    # Files that are damaged from the start are kept: the import reports what is lost with them.
    own = [file for file in (*files, *(file for file, _ in damaged)) if not _is_companion(file.path, owners)]
    skipped = [path for path in skipped if not _is_companion(path, owners)]
    files = sorted(own, key=lambda file: file.path)
    if not is_folder:
        return TrajectoryFiles(importer, files, skipped, sha256_of_file(path))
    contents = [(entry.path, entry.sha256()) for entry in entries]
    sha256 = fingerprint(contents, [(refused.path, refused.reason) for refused in tree.refused])
    return TrajectoryFiles(importer, files, skipped, sha256)


def kinds_of_files(paths: Sequence[str]) -> Iterator[str]:
    """The name under which each file is counted: its own if several have it, else `*` and its extension."""
    names = [path.rpartition("/")[2] for path in paths]
    counts = Counter(names)
    for name in names:
        yield name if counts[name] > 1 or len(paths) == 1 else f"*{PurePosixPath(name).suffix or name}"


def _is_companion(path: str, owners: Mapping[str, str]) -> bool:
    """Whether a file is read together with another, because of its own path or a folder it is in."""
    folders = (path[: index + 1] for index, mark in enumerate(path) if mark == "/")
    return any(owners.get(claim, path) != path for claim in (path, *folders))


def _files(entries: Iterable[Entry]) -> dict[str, TrajectoryFile]:
    every = dict[str, TrajectoryFile]()
    every.update((entry.path, TrajectoryFile(entry, every)) for entry in entries)
    return every
