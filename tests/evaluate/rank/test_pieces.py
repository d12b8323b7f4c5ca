from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate.rank.chunk_texts import ChunkTexts, definitions_in
from evaluate.rank.pools import load_pools
from evaluate.texts.pieces import cut_lines, pieces
from evaluate.texts.tokens import REGEX_TOKENS, WORDS, Texts, Tokenizer, by_spelling, defined_names
from ingest.contents.blobs import pool_frames
from lake.errors import GoldspanError
from lake.fingerprint import sha256_of
from lake.offsets import Offsets
from lake.store import Lake
from lake.text import regex_tokens, words
from tests.tiny import CATS, ENGINE, ORBIT, command

# Letters that change their number or depend on their neighbours in lower case, digits and white space that only one of
# Python and Rust counts as such, and letters that are newer than one of them.
STRANGE = (
    "aA_9 .(\t\r\n\n\v\f\x00\x1c\x1f\x7f\x85\xa0éİß\u03a3\u03c3٣²½ªǅ\u0301\u2028\u3000\ufeff漢𐐀\U00010570\U0001f600"
)
TEXTS = st.lists(st.one_of(st.text(STRANGE, max_size=30), st.text(max_size=10)), min_size=1, max_size=5)


@given(texts=TEXTS)
def test_a_text_is_cut_as_python_cuts_it_and_each_piece_keeps_its_line(texts: list[str]) -> None:
    texts = [text.encode(errors="replace").decode() for text in texts]
    cut = cut_lines(pl.Series(texts, dtype=pl.String))
    assert cut.vocabulary.to_list() == sorted({piece for text in texts for piece in pieces(text)})
    lines = [line for text in texts for line in text.split("\n")]
    assert cut.first_line.tolist() == [0, *np.cumsum([text.count("\n") + 1 for text in texts])]
    every = np.arange(len(lines))
    expected = [[pieces(line).count(piece) for piece in cut.vocabulary] for line in lines]
    assert cut.counts(every, every + 1).toarray().tolist() == expected
    whole, plain = Texts(texts).counted(pieces), by_spelling(map(pieces, texts))
    assert whole.vocabulary.to_list() == plain.vocabulary.to_list()
    assert whole.counts.toarray().tolist() == plain.counts.toarray().tolist()
    assert whole.counts.has_canonical_format


@given(text=st.one_of(st.text(STRANGE, max_size=30), st.text(max_size=20)))
def test_tokens_made_of_pieces_are_those_of_the_whole_text(text: str) -> None:
    assert REGEX_TOKENS(text) == regex_tokens(text)
    # The last sigma of a word is another letter in lower case, wherever the word ends.
    assert [word.replace("\u03c2", "\u03c3") for word in WORDS(text)] == words(
        text.replace("\u03a3", "\u03c3").replace("\u03c2", "\u03c3")
    )


CONTENTS = [
    ENGINE,
    ORBIT,
    CATS,
    "",
    "x\n",
    "a é = 1\r\nplain = é\ny \u03a3\u0391\u03a3 \u03c3 x",
    "\n\nlast line without an end",
]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """A lake of the contents alone, in two parts."""
    made = Lake(tmp_path_factory.mktemp("lake"))
    for part, contents in (("one", CONTENTS[:3]), ("two", CONTENTS[2:])):
        _, blobs = pool_frames(("pool", "a.py", text.encode()) for text in contents)
        made.write("blobs", blobs, part=part, fingerprint=part)
    return made


def _span(content: int, start: int, end: int, cut: tuple[int, int] = (0, 0)) -> dict[str, str | int]:
    """Lines of a content, or somewhat less of the first and the last."""
    data = CONTENTS[content].encode()
    edges = [*Offsets.between_lines(data.decode()).byte[:-1].tolist(), len(data)]
    start, end = (min(line, len(edges) - 1) for line in sorted((start, end)))
    first = min(edges[start] + cut[0], edges[end])
    return {
        "sha256": sha256_of(data),
        "line_start": start,
        "line_end": end,
        "byte_start": first,
        "byte_end": max(edges[end] - cut[1], first),
        "n_file_lines": len(edges) - 1,
    }


