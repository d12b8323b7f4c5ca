"""`--repositories` on the command line: what is cloned from where, what is asked for again, what has no effect."""

from __future__ import annotations

from pathlib import Path

import pytest

from lake.errors import Exit
from lake.store import Lake
from tests.ingest.benchmarks.contextbench.context_cases import FILES, build, items, row
from tests.ingest.sources.git_remotes import Remote, served
from tests.tiny import Said, command, stored


def _rockets(remotes: Path, name: str = "acme/rockets") -> str:
    return Remote(remotes, name).commit(*(("100644", path, text.encode()) for path, text in FILES.items()))


def _ingest(home: Path, *more: object, base: str | None = None) -> Said:
    flag = ["--repositories", base if base is not None else f"file://{home / 'remotes'}"]
    arguments = ["--source", home / "source", "--lake", home / "lake", "--chunkers", "whole-file", *flag, *more]
    return command("ingest", "contextbench", *arguments)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Two rows of one repository that can be cloned, and one of a repository that cannot."""
    commit = _rockets(tmp_path / "remotes")
    rows = [row(f"acme__rockets-{n}", base_commit=commit) for n in (1, 2)]
    build(tmp_path / "source", [*rows, row("acme__boats-3", repo="acme/boats")], files={})
    return tmp_path


def test_repositories_of_a_folders_rows_are_cloned(home: Path) -> None:
    said = _ingest(home)
    assert said.code == Exit.INCOMPLETE, said.err
    assert "2 of 3 items ready, 1 missing" in said.err
    assert f"fetching file://{home}/remotes/acme/rockets at" in said.err
    assert set(Lake(home / "lake").read("files")["path"]) == set(FILES)
    assert " current" not in said.err


def test_what_could_not_be_had_is_asked_for_and_named_again(home: Path) -> None:
    _ingest(home)
    before = stored(home / "lake")
    again = _ingest(home)
    assert again.code == Exit.INCOMPLETE
    assert f"fetching file://{home}/remotes/acme/boats at" in again.err
    assert "1 item without a repository's files, as why_not says: acme__boats-3" in again.err
    assert stored(home / "lake") == before


def test_what_can_be_had_at_last_is_read(home: Path) -> None:
    (home / "remotes" / "acme" / "rockets").rename(home / "away")
    assert "0 of 3 items ready, 3 missing" in _ingest(home).err
    assert str(items(home / "lake")["acme__rockets-1"]["why_not"]).startswith("its repository is not at hand")
    (home / "away").rename(home / "remotes" / "acme" / "rockets")
    assert "2 of 3 items ready, 1 missing" in _ingest(home).err
    assert items(home / "lake")["acme__rockets-1"]["why_not"] is None


def test_a_server_with_a_path_is_cloned_from(home: Path) -> None:
    with served(home / "remotes") as url:
        said = _ingest(home, base=f"{url}/scm/")
    assert "2 of 3 items ready, 1 missing" in said.err, said.err
    assert f"fetching {url}/scm/acme/rockets at" in said.err


@pytest.mark.parametrize("benchmark", ["repoeval", "contextbench"])
def test_where_nothing_is_cloned_the_flag_is_an_error(tmp_path: Path, benchmark: str) -> None:
    said = command("ingest", benchmark, "--lake", tmp_path / "lake", "--repositories", f"file://{tmp_path}")
    assert said.code == Exit.USAGE
    assert "--repositories has no effect: nothing is cloned for" in said.err
