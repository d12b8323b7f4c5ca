import shutil
from pathlib import Path

import pytest

from lake.store import Lake
from report.build import build
from tests.once import made_once
from tests.report.html import Element, parse
from tests.report.small_lake import write_lake


@pytest.fixture(scope="session")
def _small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "small", lambda home: build(write_lake(home / "lake"), home / "site"))


@pytest.fixture
def small(_small: Path, tmp_path: Path) -> Lake:
    return Lake(shutil.copytree(_small / "lake", tmp_path / "lake"))


@pytest.fixture
def site(_small: Path, tmp_path: Path) -> Path:
    return shutil.copytree(_small / "site", tmp_path / "site")


@pytest.fixture(scope="session")
def built(_small: Path) -> Path:
    """The small lake's site, to read only."""
    return _small / "site"


@pytest.fixture(scope="session")
def pages(built: Path) -> dict[str, Element]:
    paths = sorted(built.rglob("*.html"))
    return {path.relative_to(built).as_posix(): parse(path.read_text(encoding="utf-8")) for path in paths}
