"""Rankings that are refused: what is said of each, and an example of what is wrong in it."""

import io
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from lake.errors import Exit
from lake.store import Lake
from tests.ingest.runs.formats.test_import_formats import ROWS, answers, parquet, table
from tests.ingest.runs.test_import import FIRST, LAST, once, one, refused, trec, tsv

__all__ = ["once"]

ORBIT, ENGINE = "rockets/orbit.py", "rockets/engine.py"
COLUMNS = ("item_id", "document", "rank", "score")
LINES = ("item_id", "path", "line_start", "line_end", "score")
NOT_FINITE = "a score that is not finite: 1 line"
UNREADABLE, TWICE = "a document that cannot be read: 1 line", "a document that stands twice in a list: 1 line"
LISTS: list[tuple[bytes, str, str]] = [
    (trec([(LAST, "dogs.py", 1, 1), (FIRST, ORBIT, 1, 0.5), (FIRST, ENGINE, 2, 0.75)]),
     "ranks and scores that disagree: 1 line", f"line 3: item {FIRST}: rank 2 scores 0.75, rank 1 (line 2) 0.5"),
    (trec([(FIRST, ORBIT, 1, 1), (FIRST, ENGINE, 1, 1), (FIRST, f"{ENGINE}#L1", 2, 0)]),
     "a rank that stands twice in a list: 1 line", f"line 2: item {FIRST} has rank 1 at line 1 too"),
    (tsv([(FIRST, ORBIT, 1, 1), (LAST, "dogs.py", "", 1)], *COLUMNS),
     "no rank, where other rows have one: 1 line", "line 3: dogs.py"),
    (tsv([(FIRST, ORBIT, "")], *COLUMNS[:2], "score"), "neither rank nor score: 1 line", f"line 2: {ORBIT}"),
    *((trec([(FIRST, ORBIT, 1, score)]), NOT_FINITE, f"line 1: item {FIRST}, {ORBIT}: {read}")
      for score, read in (("nan", "NaN"), ("NaN", "NaN"), ("inf", "inf"), ("-Infinity", "-inf"), ("1e999", "inf"))),
    (tsv([(FIRST, ORBIT, "-1")], *COLUMNS[:3]), "a rank below 0: 1 line", "line 2: -1"),
    *((tsv([(FIRST, ORBIT, rank)], *COLUMNS[:3]), "a rank that is not a whole number: 1 line", f"line 2: {rank}")
      for rank in ("99999999999999999999", "1.5", "one", "+")),
    *((trec([(LAST, "dogs.py", 1, 1), (FIRST, ORBIT, 1, 2), (FIRST, again, 2, 1)]), TWICE,
       f"line 3: item {FIRST}: {again.partition('#')[0]}#L1-L12 as in line 2")
      for again in (f"{ORBIT}#L1-L12", f"/testbed/{ORBIT}", f"{ORBIT}#L1-L13", ORBIT)),
    (one(f"{ORBIT}#L3-L14"), "a range beyond the file: 1 line",
     f"line 1: item {FIRST}: {ORBIT}#L3-L14 ends past line 12, the file's last"),
    *((one(document), UNREADABLE, f"line 1: {document}: {why}") for document, why in (
        (f"{ORBIT}#L0", "lines are counted from 1"), (f"{ORBIT}#L0-L3", "lines are counted from 1"),
        (f"{ORBIT}#L5-L4", "its range is reversed"), (f"{ORBIT}#L5-", "its range is not #L10 or #L10-L20"),
        (f"{ORBIT}#L5-9", "its range is not #L10 or #L10-L20"), (f"{ORBIT}#L-5", "its range is not #L10 or #L10-L20"),
        (f"{ORBIT}#L5-L5.1", "of several chunks with the same lines the second is .2"),
        (f"{ORBIT}#L99999999999999999999", "its line numbers are too large"),
        (f"{ORBIT}::", "it is not path::Qualified.name"), ("::transfer", "it is not path::Qualified.name"),
        (f"{ORBIT}::transfer#L1-L3", "it names lines and a definition"))),
    *((tsv([(FIRST, ORBIT, *lines, 1)], *LINES), UNREADABLE, f"line 2: {ORBIT}: {why}") for lines, why in (
        ((-1, 3), "lines are counted from 0 here"), ((3, 1), "the range is reversed"),
        ((3, ""), "one of line_start and line_end is missing"))),
    (table(ROWS) + b"short\trow\n", "not the 4 columns of the header: 1 line", "line 6: short\\trow"),
    (b"hello world\n", "unknown file format", "'hello world'"),
    *((parquet([(FIRST, path, 1, 1.0)]), UNREADABLE.replace("line", "row"),
       f"row 1: {shown}: it holds a control character")
      for path, shown in (("a\x1b[31m.py", "a\\x1b[31m.py"), ("a\tb.py", "a\\tb.py"), ("a\x7f.py", "a\\x7f.py"))),
]  # fmt: skip


