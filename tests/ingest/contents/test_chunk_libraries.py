import zipfile
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.contents import chunkers_by_name
from ingest.contents.chunkers import Chunker, Cut, Document, NamedChunker, Unit, libraries
from ingest.contents.chunkers.libraries import Split, by_splitter
from ingest.contents.chunkers_by_name import absence, chunkers, resolve_chunkers
from ingest.contents.chunking import chunk_blobs
from lake.declarations import CHUNKER_SETS
from lake.errors import Exit
from lake.offsets import Offsets
from lake.text import LANGUAGES, decode
from tests.ingest.contents.test_chunkers_by_name import blobs, chunked
from tests.tiny import command, python, refused

LIBRARIES = sorted(name for name, chunker in chunkers().items() if chunker.libraries)
SMALL = [name.replace("<n>", "60") for name in LIBRARIES]
NON_ASCII = (
    '\ufeff"""Döc 😀"""\r\nimport os\r\n\r\nclass Ä:\r\n    def f(self, x):\r\n        return "日本語" * x  # é\r\n'
    "\r\n    def g(self):\r\n        return '''a\n\n  😀😀😀 b'''\r\n" * 3
)
PROGRAM = st.lists(
    st.sampled_from(
        ["def f(é):\n", "    return 1\r\n", "class A:\n", "  pass\n", "\n", "x = '😀 ü' * 30\n", "# ß\n", "(", "a; b; "]
    ),
    max_size=14,
).map("".join)


def library_texts(name: str, text: str) -> list[str]:
    splitter = libraries._chonkie_code if name.startswith("chonkie-code") else libraries._llamaindex_code
    return list(splitter("python", 60)(text))


def test_six_are_known_and_none_is_imported_before_it_cuts() -> None:
    assert [name.removesuffix("-<n>") for name in LIBRARIES] == [
        "astchunk", "chonkie-code", "chonkie-recursive", "chonkie-token", "langchain-code", "llamaindex-code",
    ]  # fmt: skip
    script = "import sys; from ingest.contents.chunkers_by_name import chunkers; chunkers(); print(*sys.modules)"
    imported = set(python("-c", script).done().out.split())
    assert "ingest.contents.chunkers.libraries" in imported
    assert not {"astchunk", "chonkie", "langchain_text_splitters", "llama_index"} & imported


def test_a_name_without_a_size_has_the_size_of_the_library_and_one_word_is_all() -> None:
    names = [name.removesuffix("-<n>") for name in LIBRARIES]
    resolved = [chunker.name for chunker in resolve_chunkers(names)]
    assert resolved == [chunker.name for chunker in resolve_chunkers(["libraries"])]
    assert "chonkie-token-2048" in resolved
    sizes = [chunker.name for chunker in resolve_chunkers(["sizes", "whole-file"])]
    assert len(sizes) == 11
    assert sizes[:2] == ["fixed-nws-300", "fixed-nws-600"]
    assert set(CHUNKER_SETS) == {"sizes", "libraries"}


@pytest.mark.parametrize("name", SMALL)
@given(text=st.one_of(PROGRAM, st.text(st.sampled_from("a(\n\r \té\ufeff\U0001f600"), max_size=40)))
def test_chunks_are_slices_of_the_file_and_touch_the_lines_that_they_say(name: str, text: str) -> None:
    frame = blobs(text)
    cut, data = chunked(name, frame), text.encode()
    assert cut.status["failed"].to_list() == [None]
    covered = set[int]()
    for row in cut.frame.to_dicts():
        start, end = row["byte_start"], row["byte_end"]
        held = data[start:end].decode()
        assert row["n_nws"] == int(Offsets.between_lines(held).nws[-1])
        assert row["line_start"] == data[:start].count(b"\n")
        assert row["line_end"] == data[: end - 1].count(b"\n") + 1
        covered |= set(range(len(data[:start].decode()), len(data[:end].decode())))
    n_covered = sum(int(Offsets.between_lines(text[at]).nws[-1]) for at in covered)
    (status,) = cut.status.select("n_nws", "n_covered").rows()
    assert status == (int(Offsets.between_lines(text).nws[-1]), n_covered)


@pytest.mark.parametrize("name", ["chonkie-code-60", "llamaindex-code-60"])
@given(text=PROGRAM)
def test_the_bytes_are_those_of_the_librarys_own_texts(name: str, text: str) -> None:
    cut = chunked(name, blobs(text))
    if cut.status["fell_back"].to_list() == [None]:
        slices = [text.encode()[start:end].decode() for start, end in cut.frame.select("byte_start", "byte_end").rows()]
        assert slices == [chunk for chunk in library_texts(name, text) if chunk]


