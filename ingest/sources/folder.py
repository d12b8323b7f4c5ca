"""A local folder in a benchmark's upstream layout, unpacked or as archives."""

import io
import lzma
import os
import re
import stat
import zipfile
import zlib
from functools import partial
from os.path import realpath
from pathlib import Path

from ingest.sources.tree import Entry, Source, Tree, UnreadableFileError, entry_on_disk
from lake.errors import Exit, GoldspanError
from lake.limits import MAX_DOCUMENT_BYTES
from lake.text import is_encodable, listed

_READ_ERRORS = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError, OSError,
                MemoryError)  # fmt: skip


def is_junk(path: str) -> bool:
    """Whether a path is a leftover of macOS, which is skipped without a message: `__MACOSX/`, `._*`, `.DS_Store`."""
    parts = path.split("/")
    return "__MACOSX" in parts or parts[-1] == ".DS_Store" or parts[-1].startswith("._")


def open_archive(file: Path, location: str) -> Tree:
    """The regular files of a zip archive, read when asked for, from one thread only; what is unsafe is refused."""
    try:
        archive = zipfile.ZipFile(file)
    except (UnicodeDecodeError, *_READ_ERRORS) as error:
        what = f"{file.name} cannot be opened as a zip archive: {str(error) or type(error).__name__}"
        hint = "It may be cut short: fetch it again, or unpack it into a folder of the same name without .zip."
        raise GoldspanError(what, where=str(file), hint=hint, code=Exit.INVALID) from error
    entries, refused = dict[str, Entry](), dict[str, str]()
    for info in archive.infolist():
        name = info.orig_filename
        path = "/".join(part for part in info.filename.split("/") if part not in ("", "."))
        if is_junk(path):
            continue
        is_file = stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG, stat.S_IFDIR)
        if not is_file or not path.strip(".") or re.search(r"^/|^[A-Za-z]:|[\\\0]|(^|/)\.\.(/|$)", name):
            refused[name] = "not a regular file at a path inside the archive"
        elif info.is_dir():
            continue
        elif info.file_size > MAX_DOCUMENT_BYTES:
            refused[name] = f"declares {info.file_size:,} bytes; at most {MAX_DOCUMENT_BYTES:,} are read"
        elif path in entries:
            refused[name] = "occurs more than once in the archive; the first is read"
        else:
            entries[path] = Entry(path, partial(_opened, archive, info, path))
    return Tree(location, [entries[path] for path in sorted(entries)], refused)


def _opened(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: str) -> io.BytesIO:
    try:
        with archive.open(info) as stream:
            # One byte more than declared: the checksum is tested, and nothing much larger is unpacked.
            return io.BytesIO(stream.read(info.file_size + 1))
    except _READ_ERRORS as error:
        raise UnreadableFileError(path, str(error) or type(error).__name__) from error


def find_in(root: Path, path: str) -> Tree | None:
    """The folder `<path>/` or archive `<path>.zip` below `root`, maybe a link to anywhere, as the user put it."""
    folder, archive = root / path, f"{path}.zip"
    if folder.is_dir():
        # A folder with nothing but an archive of its name is that archive, as from RepoEval's publisher.
        own = folder / f"{Path(path).name}.zip"
        if not own.is_file() or any(item != own and not is_junk(item.name) for item in folder.iterdir()):
            return read_folder(folder, path)
        archive = f"{path}/{own.name}"
    return open_archive(root / archive, archive) if (root / archive).is_file() else None


def folder_source(root: Path, name: str, label: str = "") -> Source:
    """The source below a folder; its runs are everything in the folder `trajectories/`: one per system."""
    folder = root / "trajectories"
    items = folder.iterdir() if folder.is_dir() else ()
    # The system is a file's name without the endings that show its format.
    ends = re.compile(r"(?<=.)(\.(zip|gz|zst|json|jsonl|traj))+$", re.IGNORECASE)
    runs = [(ends.sub("", item.name) if item.is_file() else item.name, item) for item in items]
    recorded = sorted((system, item) for system, item in runs if not item.name.startswith((".", "__MACOSX")))
    return Source(name=name, find=partial(find_in, root), label=label, recorded=recorded)


def open_folder(folder: Path, benchmark: str, *, markers: tuple[str, ...] = ()) -> Source:
    """A benchmark's folder: the subfolder `<benchmark>` or `<benchmark>-<label>` of `folder`, else `folder` itself.

    It must contain one of the markers as a folder, file or archive `<marker>.zip` (`*` matches any part of a name);
    without markers, a folder with the benchmark's name is accepted as it is.
    """
    what = f"SOURCE={folder}"
    if not folder.is_dir():
        hint = "Give a folder in the benchmark's upstream layout, or SOURCE=sample, or SOURCE=hub."
        raise GoldspanError(f"{what}: there is no such folder", hint=hint, code=Exit.MISSING)
    subfolders = sorted(each for each in folder.iterdir() if _label(each.name, benchmark) is not None and each.is_dir())
    own = [subfolder for subfolder in subfolders if _is_marked(subfolder, markers)]
    if len(own) > 1:
        problem = f"{what} holds more than one folder of {benchmark}: {listed([each.name for each in own])}"
        raise GoldspanError(problem, hint=f"Choose one: SOURCE={own[0]}", code=Exit.USAGE)
    if own:
        return folder_source(own[0], str(folder), _label(own[0].name, benchmark) or "")
    # Without markers, a folder is recognised by its name only; a snapshot in the hub's cache by its dataset's name.
    cached = _hub_cache(folder.resolve()) or folder
    names = (folder.name, folder.resolve().name, cached.name.rpartition("--")[2].lower())
    labels = [label for name in names if (label := _label(name, benchmark)) is not None]
    if _is_marked(folder, markers) if markers else labels:
        return folder_source(folder, str(folder), next(filter(None, labels), ""))
    hint = f"Looked for: a subfolder {benchmark} or {benchmark}-<label>{', here or in it ' * bool(markers)}"
    hint += f"{' or '.join(markers)} (folders or zips)."
    raise GoldspanError(f"{what} does not hold {benchmark}", hint=hint, code=Exit.MISSING)


def read_folder(root: Path, location: str) -> Tree:
    """The regular files below a folder, including hidden ones.

    A link to a file inside the folder is read as that file; in a snapshot of the hub's cache, also one to a file of
    that dataset. Everything else is refused with a reason.
    """
    home = root.resolve()
    cached = _hub_cache(home)
    homes = (home,) if cached is None else (home, cached / "blobs")
    entries, refused = list[Entry](), dict[str, str]()

    def not_listed(error: OSError) -> None:
        refused[os.path.relpath(error.filename, home)] = f"cannot be listed: {error.strerror}"

    for folder, folders, files in os.walk(home, onerror=not_listed):
        for target in (Path(folder, name) for name in [*folders, *files]):
            path, is_link = target.relative_to(home).as_posix(), target.is_symlink()
            if is_junk(path) or (target.name in folders and not is_link):
                continue
            if not is_encodable(path):
                refused[os.fsencode(path).decode(errors="backslashreplace")] = "the name is not UTF-8"
            elif is_link and not any(Path(realpath(target)).is_relative_to(home) for home in homes):
                refused[path] = "a link that leaves the folder"
            elif not target.is_file() or not os.access(target, os.R_OK):
                refused[path] = "not a regular file that may be read"
            else:
                entries.append(entry_on_disk(target, path))
    return Tree(location, sorted(entries, key=lambda entry: entry.path), dict(sorted(refused.items())))


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
