"""RepoBench-R's sample: the same on every machine, and rows in the shape the hub's files have."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.commands.open_source import open_source
from ingest.mining.packages import read_package
from ingest.mining.sample import OWN, PACKAGES, SampleSource, open_sample
from ingest.mining.syntax import is_own_code
from ingest.mining.usage import Row
from ingest.sources.tree import UNKNOWN_SIZE

ROOT = Path(__file__).parents[3]
SUBSETS = ("java_cff", "java_cfr", "python_cff", "python_cfr")

RECORDED = (
    "attrs==26.1.0 click==8.5.1 fsspec==2026.9.0 gitpython==3.2.1 httpx2==2.16.2 jinja2==3.1.6 jsonschema==4.26.0 "
    "markdown-it-py==4.3.0 packaging==26.3 python-dateutil==4.0.0 rich==15.0.0",
    "830afdec927ea3da73b5c542470ea53893686a7fa1e605bb853409c5b6a2b27b",
)
"""What the sample was cut from when its digest was recorded. Record both anew when a pin moves."""

DIGEST = """
import hashlib
from ingest.mining.sample import open_sample
source, digest = open_sample("repobench-r"), hashlib.sha256()
for entry in source.tree("data").entries:
    digest.update(entry.path.encode() + b"\\0" + hashlib.sha256(entry.read()).digest())
print(source.revision, digest.hexdigest(), sep="\\n")
"""

RECIPES = (*PACKAGES.values(), *OWN)
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


def test_the_code_is_what_stands_before_the_next_line_without_the_imports(rows: Rows) -> None:
    without_imports = {
        (repo, path): _without_imports(file.read().decode().replace("\r\n", "\n"))
        for name, repo in ((name, recipe.repository) for name, recipe in PACKAGES.items())
        for path, file in read_package(name).files.items()
        if any(row["file_path"] == path for _, _, _, row in _every(rows, "python"))
    }
    for _, _, _, row in _every(rows, "python"):
        kept, statements = without_imports[row["repo_name"], row["file_path"]]
        assert f"{kept}\n".startswith(f"{row['code']}{row['next_line']}\n")
        assert row["import_statement"] == statements


def _without_imports(text: str) -> tuple[str, str]:
    """A file's text without the import statements of its top level, and these; told by Python's own parser."""
    lines, statements = text.split("\n"), list[str]()
    gone: set[int] = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            first, end = node.lineno - 1, node.end_lineno or 0
            gone.update(range(first, end))
            statements += [*lines[first : end - 1], lines[end - 1].encode()[: node.end_col_offset].decode()]
    return "\n".join(line for at, line in enumerate(lines) if at not in gone).lstrip("\n"), "\n".join(statements)


def test_of_the_candidates_the_next_line_names_the_gold_alone(rows: Rows) -> None:
    for _, _, _, row in _every(rows):
        words = set(re.findall(r"\w+", row["next_line"]))
        named = [_names(row, snippet) & words for snippet in row["context"]]
        assert named[row["gold_snippet_index"]], row["next_line"]
        assert sum(map(bool, named)) == 1, row["next_line"]


def _names(row: Row, snippet: str) -> set[str]:
    """What a candidate is called in the file, as far as its text and the imports tell."""
    found = re.search(r"(?:^|\s)(?:def|class|record|enum)\s+(\w+)", snippet)
    assert found is not None
    imported = re.findall(rf"\b{found[1]}(?:\s+as\s+(\w+))?(?=\s*(?:[,;)#]|$))", row["import_statement"], re.MULTILINE)
    return {alias or found[1] for alias in imported}


def test_candidates_are_whole_definitions_with_their_decorators(rows: Rows) -> None:
    snippets = {snippet for _, _, _, row in _every(rows, "python") for snippet in row["context"]}
    for snippet in snippets:
        (node,) = ast.parse(snippet).body
        assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    assert sum(snippet.startswith("@") for snippet in snippets) > 20


def test_the_first_use_is_asked_in_cff_and_a_later_one_in_cfr(rows: Rows) -> None:
    first = {_gold(row): row["code"].count("\n") for _, _, _, row in _every({"": rows["java_cff"]})}
    later = {_gold(row): row["code"].count("\n") for _, _, _, row in _every({"": rows["java_cfr"]})}
    assert len(first.keys() & later.keys()) > 20
    assert all(first[key] < later[key] for key in first.keys() & later.keys())


def _gold(row: Row) -> tuple[str, str]:
    return row["file_path"], row["context"][row["gold_snippet_index"]]


def test_no_line_is_asked_twice_and_none_of_a_test(rows: Rows) -> None:
    for subset in SUBSETS:
        asked = Counter(
            (level, row["repo_name"], row["next_line"].strip()) for _, _, level, row in _every({subset: rows[subset]})
        )
        assert max(asked.values()) == 1
    assert all(is_own_code(row["file_path"]) for _, _, _, row in _every(rows, "python"))


def test_the_sample_is_the_same_in_every_process_and_on_every_machine() -> None:
    started = [
        subprocess.Popen(
            [sys.executable, "-c", DIGEST],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C", "TZ": zone},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo"))
    ]
    runs = [process.communicate()[0] for process in started]
    assert [process.returncode for process in started] == [0, 0]
    assert runs[0] == runs[1]
    revision, digest = runs[0].split("\n", 1)
    assert (revision, digest.strip()) == RECORDED, "a pin, the grammar or a rule changed: record the digest anew"


def test_the_sample_says_what_it_is(source: SampleSource, rows: Rows, tmp_path: Path) -> None:
    assert (source.name, source.label) == ("sample", "sample")
    assert source.revision == open_sample("repoeval").revision
    assert source.licences["pallets/click"] == "BSD-3-Clause"
    assert {row["repo_name"] for _, _, _, row in _every(rows)} <= source.licences.keys()
    assert all(source.licences.values())
    assert source.tree("nowhere") is None
    assert open_source("sample", "repobench-r", cache=tmp_path).revision == source.revision
