import sys
from itertools import pairwise
from pathlib import Path

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from ingest.contents.chunkers import Cut, Document, LineRange
from ingest.contents.chunkers_by_name import resolve_chunkers, with_context
from lake.store import Lake
from tests.tiny import build, command

MARKS = ["\n", "\n", "\n", "\r\n", " ", "    ", "\t", "\ufeff", "\x00", "\x0c", "é", "\U0001f600", "(", ")", "}"]
CODE = ["def f(x):", "return x", "class A:", "# note", "@deco", "if x:", "x = 1", '"""']
ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
TEXTS = st.lists(st.one_of(st.sampled_from(MARKS), st.sampled_from(CODE), ANY), max_size=80).map("".join)
SHORT_LINES = st.lists(st.sampled_from(["\n", "a\n", "ab \n", "\té\U0001f600\r\n", "abc"]), max_size=30).map("".join)
LANGUAGES = st.sampled_from(["python", "javascript", "c", "go", "", "x"])
PARTITIONS = ["fixed-nws-5", "fixed-nws-40", "syntax-1", "syntax-5", "syntax-40", "definition", "whole-file"]


def ranges(name: str, text: str, language: str = "python") -> list[LineRange]:
    (chunker,) = resolve_chunkers([name])
    return chunker.declaration.chunk(Document(text, language), **chunker.parameters).ranges


def texts(name: str, text: str, language: str = "python") -> list[str]:
    return ["".join(Document(text).lines[start:end]) for start, end in ranges(name, text, language)]


def test_windows_stand_around_every_step() -> None:
    lines = "".join(f"{i}\n" for i in range(25))
    assert ranges("window-20-10", lines) == [(0, 10), (0, 20), (10, 25)]


@given(st.one_of(SHORT_LINES, TEXTS), st.integers(1, 9))
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
    before = Document(text).nws_before
    for n in (5, 40):
        for start, end in ranges(f"syntax-{n}", text, language):
            assert before[end] - before[start] <= n or len({*before[start : end + 1]}) == 2


@given(TEXTS, LANGUAGES)
def test_no_two_neighbours_fit_into_one_chunk(text: str, language: str) -> None:
    before = Document(text).nws_before
    for n in (5, 40):
        for (start, _), (_, end) in pairwise(ranges(f"syntax-{n}", text, language)):
            assert before[end] - before[start] > n


TEXT = '''"""Cats."""
import math
from zoo import (
    Cage,
)


class Cat(Animal):
    lives = 9

    @property
    def age(self):
        return math.floor(self.born)

    def meow(self, times):
        for _ in range(times):
            print("meow")
'''


def test_a_chunk_has_its_path_imports_and_scope_in_front() -> None:
    cut = Cut([(0, 7), (7, 10), (10, 13), (15, 17)])
    assert list(with_context(Document(TEXT, "python"), cut).texts) == [
        # What the chunk says itself stands there once.
        "{path}\n{chunk}",
        "{path}\nimport math\nfrom zoo import ( Cage, )\n{chunk}",
        "{path}\nimport math\nfrom zoo import ( Cage, )\nclass Cat(Animal):\n{chunk}",
        "{path}\nimport math\nfrom zoo import ( Cage, )\nclass Cat(Animal):\ndef meow(self, times):\n{chunk}",
    ]


def test_what_is_no_range_of_lines_or_could_not_be_cut_stays_as_it_is() -> None:
    for cut in (Cut([(0, 3)], unit="bytes"), Cut([], failed="no")):
        assert with_context(Document(TEXT, "python"), cut) == cut


def ingested(tmp_path: Path, *arguments: object) -> tuple[Lake, tuple[object, ...]]:
    lake = Lake(tmp_path / "lake")
    command("ingest", "repoeval", "--source", build(tmp_path / "source"), "--lake", lake.root, *arguments).done()
    return lake, ("--lake", lake.root)


def test_its_lines_are_what_is_scored(tmp_path: Path) -> None:
    lake, where = ingested(tmp_path, "--chunkers", "fixed-nws-60,fixed-nws-60~context")
    command("evaluate", "--systems", "*+bm25-okapi,*+oracle", *where).done()
    chunks = lake.read("chunks")
    of = [chunks.filter(chunker=name).drop("chunker", "text") for name in ("fixed-nws-60", "fixed-nws-60~context")]
    assert of[0].equals(of[1])
    # Whoever is shown the gold has the same of both.
    means = lake.read("aggregates").filter(slice="all").join(lake.read("runs").select("run_id", "system"), on="run_id")
    by_system = {
        system: rows.drop("run_id", "system") for (system,), rows in means.partition_by("system", as_dict=True).items()
    }
    keys = ["protocol", "granularity", "metric", "k"]
    plain, in_context = (
        by_system[f"fixed-nws-60{end}+oracle"].sort(keys).select(*keys, "macro", "n") for end in ("", "~context")
    )
    assert plain.equals(in_context)
    ranked = [
        lake.scan("hits").filter(pl.col("run_id").str.contains(f"fixed-nws-60{end}+bm25", literal=True)).collect()
        for end in ("", "~context")
    ]
    assert not ranked[0].drop("run_id").equals(ranked[1].drop("run_id"))
    # What a model is to embed is what is ranked.
    out = tmp_path / "texts.parquet"
    command("evaluate", "texts", "fixed-nws-60~context+recorded", "-o", out, *where).done()
    every = pl.read_parquet(out).filter(kind="chunk")["text"]
    paths = set(lake.read("files", benchmark="repoeval")["path"])
    assert {text.partition("\n")[0] for text in every} <= paths
    assert not every.str.contains("{chunk}", literal=True).any()


PROGRAM = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    n = asked["text"].count("\\n")
    chunks = [{"start": 1, "end": 1, "text": "In {path} of {folder}: {chunk}"}, {"start": 2, "end": n}]
    print(json.dumps({"id": asked["id"], "chunks": chunks}), flush=True)
"""


def test_a_program_gives_a_chunk_a_text_of_its_own(tmp_path: Path) -> None:
    script = tmp_path / "chunk.py"
    script.write_text(PROGRAM)
    lake, where = ingested(tmp_path, "--chunker", f"mine={sys.executable} {script}")
    out = tmp_path / "texts.parquet"
    command("evaluate", "texts", "mine+recorded", "-o", out, *where).done()
    files = lake.read("files", benchmark="repoeval").join(lake.read("blobs").select("sha256", "text"), on="sha256")
    firsts = [(path, text.splitlines(True)[0]) for path, text in files.select("path", "text").iter_rows() if text]
    wanted = {f"In {path} of {{folder}}: {line}".removesuffix("\n") for path, line in firsts if line.strip()}
    texts = {text for text in pl.read_parquet(out)["text"] if text.startswith("In ")}
    assert len(texts) > 3
    assert texts <= wanted
