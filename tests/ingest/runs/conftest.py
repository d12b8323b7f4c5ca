"""Lakes that something is imported into; each test has a copy of its own."""

from pathlib import Path

import pytest

from lake.store import Lake
from tests.ingest.runs.agents import issues
from tests.once import linked
from tests.tiny import build, ingested


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small RepoEval, to read only."""
    home = tmp_path_factory.mktemp("imports")
    ingested(home / "lake", build(home / "source"))
    return home / "lake"


@pytest.fixture
def lake(once: Path, tmp_path: Path) -> Lake:
    return Lake(linked(once, tmp_path / "lake"))


@pytest.fixture(scope="session")
def issues_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return issues(tmp_path_factory.mktemp("issues") / "lake").root
