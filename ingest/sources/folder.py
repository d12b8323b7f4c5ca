"""A local folder in a benchmark's upstream layout, unpacked or as archives."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ingest.sources.archive import is_junk, open_archive
from ingest.sources.tree import BundledRun, Entry, Refused, Source, Tree, entry_on_disk, too_large
from lake.errors import Exit, GoldspanError
from lake.limits import MAX_DEPTH, MAX_FILES
from lake.text import listed

_ENDINGS = frozenset({".zip", ".gz", ".zst", ".json", ".jsonl", ".traj"})


@dataclass(frozen=True)
class FolderSource(Source):
    """A benchmark's own folder, `root`; see `Source`."""

    root: Path

    def find(self, path: str) -> Tree | None:
        """As of `Source`: `<path>/`, else `<path>.zip`.

        A folder that holds nothing but its own archive (`datasets/datasets.zip`, as RepoEval's publisher has it) is
        that archive. The folder or archive itself may be a link to anywhere: whoever put it there chose it.
        """
        folder, archive = self.root / path, f"{path}.zip"
        if folder.is_dir():
            own = f"{Path(path).name}.zip"
            if not (folder / own).is_file() or any(
                item.name != own and not is_junk(item.name) for item in folder.iterdir()
            ):
                return read_folder(folder, path)
            archive = f"{path}/{own}"
        return open_archive(self.root / archive, archive) if (self.root / archive).is_file() else None

    def recorded(self) -> list[BundledRun]:
        """The contents of its folder `trajectories/`: a file, archive or folder per system, called like it."""
        folder = self.root / "trajectories"
        if not folder.is_dir():
            return []
        shown = [item for item in folder.iterdir() if not item.name.startswith((".", "__MACOSX"))]
        runs = [BundledRun(_system(item), item) for item in shown]
        return sorted(runs, key=lambda run: (run.system, run.path.name))


def open_folder(folder: Path, benchmark: str, *, markers: tuple[str, ...] = ()) -> FolderSource:
    """A benchmark's folder: a subfolder `<benchmark>` or `<benchmark>-<label>` of the one given, else that one itself.

    It holds at least one of the markers, as a folder, a file or an archive `<marker>.zip`, `*` standing for any part of
    a name; with none given, a folder that is called like the benchmark is taken as it is.

    Raises:
        GoldspanError: There is no such folder, nothing in it is the benchmark's, or more than one subfolder is.
    """
    try:
        if not folder.is_dir():
            what = f"SOURCE={folder}: the folder {'is a file' if folder.exists() else 'does not exist'}"
            hint = "Give a folder in the benchmark's upstream layout, or SOURCE=sample, or SOURCE=hub."
            raise GoldspanError(what, hint=hint, code=Exit.MISSING)
        subfolders = sorted(
            item for item in folder.iterdir() if _label(item.name, benchmark) is not None and item.is_dir()
        )
        own = [item for item in subfolders if _is_marked(item, markers)]
        # Without markers, only its name can say that a folder is the benchmark's own.
        labels = [label for name in _names(folder) if (label := _label(name, benchmark)) is not None]
        is_own = _is_marked(folder, markers) if markers else bool(labels)
    except OSError as error:
        what = f"SOURCE={folder}: the folder cannot be read: {error.strerror}"
        raise GoldspanError(what, hint="Check who may read it.", code=Exit.MISSING) from error
    if len(own) > 1:
        what = f"SOURCE={folder} holds more than one folder of {benchmark}: {listed([item.name for item in own])}"
        raise GoldspanError(what, hint=f"Give the one that is meant: SOURCE={own[0]}", code=Exit.USAGE)
    if own:
        return FolderSource(own[0], name=str(folder), label=_label(own[0].name, benchmark) or "")
    if is_own:
        return FolderSource(folder, name=str(folder), label=next(filter(None, labels), ""))
    looked = ", ".join(marker if "*" in marker else f"{marker}/ or {marker}.zip" for marker in markers)
    here = f", here or there {looked}" if looked else ""
    empty = f"; {listed([item.name for item in subfolders])} holds none of these" if subfolders else ""
    hint = f"Looked for: a subfolder {benchmark} or {benchmark}-<label>{here}{empty}."
    raise GoldspanError(f"SOURCE={folder} does not hold {benchmark}", hint=hint, code=Exit.MISSING)