def _texts(spans: list[dict[str, str | int]]) -> list[str]:
    data = {sha256_of(text.encode()): text.encode() for text in CONTENTS}
    return [data[str(span["sha256"])][int(span["byte_start"]) : int(span["byte_end"])].decode() for span in spans]


SPANS = st.lists(
    st.builds(
        _span,
        st.integers(0, 6),
        st.integers(0, 9),
        st.integers(0, 9),
        st.sampled_from([(0, 0), (0, 0), (1, 0), (0, 1)]),
    ),
    min_size=1,
    max_size=9,
)


@given(spans=SPANS, tokens=st.sampled_from([WORDS, REGEX_TOKENS, pieces]))
def test_chunks_count_as_their_texts(lake: Lake, spans: list[dict[str, str | int]], tokens: Tokenizer) -> None:
    texts = ChunkTexts(lake, pl.DataFrame(spans))
    counted = texts.counted(tokens)
    assert list(texts) == _texts(spans)
    for rows in (range(len(spans)), range(0, len(spans), 2)):
        expected = by_spelling(tokens(_texts(spans)[row]) for row in rows)
        some = counted if len(rows) == len(spans) else texts.rows(np.array(rows)).counted(tokens)
        assert some.vocabulary.to_list() == expected.vocabulary.to_list()
        assert some.counts.toarray().tolist() == expected.counts.toarray().tolist()
        assert some.counts.has_canonical_format


def test_a_definition_is_in_the_chunk_that_its_first_line_is_in(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    pool_ids = lake.read("pools").filter(pl.col("repo") == "zoo_animals")["pool_id"]
    (pool,) = load_pools(lake, "window-4-2", pool_ids).side_by_side()
    defined = pool.text.counted(defined_names)
    heads = {"purr": "def purr", "meow": "def meow", "bark": "def bark", "fetch": "def fetch"}
    assert sorted(defined.vocabulary) == sorted(heads)
    for name, head in heads.items():
        column = defined.counts[:, [defined.vocabulary.to_list().index(name)]].toarray().ravel()
        assert column.tolist() == [head in text for text in pool.text]


def test_definitions_that_were_not_looked_for_are_an_error_but_of_a_file_without_a_line(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    for part in lake.parts("symbol_status"):
        lake.remove(part)
    contents = lake.read("files").select("sha256", line_start=pl.lit(0), line_end=pl.lit(0))
    assert definitions_in(lake, contents).counts.nnz == 0
    with pytest.raises(GoldspanError, match="the lake has no definitions of"):
        definitions_in(lake, contents.with_columns(line_end=pl.lit(1)))


def test_a_run_by_definitions_is_made_again_when_these_are_found_by_other_rules(lake_folder: Path) -> None:
    systems = ("--systems", "whole-file+symbols,whole-file+hybrid,whole-file+tfidf~no-comments")
    command("evaluate", "--lake", lake_folder, *systems).done()
    lake = Lake(lake_folder)
    before = dict(lake.read("runs").select("system", "run_id").rows())
    assert lake.read("run_items").filter(pl.col("status") != "done").is_empty()
    (rules,) = (part for part in lake.parts("symbol_rules") if part.name == "docs")
    row = lake.scan_parts([rules], "symbol_rules").collect()
    lake.write("symbol_rules", row.with_columns(fingerprint=pl.lit("other")), part="docs", fingerprint="other")
    command("evaluate", "--lake", lake_folder, *systems).done()
    after = dict(lake.read("runs").select("system", "run_id").rows())
    changed = {system for system, run_id in after.items() if before[system] != run_id}
    assert changed == {"whole-file+symbols", "whole-file+hybrid"}
