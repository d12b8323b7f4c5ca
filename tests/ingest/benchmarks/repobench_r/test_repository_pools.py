"""Whole repositories to be searched: cloned when asked for, their commit kept, gold found whatever its white space."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.benchmarks.repobench_r.repository_search import Normalised, occurrences
from lake.errors import Exit
from lake.store import Lake
from tests.ingest.boats import FILES, commit, remote, source
from tests.tiny import Said, command, stored

POOL = "repobench-r/repository/acme/boats"


@pytest.fixture
def at_home(tmp_path: Path) -> Path:
    source(tmp_path / "source")
    return tmp_path


def _ingest(home: Path, *more: str, clones: bool = True) -> Said:
    flag = ["--repositories", f"file://{home / 'remotes'}"] if clones else []
    arguments = ["--source", home / "source", "--lake", home / "lake", "--chunkers", "whole-file", *flag, *more]
    return command("ingest", "repobench-r", *arguments)


def _pool(home: Path) -> list[str]:
    files = Lake(home / "lake").scan("files").filter(pl.col("pool_id") == POOL)
    return files.sort("position").collect()["path"].to_list()


def _gold(home: Path) -> list[tuple[str, str, int, int]]:
    spans = Lake(home / "lake").read("gold_spans", benchmark="repobench-r").filter(pl.col("gold") == "repository")
    return spans.select("item_id", "path", "line_start", "line_end").rows()


def _paths(home: Path) -> list[str]:
    return [path for _, path, _, _ in _gold(home)]


def test_a_repository_is_searched_in_the_language_of_its_rows(at_home: Path) -> None:
    commit(remote(at_home / "remotes"))
    said = _ingest(at_home)
    assert said.code == Exit.INCOMPLETE, said.err
    assert _pool(at_home) == ["boats/hull.py", "boats/paint.py", "boats/rigging.py", "boats/sail.py"]
    # rigging.py: two lines before the first of mast are `import math` and an empty one, and one more.
    assert _gold(at_home) == [
        ("python_cff/test/easy/0", "boats/hull.py", 0, 3),
        ("python_cff/test/easy/1", "boats/rigging.py", 3, 6),
    ]
    assert "in whole repositories: 2 of 5 items can be scored; without a repository 1, without gold in it 2" in said.err
    assert "1 of 2 repositories could not be had: acme/ghost; rejects says why" in said.err


def test_a_repository_that_cannot_be_had_is_rejected_with_its_reason(at_home: Path) -> None:
    commit(remote(at_home / "remotes"))
    _ingest(at_home)
    found = Lake(at_home / "lake").read("rejects").filter(pl.col("source") == "repository acme/ghost")
    assert found.height == 1
    assert found["reason"].item().startswith("there is no repository file:///")


def test_without_being_asked_nothing_is_cloned(at_home: Path) -> None:
    commit(remote(at_home / "remotes"))
    assert _ingest(at_home, clones=False).code == 0
    assert not _pool(at_home) + _paths(at_home)
    assert not (at_home / "lake" / "cache").exists()


def test_the_commit_is_recorded_and_kept(at_home: Path) -> None:
    repository = remote(at_home / "remotes")
    first = commit(repository)
    _ingest(at_home)
    before = stored(at_home / "lake")
    commit(repository, {**FILES, "boats/new.py": "new = 1\n"})
    # Even where the cache is gone and the files with it.
    shutil.rmtree(at_home / "lake" / "cache")
    for part in Lake(at_home / "lake").parts("blobs"):
        part.path.unlink()
    said = _ingest(at_home)
    assert said.code == Exit.INCOMPLETE
    assert f"at {first[:12]}" in said.err
    after = stored(at_home / "lake")
    assert {path for path in before if "blobs" not in path} == {path for path in after if "blobs" not in path}
    assert all(before[path] == after[path] for path in before if "blobs" not in path)
    row = Lake(at_home / "lake").read("benchmarks").row(0, named=True)
    assert json.loads(row["parameters"])["repositories"] == {"acme/boats": first}


def test_again_nothing_is_fetched_and_nothing_changes(at_home: Path) -> None:
    commit(remote(at_home / "remotes"))
    _ingest(at_home)
    before = stored(at_home / "lake")
    shutil.rmtree(at_home / "remotes")
    said = _ingest(at_home)
    assert "fetching file://" not in said.err.replace("acme/ghost", "")
    assert stored(at_home / "lake") == before
    assert _ingest(at_home, clones=False).code == 0
    assert stored(at_home / "lake") == before


def test_rows_that_change_find_their_gold_anew(at_home: Path) -> None:
    commit(remote(at_home / "remotes"))
    _ingest(at_home)
    file = at_home / "source" / "data" / "python_cff_test_easy.jsonl"
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[1:]))
    assert _ingest(at_home, clones=False).code == 0
    assert _gold(at_home) == [("python_cff/test/easy/0", "boats/rigging.py", 3, 6)]


def test_another_source_leaves_no_repository_behind(at_home: Path) -> None:
    commit(remote(at_home / "remotes"))
    _ingest(at_home)
    shutil.move(at_home / "source", at_home / "elsewhere")
    arguments = ["--source", at_home / "elsewhere", "--lake", at_home / "lake", "--chunkers", "whole-file"]
    assert command("ingest", "repobench-r", *arguments).code == 0
    assert not _pool(at_home) + _paths(at_home)


@pytest.mark.parametrize("base", ["1", "ssh://example.org", "https://me:secret@example.org"])
def test_a_base_that_is_none_is_refused(at_home: Path, base: str) -> None:
    said = command("ingest", "repobench-r", "--source", at_home / "source", "--repositories", base)
    assert said.code == Exit.INVALID
    assert "is refused" in said.err
    assert "secret" not in said.err


def test_a_snippet_is_found_whatever_the_white_space_but_in_its_own_file() -> None:
    files = [Normalised.of("a.py", "x\n\ndef f( a ):\n\treturn  a\n"), Normalised.of("b.py", "def f( a ): return a")]
    assert list(occurrences("def f( a ):\r\n    return a\n", files, None)) == [("a.py", 2, 4), ("b.py", 0, 1)]
    assert list(occurrences("def f( a ):\n    return a", files, "a.py")) == [("b.py", 0, 1)]
    assert list(occurrences("def g", files, None)) == []
    assert list(occurrences(" \n", files, None)) == []


WORDS = st.lists(st.sampled_from(["a", "b", "ab", "(", "c"]), min_size=1, max_size=4)
SPACES = st.sampled_from([" ", "\n", "\r\n\t", "  ", "\n\n"])


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "ab", "(", "c"]), SPACES), max_size=12), WORDS)
def test_lines_of_an_occurrence_hold_its_words(text: list[tuple[str, str]], wanted: list[str]) -> None:
    whole = "".join(word + space for word, space in text)
    found = list(occurrences("\n".join(wanted), [Normalised.of("x", whole)], None))
    assert bool(found) == (" ".join(wanted) in " ".join(word for word, _ in text))
    for _, start, end in found:
        lines = " ".join(" ".join(whole.split("\n")[start:end]).split())
        assert " ".join(wanted) in lines