@pytest.mark.parametrize("name", SMALL)
def test_a_file_of_every_kind_of_end_and_character_is_cut_into_small_chunks(name: str) -> None:
    cut = chunked(name, blobs(NON_ASCII))
    assert cut.status["fell_back"].to_list() == [None]
    assert cut.frame.height >= 5


def test_what_lies_in_no_chunk_is_counted() -> None:
    long = f"x = 1\n# {'y' * 500}\n"
    (row,) = chunked("astchunk-60", blobs(long)).status.select("n_nws", "n_covered").rows()
    assert row[0] - row[1] > 400
    (row,) = chunked("chonkie-token-60", blobs(long)).status.select("n_nws", "n_covered").rows()
    assert row[0] == row[1]


def absent(name: str, n: int) -> Split:
    raise ModuleNotFoundError(name)


def test_languages_and_files_that_a_library_lacks_are_cut_plainly_and_counted() -> None:
    frame = pl.concat([blobs("a\nb\n", language=""), blobs("fn f() {}\n", language="rust")])
    assert list(chunked("astchunk-60", frame).status["fell_back"]) == ["language not known", "does not support 'rust'"]
    for name in ("chonkie-code-60", "langchain-code-60", "llamaindex-code-60"):
        assert chunked(name, frame).status["fell_back"].to_list() == ["language not known", None]
        for language in sorted(set(LANGUAGES.values())):
            assert chunked(name, blobs("int x;\n", language=language)).status["failed"].to_list() == [None]
    with pytest.raises(ImportError):
        by_splitter(Document("a\n"), 1, absent, "x")
    given_up = by_splitter(Document("a\nb\n"), 1, lambda name, n: lambda text: ["b", "a"], "x")
    assert given_up == Cut([(0, 1), (1, 2)], "ValueError: chunk 1 is not a part of the file")
    twice = by_splitter(Document("ab ab"), 1, lambda name, n: lambda text: ["ab", "", "ab"], "x")
    assert twice == Cut([(0, 2), (3, 5)], unit="characters")


def test_a_missing_library_is_one_error(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    def version_of(name: str) -> str:
        if name in missing:
            raise PackageNotFoundError(name)
        return "1"

    def forget() -> None:
        absence.cache_clear()
        chunkers_by_name._resolve.cache_clear()

    forget()
    request.addfinalizer(forget)
    monkeypatch.setattr(chunkers_by_name, "version", version_of)
    missing = {"tqdm"}
    assert absence(chunkers()["chonkie-token-<n>"]) == "tqdm is not installed"
    missing = {"astchunk", "chonkie"}
    forget()
    with refused("'astchunk-1800' cannot run here: astchunk is not installed", Exit.MISSING) as caught:
        resolve_chunkers(["astchunk"])
    assert "make chunkers" in caught.value.hint
    assert "requirements-chunkers.txt" in caught.value.hint
    assert absence(chunkers()["syntax-<n>"]) == ""
    assert "chonkie is not installed: make chunkers" in command("ingest", "list", "chunkers").out


@pytest.mark.parametrize("unit", ["characters", "bytes"])
def test_ranges_inside_lines_are_held_against_the_file(unit: Unit) -> None:
    def refusal(*ranges: tuple[int, int]) -> str:
        chunker = Chunker("mine", "Mine", "For a test.", lambda document: Cut(list(ranges), unit=unit))
        return str(chunk_blobs(NamedChunker("mine", chunker, {}), blobs("é\nb")).status["failed"].item())

    for wrong in [(2, 3), (0, 2)], [(2, 2)], [(0, 9)]:
        assert "empty, outside the file, twice or out of order" in refusal(*wrong)
    assert "inside a character" in refusal((0, 1)) if unit == "bytes" else "outside" in refusal((-1, 1))


def test_every_file_of_the_real_repositories_is_cut(shared: Path) -> None:
    with zipfile.ZipFile(shared / "repoeval/repositories/function_level.zip") as archive:
        names = [name for name in archive.namelist() if name.endswith(".py")][::5]
        files = [archive.read(name) for name in names]
    frame = blobs(*(decode(data)[0] for data in files))
    assert frame.height > 60
    for chunker in resolve_chunkers(["libraries"]):
        cut = chunk_blobs(chunker, frame)
        assert cut.status.select(pl.col("fell_back", "failed").count()).row(0) == (0, 0), chunker.name
        assert cut.status.select(pl.col("n_covered").sum() / pl.col("n_nws").sum()).item() > 0.9999
