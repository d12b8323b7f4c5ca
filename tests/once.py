"""What several tests read and none changes, made once."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def linked(folder: Path, to: Path) -> Path:
    """A copy that a test may write to: parts are replaced and never changed, so that files are shared until then."""
    return shutil.copytree(folder, to, copy_function=os.link, ignore=shutil.ignore_patterns(".lock"))


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that the first of the processes that run tests makes, and that all of them read."""
    own = factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "made once" / name
    folder.parent.mkdir(exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not folder.is_dir():
            begun = folder.with_name(f"{name} begun")
            shutil.rmtree(begun, ignore_errors=True)
            begun.mkdir()
            make(begun)
            begun.rename(folder)
    return folder
