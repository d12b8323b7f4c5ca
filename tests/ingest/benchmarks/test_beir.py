import gzip
import json
import pickle
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest

from lake.benchmarks import TASKS
from lake.errors import Exit
from lake.store import Lake
from tests.tiny import Row, command, ingested, jsonl, put, stored

CORPUS: list[Row] = [
    {"_id": "d1", "title": "Cats", "text": "a cat purrs at night"},
    {"_id": "d2", "title": "", "text": "dogs bark at cats"},
    {"_id": "d3", "text": "engines burn fuel in space"},
    {"_id": 4, "title": "Moon", "text": "the moon and the night"},
    {"_id": "empty", "title": "", "text": ""},
]
QUERIES: list[Row] = [
    {"_id": "q1", "text": "a cat at night"},
    {"_id": "q2", "text": "engines in space"},
    {"_id": "q3", "text": "nobody judged this"},
    {"_id": "q4", "text": "nothing is right"},
]
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t1\nq1\td3\t0\nq2\td3\t1\nq2\t4\t3\nq4\td1\t0\n"


def lay_out(folder: Path, corpus: list[Row] = CORPUS, queries: list[Row] = QUERIES, qrels: str = QRELS) -> Path:
    put(folder / "corpus.jsonl", jsonl(corpus))
    put(folder / "queries.jsonl", jsonl(queries))
    put(folder / "qrels" / "test.tsv", qrels.encode())
    return folder


def read(folder: Path, lake: Path, *, code: int = Exit.INCOMPLETE) -> Lake:
    command("ingest", "beir", "--source", folder, "--lake", lake, "--chunkers", "whole-file").ended(code)
    return Lake(lake)


def test_judged_queries_are_items_documents_files_and_grades_gold(tmp_path: Path) -> None:
    lake = read(lay_out(tmp_path / "data"), tmp_path / "lake")
    items = lake.read("items").sort("item_id")
    assert items.select("item_id", "pool_id", "scorable").rows() == [
        ("q1", "beir/corpus", True),
        ("q2", "beir/corpus", True),
        ("q4", "beir/corpus", False),
    ]
    assert items["why_not"][2] == "no document is judged relevant to it"
    assert lake.read("files").sort("position")["path"].to_list() == ["d1", "d2", "d3", "4", "empty"]
    texts = lake.read("files").join(lake.read("blobs"), on="sha256").select("path", "text").rows()
    assert dict(texts)["d1"] == "Cats\na cat purrs at night"
    assert dict(texts)["d2"] == "dogs bark at cats"
    gold = lake.read("gold_spans").sort("item_id", "path").select("item_id", "path", "grade", "line_end").rows()
    assert gold == [("q1", "d1", 2, 2), ("q1", "d2", 1, 1), ("q2", "4", 3, 2), ("q2", "d3", 1, 1)]
    assert lake.read("queries").filter(item_id="q1")["text"].to_list() == ["a cat at night"]


def test_parquet_and_a_table_without_names_are_read_alike(tmp_path: Path) -> None:
    plain = read(lay_out(tmp_path / "one"), tmp_path / "lake one")
    other = tmp_path / "other"
    (other / "qrels").mkdir(parents=True)
    pl.DataFrame([{**row, "_id": str(row["_id"])} for row in CORPUS]).write_parquet(other / "corpus.parquet")
    pl.DataFrame(QUERIES).write_parquet(other / "queries.parquet")
    put(other / "qrels/test.tsv", QRELS.partition("\n")[2].encode())
    two = read(other, tmp_path / "lake two")
    for name in ("items", "queries", "gold_spans", "files", "blobs"):
        assert plain.read(name).equals(two.read(name)), name


BAD = {
    "a document twice": ("corpus", '{"_id": "d1", "text": "x"}', "document 'd1' occurs more than once"),
    "a document without a text": ("corpus", '{"_id": "x"}', "`text` is missing; it must be a text"),
    "a document without a name": ("corpus", '{"_id": " ", "text": "x"}', "`_id` must be a name"),
    "half a character": ("corpus", '{"_id": "x", "text": "\\ud800"}', "`text` must be a text"),
    "a list for a text": ("queries", '{"_id": "x", "text": []}', "`text` must be a text"),
    "not JSON": ("queries", "{", "not JSON"),
    "an unknown query": ("qrels/test", "q9\td1\t1", "query 'q9' is not among the queries"),
    "a document that is not there": ("qrels/test", "q1\td9\t1", "document 'd9' is not in the corpus"),
    "a grade that is none": ("qrels/test", "q1\td3\tyes", "`score` must be a whole number"),
    "another grade": ("qrels/test", "q1\td1\t1", "document 'd1' has grade 2 for query 'q1' already; that is kept"),
    "two values": ("qrels/test", "q1\td3", "2 values, not 3"),
}


