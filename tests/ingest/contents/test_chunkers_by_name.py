import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ingest.contents.chunkers
from ingest.contents.blobs import pool_frames
from ingest.contents.chunkers import Chunker, Cut, Document, NamedChunker
from ingest.contents.chunkers_by_name import chunkers, declared, default_chunkers, resolve_chunkers
from ingest.contents.chunking import Chunked, chunk_blobs
from lake.errors import Exit
from lake.fingerprint import sha256_of
from lake.offsets import Offsets, split_lines
from lake.store import Lake
from lake.tables import table
from tests.tiny import build, command, put, refused

pytestmark = pytest.mark.slow


def blobs(*texts: str, language: str = "python") -> pl.DataFrame:
    _, frame = pool_frames(("pool", "a", text.encode()) for text in texts)
    return frame.with_columns(language=pl.lit(language))


def chunked(name: str, frame: pl.DataFrame) -> Chunked:
    (chunker,) = resolve_chunkers([name])
    return chunk_blobs(chunker, frame)


def answering(chunk: Callable[[Document], object]) -> NamedChunker:
    return NamedChunker("mine", Chunker("mine", "Mine", "For a test.", chunk), {})  # type: ignore[arg-type]  # on purpose


def refusal(chunk: Callable[[Document], object]) -> str:
    """Why the last of two files failed, which costs the other nothing where that was cut."""
    cut = chunk_blobs(answering(chunk), blobs("a\n", "b\nc\n"))
    assert cut.status["n_chunks"].to_list()[1] == 0
    return str(cut.status["failed"][1])


def test_four_chunkers_run_when_none_are_asked_for() -> None:
    assert default_chunkers() == ["fixed-nws-1500", "fixed-nws-800", "syntax-1500", "whole-file"]


def test_an_alias_is_the_chunker_it_stands_for_and_a_name_counts_once() -> None:
    names = ["code-chunk-ast", "fixed-nws-1500", "code-chunk-fixed", "syntax-1500", "fixed-nws-1500"]
    assert [chunker.name for chunker in resolve_chunkers(names)] == ["syntax-1500", "fixed-nws-1500"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [("fixed-nws1500", "fixed-nws-1500"), ("sintax-1500", "syntax-1500"), ("code-chunk", "code-chunk-ast")],
)
def test_an_unknown_name_asks_what_was_meant(name: str, meant: str) -> None:
    with refused(f"unknown chunker '{name}'.*\n.*{meant}", Exit.USAGE):
        resolve_chunkers(["whole-file", name])


@pytest.mark.parametrize(
    ("name", "pattern", "parameters"),
    [
        ("whole-file", "whole-file", {}),
        ("fixed-nws-1500", "fixed-nws-<n>", {"n": 1500}),
        ("window-20-10", "window-<size>-<step>", {"size": 20, "step": 10}),
    ],
)
def test_a_name_is_resolved_with_the_numbers_it_carries(name: str, pattern: str, parameters: dict[str, int]) -> None:
    chunker = declared(name)
    assert chunker is not None
    assert (chunker.name, chunker.declaration.name, chunker.parameters) == (name, pattern, parameters)


@pytest.mark.parametrize("number", ["<n>", "", "0", "01", "-1", "1.5", "1500 ", "9999999999"])
def test_a_number_is_a_whole_one_from_1_written_one_way(number: str) -> None:
    assert declared(f"fixed-nws-{number}") is None


HALVES = '''"""Halves: a file cut in two."""
from ingest.contents.chunkers import Chunker, Cut, Document
def cut(document: Document) -> Cut:
    middle = (len(document.lines) + 1) // 2
    return Cut([r for r in [(0, middle), (middle, len(document.lines))] if r[0] < r[1]])
HALVES = Chunker("halves", "Halves", "Cuts a file in two.", cut)
'''


def forget() -> None:
    sys.modules.pop("ingest.contents.chunkers.halves", None)
    importlib.invalidate_caches()
    chunkers.cache_clear()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(ingest.contents.chunkers, "__path__", [*ingest.contents.chunkers.__path__, str(tmp_path)])
    forget()
    yield tmp_path
    forget()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{HALVES}def (:\n", "this file of chunkers cannot be imported: {}:7: invalid syntax"),
        (f"import no_such\n{HALVES}", "this file of chunkers cannot be imported: {}:1: ModuleNotFoundError"),
        (HALVES.replace("Chunker(", "print("), "{} declares no chunker\n  End it with MINE = Chunker("),
    ],
)
def test_a_file_of_chunkers_that_is_broken_or_declares_none_is_named(folder: Path, text: str, why: str) -> None:
    (folder / "halves.py").write_text(text)
    run = command("ingest", "--lake", folder / "lake")
    assert (run.code, run.err.startswith(f"ingest: {why.format(f'{folder.name}/halves.py')}")) == (2, True), run.err
    assert "bug in Goldspan" not in run.err


