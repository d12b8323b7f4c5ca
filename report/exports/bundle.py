"""Several files as one zip with a manifest, the same bytes whenever it is made, and verified by that."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from lake.errors import Exit, GoldspanError

MANIFEST = "manifest.json"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


def bundled(files: Mapping[str, tuple[int, bytes]]) -> bytes:
    """A zip of files, given as rows and bytes, and of a manifest: file → rows, bytes, sha256."""
    into = BytesIO()
    manifest = {
        name: {"rows": n_rows, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
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
            wrong = {name for name in {*names, *manifest} if name not in names or name not in manifest}
            wrong |= {name for name in set(names) - wrong if not _is_as_written(bundle, name, manifest[name])}
            wrong |= {name for name in names if names.count(name) > 1}
    except FileNotFoundError as error:
        message = f"there is no file {path}"
        raise GoldspanError(message, code=Exit.MISSING) from error
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
    return said["bytes"] == len(data) and said["sha256"] == hashlib.sha256(data).hexdigest()
