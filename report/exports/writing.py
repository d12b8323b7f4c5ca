"""Bytes into a file, a folder or to stdout, whole or not at all."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from lake.errors import Exit, GoldspanError

Written = bytes | Mapping[str, bytes]


def check_output(path: Path | None) -> None:
    """Check that a file can be written there."""
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
    """
    is_file = isinstance(data, bytes)
    beside = None if path is None else path.with_name(f".goldspan.{os.getpid()}.tmp")
    try:
        if path is None or beside is None:
            assert isinstance(data, bytes)
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        elif not isinstance(data, bytes):
            for name, content in data.items():
                (beside / name).parent.mkdir(parents=True, exist_ok=True)
                (beside / name).write_bytes(content)
            beside.rename(path)
        elif path.is_symlink() or (path.exists() and not path.is_file()):
            path.write_bytes(data)
        else:
            beside.write_bytes(data)
            beside.replace(path)
    except BrokenPipeError:
        raise
    except OSError as error:
        message = f"the {'file' if is_file else 'folder'} could not be written: {error.strerror or error}"
        hint = "Name one that is not there yet." if path and path.exists() and not is_file else ""
        raise GoldspanError(message, where=str(path or "stdout"), hint=hint) from error
    finally:
        if beside and beside.is_dir():
            shutil.rmtree(beside, ignore_errors=True)
        elif beside:
            beside.unlink(missing_ok=True)
