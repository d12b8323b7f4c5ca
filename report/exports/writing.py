"""Bytes into a file or to stdout: the whole file or none."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from lake.errors import Exit, GoldspanError


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


def write(path: Path | None, data: bytes) -> None:
    """Write to a file or to stdout; a device, a pipe or a link is written to, never replaced.

    Raises:
        GoldspanError: The system refuses.
    """
    try:
        _write(path, data)
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"the file could not be written: {error.strerror or error}"
        raise GoldspanError(message, where=str(path or "stdout")) from error


def write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Write the files of a folder that is not there yet, all or none.

    Args:
        path: The folder.
        files: Path in it → contents.

    Raises:
        GoldspanError: There is something of that name, or the system refuses.
    """
    beside = path.with_name(f".goldspan.{os.getpid()}.tmp")
    try:
        for name, data in files.items():
            (beside / name).parent.mkdir(parents=True, exist_ok=True)
            (beside / name).write_bytes(data)
        beside.rename(path)
    except OSError as error:
        message = f"the folder could not be written: {error.strerror or error}"
        hint = "Name one that is not there yet." if path.exists() else ""
        raise GoldspanError(message, where=str(path), hint=hint) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _write(path: Path | None, data: bytes) -> None:
    if path is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    if path.is_symlink() or (path.exists() and not path.is_file()):
        path.write_bytes(data)
        return
    beside = path.with_name(f".goldspan.{os.getpid()}.tmp")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
