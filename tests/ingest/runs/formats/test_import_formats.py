import gzip
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # ships no types
import pytest

from ingest.runs.find_trajectories import importers
from lake.errors import Exit
from lake.store import Lake
from tests.ingest.runs.imports import FIRST, LAST, Ranked, hit, hits, imported, refused, trec, tsv

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
    by_item: dict[str, dict[str, object]] = {}
    for item, document, _, score in rows:
        by_item.setdefault(str(item), {})[str(document)] = score
    return json.dumps(by_item).encode()


def parquet(rows: Ranked) -> bytes:
    into = io.BytesIO()
    pl.DataFrame(rows, schema=["item_id", "document", "rank", "score"], orient="row").write_parquet(into)
    return into.getvalue()


def table(rows: Ranked) -> bytes:
    return tsv(rows, "item_id", "document", "rank", "score")


def beir(rows: Ranked) -> bytes:
    return tsv([(item, document, score) for item, document, _, score in rows], "query-id", "corpus-id", "score")


def answers(rows: Ranked) -> bytes:
    by_item: dict[object, list[dict[str, object]]] = {}
    for item, document, _, score in rows:
        path, _, lines = str(document).partition("#L")
        start, _, end = lines.partition("-L")
        span = {"start": int(start), "end": int(end or start)} if lines else {}
        by_item.setdefault(item, []).append({"path": path, **span, "score": score})
    return "".join(json.dumps({"id": item, "results": results}) + "\n" for item, results in by_item.items()).encode()


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
    packed: bytes = pa.Codec("zstd").compress(data, asbytes=True)
    return packed


@every_format
def test_every_format_is_found_by_content_and_gives_the_same_hits(lake: Lake, name: str) -> None:
    data, name = WRITERS[name](ROWS), "tsv" if name == "beir" else name
    assert [importer.name for importer in importers().values() if importer.recognise(data, "x.exe")] == [name]
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


ORBIT, ENGINE = "rockets/orbit.py", "rockets/engine.py"
COLUMNS = ("item_id", "document", "rank", "score")
LINES = ("item_id", "path", "line_start", "line_end", "score")
BAD_RANKS = "ranks that are used twice, or that disagree with the scores: 1 line"
UNREADABLE, TWICE = "a document that cannot be read: 1 line", "a document listed twice for an item: 2 lines"
LISTS: list[tuple[bytes, str, str]] = [
    (trec([(LAST, "dogs.py", 1, 1), (FIRST, ORBIT, 1, 0.5), (FIRST, ENGINE, 2, 0.75)]),
     BAD_RANKS, f"line 3: item {FIRST}: rank 2, score 0.75"),
    (trec([(FIRST, ORBIT, 1, 1), (FIRST, ENGINE, 1, 1), (FIRST, f"{ENGINE}#L1", 2, 0)]),
     BAD_RANKS, f"line 2: item {FIRST}: rank 1, score 1.0"),
    (tsv([(FIRST, ORBIT, 1, 1), (LAST, "dogs.py", "", 1)], *COLUMNS),
     "no rank, although other rows have one: 1 line", "line 3: dogs.py"),
    (tsv([(FIRST, ORBIT, "")], *COLUMNS[:2], "score"), UNREADABLE, f"line 2: {ORBIT}: it has neither rank nor score"),
    *((trec([(FIRST, ORBIT, 1, score)]), UNREADABLE, f"line 1: {ORBIT}: its score is not finite")
      for score in ("nan", "NaN", "inf", "-Infinity", "1e999")),
    (tsv([(FIRST, ORBIT, "-1")], *COLUMNS[:3]), UNREADABLE, f"line 2: {ORBIT}: its rank is below 0"),
    *((tsv([(FIRST, ORBIT, rank)], *COLUMNS[:3]), "a rank that is not a whole number: 1 line", f"line 2: {rank}")
      for rank in ("99999999999999999999", "1.5", "one", "+")),
    *((trec([(LAST, "dogs.py", 1, 1), (FIRST, ORBIT, 1, 2), (FIRST, again, 2, 1)]), TWICE,
       f"line 2: item {FIRST}: {ORBIT}#L1-L12")
      for again in (f"{ORBIT}#L1-L12", f"/testbed/{ORBIT}", f"{ORBIT}#L1-L13", ORBIT)),
    (hit(f"{ORBIT}#L3-L14"), "a range past the end of the file: 1 line",
     f"line 1: item {FIRST}: {ORBIT}#L3-L14 ends after line 12, the file's last"),
    *((hit(document), UNREADABLE, f"line 1: {document}: {why}") for document, why in (
        *((f"{ORBIT}#L{lines}", "its lines are not #L10 or #L10-L20, counted from 1")
          for lines in ("0", "0-L3", "5-L4", "5-", "5-9", "-5", "5-L5.1", "99999999999999999999")),
        *((given, "it is not path::Qualified.name")
          for given in (f"{ORBIT}::", "::transfer", f"{ORBIT}::transfer#L1-L3")))),
    *((tsv([(FIRST, ORBIT, *lines, 1)], *LINES), UNREADABLE,
       f"line 2: {ORBIT}: line_start and line_end are no range from 0") for lines in ((-1, 3), (3, 1), (3, ""))),
    (table(ROWS) + b"short\trow\n", "not the 4 columns of the header: 1 line", "line 6: short\trow"),
    (b"hello world\n", "unknown file format", "'hello world'"),
    *((parquet([(FIRST, path, 1, 1.0)]), UNREADABLE.replace("line", "row"),
       f"row 1: {shown}: it is empty or holds a control character")
      for path, shown in (("a\x1b[31m.py", "a\x1b[31m.py"), ("a\tb.py", "a\tb.py"), ("a\x7f.py", "a\x7f.py"))),
]  # fmt: skip


