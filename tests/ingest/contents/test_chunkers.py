"""Fixed size, whole file and windows: by hand, against five-line definitions, and what holds of every partition."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ingest.contents.chunkers import Document, LineRange
from ingest.contents.chunkers_by_name import resolve_chunkers

MARKS = ["\n", "\n", "\n", "\r\n", " ", "    ", "\t", "\ufeff", "\x00", "\x0c", "é", "\U0001f600", "(", ")", "}"]
CODE = ["def f(x):", "return x", "class A:", "# note", "@deco", "if x:", "x = 1", '"""']
ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
TEXTS = st.lists(st.one_of(st.sampled_from(MARKS), st.sampled_from(CODE), ANY), max_size=80).map("".join)
LANGUAGES = st.sampled_from(["python", "javascript", "c", "go", "", "x"])
PARTITIONS = ["fixed-nws-5", "fixed-nws-40", "syntax-1", "syntax-5", "syntax-40", "definition", "whole-file"]


def ranges(name: str, text: str, language: str = "python") -> list[LineRange]:
    (found,) = resolve_chunkers([name])
    return found.declaration.chunk(Document(text, language), **found.parameters).ranges


def texts(name: str, text: str, language: str = "python") -> list[str]:
    return ["".join(Document(text).lines[start:end]) for start, end in ranges(name, text, language)]


def test_windows_stand_around_every_step() -> None:
    lines = "".join(f"{i}\n" for i in range(25))
    assert ranges("window-20-10", lines) == [(0, 10), (0, 20), (10, 25)]


@given(TEXTS, st.integers(1, 30))
def test_fixed_nws_equals_its_definition(text: str, n: int) -> None:
    assert ranges(f"fixed-nws-{n}", text) == packed(text, n)


def packed(text: str, n: int) -> list[LineRange]:
    chunks: list[list[int]] = []
    for line, content in enumerate(Document(text).lines):
        weight = sum(unit > 0x20 for unit in memoryview(content.encode("utf-16-le")).cast("H"))
        if chunks and sum(chunks[-1][1:]) + weight <= n:
            chunks[-1].append(weight)
        else:
            chunks.append([line, weight])
    return [(chunk[0], chunk[0] + len(chunk) - 1) for chunk in chunks]


@given(TEXTS, st.integers(1, 8), st.data())
def test_windows_lie_where_repocoder_places_them_blank_ones_too(text: str, size: int, data: st.DataObject) -> None:
    step = data.draw(st.integers(1, size))
    assert ranges(f"window-{size}-{step}", text) == repocoder(text, size, step)


def repocoder(text: str, size: int, step: int) -> list[LineRange]:
    lines, before = Document(text).lines, size // 2
    spans = [(max(0, i - before), min(len(lines), i + size - before)) for i in range(0, len(lines), step)]
    return list(dict.fromkeys(spans))


@given(TEXTS, LANGUAGES)
def test_the_chunks_of_a_partition_rejoin_to_the_file(text: str, language: str) -> None:
    for name in PARTITIONS:
        assert "".join(texts(name, text, language)) == text
        assert all(start < end for start, end in ranges(name, text, language))


@given(TEXTS, LANGUAGES)
def test_only_a_single_line_exceeds_n(text: str, language: str) -> None:
    n_nws = Document(text).n_nws
    for name, n in [("fixed-nws-5", 5), ("syntax-5", 5), ("syntax-40", 40)]:
        for start, end in ranges(name, text, language):
            assert n_nws[start:end].sum() <= n or (n_nws[start:end] > 0).sum() == 1


@given(TEXTS, LANGUAGES)
def test_no_two_neighbours_fit_into_one_chunk(text: str, language: str) -> None:
    n_nws = Document(text).n_nws
    for n in (5, 40):
        for (start, _), (_, end) in pairwise(ranges(f"syntax-{n}", text, language)):
            assert n_nws[start:end].sum() > n
        for (start, _), (line, _) in pairwise(ranges(f"fixed-nws-{n}", text, language)):
            assert n_nws[start : line + 1].sum() > n
