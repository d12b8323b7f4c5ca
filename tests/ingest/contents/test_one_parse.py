"""One parse of a content for all that read its syntax tree, and the same rows as with a parse for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tree_sitter import Parser

import ingest.benchmarks
from ingest.benchmarks.declaration import Benchmark
from ingest.commands.read import open_source
from ingest.contents import syntax_trees
from ingest.contents.chunkers import Chunker, Cut, Document
from ingest.contents.chunkers_by_name import resolve_chunkers
from ingest.contents.chunks import CRASHED, Content, cut_contents, look_through
from ingest.contents.processes import Workers
from ingest.pipeline import ingest as ingest_benchmark
from lake.declarations import Resolved, discover
from lake.engine import IN_PROCESS, Engine
from lake.outcome import Outcome
from lake.store import Lake
from tests.ingest.contents.test_symbols_stored import put, stored

NAMES = ("syntax-20", "fixed-nws-20", "definition", "syntax-40")
FILES = {
    "a.py": "class A:\n    def b(self): pass\n\n\ndef c():\n    return 'a long text'\n" * 3,
    "typed.js": "class A { private b: number = 1; c(): void {} }\n" * 4,
    "words.md": "# Words\n\nand more of them\n",
    "empty.py": "",
}


class Counting:
    """A parser that counts what it parses."""

    def __init__(self, parser: Parser, parsed: list[str], language: str) -> None:
        self.parser, self.parsed, self.language = parser, parsed, language

    def parse(self, *arguments: object, **more: object) -> object:
        self.parsed.append(self.language)
        return self.parser.parse(*arguments, **more)  # type: ignore[call-overload] # handed on


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The languages that something was parsed as."""
    parsed, found = list[str](), syntax_trees._parser
    monkeypatch.setattr(syntax_trees, "_parser", lambda name: (one := found(name)) and Counting(one, parsed, name))
    syntax_trees.syntax_tree.cache_clear()
    yield parsed
    syntax_trees.syntax_tree.cache_clear()


def lake_of(root: Path) -> tuple[Lake, list[Resolved[Chunker]]]:
    lake = Lake(root)
    put(lake, "pets.one", FILES)
    return lake, resolve_chunkers(NAMES)


def cut(lake: Lake, chunkers: list[Resolved[Chunker]], *, with_symbols: bool = False) -> Outcome:
    result = Outcome()
    with Workers(Engine()) as workers:
        cut_contents(lake, "pets", chunkers, lambda _: None, result, workers if with_symbols else None)
    return result


def test_chunkers_and_definitions_share_the_parse_of_a_content(parsed: list[str]) -> None:
    seen = look_through([Content(FILES["a.py"], "py", "python", ("syntax-20", "definition", "syntax-40"))])
    assert parsed == ["python"]
    assert len(seen[0].cuts) == 3
    # A file that is not what its ending says is read a second way: once each.
    look_through([Content(FILES["typed.js"], "js", "javascript", ("syntax-20", "definition"))])
    assert parsed == ["python", "javascript", "tsx"]


def test_rows_are_the_same_as_of_a_chunker_on_its_own(tmp_path: Path) -> None:
    (alone, chunkers), (together, _) = lake_of(tmp_path / "alone"), lake_of(tmp_path / "together")
    for chunker in chunkers:
        cut(alone, [chunker])
    cut(alone, [], with_symbols=True)
    cut(together, chunkers, with_symbols=True)
    assert stored(alone) == stored(together)
    assert set(together.read("chunks")["chunker"]) == set(NAMES)
    # Nothing is left to do for any of them.
    before = stored(together)
    cut(together, chunkers, with_symbols=True)
    assert stored(together) == before


def test_a_content_that_kills_its_parser_costs_nobody_theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake, chunkers = lake_of(tmp_path / "lake")
    done = Workers.map
    monkeypatch.setattr(Workers, "map", lambda *given: [None, *done(*given)[1:]])
    result = cut(lake, chunkers, with_symbols=True)
    # Three chunkers read trees, and one content killed the parser of all.
    failed = lake.read("chunk_status").drop_nulls("failed")
    assert set(failed["failed"]) == {CRASHED}
    assert failed["sha256"].n_unique() == 1
    assert result.rejected == 3 + lake.read("symbol_status")["failed"].is_not_null().sum()


def afraid_of_cats(document: Document) -> Cut:
    if "purr" in document.text:
        message = "meow"
        raise RuntimeError(message)
    return Cut([(0, len(document.lines))])


MEOW = f"tests/ingest/contents/test_one_parse.py:{afraid_of_cats.__code__.co_firstlineno + 3}: RuntimeError: meow"
AFRAID = Resolved("afraid", Chunker("afraid", "Afraid", "Cuts no cats.", afraid_of_cats), {})


def ingested(lake: Lake, source: Path) -> Outcome:
    benchmark = discover(ingest.benchmarks, Benchmark)["repoeval"]
    opened = open_source(str(source), "repoeval", markers=benchmark.markers, cache=lake.root / "cache")
    with Workers(IN_PROCESS) as workers:
        return ingest_benchmark(lake, benchmark, opened, subsets=["function-2k"], chunkers=[AFRAID], workers=workers)()


def test_a_file_that_a_chunker_cannot_cut_is_a_reject_and_the_rest_goes_on(source: Path, tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    first = ingested(lake, source)
    rejects = lake.read("rejects").filter(position="chunker afraid")
    assert rejects["reason"].to_list() == [f"it could not be cut: {MEOW}"]
    assert first.rejected == 1
    assert f"repoeval: afraid failed on 1 file: {MEOW}" in first.warnings
    assert lake.read("chunks", chunker="afraid").height > 0


def test_what_could_not_be_cut_is_told_again_when_nothing_is_new(source: Path, tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    ingested(lake, source)
    again = ingested(Lake(lake.root), source)
    assert (again.rejected, again.tally.counts()["made"]) == (1, 0)