def test_what_orders_no_list_or_names_no_document_is_refused_with_its_place(once: Path) -> None:
    for data, what, example in LISTS:
        error = refused(Lake(once), data)
        assert (error.code, error.what, error.examples[0]) == (Exit.INVALID, what, example)
        assert error.render().replace("\n", "").replace("\t", "").isprintable()


def test_of_many_faults_three_are_shown_and_all_are_counted(once: Path) -> None:
    error = refused(Lake(once), trec([(FIRST, f"a.py#L0-L{n}", n, -n) for n in range(1, 500)]))
    assert (error.what, len(error.examples)) == ("a document that cannot be read: 499 lines", 3)


def written(columns: Mapping[str, object]) -> bytes:
    into = io.BytesIO()
    pl.DataFrame(columns).write_parquet(into)
    return into.getvalue()


ENTRY: dict[str, object] = {"item_id": [FIRST], "document": ["a.py"], "rank": [1]}
SHAPES: list[tuple[str, bytes, str]] = [
    *(("tsv", f"{header}\nx\n".encode(), why) for header, why in (
        ("item_id\tdocument", "missing rank or score"), ("document\tscore", "missing item_id"),
        ("item_id\tscore", "missing document or path"), ("item_id\tqid\tdocument\tscore", "it has a column twice"),
        ("item_id\tdocumnt\tscore", "unknown column 'documnt' in the header"),
        ("\titem_id\tdocument\tscore", "unknown column '' in the header"))),
    *(("answers", answers(ROWS[:1]) + line, why) for line, why in (
        (b'{"id": "a", "results": [', "given.txt, line 2: not JSON"),
        (b'{"results": []}', "line 2: no object with an `id`"),
        (answers(ROWS[:1]), f"line 2: item {FIRST!r} is in line 1 too"),
        (b'{"id": "a", "results": ["a.py"]}', "line 2, item 'a': result 1: expected a path"),
        (b'{"id": "a", "results": {}}', "line 2, item 'a': `results` must be a list"))),
    *(("json", data, why) for data, why in (
        (f'{{"{FIRST}": {{"{ORBIT}": 1, "./{ORBIT}": 2}}}}'.encode(), TWICE.replace("2 lines", "2 entries")),
        (f'{{"{FIRST}": {{"{ORBIT}": 1, "{ORBIT}": 2}}}}'.encode(), f"'{ORBIT}' occurs twice in an object"),
        (f'{{"{FIRST}": {{"{ORBIT}": 1}}, "{FIRST}": {{}}}}'.encode(), f"'{FIRST}' occurs twice in an object"),
        (b"[1]", "it is no object"), (b'{"a": [1, 2]}', "entry 1: item 'a' has no object {document: score}"),
        (b'{"a": 1}', "entry 1: item 'a' has no object {document: score}"),
        (b'{"a": null}', "entry 1: item 'a' has no object {document: score}"),
        *((b'{"a": {"d": %s}}' % score, "entry 1: item 'a' has no object {document: score}")
          for score in (b'{"e": 1}', b'"1"', b"true", b"null")),
        (b"{}", "the file holds no rows"), (b'{"a": {"d": NaN}}', "a document that cannot be read: 1 entry"),
        (b'{"a": {"d": 1', "given.txt: not JSON (Expecting ',' delimiter: line 1 column 14 (char 13)); is it cut off?"),
        (b'{"a": {"d": 1e999}}', "a document that cannot be read: 1 entry"),
        (b'{"a": {"d": 1' + b"0" * 400 + b"}}", "a document that cannot be read: 1 entry"),
        (b'{"a": {"\\ud800": 1}}', "'\\ud800' contains half a surrogate pair, which is no text"),
        (b'{"\\udfff": {"d": 1}}', "'\\udfff' contains half a surrogate pair, which is no text"),
        (b'{"a": {"d\\u0000": 1}}', "a document that cannot be read: 1 entry"))),
    *(("parquet", written(columns), why) for columns, why in (
        ({**ENTRY, "document": [["a"]]}, "the Parquet cannot be read: cannot cast List"),
        ({**ENTRY, "rank": ["x"]}, "the Parquet cannot be read"),
        ({**ENTRY, "rank": [b"\xff"]}, "the Parquet cannot be read"),
        ({"item_id": [FIRST], "documents": ["a.py"], "rank": [1]}, "missing document or path"),
        ({**ENTRY, "document": [None]}, "a document that cannot be read: 1 row"),
        ({**ENTRY, "item_id": [None]}, "no item of the file is in repoeval/prompt (1 unknown)"),
        ({**ENTRY, "rank": [None]}, "a document that cannot be read: 1 row"),
        ({"item_id": [FIRST] * 2, "document": ["x", "y"], "rank": [1, 2], "run_id": ["a", "b"]},
         "the file holds several runs"))),
]  # fmt: skip


