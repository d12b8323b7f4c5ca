"""The queries of the real rows, beside their rules as SEMANTICS has them, read once more without the product's code."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest

from lake.catalog.protocols import query_rules
from lake.errors import Exit
from lake.store import Lake
from tests.evaluate.score.repobench_plain import rows_of
from tests.tiny import command, ingested, stored

Expected = Mapping[tuple[str, str], str]


def _repoeval(shared: Path) -> Expected:
    file = shared / "repoeval/datasets/function_level_completion_2k_context_codex.test.jsonl"
    texts, counts = {}, dict[str, int]()
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        repo = row["metadata"]["fpath_tuple"][0]
        number = counts[repo] = counts.get(repo, -1) + 1
        texts[f"function-2k/{repo}/{number}", "prompt"] = row["prompt"]
    return texts


def _repobench(shared: Path) -> Expected:
    rows = [row for row in rows_of(shared / "repobench-r-mined") if row.item_id.startswith("python_cff/test/")]
    imports = {(row.item_id, "imports-and-code"): f"{row.imports}\n\n{row.code}" for row in rows}
    return imports | {(row.item_id, "last-3-lines"): row.last_lines for row in rows}


def _contextbench(shared: Path) -> Expected:
    rows = pl.read_parquet(shared / "contextbench/test.parquet").select("original_inst_id", "problem_statement").rows()
    # An id that comes again is no item: the first row counts.
    return {(item_id, "problem-statement"): text for item_id, text in reversed(rows)}


@pytest.mark.parametrize(
    ("benchmark", "subset", "expected"),
    [
        ("repoeval", "function-2k", _repoeval),
        ("repobench-r", "python_cff/test", _repobench),
        ("contextbench", "full", _contextbench),
    ],
)
def test_every_item_has_each_query_of_its_tasks_with_its_sha256(
    benchmark: str, subset: str, expected: Callable[[Path], Expected], shared: Path, tmp_path: Path
) -> None:
    options = ("--subsets", subset, "--limit", "6", "--chunkers", "whole-file", "--lake", tmp_path)
    said = command("ingest", benchmark, "--source", shared, *options)
    assert said.code in (0, Exit.INCOMPLETE), said.err
    lake, texts = Lake(tmp_path), expected(shared)
    queries = lake.read("queries", benchmark=benchmark)
    assert queries.height == 6 * len(query_rules(benchmark))
    items = lake.read("items", benchmark=benchmark)["item_id"]
    assert {*queries.select("item_id", "query").iter_rows()} == {(i, q) for i in items for q in query_rules(benchmark)}
    for item_id, query, text, digest in queries.select("item_id", "query", "text", "sha256").iter_rows():
        assert text == texts[item_id, query]
        assert digest == sha256(text.encode()).hexdigest()


def test_a_lake_without_its_queries_is_not_evaluated_and_ingest_makes_them_again(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "lake"
    ingested(folder, source)
    lake, before = Lake(folder), stored(folder)
    [part] = lake.parts("queries")
    lake.remove(part)
    said = command("evaluate", "--lake", folder)
    assert said.code != 0
    assert "no query 'prompt' of 5 items of function-2k" in said.err
    ingested(folder, source)
    assert stored(folder, "queries") == {path: data for path, data in before.items() if path.startswith("queries/")}