def read_folder(root: Path, location: str) -> Tree:
    """The regular files below a folder, hidden ones too.

    A link to a regular file inside the folder is read as that file, in a snapshot of the hub's cache one to a file of
    that dataset's too; links to folders are never followed. Refused, each with its reason: links that leave, break or
    lead to a folder, pipes, sockets and devices, what may not be read, names that are not UTF-8, files and depths
    beyond the limits.
    """
    entries: list[Entry] = []
    refused: list[Refused] = []
    home = root.resolve()
    cached = _hub_cache(home)
    homes = (home, cached / "blobs") if cached is not None else (home,)
    for file in _walk(homes, home, "", location):
        if len(entries) + len(refused) == MAX_FILES:
            refused.append(Refused("", f"it holds more than {MAX_FILES:,} files; the others are not read"))
            break
        if isinstance(file, Refused):
            refused.append(file)
        else:
            entries.append(file)
    return Tree(location, sorted(entries, key=lambda entry: entry.path), sorted(refused, key=lambda entry: entry.path))


def _walk(homes: Sequence[Path], folder: Path, prefix: str, location: str) -> Iterator[Entry | Refused]:
    try:
        with os.scandir(folder) as listing:
            items = list(listing)
    except OSError as error:
        yield Refused(prefix, f"cannot be listed: {error.strerror}")
        return
    for item in items:
        path = prefix + item.name
        is_link = item.is_symlink()
        if is_junk(path):
            continue
        if not _is_utf8(path):
            yield Refused(os.fsencode(path).decode(errors="backslashreplace"), "the name is not UTF-8")
        elif item.is_dir(follow_symlinks=False):
            if prefix.count("/") < MAX_DEPTH:
                yield from _walk(homes, Path(item.path), f"{path}/", location)
            else:
                yield Refused(path, f"more than {MAX_DEPTH} folders inside one another")
        else:
            try:
                target = Path(item.path).resolve(strict=True) if is_link else Path(item.path)
                size = target.stat().st_size
                reason = _why_not(homes, target, linked=is_link) or too_large(size)
                yield Refused(path, reason) if reason else entry_on_disk(target, path, location, size)
            except (OSError, RuntimeError):  # RuntimeError: links in a circle, before Python 3.13
                yield Refused(path, "a link that leads nowhere" if is_link else "cannot be read")


def _is_utf8(name: str) -> bool:
    try:
        return bool(name.encode())
    except UnicodeEncodeError:
        return False


def _why_not(homes: Sequence[Path], target: Path, *, linked: bool) -> str | None:
    if linked and not any(target.is_relative_to(home) for home in homes):
        return "a link that leaves the folder"
    if linked and target.is_dir():
        return "a link to a folder; such links are not followed"
    if not target.is_file():
        return "not a regular file"
    return None if os.access(target, os.R_OK) else "may not be read (permission denied)"


def _system(item: Path) -> str:
    """A recorded run's name: its file's without what tells its format."""
    name = item.name
    while item.is_file() and (end := Path(name).suffix.lower()) in _ENDINGS and Path(name).stem:
        name = name[: -len(end)]
    return name


def _names(folder: Path) -> Iterator[str]:
    """A folder's names: by the path given, by its own, and a snapshot in the hub's cache by its dataset."""
    yield from (folder.name, folder.resolve().name)
    if (cached := _hub_cache(folder.resolve())) is not None:
        yield cached.name.rpartition("--")[2].lower()


def _hub_cache(folder: Path) -> Path | None:
    """The cache of one dataset, below whose `snapshots/<commit>` a folder lies: its files are links into `blobs`."""
    caches = (above.parent for above in folder.parents if above.name == "snapshots")
    return next((cache for cache in caches if cache.name.startswith("datasets--")), None)


def _label(name: str, benchmark: str) -> str | None:
    """The rest of a folder's name after `<benchmark>-`; empty for the benchmark's plain name, None for any other."""
    if name == benchmark:
        return ""
    return name.removeprefix(f"{benchmark}-") if name.startswith(f"{benchmark}-") and name != f"{benchmark}-" else None


def _is_marked(folder: Path, markers: tuple[str, ...]) -> bool:
    return not markers or any(any(folder.glob(f"{marker}{end}")) for marker in markers for end in ("", ".zip"))
