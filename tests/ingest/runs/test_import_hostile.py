import gzip
import random
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.sources import input_file, tree
from lake.errors import Exit, GoldspanError
from lake.store import Lake
from tests.ingest.runs.formats.test_import_formats import ROWS, WRITERS, zstd
from tests.ingest.runs.imports import FIRST, hit, hits, imported, refused

pytestmark = pytest.mark.slow

NOISE = random.Random(7).randbytes(5000)


GOOD = hit("rockets/orbit.py")
PACKED = "cannot be read to its end"
JSON_FROM_HELL = (b'{"a":' * 100_000, b'{"a": {"d": 1' + b"0" * 5_000 + b"}}", b'{"a": ' + b"[" * 100_000)
ENDLESS = (b"a Q0 b" + b" " * 1_000_000, b" " * 1_000_000, b'{"' + b"\\" * 1_000_000, b"a 1 " * 200_000)
FAULTS = [
    *((data, "auto", "the file is empty") for data in (b"", b"\n\n  \r\n", gzip.compress(b"", mtime=0))),
    (b"\xef\xbb\xbf", "auto", "unknown file format"),
    *((start + NOISE, name, "") for start in (b"", b"\x89PNG\r\n\x1a\n", b"PAR1", b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
      for name in ("auto", *WRITERS, "repocoder")),
    *((pack(GOOD * 50)[:-cut], "auto", PACKED) for pack in (gzip.compress, zstd) for cut in (1, 8, 20)),
    *((WRITERS["parquet"](ROWS)[:-cut], "auto", "Parquet") for cut in (4, 30, 200)),
    *((data, "auto", "") for data in ENDLESS), *((data, "json", "") for data in JSON_FROM_HELL),
    (GOOD + hit("caf\u00e9.py").decode().encode("latin-1"), "auto", "line 2 is not UTF-8: invalid continuation byte"),
    (GOOD + b"\xe2\x98", "trec", "line 2 is not UTF-8: unexpected end of data"),
    (GOOD + hit("a\0b.py"), "trec", "a document that cannot be read: 1 line"),
    (GOOD + f"{FIRST} Q0 rockets/orbit.py 1 0.5\n".encode(), "auto", "not six columns: 1 line"),
]  # fmt: skip


def test_what_is_not_what_it_seems_is_refused_and_says_why(lake: Lake) -> None:
    for data, format_name, why in FAULTS:
        error = refused(lake, data, format=format_name)
        assert (error.code, why in error.what) == (Exit.INVALID, True), (data[:40], format_name, error.what)


def test_a_table_that_is_not_recognised_says_how_one_is_written(lake: Lake) -> None:
    for data in (b"id,hit,score\na,b.py,1\n", "item_id\tdocument\tscore\n".encode("utf-16")):
        assert "a table with a heading (item_id, document, score)" in refused(lake, data, format="auto").hint


@pytest.mark.parametrize(
    ("data", "name", "why"),
    [
        (b'{"a": {' + b'"d": 1, ' * 1_000, "json", "given.txt: it has more than the limit of 1,000 bytes"),
        (b"a" * 5_000, "trec", "line 1 is longer than 1,000 bytes"),
    ],
)
def test_endless_input(lake: Lake, monkeypatch: pytest.MonkeyPatch, data: bytes, name: str, why: str) -> None:
    monkeypatch.setattr(input_file, "BLOCK_BYTES", 100)
    monkeypatch.setattr(input_file, "MAX_LINE_BYTES", 1_000)
    monkeypatch.setattr(tree, "MAX_DOCUMENT_BYTES", 1_000)
    assert refused(lake, data, format=name).what == why


@given(position=st.integers(4, 1_500), value=st.integers(0, 255), name=st.sampled_from(list(WRITERS)))
def test_a_changed_byte_is_read_or_refused_without_traceback(lake: Lake, position: int, value: int, name: str) -> None:
    data = bytearray(WRITERS[name](ROWS))
    data[position % len(data)] = value
    with suppress(GoldspanError):
        imported(lake, bytes(data), write=False, format=name)


@pytest.mark.parametrize("name", ["json", "trec", "tsv"])
def test_an_entry_may_lie_across_blocks(lake: Lake, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(input_file, "BLOCK_BYTES", 7)
    imported(lake, WRITERS[name](ROWS).replace(b"nowhere", "nöwhere☃".encode()))
    assert hits(lake, "path_given", "line_end")[2] == ("nöwhere☃.py", 5)


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../../../etc/passwd", "C:\\x.py", "~/x", "日本語/ファイル.py", "x" * 5_000, "a/" * 3_000]
)
def test_a_path_from_outside_is_kept_as_text_and_never_opened(lake: Lake, path: str) -> None:
    assert imported(lake, hit(path)).counts["n_unresolved"] == 1
    assert hits(lake, "path_given", "path") == [(path, None)]
