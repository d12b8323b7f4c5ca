from pathlib import Path

import pytest

from tests.once import made_once
from tests.resilience.stages import finish
from tests.tiny import build


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source, and the lakes of an undisturbed run: after ingest alone, and after both stages."""

    def make(home: Path) -> None:
        build(home / "source")
        for stages in (1, 2):
            assert [run.code for run in finish(home / "source", home / f"lake{stages}", stages=stages)] == [0] * stages

    return made_once(tmp_path_factory, "undisturbed", make)
