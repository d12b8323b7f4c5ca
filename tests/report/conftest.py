from __future__ import annotations

from pathlib import Path

import pytest

from lake.store import Lake
from report.build import build
from tests.report.html import Element, parse
from tests.report.small_lake import write_lake


@pytest.fixture
def small(tmp_path: Path) -> Lake:
    """A lake of one's own, to change."""
    return write_lake(tmp_path / "lake")


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small lake's site, to read only."""
    folder = tmp_path_factory.mktemp("built")
    build(write_lake(folder / "lake"), folder / "site")
    return folder / "site"


@pytest.fixture(scope="session")
def pages(built: Path) -> dict[str, Element]:
    """Every page of it, parsed."""
    found = sorted(built.rglob("*.html"))
    return {path.relative_to(built).as_posix(): parse(path.read_text(encoding="utf-8")) for path in found}
