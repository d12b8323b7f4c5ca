import gzip
import pickle
from collections.abc import Sequence

import polars as pl
import pytest
from rank_bm25 import BM25Okapi

from lake.store import Lake
from lake.text import words
from tests.tiny import command, put

OFFICIAL, CHUNKS = "repobench-r/official", "repobench-r/chunks"
CODE = "x = 1\ntotal = helper(alpha)\n"
WITH_BLANK = ["\n", "def helper(alpha): ...", "b", "c", "d"]


def row(context: Sequence[str], gold: int, code: str = CODE) -> dict[str, object]:
    about = {
        "repo_name": "somebody/something",
        "file_path": "main.py",
        "next_line": "y",
        "import_statement": "import z",
    }
    return {**about, "context": list(context), "code": code, "gold_snippet_index": gold}


ROWS = (
    row(WITH_BLANK, 1),
    # The gold is blank, and everything else shares as little with the query.
    row(["one", "two", " \n", "three", "four"], 2),
    # Nothing is shared: the first candidate, a blank one, comes first.
    row(["", "gold", "two", "three", "four"], 1),
    row(["\n\n", "def helper(alpha): ...", "b", "c", "d"], 1, code="\n\n"),
)
"""Right at the first row alone."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    folder = tmp_path_factory.mktemp("blank")
    rows = pickle.dumps({"test": {"easy": list(ROWS), "hard": []}})
    put(folder / "raw/data/python_cff.gz", gzip.compress(rows))
    asked = ("--source", folder / "raw", "--chunkers", "whole-file,fixed-nws-12")
    command("ingest", "repobench-r", *asked, "--lake", folder / "lake").done()
    said = command("evaluate", "--lake", folder / "lake").done()
    assert f"not asked by {CHUNKS}, as their gold is white space alone: 1 item" in said.err
    return Lake(folder / "lake")


def ranking(lake: Lake, task: str, retriever: str) -> dict[int, list[tuple[str, float]]]:
    runs = lake.read("runs").filter(task=task, system=f"whole-file+{retriever}").select("run_id")
    hits = lake.scan("hits").collect().join(runs, on="run_id").filter(part="ranking").sort("item_id", "rank")
    grouped = hits.group_by("item_id").agg(pl.struct("path", "score"))
    return {int(item[-1]): [(hit["path"], hit["score"]) for hit in found] for item, found in grouped.iter_rows()}


@pytest.mark.parametrize("retriever", ["bm25-okapi", "jaccard-regex", "edit-regex"])
def test_blank_candidates_score_nothing_and_blank_gold_counts_as_published(lake: Lake, retriever: str) -> None:
    found = ranking(lake, OFFICIAL, retriever)
    paths = [f"cand:{place}" for place in range(5)]
    assert all(found[row] == [(path, 0.0) for path in paths] for row in (1, 2, 3))
    assert [path for path, _ in found[0]] == ["cand:1", "cand:0", *paths[2:]]
    if retriever == "bm25-okapi":
        scores = BM25Okapi([words(text) for text in WITH_BLANK]).get_scores(words("\n".join(CODE.split("\n")[-3:])))
        assert [score for _, score in sorted(found[0])] == pytest.approx(list(scores))
    runs = lake.read("runs").filter(task=OFFICIAL)
    head = lake.read("aggregates").filter(protocol="repobench-r@official-v1", slice="subset", metric="accuracy", k=1)
    means = dict(head.join(runs, on="run_id").select("system", pl.concat_list("macro", "n", "n_items")).iter_rows())
    expected = {retriever: 1 / 4, "oracle": 1, "random": 1 / 5}
    assert {name: means[f"whole-file+{name}"] for name in expected} == {
        name: pytest.approx([share, 4, 4]) for name, share in expected.items()
    }


def test_chunks_of_white_space_stay_out_of_every_other_pool(lake: Lake) -> None:
    found = ranking(lake, CHUNKS, "bm25-okapi")
    assert sorted(found) == [0, 2, 3]
    assert all({path for path, _ in found[row]} == {f"cand:{place}" for place in range(1, 5)} for row in (0, 2, 3))
