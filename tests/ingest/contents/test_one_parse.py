from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tree_sitter import Parser

from ingest.contents import syntax_trees
from ingest.contents.blobs import pool_frames
from ingest.contents.chunkers import Chunker, Cut, Document, NamedChunker
from ingest.contents.chunkers_by_name import resolve_chunkers
from ingest.contents.chunks import CRASHED, cut_contents, look_through
from ingest.contents.processes import Workers
from lake.engine import Engine
from lake.outcome import Outcome
from lake.store import Lake
from tests.tiny import ingested, repoeval, stored

BENCHMARK = replace(repoeval(), name="pets")

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
    pool, blobs = pool_frames((part, path, text.encode()) for path, text in files.items())
    known = lake.scan("blobs").select("sha256").collect()["sha256"]
    lake.write("blobs", blobs.filter(~pl.col("sha256").is_in(known.implode())), part=part, fingerprint=part)
    kind = "rest" if part == "rest" else "searched"
    lake.write("files", pool, part=part, fingerprint=part, benchmark=BENCHMARK.name, kind=kind)


def cut(lake: Lake, chunkers: Sequence[NamedChunker] = (), *, has_symbols: bool = True) -> tuple[Outcome, list[str]]:
    result, messages = Outcome(), list[str]()
    with Workers(Engine(1)) as workers:
        cut_contents(lake, BENCHMARK.name, chunkers, messages.append, result, workers if has_symbols else None)
    return result, messages


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake(tmp_path / "lake")
    put(lake, "pets.one", FILES)
    return lake


@pytest.mark.slow
def test_each_content_has_its_definitions_once_under_each_set_of_rules(lake: Lake) -> None:
    result, messages = cut(lake)
    names = [
        lake.read("symbols", rules=rules).select("name", "qualified_name").sort("name").rows()
        for rules in ("docs", "official")
    ]
    assert names == [[("A", "A"), ("b", "A.b"), ("f", "f")], [("A", None), ("b", None)]]
    assert messages[0] == "symbols: parsing 4 files"
    assert result.warnings == ["symbols: 1 file could not be parsed (reasons: table rejects)"]
    assert lake.read("rejects")["reason"].to_list() == [".ts could not be parsed: parsing takes too many steps"]


@pytest.mark.slow
def test_only_new_contents_are_parsed(lake: Lake) -> None:
    cut(lake)
    before = stored(lake.root)
    put(lake, "pets.two", FILES | {"d.go": "package d\nfunc (s *S) d() {}\n"})
    put(lake, "rest", {"rest.py": "def rest(): pass\n"})
    _, messages = cut(lake)
    assert messages[0] == "symbols: parsing 1 file"
    after = stored(lake.root)
    assert not {path for path in before if after[path] != before[path]}
    assert "S.d" in lake.read("symbols", rules="docs")["qualified_name"].to_list()


