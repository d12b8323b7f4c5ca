"""Made-up rows: one pickle that any unpickler reads, the same every time, in the shape that is asked for."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path

import pytest

from ingest.sources.rows import read_pickle
from ingest.sources.tree import Entry
from tests.bench._repobench_rows import LEVELS, rows, write

N_ROWS = 160


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    file = tmp_path_factory.mktemp("rows") / "data" / "python_cff.gz"
    write(file, "python_cff", N_ROWS)
    return file.read_bytes()


def test_joined_pickles_are_one(data: bytes) -> None:
    made = {
        split: {level: list(rows("python_cff", split, level, n_rows)) for level in LEVELS}
        for split, n_rows in {"train": 60, "test": 20}.items()
    }
    assert read_pickle(Entry("a.gz", len(data), lambda: data)) == pickle.loads(gzip.decompress(data)) == made


def test_equal_rows_are_made_every_time(data: bytes, tmp_path: Path) -> None:
    write(tmp_path / "data" / "again.gz", "python_cff", N_ROWS)
    assert (tmp_path / "data" / "again.gz").read_bytes() == data


@pytest.mark.parametrize(("level", "fewest", "most"), [("easy", 5, 9), ("hard", 10, 20)])
def test_rows_have_the_candidates_of_their_level(level: str, fewest: int, most: int) -> None:
    made = list(rows("java_cfr", "train", level, 100))
    held = [one["context"] for one in made]
    assert {len(one) for one in held if isinstance(one, list)} == set(range(fewest, most + 1))
    assert all(isinstance(one["gold_snippet_index"], int) for one in made)
    # Snippets are shared within a repository, and by no other.
    repos: dict[str, set[str]] = {}
    for row, candidates in zip(made, held, strict=True):
        assert isinstance(candidates, list)
        assert len(set(candidates)) == len(candidates)
        repos.setdefault(str(row["repo_name"]), set()).update(candidates)
    assert len(set().union(*repos.values())) == sum(map(len, repos.values()))
    assert sum(map(len, repos.values())) < sum(len(one) for one in held if isinstance(one, list))
