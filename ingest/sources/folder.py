"""A local folder in a benchmark's upstream layout, unpacked or as archives."""

import io
import lzma
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from ingest.sources.tree import Entry, Refused, Source, Tree, UnreadableFileError, entry_on_disk, read_whole
from lake.errors import Exit, GoldspanError
from lake.limits import MAX_DEPTH, MAX_DOCUMENT_BYTES, MAX_FILES, MAX_STREAMED_BYTES
from lake.text import listed

_READ_ERRORS = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError, OSError,
                MemoryError)  # fmt: skip


def is_junk(path: str) -> bool:
    """Whether a path is a leftover of macOS, which is skipped without a message: `__MACOSX/`, `._*`, `.DS_Store`."""
    parts = path.split("/")
    return "__MACOSX" in parts or parts[-1] == ".DS_Store" or parts[-1].startswith("._")


def open_archive(file: Path, location: str) -> Tree:
    """The regular files of a zip archive; each entry is read when asked for, from one thread only.

    Refused with a reason are unsafe paths, links, and entries that are encrypted, duplicate or over the limits.
    """
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, UnicodeDecodeError, NotImplementedError, EOFError, OSError, MemoryError) as error:
        what = f"{file.name} cannot be opened as a zip archive: {str(error) or type(error).__name__}"
        hint = "It may be cut short: fetch it again, or unpack it into a folder of the same name without .zip."
        raise GoldspanError(what, where=str(file), hint=hint, code=Exit.INVALID) from error
    entries, refused, total = dict[str, Entry](), list[Refused](), 0
    for number, info in enumerate(archive.infolist()):
        if number == MAX_FILES:
            refused.append(Refused("", f"it holds more than {MAX_FILES:,} entries; the others are not read"))
            break
        path = "/".join(part for part in info.filename.split("/") if part not in ("", "."))
        reason = _zip_fault(info)
        if is_junk(path) or (reason is None and info.is_dir()):
            continue
        if reason is None and path in entries:
            reason = "occurs more than once in the archive; the first is read"
        if reason is None and total + info.file_size > MAX_STREAMED_BYTES:
            reason = f"the archive unpacks to more than {MAX_STREAMED_BYTES:,} bytes"
        if reason is not None:
            refused.append(Refused(info.orig_filename, reason))
            continue
        total += info.file_size
        entries[path] = Entry(path, info.file_size, partial(_opened, archive, info, location, path))
    return Tree(location, [entries[path] for path in sorted(entries)], refused)


def _zip_fault(info: zipfile.ZipInfo) -> str | None:
    name = info.orig_filename
    kind = stat.S_IFMT(info.external_attr >> 16)
    is_plain = name.strip("./") != "" and not re.search(r"^/|^[A-Za-z]:|[\\\0]|(^|/)\.\.(/|$)", name)
    problems = {
        "not a plain path inside the archive": not is_plain,
        "not a regular file": kind not in (0, stat.S_IFREG, stat.S_IFDIR),
        "encrypted": bool(info.flag_bits & 1),
        f"more than {MAX_DEPTH} folders inside one another": name.count("/") > MAX_DEPTH,
        f"declares {info.file_size:,} bytes; at most {MAX_DOCUMENT_BYTES:,} are read": (
            info.file_size > MAX_DOCUMENT_BYTES
        ),
    }
    return next((reason for reason, holds in problems.items() if holds), None)


def _opened(archive: zipfile.ZipFile, info: zipfile.ZipInfo, location: str, path: str) -> io.BytesIO:
    try:
        with archive.open(info) as stream:
            # One byte more than declared: the checksum is tested, and nothing much larger is unpacked.
            data = read_whole(stream, info.file_size + 1)
    except _READ_ERRORS as error:
        raise UnreadableFileError(path, str(error) or type(error).__name__, location=location) from error
    if len(data) != info.file_size:
        reason = f"declares {info.file_size:,} bytes and holds {len(data):,}"
        raise UnreadableFileError(path, reason, location=location)
    return io.BytesIO(data)