@pytest.mark.slow
def test_a_content_of_several_languages_is_of_its_smallest_path(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    put(lake, "pets.one", {"b.js": "class A { b() {} }\n", "a.java": "class A { b() {} }\n"})
    result, _ = cut(lake)
    assert result.warnings == []
    assert lake.read("symbols", rules="official")["kind"].to_list() == ["class_declaration", "constructor_declaration"]


NAMES = ("syntax-20", "fixed-nws-20", "definition", "syntax-40")
PARSED_FILES = {
    "a.py": "class A:\n    def b(self): pass\n\n\ndef c():\n    return 'a long text'\n" * 3,
    "typed.js": "class A { private b: number = 1; c(): void {} }\n" * 4,
    "words.md": "# Words\n\nand more of them\n",
    "empty.py": "",
}


class Counting:
    def __init__(self, parser: Parser, parsed: list[str], language: str) -> None:
        self.parser, self.parsed, self.language = parser, parsed, language

    def parse(self, *arguments: object, **more: object) -> object:
        self.parsed.append(self.language)
        return self.parser.parse(*arguments, **more)  # type: ignore[call-overload] # handed on


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    parsed, get = list[str](), syntax_trees._parser
    monkeypatch.setattr(syntax_trees, "_parser", lambda name: (parser := get(name)) and Counting(parser, parsed, name))
    syntax_trees.syntax_tree.cache_clear()
    yield parsed
    syntax_trees.syntax_tree.cache_clear()


def lake_of(root: Path) -> tuple[Lake, list[NamedChunker]]:
    lake = Lake(root)
    put(lake, "pets.one", PARSED_FILES)
    return lake, resolve_chunkers(NAMES)


def looked_through(path: str, ending: str, names: list[str]) -> dict[str, Sequence[pl.DataFrame]]:
    _, blobs = pool_frames([("p", path, PARSED_FILES[path].encode())])
    todo = {f"todo:{name}": pl.lit(value=True) for name in ("", *names)}
    return look_through(names, blobs.with_columns(ending=pl.lit(ending), **todo))


def test_chunkers_and_definitions_share_the_parse_of_a_content(parsed: list[str]) -> None:
    seen = looked_through("a.py", "py", ["syntax-20", "definition", "syntax-40"])
    assert parsed == ["python"]
    assert all(len(tables[0]) for tables in seen.values())
    # A file that is not what its ending says is read a second way: once each.
    looked_through("typed.js", "js", ["syntax-20", "definition"])
    assert parsed == ["python", "javascript", "tsx"]


def test_rows_are_the_same_as_of_a_chunker_on_its_own(tmp_path: Path) -> None:
    (alone, chunkers), (together, _) = lake_of(tmp_path / "alone"), lake_of(tmp_path / "together")
    for chunker in chunkers:
        cut(alone, chunkers=[chunker], has_symbols=False)
    cut(alone)
    cut(together, chunkers=chunkers)
    assert stored(alone.root) == stored(together.root)
    assert set(together.read("chunks")["chunker"]) == set(NAMES)
    # Nothing is left to do for any of them.
    before = stored(together.root)
    cut(together, chunkers=chunkers)
    assert stored(together.root) == before


def test_a_content_that_kills_its_parser_costs_nobody_theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake, chunkers = lake_of(tmp_path / "lake")

    def crash(_: Workers, work: Callable[[pl.DataFrame], object], jobs: Sequence[pl.DataFrame], __: object) -> object:
        return [(jobs[0][:1], None), (rest := jobs[0][1:], work(rest))]

    monkeypatch.setattr(Workers, "map", crash)
    result, _ = cut(lake, chunkers=chunkers)
    # One content killed the parser, and no chunker cuts it.
    failed = lake.read("chunk_status").drop_nulls("failed")
    assert set(failed["failed"]) == {CRASHED}
    assert failed["sha256"].n_unique() == 1
    assert result.rejected == len(NAMES) + lake.read("symbol_status")["failed"].is_not_null().sum()


def afraid_of_cats(document: Document) -> Cut:
    if "purr" in document.text:
        message = "meow"
        raise RuntimeError(message)
    return Cut([(0, len(document.lines))])


MEOW = f"tests/ingest/contents/test_one_parse.py:{afraid_of_cats.__code__.co_firstlineno + 3}: RuntimeError: meow"
AFRAID = NamedChunker("afraid", Chunker("afraid", "Afraid", "Cuts no cats.", afraid_of_cats), {})


def test_a_file_that_cannot_be_cut_is_a_reject_each_time_and_the_rest_goes_on(source: Path, tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    first = ingested(lake.root, source, chunkers=[AFRAID])
    rejects = lake.read("rejects").filter(position="chunker afraid")
    assert rejects["reason"].to_list() == [f"it could not be cut: {MEOW}"]
    assert first.rejected == 1
    assert f"most often: {MEOW}" in " ".join(first.warnings)
    assert lake.read("chunks", chunker="afraid").height > 0
    again = ingested(lake.root, source, chunkers=[AFRAID])
    assert (again.rejected, again.tally.counts()["made"]) == (1, 0)
