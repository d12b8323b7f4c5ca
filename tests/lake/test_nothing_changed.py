"""Where nothing has changed a stage makes nothing; whatever changes is made again, and no more."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.tiny import Said, build, command, stored

pytestmark = pytest.mark.slow

CHUNKER = "window-4-2"


class Stages:
    """A source, a lake and a site, over which the three stages run."""

    def __init__(self, home: Path) -> None:
        self.home, self.lake = home, home / "lake"

    def run(self, stage: str, *more: str) -> Said:
        """What a stage printed."""
        given: dict[str, list[object]] = {
            "ingest": ["repoeval", "--source", self.home / "source", "--chunkers", CHUNKER],
            "evaluate": ["--systems", "*+jaccard-regex"],
            "report": ["--site", self.home / "site"],
        }
        said = command(stage, *given[stage], "--lake", self.lake, *more)
        assert said.code == 0, said.err
        return said

    def makes(self, stage: str, *more: str) -> bool:
        """Whether a stage makes something."""
        return " made" in self.run(stage, *more).err


@pytest.fixture(scope="module")
def _done(tmp_path_factory: pytest.TempPathFactory) -> Stages:
    stages = Stages(tmp_path_factory.mktemp("unchanged") / "home")
    build(stages.home / "source")
    for stage in ("ingest", "evaluate", "report"):
        stages.run(stage)
    return stages


@pytest.fixture
def stages(_done: Stages) -> Stages:
    """All three stages were run once, and are all current."""
    for stage in ("ingest", "evaluate", "report"):
        _done.run(stage)
    return _done


def test_where_nothing_changed_nothing_is_made(stages: Stages) -> None:
    before = stored(stages.lake)
    for stage in ("ingest", "evaluate", "report"):
        said = stages.run(stage)
        assert " made" not in said.err
        assert re.search(r" current in \d+\.\d s → ", said.err)
    assert stored(stages.lake) == before


def test_a_changed_page_of_the_site_is_noticed(stages: Stages) -> None:
    page = stages.home / "site" / "index.html"
    whole = page.read_bytes()
    page.write_bytes(whole + b" ")
    assert stages.makes("report")
    assert page.read_bytes() == whole