@dataclass(frozen=True)
class FolderSource(Source):
    """The folder `root` of a benchmark; see `Source`."""

    root: Path

    def find(self, path: str) -> Tree | None:
        """See `Source.find`: `<path>/`, else `<path>.zip`.

        A folder that contains only an archive of its name (`datasets/datasets.zip`, as from RepoEval's publisher) is
        read as that archive. The folder or archive may be a link to anywhere, as the user put it there.
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

    def recorded(self) -> list[tuple[str, Path]]:
        """The system and path of everything in the folder `trajectories/`: a file, archive or folder per system."""
        folder, runs = self.root / "trajectories", list[tuple[str, Path]]()
        for item in folder.iterdir() if folder.is_dir() else ():
            # The file's name without the endings that show its format.
            name = re.sub(r"(?<=.)(\.(zip|gz|zst|json|jsonl|traj))+$", "", item.name, flags=re.I)
            if not item.name.startswith((".", "__MACOSX")):
                runs.append((name if item.is_file() else item.name, item))
        return sorted(runs)


def open_folder(folder: Path, benchmark: str, *, markers: tuple[str, ...] = ()) -> FolderSource:
    """A benchmark's folder: the subfolder `<benchmark>` or `<benchmark>-<label>` of `folder`, else `folder` itself.

    It must contain one of the markers as a folder, file or archive `<marker>.zip` (`*` matches any part of a name);
    without markers, a folder with the benchmark's name is accepted as it is.
    """
    what = f"SOURCE={folder}"
    try:
        if not folder.is_dir():
            problem = f"{what}: the folder {'is a file' if folder.exists() else 'does not exist'}"
            hint = "Give a folder in the benchmark's upstream layout, or SOURCE=sample, or SOURCE=hub."
            raise GoldspanError(problem, hint=hint, code=Exit.MISSING)
        subfolders = sorted(
            each for each in folder.iterdir() if _label(each.name, benchmark) is not None and each.is_dir()
        )
        own = [subfolder for subfolder in subfolders if _is_marked(subfolder, markers)]
        # Without markers, a folder is recognised by its name only; a snapshot in the hub's cache by its dataset's name.
        names, cached = [folder.name, folder.resolve().name], _hub_cache(folder.resolve())
        names += [cached.name.rpartition("--")[2].lower()] if cached is not None else []
        labels = [label for name in names if (label := _label(name, benchmark)) is not None]
        is_own = _is_marked(folder, markers) if markers else bool(labels)
    except OSError as error:
        problem = f"{what}: the folder cannot be read: {error.strerror}"
        raise GoldspanError(problem, hint="Check who may read it.", code=Exit.MISSING) from error
    if len(own) > 1:
        problem = f"{what} holds more than one folder of {benchmark}: {listed([each.name for each in own])}"
        raise GoldspanError(problem, hint=f"Choose one: SOURCE={own[0]}", code=Exit.USAGE)
    if own or is_own:
        label = _label(own[0].name, benchmark) or "" if own else next(filter(None, labels), "")
        return FolderSource(own[0] if own else folder, name=str(folder), label=label)
    looked = ", ".join(marker if "*" in marker else f"{marker}/ or {marker}.zip" for marker in markers)
    here = f", here or in it {looked}" if looked else ""
    empty = f"; {listed([each.name for each in subfolders])} holds none of these" if subfolders else ""
    hint = f"Looked for: a subfolder {benchmark} or {benchmark}-<label>{here}{empty}."
    raise GoldspanError(f"{what} does not hold {benchmark}", hint=hint, code=Exit.MISSING)


def read_folder(root: Path, location: str) -> Tree:
    """The regular files below a folder, including hidden ones.

    A link to a regular file inside the folder is read as that file; in a snapshot of the hub's cache, also a link to a
    file of that dataset. Everything else is refused with a reason: other links, devices, unreadable files, names that
    are not UTF-8, and files over the limits.
    """
    home = root.resolve()
    cached = _hub_cache(home)
    homes = (home,) if cached is None else (home, cached / "blobs")
    files = list(islice(_walk(homes, home, "", location), MAX_FILES + 1))
    refused = [file for file in files[:MAX_FILES] if isinstance(file, Refused)]
    if len(files) > MAX_FILES:
        refused.append(Refused("", f"it holds more than {MAX_FILES:,} files; the others are not read"))
    entries = [file for file in files[:MAX_FILES] if isinstance(file, Entry)]
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
        if path.encode(errors="ignore").decode() != path:
            yield Refused(os.fsencode(path).decode(errors="backslashreplace"), "the name is not UTF-8")
        elif item.is_dir(follow_symlinks=False):
            if prefix.count("/") < MAX_DEPTH:
                yield from _walk(homes, Path(item.path), f"{path}/", location)
            else:
                yield Refused(path, f"more than {MAX_DEPTH} folders inside one another")
        else:
            try:
                target = Path(item.path).resolve(strict=True) if is_link else Path(item.path)
                size, reason = target.stat().st_size, ""
                if is_link and not any(target.is_relative_to(home) for home in homes):
                    reason = "a link that leaves the folder"
                elif not target.is_file() or not os.access(target, os.R_OK):
                    reason = "not a regular file that may be read"
                elif size > MAX_STREAMED_BYTES:
                    reason = f"it has {size:,} bytes; at most {MAX_STREAMED_BYTES:,} are read of one file"
                yield Refused(path, reason) if reason else entry_on_disk(target, path, location, size)
            except (OSError, RuntimeError):  # RuntimeError: links in a circle, before Python 3.13
                yield Refused(path, "a link that leads nowhere" if is_link else "cannot be read")


def _hub_cache(folder: Path) -> Path | None:
    """The hub cache of a dataset if `folder` is in its `snapshots/`, whose files link to `blobs`; else None."""
    caches = (above.parent for above in folder.parents if above.name == "snapshots")
    return next((cache for cache in caches if cache.name.startswith("datasets--")), None)


def _label(name: str, benchmark: str) -> str | None:
    """The rest of a folder's name after `<benchmark>-`; empty for the plain benchmark name, None for any other name."""
    start, _, label = name.partition(f"{benchmark}-")
    return "" if name == benchmark else label if label and not start else None


def _is_marked(folder: Path, markers: tuple[str, ...]) -> bool:
    return not markers or any(any(folder.glob(f"{marker}{end}")) for marker in markers for end in ("", ".zip"))