def test_a_chunker_whose_file_is_deleted_is_said_once_to_be_gone(folder: Path) -> None:
    (folder / "halves.py").write_text(HALVES)
    lake, source = folder / "lake", build(folder / "source")
    options = ("ingest", "repoeval", "--source", source, "--lake", lake, "--chunkers")
    command(*options, "halves,whole-file").done()
    command("evaluate", "--lake", lake, "--systems", "*+bm25-okapi").done()
    (folder / "halves.py").unlink()
    forget()
    put(source / "repositories/function_level/zoo_animals/new.py", b"new = 1\n")
    gone = "halves is no longer declared: its chunks are deleted; the next `evaluate` deletes its runs"
    assert command(*options, "whole-file").err.count(gone) == 1
    run = command("evaluate", "--lake", lake, "--systems", "*+bm25-okapi")
    assert (run.code, "halves" in run.err + run.out) == (0, False)
    assert not any("halves" in system for system in Lake(lake).read("runs")["system"])
    assert "halves" not in command(*options, "whole-file").err


def test_chunks_are_rows_of_the_lake() -> None:
    cut = chunked("fixed-nws-2", blobs("é\r\n\U0001f600\n", "", " \n\t", "ab\ncd"))
    table("chunks").schema.validate(cut.frame)
    by = {sha256_of(text.encode()): text for text in ("é\r\n\U0001f600\n", " \n\t", "ab\ncd")}
    assert [(by[row.pop("sha256")], *row.values()) for row in cut.frame.to_dicts()] == [
        ("é\r\n\U0001f600\n", "fixed-nws-2", 0, 0, 1, 0, 4, 1, None),
        ("é\r\n\U0001f600\n", "fixed-nws-2", 1, 1, 2, 4, 9, 2, None),
        (" \n\t", "fixed-nws-2", 0, 0, 2, 0, 3, 0, None),
        ("ab\ncd", "fixed-nws-2", 0, 0, 1, 0, 3, 2, None),
        ("ab\ncd", "fixed-nws-2", 1, 1, 2, 3, 5, 2, None),
    ]
    assert cut.status.select(pl.col("fell_back", "failed").count()).row(0) == (0, 0)


TEXTS = st.lists(st.text(st.sampled_from("a(\n\r \té\ufeff\U0001f600"), max_size=40), max_size=6)


@given(TEXTS, st.sampled_from(["fixed-nws-3", "syntax-3", "window-3-2", "definition", "whole-file"]))
def test_positions_and_sizes_are_those_of_the_chunks_text(texts: list[str], name: str) -> None:
    frame = blobs(*texts)
    by = dict(frame.select("sha256", "text").iter_rows())
    for row in chunked(name, frame).frame.to_dicts():
        text = "".join(split_lines(by[row["sha256"]])[row["line_start"] : row["line_end"]])
        assert by[row["sha256"]].encode()[row["byte_start"] : row["byte_end"]] == text.encode()
        assert row["n_nws"] == int(Offsets.between_lines(text).nws[-1])


def test_every_fallback_has_its_reason() -> None:
    frame = pl.concat([blobs("a b\nc d\n", "e f\ng h\n", language="x"), blobs("1\n2\n3\n", language="")])
    reasons = chunked("syntax-2", frame).status["fell_back"].to_list()
    assert reasons == ["no grammar for 'x'", "no grammar for 'x'", "language not known"]
    assert chunked("syntax-9", frame).status["fell_back"].to_list() == [None] * 3


@pytest.mark.parametrize(
    ("ranges", "why"),
    [
        ([(0, 3)], "answered the lines 1 to 3 (counted from 1) of 2: empty, outside"),
        ([(-1, 1)], "the lines 0 to 1 (counted from 1) of 2: empty, outside"),
        *(
            (ranges, "empty, outside the file, twice or out of order")
            for ranges in ([(1, 1)], [(1, 0)], [(0, 1), (0, 1)], [(1, 2), (0, 1)], [(0, 2), (0, 1)])
        ),
        *((ranges, "answered") for ranges in ([(0, 1, 2)], [(0, 1), (1,)], [(0.0, 1.0)], [(0, 1 << 70)], [3], ())),
    ],
)
def test_ranges_that_are_none_of_the_file_fail_it_and_no_other(ranges: object, why: str) -> None:
    def cut(document: Document) -> Cut:
        return Cut(ranges if len(document.lines) == 2 else [(0, 1)])  # type: ignore[arg-type]  # on purpose

    assert why in refusal(cut)
    assert chunk_blobs(answering(cut), blobs("a\n", "b\nc\n")).status["n_chunks"].to_list() == [1, 0]


@pytest.mark.parametrize("given", [["a", "b"], [3], ["\ud800"]])
def test_texts_that_are_none_fail_their_file(given: list[str]) -> None:
    assert "not a text or None for each of 1 chunks" in refusal(lambda document: Cut([(0, 1)], texts=given))
