"""Sources of installed packages, each file checked against what its wheel recorded."""

from __future__ import annotations

import base64
import csv
import hashlib
from contextlib import suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath

from ingest.sources.tree import Entry
from lake.errors import Exit, GoldspanError

_LICENCE_NAMES = ("LICENSE", "LICENCE", "COPYING", "NOTICE")


def read_package(pin: str) -> dict[str, Entry]:
    """The `.py` and licence texts of an installed package, `click==8.5.1`, by path; each is checked as it is read."""
    name, _, version = pin.partition("==")
    installed = None
    with suppress(PackageNotFoundError):
        installed = distribution(name)
    if installed is None or installed.version != version:
        lacks = "not installed" if installed is None else f"installed as {installed.version}"
        what = f"the sample is cut from the package {pin}, which is {lacks}"
        hint = "Install what the application needs: python -m pip install -r requirements.txt"
        raise GoldspanError(what, hint=hint, code=Exit.MISSING)
    again = f"python -m pip install --force-reinstall --no-deps {pin}"
    # The RECORD itself: `Distribution.files` leaves out, from Python 3.12 on, what is recorded and no longer there.
    record = installed.read_text("RECORD")
    files: dict[str, Entry] = {}
    for row in csv.reader((record or "").splitlines()):
        recorded, digest, size = (*row, "", "")[:3]
        path = _path_in_repository(PurePosixPath(recorded))
        if path is not None and path not in files:
            read = partial(_read, Path(str(installed.locate_file(recorded))), f"{path} of {pin}", digest, again)
            files[path] = Entry(path, int(size or 0), read, made_from=digest)
    if not any(path.endswith(".py") for path in files):
        what = f"the package {pin} has no record of its files, so they cannot be checked"
        raise GoldspanError(what, hint=f"Install it from its wheel: {again}", code=Exit.INVALID)
    return dict(sorted(files.items()))


def _read(file: Path, called: str, digest: str, again: str) -> bytes:
    try:
        data = file.read_bytes()
        checksum = f"sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()}"
        if checksum == digest.rstrip("="):
            return data
        fault = f"is not what its wheel recorded: {checksum} instead of {digest}"
    except OSError as error:
        fault = f"cannot be read: {error.strerror}"
    raise GoldspanError(f"{called} {fault}", where=str(file), hint=f"Put it back: {again}", code=Exit.INVALID)


def _path_in_repository(path: PurePosixPath) -> str | None:
    if path.is_absolute() or ".." in path.parts:
        return None
    if path.parts[0].endswith(".dist-info"):
        # A wheel keeps licences at `<x>.dist-info/` or below `licenses/` there; in a repository they stand at the top.
        return path.name if path.name.upper().startswith(_LICENCE_NAMES) else None
    return str(path) if path.suffix == ".py" else None
