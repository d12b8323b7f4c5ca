import gzip
import io
import json
from collections.abc import Callable, Mapping

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
import pytest

from ingest.runs.find_trajectories import importers
from lake.errors import Exit
from lake.store import Lake
from tests.ingest.runs.test_import import FIRST, LAST, Ranked, hits, imported, lake, once, refused, trec, tsv

__all__ = ["lake", "once"]

ROWS: Ranked = [
    (FIRST, "rockets/orbit.py#L1-L3", 1, 2.5),
    (FIRST, "rockets/engine.py", 2, 1.25),
    (FIRST, "nowhere.py#L5", 3, -1.0),
    (LAST, "dogs.py#L4", 1, 0.5),
]
FOUND = [
    (FIRST, 1, "rockets/orbit.py", 0, 3, 2.5),
    (FIRST, 2, "rockets/engine.py", 0, 15, 1.25),
    (FIRST, 3, None, 4, 5, -1.0),
    (LAST, 1, "dogs.py", 3, 4, 0.5),
]


def scores_json(rows: Ranked) -> bytes:
    found: dict[str, dict[str, object]] = {}
    for item, document, _, score in rows:
        found.setdefault(str(item), {})[str(document)] = score
    return json.dumps(found).encode()


def parquet(rows: Ranked) -> bytes:
    into = io.BytesIO()
    pl.DataFrame(rows, schema=["item_id", "document", "rank", "score"], orient="row").write_parquet(into)
    return into.getvalue()


def table(rows: Ranked) -> bytes:
    return tsv(rows, "item_id", "document", "rank", "score")


def beir(rows: Ranked) -> bytes:
    return tsv([(item, document, score) for item, document, _, score in rows], "query-id", "corpus-id", "score")


def answers(rows: Ranked) -> bytes:
    found: dict[object, list[dict[str, object]]] = {}
    for item, document, _, score in rows:
        path, _, lines = str(document).partition("#L")
        start, _, end = lines.partition("-L")
        span = {"start": int(start), "end": int(end or start)} if lines else {}
        found.setdefault(item, []).append({"path": path, **span, "score": score})
    return "".join(json.dumps({"id": item, "results": results}) + "\n" for item, results in found.items()).encode()


WRITERS: Mapping[str, Callable[[Ranked], bytes]] = {
    "trec": trec,
    "json": scores_json,
    "tsv": table,
    "beir": beir,
    "parquet": parquet,
    "answers": answers,
}
every_format = pytest.mark.parametrize("name", WRITERS)


def found_in(lake: Lake) -> list[tuple[object, ...]]:
    columns = ("item_id", "rank", "path", "line_start", "line_end", "score")
    return lake.read("hits").sort("item_id", "rank").select(columns).rows()


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    packed = sink.getvalue().to_pybytes()
    assert isinstance(packed, bytes)
    return packed


@every_format
def test_every_format_is_found_by_content_and_gives_the_same_hits(lake: Lake, name: str) -> None:
    data, name = WRITERS[name](ROWS), "tsv" if name == "beir" else name
    assert [one.name for one in importers().values() if one.recognise(data, "x.exe")] == [name]
    imported(lake, data, name="ranking.parquet.json")
    assert found_in(lake) == FOUND
    assert lake.read("runs")["format"][0] == name


@pytest.mark.parametrize("name", ["trec", "json", "parquet"])
@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_a_file_may_be_packed(lake: Lake, name: str, pack: Callable[[bytes], bytes]) -> None:
    imported(lake, pack(WRITERS[name](ROWS)))
    assert found_in(lake) == FOUND


@pytest.mark.parametrize("name", ["trec", "json", "tsv", "beir", "answers"])
def test_a_byte_order_mark_blank_lines_and_crlf_change_nothing(lake: Lake, name: str) -> None:
    data = b"\xef\xbb\xbf" + WRITERS[name](ROWS).replace(b"\n", b"\r\n").removesuffix(b"\r\n") + b"\r\n\r\n  \r\n"
    imported(lake, data)
    assert found_in(lake) == FOUND


