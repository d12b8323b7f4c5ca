"""Sources of installed packages, each file checked against what its wheel recorded."""

from __future__ import annotations

import base64
import csv
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath

from lake.errors import Exit, GoldspanError

INSTALL = "python -m pip install -r requirements.txt"
_LICENCE_NAMES = ("LICENSE", "LICENCE", "COPYING", "NOTICE")


@dataclass(frozen=True)
class PackageFile:
    """One file of a package.

    Attributes:
        path: As it stands in the package's repository: `click/core.py`; a licence stands at the top: `LICENSE.txt`.
        size: In bytes, as recorded.
        digest: The recorded hash, `<algorithm>=<urlsafe base64>`.
        file: Where it is installed.
        pin: `click==8.5.1`.
    """

    path: str
    size: int
    digest: str
    file: Path
    pin: str

    def read(self) -> bytes:
        """Its bytes, exactly as the wheel carried them.

        Raises:
            GoldspanError: The file is gone or is not what was recorded.
        """
        try:
            data = self.file.read_bytes()
        except OSError as error:
            what = f"cannot be read: {error.strerror}"
            raise self._fault(what) from error
        algorithm, _, expected = self.digest.partition("=")
        if algorithm not in hashlib.algorithms_guaranteed or algorithm.startswith("shake"):
            what = f"cannot be checked: its recorded hash is {self.digest!r}"
            raise self._fault(what)
        found = base64.urlsafe_b64encode(hashlib.new(algorithm, data).digest()).rstrip(b"=").decode()
        if found != expected.rstrip("="):
            what = f"is not what its wheel recorded: {algorithm} {found} instead of {expected}"
            raise self._fault(what)
        return data

    def _fault(self, what: str) -> GoldspanError:
        hint = f"Put it back: python -m pip install --force-reinstall --no-deps {self.pin}"
        return GoldspanError(f"{self.path} of {self.pin} {what}", where=str(self.file), hint=hint, code=Exit.INVALID)


@dataclass(frozen=True)
class Package:
    """An installed pure-Python package as a repository.

    Attributes:
        pin: `click==8.5.1`: the name as asked for, and the version that is installed.
        licence: From its metadata: an SPDX expression where it has one, else the licence field or classifier.
        files: Path → file: every `.py` and the licence texts, sorted by path.
    """

    pin: str
    licence: str
    files: Mapping[str, PackageFile]


def read_package(name: str) -> Package:
    """An installed package: its files listed, none read yet.

    Raises:
        GoldspanError: It is not installed, or was installed in a way that leaves no record of its files.
    """
    try:
        found = distribution(name)
    except PackageNotFoundError as error:
        what = f"the sample is cut from the package {name}, which is not installed"
        raise GoldspanError(what, hint=f"Install what the application needs: {INSTALL}", code=Exit.MISSING) from error
    pin = f"{name}=={found.version}"
    # The RECORD itself: `Distribution.files` leaves out, from Python 3.12 on, what is recorded and no longer there.
    record = found.read_text("RECORD")
    files: dict[str, PackageFile] = {}
    for row in csv.reader((record or "").splitlines()):
        recorded, digest, size = (*row, "", "")[:3]
        path = _path_in_repository(PurePosixPath(recorded))
        if path is not None and path not in files:
            file = Path(str(found.locate_file(recorded)))
            files[path] = PackageFile(path, int(size or 0), digest, file, pin)
    if not any(path.endswith(".py") for path in files):
        what = f"the package {pin} has no record of its files, so they cannot be checked"
        hint = f"Install it from its wheel: python -m pip install --force-reinstall --no-deps {pin}"
        raise GoldspanError(what, hint=hint, code=Exit.INVALID)
    return Package(pin, _licence(found), dict(sorted(files.items())))


def _path_in_repository(path: PurePosixPath) -> str | None:
    if path.is_absolute() or ".." in path.parts:
        return None
    if path.parts[0].endswith(".dist-info"):
        # A wheel keeps licences at `<x>.dist-info/` or below `licenses/` there; in a repository they stand at the top.
        return path.name if path.name.upper().startswith(_LICENCE_NAMES) else None
    return str(path) if path.suffix == ".py" else None


def _licence(found: Distribution) -> str:
    metadata = found.metadata
    fields = {key: metadata[key] or "" if key in metadata else "" for key in ("License-Expression", "License")}
    classifiers = [str(value) for value in metadata.get_all("Classifier") or []]
    licences = [value.rpartition(" :: ")[2] for value in classifiers if value.startswith("License :: ")]
    # The licence field may hold the licence's whole text; only a short one names it.
    named = fields["License"] if len(fields["License"]) <= 40 else ""
    return fields["License-Expression"] or named or "; ".join(licences)
