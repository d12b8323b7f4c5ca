"""RepoBench-R's sample: the same on every machine, and rows in the shape the hub's files have."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest.commands.open_source import open_source
from ingest.mining.sample import OWN, PACKAGES, SampleSource, open_sample
from ingest.sources.tree import UNKNOWN_SIZE

ROOT = Path(__file__).parents[3]
SUBSETS = ("java_cff", "java_cfr", "python_cff", "python_cfr")

RECIPES = (*PACKAGES.values(), *OWN)
Row = dict[str, Any]
"""As JSON has it."""
Rows = dict[str, dict[str, dict[str, list[Row]]]]


@pytest.fixture(scope="module")
def source() -> SampleSource:
    return open_sample("repobench-r")


@pytest.fixture(scope="module")
def rows(source: SampleSource) -> Rows:
    tree = source.tree("data")
    assert tree is not None
    assert tree.location == "data"
    assert [entry.path for entry in tree.entries] == [f"{subset}.jsonl" for subset in SUBSETS]
    assert {entry.size for entry in tree.entries} == {UNKNOWN_SIZE}
    return {entry.path.removesuffix(".jsonl"): _split(entry.read()) for entry in tree.entries}


def _split(data: bytes) -> dict[str, dict[str, list[Row]]]:
    """Rows of a file by split and level, without these two."""
    rows: dict[str, dict[str, list[Row]]] = {split: {"easy": [], "hard": []} for split in ("test", "train")}
    for line in data.splitlines():
        row = json.loads(line)
        rows[row.pop("split")][row.pop("level")].append(row)
    return rows


def _every(rows: Rows, language: str = "") -> Iterator[tuple[str, str, str, Row]]:
    for subset, splits in rows.items():
        for split, levels in splits.items():
            for level, found in levels.items():
                yield from ((subset, split, level, row) for row in found if subset.startswith(language))


def test_there_are_enough_rows_of_every_kind_and_no_repository_dominates(rows: Rows) -> None:
    n_test = {(subset, level): len(found) for subset, splits in rows.items() for level, found in splits["test"].items()}
    assert set(n_test) == {(subset, level) for subset in SUBSETS for level in ("easy", "hard")}
    python = {key: n for key, n in n_test.items() if key[0].startswith("python")}
    assert min(python.values()) >= 100
    assert sum(n_test.values()) - sum(python.values()) >= 36
    assert min(n_test.values()) >= 12
    for subset, splits in rows.items():
        for levels in splits.values():
            for found in levels.values():
                assert max(Counter(row["repo_name"] for row in found).values()) <= max(
                    recipe.limit for recipe in RECIPES
                )
        assert len({row["repo_name"] for row in splits["test"]["hard"]}) >= (8 if subset.startswith("python") else 2)


def test_train_is_a_small_repository_of_each_language_and_is_not_in_test(rows: Rows) -> None:
    repos = {split: {row["repo_name"] for _, of, _, row in _every(rows) if of == split} for split in ("train", "test")}
    assert repos["train"] == {recipe.repository for recipe in RECIPES if recipe.split == "train"}
    assert not repos["train"] & repos["test"]
    n = Counter(split for _, split, _, _ in _every(rows, "python"))
    assert 0 < n["train"] < n["test"] / 10


def test_every_row_has_the_shape_of_the_hubs(rows: Rows) -> None:
    for _, _, level, row in _every(rows):
        assert list(row) == [
            "repo_name", "file_path", "context", "import_statement", "code", "next_line", "gold_snippet_index",
        ]  # fmt: skip
        n = len(row["context"])
        assert n in range(5, 10) if level == "easy" else n >= 10
        assert len(set(row["context"])) == n
        assert all(snippet == snippet.strip() for snippet in row["context"])
        assert row["gold_snippet_index"] in range(n)
        assert "\n" not in row["next_line"]
        assert row["next_line"].strip()
        assert row["code"].endswith("\n")
        assert not row["code"].startswith("\n")
        assert sum(bool(line.strip()) for line in row["code"].split("\n")) >= 3


def test_the_sample_says_what_it_is(source: SampleSource, rows: Rows, tmp_path: Path) -> None:
    assert (source.name, source.label) == ("sample", "sample")
    assert source.revision == open_sample("repoeval").revision
    assert source.licences["pallets/click"] == "BSD-3-Clause"
    assert {row["repo_name"] for _, _, _, row in _every(rows)} <= source.licences.keys()
    assert all(source.licences.values())
    assert source.tree("nowhere") is None
    assert open_source("sample", "repobench-r", cache=tmp_path).revision == source.revision
