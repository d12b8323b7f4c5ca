import hashlib

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.contents.blobs import concat_files, pool_batches, pool_frames
from lake.offsets import Offsets, line_columns
from lake.tables import table
from lake.text import decode
from tests.tiny import python

CONTENT = st.lists(st.sampled_from([b"a", b" ", b"\n", b"\r\n", b"\r", b"\xff", "é\u2028😀".encode(), b"\0"])).map(
    b"".join
)
FILES = st.lists(st.tuples(st.sampled_from(["p", "q"]), CONTENT), max_size=8)


@given(FILES)
def test_files_and_blobs_fit_their_tables_and_each_content_is_there_once(given: list[tuple[str, bytes]]) -> None:
    files, blobs = pool_frames([(pool, f"{n}.py", data) for n, (pool, data) in enumerate(given)])
    table("files").checked(files)
    table("blobs").checked(blobs)
    assert sorted(blobs["sha256"]) == sorted({hashlib.sha256(data).hexdigest() for _, data in given})
    assert files["sha256"].to_list() == [hashlib.sha256(data).hexdigest() for _, data in given]


@given(st.lists(CONTENT, max_size=6))
def test_all_texts_lines_are_measured_as_each_ones_are(contents: list[bytes]) -> None:
    texts = [decode(content)[0] for content in contents]
    lines = line_columns([text.encode() for text in texts])
    assert lines["line_starts"].to_list() == [Offsets.between_lines(text).byte[:-1].tolist() for text in texts]
    assert lines["line_nws"].to_list() == [Offsets.between_lines(text).n_nws.tolist() for text in texts]


def test_flags_say_what_is_odd_about_a_content() -> None:
    contents = [b"a\n", b"a\r\nb\n", b"", b"\xff\r\n", "\ufffd".encode()]
    _, blobs = pool_frames([("p", f"{n}.py", data) for n, data in enumerate(contents)])
    assert blobs["flags"].to_list() == [[], ["crlf"], ["empty"], ["not-utf8", "crlf"], ["no-final-newline"]]


def test_bytes_are_counted_raw_and_lines_in_the_stored_text() -> None:
    _, blobs = pool_frames([("p", "a.py", b"\xff\nb\n")])
    assert blobs.select("text", "n_bytes", "n_lines", "line_starts").rows() == [("\ufffd\nb\n", 4, 2, [0, 4])]


def test_the_language_of_a_content_is_that_of_its_first_path() -> None:
    _, blobs = pool_frames([("p", "a.go", b"x"), ("p", "b.py", b"x"), ("p", "README", b"y")])
    assert sorted(blobs.select(pl.col("text"), "language").rows()) == [("x", "go"), ("y", "")]


def test_a_large_pool_comes_in_batches_that_join_to_the_same_files(monkeypatch: pytest.MonkeyPatch) -> None:
    given = [("p", f"{n}.py", bytes([65 + n % 3]) * 10) for n in (3, 1, 2, 5, 4)] + [("q", "1.py", b"")]
    monkeypatch.setattr("ingest.contents.blobs.BATCH_BYTES", 15)
    batches = list(pool_batches(given))
    assert [blobs["n_bytes"].sum() for _, blobs in batches] == [20, 10]
    files = concat_files(files for files, _ in batches)
    assert files.equals(pool_frames(sorted(given))[0])


_LINES_UNDER_A_LIMIT = """
import resource
import numpy, polars, pyarrow
from lake.offsets import line_columns
resource.setrlimit(resource.RLIMIT_DATA, (700_000_000, 700_000_000))
print(line_columns([b"\\n" * (1 << 23)])["line_starts"].list.len().item())
"""


@pytest.mark.slow
def test_the_most_lines_that_a_file_may_have_fit_into_little_memory() -> None:
    assert python("-c", _LINES_UNDER_A_LIMIT).done().out.split() == [str(1 << 23)]
