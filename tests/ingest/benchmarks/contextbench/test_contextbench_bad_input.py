"""What may be wrong with ContextBench's files: reported with its place, and the rest goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lake.errors import Exit, GoldspanError
from lake.store import Lake
from tests.ingest.benchmarks.contextbench.context_cases import (
    COMMIT,
    Row,
    build,
    gold,
    ingested,
    items,
    parquet,
    rejected,
    repo_parquet,
    row,
    span,
    why_not,
)
from tests.tiny import command, put

SOUND = row("acme__rockets-1")


def jsonl(root: Path, *rows: Row) -> Path:
    """A source of a sound row in Parquet and others in JSON Lines, where a column may hold anything."""
    source = build(root, [SOUND])
    put(source / "contextbench/more.jsonl", b"".join(json.dumps(one).encode() + b"\n" for one in rows))
    return source


def test_gold_that_names_nothing_or_nothing_that_is_there_is_not_scored(tmp_path: Path) -> None:
    rows = [row("acme__rockets-2", []), row("acme__rockets-3", [span("../../etc/passwd", 1, 2), span("gone.py", 1, 1)])]
    ingested(tmp_path / "lake", jsonl(tmp_path / "source", *rows))
    assert why_not(tmp_path / "lake") == {
        "acme__rockets-1": None,
        "acme__rockets-2": "its gold names nothing",
        "acme__rockets-3": "none of its gold files is in its repository",
    }
    assert items(tmp_path / "lake")["acme__rockets-3"]["gold_flags"] == ["file-missing:2"]
    assert {item for item, *_ in gold(tmp_path / "lake")} == {"acme__rockets-1"}


def test_a_repository_cut_short_or_of_other_columns_leaves_its_items_unscored(tmp_path: Path) -> None:
    rows = [SOUND, row("acme__boats-2", repo="boats"), row("acme__cars-3", repo="cars")]
    beside = {
        "acme__rockets-1.parquet": repo_parquet(),
        "acme__boats-2.parquet": repo_parquet()[:-50],
        "acme__cars-3.parquet": parquet({"name": ["a"], "content": ["b"]}),
    }
    done = ingested(tmp_path / "lake", build(tmp_path / "source", rows, files=beside))
    found = why_not(tmp_path / "lake")
    assert found["acme__rockets-1"] is None
    assert "the Parquet cannot be read" in str(found["acme__boats-2"])
    assert "it has no column path" in str(found["acme__cars-3"])
    assert [(source, position) for source, position, _ in rejected(tmp_path / "lake")] == [
        ("repository acme/boats", f"commit {COMMIT}"),
        ("repository acme/cars", f"commit {COMMIT}"),
    ]
    assert "ContextBench full: 1 of 3 can be scored" in done.warnings


def test_crlf_and_a_byte_order_mark_leave_lines_where_they_are(tmp_path: Path) -> None:
    files = {"src/engine.py": "\ufeffone\r\ntwo\r\nthree\r\n"}
    rows = [
        row("acme__rockets-1", [span("src/engine.py", 2, 3, "two\nthree"), span("src/engine.py", 1, 1, "\ufeffone")])
    ]
    source = build(tmp_path / "source", rows, files={"acme__rockets-1.parquet": repo_parquet(files)})
    ingested(tmp_path / "lake", source)
    spans = Lake(tmp_path / "lake").read("gold_spans").filter(gold="context")
    assert spans.select("line_start", "line_end", "byte_start", "byte_end").rows() == [(0, 1, 0, 8), (1, 3, 8, 20)]
    assert items(tmp_path / "lake")["acme__rockets-1"]["gold_flags"] == []
    assert Lake(tmp_path / "lake").read("blobs")["flags"].to_list() == [["crlf"]]


def test_a_folder_without_rows_says_what_was_looked_for(tmp_path: Path) -> None:
    put(tmp_path / "contextbench/repo_files/acme__rockets-1.parquet", repo_parquet())
    said = command("ingest", "contextbench", "--source", tmp_path, "--lake", tmp_path / "lake")
    assert said.code == Exit.MISSING
    assert "no file of rows" in said.err
    with pytest.raises(GoldspanError, match=r"no file called \*verified\*"):
        ingested(tmp_path / "lake", build(tmp_path), subsets=["verified"])