def test_a_row_that_is_off_is_refused_with_its_line_and_the_others_are_read(tmp_path: Path) -> None:
    folder, places = lay_out(tmp_path / "data"), dict[str, tuple[str, str]]()
    for given, (stem, line, _) in BAD.items():
        (file,) = folder.glob(f"{stem}.*")
        places[given] = (f"{stem}{file.suffix}", f"line {file.read_text().count(chr(10)) + 1}")
        put(file, file.read_bytes() + f"{line}\n".encode())
    lake = read(folder, tmp_path / "lake", code=Exit.INCOMPLETE)
    rejects = lake.read("rejects").select("source", "position", "reason").rows()
    reasons = {(source, position): reason for source, position, reason in rejects}
    assert reasons.keys() == set(places.values())
    assert all(message in reasons[places[given]] for given, (*_, message) in BAD.items())
    assert lake.read("items")["scorable"].sum() == 2


def test_a_split_without_judgements_is_missing_and_those_there_are_named(tmp_path: Path) -> None:
    lay_out(tmp_path / "data")
    run = command("ingest", "beir", "--source", tmp_path / "data", "--subsets", "dev", "--lake", tmp_path / "lake")
    run.refused(Exit.MISSING, "qrels/dev.jsonl, .parquet or .tsv is not in", "qrels/test.tsv")


def test_a_source_without_collections_is_named_only_where_they_are_asked_for(tmp_path: Path) -> None:
    put(tmp_path / "data/repoeval/datasets/x", b"")
    run = command("ingest", "beir", "--source", tmp_path / "data", "--lake", tmp_path / "lake")
    run.refused(Exit.MISSING, "does not hold beir")
    assert "beir" not in command("ingest", "--source", tmp_path / "data", "--lake", tmp_path / "lake").err


Expected = Mapping[tuple[str, str], str]


def _repoeval(shared: Path) -> Expected:
    file = shared / "repoeval/datasets/function_level_completion_2k_context_codex.test.jsonl"
    texts, counts = {}, dict[str, int]()
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        repo = row["metadata"]["fpath_tuple"][0]
        number = counts[repo] = counts.get(repo, -1) + 1
        texts[f"function-2k/{repo}/{number}", "prompt"] = row["prompt"]
    return texts


def _repobench(shared: Path) -> Expected:
    data = (shared / "repobench-r-mined/data/python_cff.gz").read_bytes()
    texts = {}
    for level, rows in pickle.loads(gzip.decompress(data))["test"].items():
        for number, row in enumerate(rows):
            item_id, code = f"python_cff/test/{level}/{number}", row["code"]
            texts[item_id, "imports-and-code"] = f"{row['import_statement']}\n\n{code}"
            texts[item_id, "last-3-lines"] = "\n".join(code.split("\n")[-3:])
    return texts


def _contextbench(shared: Path) -> Expected:
    rows = pl.read_parquet(shared / "contextbench/test.parquet").select("original_inst_id", "problem_statement").rows()
    # An id that comes again is no item: the first row counts.
    return {(item_id, "problem-statement"): text for item_id, text in reversed(rows)}


@pytest.mark.parametrize(
    ("benchmark", "subset", "expected"),
    [
        ("repoeval", "function-2k", _repoeval),
        ("repobench-r", "python_cff/test", _repobench),
        ("contextbench", "full", _contextbench),
    ],
)
def test_every_item_has_its_tasks_queries_with_sha256(
    benchmark: str, subset: str, expected: Callable[[Path], Expected], shared: Path, tmp_path: Path
) -> None:
    options = ("--subsets", subset, "--limit", "6", "--chunkers", "whole-file", "--lake", tmp_path)
    run = command("ingest", benchmark, "--source", shared, *options)
    assert run.code in (0, Exit.INCOMPLETE), run.err
    lake, texts = Lake(tmp_path), expected(shared)
    queries = lake.read("queries", benchmark=benchmark)
    rules = {task.query for task in TASKS.values() if task.benchmark == benchmark}
    assert queries.height == 6 * len(rules)
    items = lake.read("items", benchmark=benchmark)["item_id"]
    assert {*queries.select("item_id", "query").iter_rows()} == {(i, q) for i in items for q in rules}
    for item_id, query, text, digest in queries.select("item_id", "query", "text", "sha256").iter_rows():
        assert text == texts[item_id, query]
        assert digest == sha256(text.encode()).hexdigest()


def test_a_lake_without_its_queries_is_not_evaluated_and_ingest_makes_them_again(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "lake"
    ingested(folder, source)
    lake, before = Lake(folder), stored(folder)
    [part] = lake.parts("queries")
    lake.remove(part)
    run = command("evaluate", "--lake", folder)
    assert run.code != 0
    assert "the lake lacks the query 'prompt' of 5 items of function-2k" in run.err
    ingested(folder, source)
    assert stored(folder, "queries") == {path: data for path, data in before.items() if path.startswith("queries/")}
