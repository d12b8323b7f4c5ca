"""Bytes into a file, a folder or to stdout, whole or not at all; and several files as one zip with a manifest."""

from __future__ import annotations

import json
import os
import shutil
import sys
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from lake.errors import Exit, GoldspanError
from lake.fingerprint import sha256_of

Written = bytes | Mapping[str, bytes]
"""A file, or the files of a folder by their paths in it."""

MANIFEST = "manifest.json"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


def check_output(path: Path | None) -> None:
    """See that a file can be written there.

    Raises:
        GoldspanError: It names no file, or lies in no folder that there is.
    """
    if path is None:
        return
    if not path.name or path.is_dir():
        message = f"-o names no file: {str(path)!r}"
        raise GoldspanError(message, hint="Leave it out to write to stdout.", code=Exit.USAGE)
    if not path.parent.is_dir():
        message = f"-o {path}: the folder {path.parent} does not exist"
        raise GoldspanError(message, hint="Make it first, or name a file in another.", code=Exit.USAGE)


def write(path: Path | None, data: Written) -> None:
    """Write to a file, to stdout, or the files of a folder that is not there yet: all or none.

    A device, a pipe or a link is written to, never replaced.

    Raises:
        GoldspanError: There is something of the folder's name, or the system refuses.
    """
    is_file = isinstance(data, bytes)
    try:
        _write(path, data)
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"the {'file' if is_file else 'folder'} could not be written: {error.strerror or error}"
        hint = "Name one that is not there yet." if path and path.exists() and not is_file else ""
        raise GoldspanError(message, where=str(path or "stdout"), hint=hint) from error


def _write(path: Path | None, data: Written) -> None:
    if path is None:
        assert isinstance(data, bytes)
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    if isinstance(data, bytes) and (path.is_symlink() or (path.exists() and not path.is_file())):
        path.write_bytes(data)
        return
    beside = path.with_name(f".goldspan.{os.getpid()}.tmp")
    try:
        if isinstance(data, bytes):
            beside.write_bytes(data)
            beside.replace(path)
            return
        for name, content in data.items():
            (beside / name).parent.mkdir(parents=True, exist_ok=True)
            (beside / name).write_bytes(content)
        beside.rename(path)
    finally:
        if beside.is_dir():
            shutil.rmtree(beside, ignore_errors=True)
        else:
            beside.unlink(missing_ok=True)


def bundled(files: Mapping[str, tuple[int, bytes]]) -> bytes:
    """A zip of files, given as rows and bytes, and of a manifest: file → rows, bytes, sha256."""
    into = BytesIO()
    manifest = {
        name: {"rows": n_rows, "bytes": len(data), "sha256": sha256_of(data)}
        for name, (n_rows, data) in sorted(files.items())
    }
    contents = {name: data for name, (_, data) in sorted(files.items())}
    with zipfile.ZipFile(into, "w") as bundle:
        for name, data in {MANIFEST: (json.dumps(manifest, indent=2) + "\n").encode(), **contents}.items():
            # No clock and no rights of files: equal contents are equal bytes.
            bundle.writestr(zipfile.ZipInfo(name, _LONG_AGO), data, zipfile.ZIP_DEFLATED)
    return into.getvalue()


def verify(path: Path) -> int:
    """Hold every file of a bundle against its manifest; returns how many there are.

    Raises:
        GoldspanError: It is no bundle, or a file is missing, is not in the manifest, or is not what it was.
    """
    try:
        with zipfile.ZipFile(path) as bundle:
            manifest = json.loads(bundle.read(MANIFEST))
            names = [name for name in bundle.namelist() if name != MANIFEST]
            wrong = {*names} ^ {*manifest}
            wrong |= {name for name in set(names) - wrong if not _is_as_written(bundle, name, manifest[name])}
            wrong |= {name for name in names if names.count(name) > 1}
    except FileNotFoundError as error:
        raise GoldspanError(f"there is no file {path}", code=Exit.MISSING) from error
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError, OSError, EOFError, NotImplementedError) as error:
        message = f"this is no bundle, or a damaged one: {error}"
        raise GoldspanError(message, where=str(path), code=Exit.INVALID) from error
    if wrong:
        message = f"not as the manifest has it: {len(wrong)} of its files"
        raise GoldspanError(message, where=str(path), examples=sorted(wrong), code=Exit.INVALID)
    return len(names)


def _is_as_written(bundle: zipfile.ZipFile, name: str, said: Mapping[str, object]) -> bool:
    try:
        data = bundle.read(name)
    except zipfile.BadZipFile:
        return False
    return said["bytes"] == len(data) and said["sha256"] == sha256_of(data)
