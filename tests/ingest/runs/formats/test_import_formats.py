import gzip
import io
import json
from collections.abc import Callable, Mapping

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
import pytest

from ingest.runs.find_trajectories import importers
from lake.store import Lake
from tests.ingest.runs.test_import import FIRST, LAST, Ranked, hits, imported, lake, once, trec, tsv

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


def test_paths_and_lines_in_columns_are_those_of_the_lake(lake: Lake) -> None:
    columns = ("item_id", "path", "line_start", "line_end", "score")
    imported(lake, tsv([(FIRST, "rockets/orbit.py", 0, 3, 1), (FIRST, "rockets/engine.py", "", "", 0)], *columns))
    assert hits(lake) == [("rockets/orbit.py", 0, 3), ("rockets/engine.py", 0, 15)]


def test_a_space_in_a_trec_document_may_stand_or_be_escaped(lake: Lake) -> None:
    imported(lake, trec([(FIRST, "no such%20file 100%25.py#L3", 1, 1)]))
    assert hits(lake, "path_given", "line_end") == [("no such file 100%.py", 3)]