def test_a_file_of_another_shape_than_its_formats_is_refused(once: Path) -> None:
    for name, data, why in SHAPES:
        error = refused(Lake(once), data, format=name)
        assert (error.code, error.what.startswith(why)) == (Exit.INVALID, True), (name, data[:60], error.what)


@pytest.mark.parametrize(
    "given",
    [
        {"instance_id": FIRST, "hits": [{"docid": "rockets/orbit.py", "score": 2.5}, {"docid": "cats.py", "score": 1}]},
        {"instance_id": FIRST, "regions": [{"path": "rockets/orbit.py"}, {"path": "cats.py", "start": 1, "end": 2}]},
        {
            "query_id": FIRST,
            "results": [{"file": "rockets/orbit.py", "text": "x", "rank": 1}, {"file_path": "cats.py"}],
        },
    ],
)
def test_lists_of_other_programs_are_answers(lake: Lake, given: Mapping[str, object]) -> None:
    imported(lake, json.dumps(given).encode())
    assert hits(lake, "rank", "path_given") == [(1, "rockets/orbit.py"), (2, "cats.py")]


def test_a_table_may_have_commas(lake: Lake) -> None:
    imported(lake, f'"item_id","document","score"\r\n"{FIRST}","rockets/orbit.py#L1-L3",0.5\r\n'.encode())
    assert hits(lake) == [("rockets/orbit.py", 0, 3)]