def test_what_orders_no_list_or_names_no_document_is_refused_with_its_place(once: Path) -> None:
    for data, what, example in LISTS:
        error = refused(Lake(once), data)
        assert (error.code, error.what, error.examples[0]) == (Exit.INVALID, what, example)
        assert error.render().replace("\n", "").isprintable()


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
        ("item_id\tpath\tline_start\tscore", "missing both of line_start and line_end"),
        ("item_id\tdocumnt\tscore", "unknown column 'documnt' in the header"))),
    *(("answers", answers(ROWS[:1]) + line, why) for line, why in (
        (b'{"id": "a", "results": [', "line 2: not JSON"), (b'{"results": []}', "line 2: no object with an `id`"),
        (answers(ROWS[:1]), f"line 2: item {FIRST!r} stands in line 1 too"),
        (b'{"id": "a", "results": {}}', "line 2, item 'a': `results` must be a list"))),
    *(("json", data, why) for data, why in (
        (f'{{"{FIRST}": {{"{ORBIT}": 1, "{ORBIT}": 2}}}}'.encode(), TWICE.replace("1 line", "2 entries")),
        (f'{{"{FIRST}": {{"{ORBIT}": 1}}, "{FIRST}": {{}}}}'.encode(), f"entry 2: the query '{FIRST}' stands twice"),
        (b"[1]", "it is no object"), (b'{"a": [1, 2]}', "entry 1: item 'a' has no object {document: score}"),
        (b'{"a": 1}', "entry 1: item 'a' has no object {document: score}"),
        (b'{"a": null}', "entry 1: item 'a' has no object {document: score}"),
        (b'{"a": {"d": {"e": 1}}}', "entry 1, item 'a': the score of 'd' is an object or list, no number"),
        (b'{"a": {"d": "1"}}', "entry 1, item 'a': the score of 'd' is \"1\", no number"),
        (b'{"a": {"d": true}}', "entry 1, item 'a': the score of 'd' is true, no number"),
        (b'{"a": {"d": null}}', "entry 1, item 'a': the score of 'd' is null, no number"),
        (b"{}", "the file holds no rows"), (b'{"a": {"d": NaN}}', "a score that is not finite: 1 entry"),
        (b'{"a": {"d": 1', "not JSON (Expecting ',' delimiter: line 1 column 14); is the file cut off?"),
        (b'{"a": {"d": 1e999}}', "a score that is not finite: 1 entry"),
        (b'{"a": {"d": 1' + b"0" * 400 + b"}}", "a score that is not finite: 1 entry"),
        (b'{"a": {"\\ud800": 1}}', "entry 1: '\\ud800' holds half a surrogate pair, which is no character"),
        (b'{"\\udfff": {"d": 1}}', "entry 1: '\\udfff' holds half a surrogate pair, which is no character"),
        (b'{"a": {"d\\u0000": 1}}', "a document that cannot be read: 1 entry"))),
    *(("parquet", written(columns), why) for columns, why in (
        ({**ENTRY, "document": [["a"]]}, "the column document holds List(String), and is to hold text"),
        ({**ENTRY, "rank": ["x"]}, "the Parquet cannot be read"),
        ({**ENTRY, "rank": [b"\xff"]}, "the column rank holds Binary"),
        ({"item_id": [FIRST], "documents": ["a.py"], "rank": [1]}, "missing document or path"),
        ({**ENTRY, "document": [None]}, "a document that cannot be read: 1 row"),
        ({**ENTRY, "item_id": [None]}, "1 item of the file is not asked"),
        ({**ENTRY, "rank": [None]}, "neither rank nor score"),
        ({"item_id": [FIRST] * 2, "document": ["x", "y"], "rank": [1, 2], "run_id": ["a", "b"]},
         "the file holds several runs"))),
]  # fmt: skip


def test_a_file_of_another_shape_than_its_formats_is_refused(once: Path) -> None:
    for name, data, why in SHAPES:
        error = refused(Lake(once), data, format=name)
        assert (error.code, error.what.startswith(why)) == (Exit.INVALID, True), (name, data[:60], error.what)