def test_a_parquet_of_several_runs_is_refused(lake: Lake) -> None:
    into = io.BytesIO()
    frame = pl.DataFrame({"run_id": ["a", "b"], "item_id": [FIRST] * 2, "document": ["x", "y"], "rank": [1, 2]})
    frame.write_parquet(into)
    assert refused(lake, into.getvalue()).what == "the file holds several runs"


def test_paths_and_lines_in_columns_are_those_of_the_lake(lake: Lake) -> None:
    columns = ("item_id", "path", "line_start", "line_end", "score")
    imported(lake, tsv([(FIRST, "rockets/orbit.py", 0, 3, 1), (FIRST, "rockets/engine.py", "", "", 0)], *columns))
    assert hits(lake) == [("rockets/orbit.py", 0, 3), ("rockets/engine.py", 0, 15)]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ((-1, 3), "lines are counted from 0 here"),
        ((3, 1), "the range is reversed"),
        ((3, ""), "one of line_start and line_end is missing"),
    ],
)
def test_lines_in_columns_that_are_no_range_are_refused(lake: Lake, lines: tuple[object, object], why: str) -> None:
    columns = ("item_id", "path", "line_start", "line_end", "score")
    error = refused(lake, tsv([(FIRST, "rockets/orbit.py", *lines, 1)], *columns))
    assert error.examples == (f"line 2: rockets/orbit.py: {why}",)


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ("item_id\tdocument", "missing rank or score"),
        ("document\tscore", "missing item_id"),
        ("item_id\tscore", "missing document or path"),
        ("item_id\tpath\tline_start\tscore", "missing both of line_start and line_end"),
        ("item_id\tqid\tdocument\tscore", "it has a column twice"),
        ("item_id\tdocumnt\tscore", "unknown column 'documnt' in the header"),
    ],
)
def test_a_header_that_lacks_something_is_refused(lake: Lake, header: str, why: str) -> None:
    assert refused(lake, f"{header}\nx\n".encode(), format="tsv").what.startswith(why)


def test_a_row_of_another_length_than_the_header_is_refused(lake: Lake) -> None:
    error = refused(lake, table(ROWS) + b"short\trow\n")
    assert error.what == "not the 4 columns of the header: 1 line"
    assert error.examples == ("line 6: short\\trow",)


def test_a_space_in_a_trec_document_may_stand_or_be_escaped(lake: Lake) -> None:
    imported(lake, trec([(FIRST, "no such%20file 100%25.py#L3", 1, 1)]))
    assert hits(lake, "path_given", "line_end") == [("no such file 100%.py", 3)]


def test_a_document_twice_in_one_json_object_is_refused(lake: Lake) -> None:
    error = refused(lake, f'{{"{FIRST}": {{"rockets/orbit.py": 1, "rockets/orbit.py": 2}}}}'.encode())
    assert error.what == "a document that stands twice in a list: 2 entries"


def test_a_query_twice_in_one_json_object_is_refused(lake: Lake) -> None:
    error = refused(lake, f'{{"{FIRST}": {{"rockets/orbit.py": 1}}, "{FIRST}": {{}}}}'.encode())
    assert error.what == f"entry 2: the query '{FIRST}' stands twice"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"id": "a", "results": [', "line 2: not JSON"),
        (b'{"results": []}', "line 2: no object with an `id`"),
        (answers(ROWS[:1]), f"line 2: item {FIRST!r} stands in line 1 too"),
        (b'{"id": "a", "results": {}}', "line 2, item 'a': `results` is to be a list"),
    ],
)
def test_a_line_that_is_no_answer_is_refused_by_its_number(lake: Lake, line: bytes, why: str) -> None:
    error = refused(lake, answers(ROWS[:1]) + line)
    assert (error.code, error.what.startswith(why)) == (Exit.INVALID, True), error.what


def test_a_format_that_is_none_is_refused_with_those_there_are(lake: Lake) -> None:
    error = refused(lake, b"hello world\n")
    assert error.what == "unknown file format"
    assert error.examples == ("'hello world'",)
    assert "python -m ingest list formats" in error.hint
