import io
import os
import random
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
import pyarrow.parquet as pq  # type: ignore[import-untyped]  # ships no types
import pytest

from ingest.rejects import Rejects
from ingest.sources.folder import read_folder
from lake.limits import MIB, UnreadableParquetError, read_batches

pytestmark = pytest.mark.slow


@contextmanager
def room(n_bytes: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (used + n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def coded(text: str, n: int, folder: Path) -> Path:
    """A Parquet file of one text that stands in every row, written once."""
    file = folder / "coded.parquet"
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), pa.array([text]))
    table = pa.table({"text": texts, "texts": pa.ListArray.from_arrays(pa.array(range(n + 1), pa.int32()), texts)})
    pq.write_table(table, file, compression="zstd", store_schema=False, dictionary_pagesize_limit=1 << 24)
    return file


@pytest.mark.parametrize("column", ["text", "texts"])
def test_a_parquet_whose_one_text_stands_in_every_row_is_refused_by_the_bytes(tmp_path: Path, column: str) -> None:
    file = coded("x" * 1_000_000, 20_000, tmp_path)
    assert file.stat().st_size < 100_000
    with room(900 * MIB), pytest.raises(UnreadableParquetError, match="more memory than --memory-limit leaves"):
        list(read_batches(file, lambda names: [column], max_bytes=128 * MIB))


def test_a_parquet_that_claims_more_rows_than_are_read_is_refused(tmp_path: Path) -> None:
    file = coded("x", 1_000, tmp_path)
    with pytest.raises(UnreadableParquetError, match="more than the 999 rows"):
        list(read_batches(file, max_rows=999))


def test_refusals_beyond_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingest.rejects.MAX_REJECTS", 2)
    rejects = Rejects()
    for line in range(5):
        rejects.add("a.jsonl", f"line {line}", "no object")
    assert list(rejects.frame("ingest")["reason"]) == ["3 more were refused; 2 are kept one by one", *["no object"] * 2]


def test_a_file_that_is_sparse_takes_no_memory(tmp_path: Path) -> None:
    with (tmp_path / "sparse.py").open("wb") as file:
        file.truncate(1 << 30)
    (sparse,) = read_folder(tmp_path, "x").entries
    with room(100 * MIB):
        with pytest.raises(Exception, match="more than the limit of 268,435,456 bytes"):
            sparse.read()
        with sparse.open() as stream:
            assert stream.read(3) == b"\0\0\0"


def test_folders_far_inside_one_another_are_read(tmp_path: Path) -> None:
    bottom = tmp_path / "/".join("d" * 400)
    bottom.mkdir(parents=True)
    (bottom / "a").write_bytes(b"")
    tree = read_folder(tmp_path, "x")
    assert ([entry.path for entry in tree.entries], tree.refused) == (["d/" * 400 + "a"], {})


def test_no_damage_to_a_parquet_ends_the_process(tmp_path: Path) -> None:
    drawn, whole = random.Random(3), coded("x" * 50, 20, tmp_path).read_bytes()
    n_refused = 0
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(drawn.randint(1, 4)):
            # Most of what can be damaged is what the file says of itself, at its end.
            data[-drawn.randrange(1, min(900, len(data)))] = drawn.randrange(256)
        try:
            list(read_batches(io.BytesIO(bytes(data))))
        except UnreadableParquetError:
            n_refused += 1
    assert n_refused > 80
