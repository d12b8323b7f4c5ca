"""`make lock`: resolve requirements*.txt anew from pyproject.toml with uv, each file on top of the one before it."""

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMPILE = "pip compile pyproject.toml --universal --python-version 3.11 --no-header --no-annotate --quiet"


@dataclass(frozen=True)
class Lock:
    """A file of exact pins of the project's dependencies with some `groups` and `extras`.

    It keeps the pins of lock `on`, and agrees with lock `beside`, with which it may be installed.
    """

    name: str
    groups: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    on: str | None = None
    beside: str | None = None

    def arguments(self) -> list[str]:
        options = {"--group": self.groups, "--extra": self.extras, "-c": filter(None, (self.on, self.beside))}
        added = [word for option, names in options.items() for name in names for word in (option, name)]
        return [*COMPILE.split(), *added, "-o", self.name]


CHUNKERS = ("chunkers",)
LOCKS = (
    Lock("requirements.txt"),
    Lock("requirements-chunkers.txt", (), CHUNKERS, "requirements.txt"),
    Lock("requirements-dev.txt", ("dev",), CHUNKERS, "requirements-chunkers.txt"),
    Lock("requirements-dense.txt", (), ("dense",), "requirements.txt", beside="requirements-dev.txt"),
    # Beside all that may be installed: the tests of both run in one environment.
    Lock("requirements-dask.txt", (), ("dask",), "requirements.txt", beside="requirements-dev.txt"),
)

LEFT_OUT = ("cuda-", "nvidia-", "torch==", "triton==")
"""What no lock pins: each machine has its own torch, installed first, and with a GPU what that one needs."""


def main() -> None:
    """Resolve all files, then write them; the first that cannot be resolved ends it."""
    with tempfile.TemporaryDirectory() as folder:
        # Beside no older lock: its pins would be kept.
        fresh = Path(folder)
        shutil.copy(ROOT / "pyproject.toml", fresh)
        for lock in LOCKS:
            if subprocess.run([Path(sys.executable).with_name("uv"), *lock.arguments()], cwd=fresh).returncode:
                sys.exit(f"{lock.name} could not be resolved from pyproject.toml")
        for lock in LOCKS:
            lines = (fresh / lock.name).read_text().splitlines(keepends=True)
            (ROOT / lock.name).write_text("".join(line for line in lines if not line.startswith(LEFT_OUT)))


if __name__ == "__main__":
    main()
