"""Definitions in the lake: once per content, whole after a kill, made anew when the rules change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import ingest.benchmarks
import ingest.contents.chunks
from ingest.benchmarks.declaration import Benchmark
from ingest.contents.blobs import pool_frames
from ingest.contents.chunks import cut_contents
from ingest.contents.processes import Workers
from lake.declarations import discover
from lake.engine import Engine
from lake.outcome import Outcome
from lake.store import Lake

pytestmark = pytest.mark.slow

BENCHMARK = replace(discover(ingest.benchmarks, Benchmark)["repoeval"], name="pets")

FILES = {
    "a.py": "class A:\n    def b(self): pass\n",
    "copy/a.py": "class A:\n    def b(self): pass\n",
    "c.mjs": "const f = () => 1;\n",
    "empty.py": "",
    "words.py": "x = 1\n",
    "README.md": "def not_code(): pass\n",
    "x.ts": "await > await >\n" * 8000,
}


def put(lake: Lake, part: str, files: dict[str, str]) -> None:
    """A pool and its contents."""
    pool, blobs = pool_frames((part, path, text.encode()) for path, text in files.items())
    known = lake.scan("blobs").select("sha256").collect()["sha256"]
    lake.write("blobs", blobs.filter(~pl.col("sha256").is_in(known.implode())), part=part, fingerprint=part)
    kind = "rest" if part == "rest" else "searched"
    lake.write("files", pool, part=part, fingerprint=part, benchmark=BENCHMARK.name, kind=kind)


def cut(lake: Lake, n_processes: int = 1, benchmark: Benchmark = BENCHMARK) -> tuple[Outcome, list[str]]:
    result, said = Outcome(), list[str]()
    with Workers(Engine(n_processes)) as workers:
        cut_contents(lake, benchmark.name, [], said.append, result, workers)
    return result, said


def stored(lake: Lake) -> dict[str, bytes]:
    return {path.relative_to(lake.root).as_posix(): path.read_bytes() for path in sorted(lake.root.rglob("*.parquet"))}


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake(tmp_path / "lake")
    put(lake, "pets.one", FILES)
    return lake


def test_each_content_has_its_definitions_once_under_each_set_of_rules(lake: Lake) -> None:
    result, said = cut(lake)
    names = [
        lake.read("symbols", rules=rules).select("name", "qualified_name").sort("name").rows()
        for rules in ("docs", "official")
    ]
    assert names == [[("A", "A"), ("b", "A.b"), ("f", "f")], [("A", None), ("b", None)]]
    assert said[0] == "symbols: parsing 4 files"
    assert result.warnings == ["symbols: 1 file could not be parsed, as rejects says"]
    assert lake.read("rejects")["reason"].to_list() == [".ts could not be parsed: parsing takes too many steps"]


def test_only_new_contents_are_parsed(lake: Lake) -> None:
    cut(lake)
    before = stored(lake)
    put(lake, "pets.two", FILES | {"d.go": "package d\nfunc (s *S) d() {}\n"})
    put(lake, "rest", {"rest.py": "def rest(): pass\n"})
    _, said = cut(lake)
    assert said[0] == "symbols: parsing 1 file"
    after = stored(lake)
    assert not {path for path in before if after[path] != before[path]}
    assert "S.d" in lake.read("symbols", rules="docs")["qualified_name"].to_list()


@pytest.mark.usefixtures("processes")
def test_rows_are_the_same_whatever_the_number_of_processes(
    lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Lake(tmp_path / "other")
    put(other, "pets.one", FILES)
    monkeypatch.setattr(ingest.contents.chunks, "_HANDED_OUT", 1)
    cut(lake, 1)
    cut(other, 2)
    assert stored(lake) == stored(other)


def test_a_content_of_several_languages_is_of_its_smallest_path(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    put(lake, "pets.one", {"b.js": "class A { b() {} }\n", "a.java": "class A { b() {} }\n"})
    result, _ = cut(lake)
    assert result.warnings == []
    assert lake.read("symbols", rules="official")["kind"].to_list() == ["class_declaration", "constructor_declaration"]
