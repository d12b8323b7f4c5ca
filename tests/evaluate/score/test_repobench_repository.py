"""RepoBench-R over whole repositories: an item's own file is in no list and no count; scores by a plain reading."""

from __future__ import annotations

import re
from pathlib import Path
from unittest.mock import patch

import polars as pl
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from evaluate.rank.similarity import similarities
from lake.fingerprint import sha256_of
from lake.store import Lake
from tests.ingest.boats import FILES, ROWS, commit, remote, source
from tests.tiny import command, stored

TASK = "repobench-r/repository"
CHUNKERS = ("whole-file", "window-4-2")
KEYWORDS = {"if", "else", "for", "while", "return", "class", "def", "import", "from"}
OWN = {f"python_cff/test/easy/{n}": str(row["file_path"]) for n, row in enumerate(ROWS)}
SNIPPET = {f"python_cff/test/easy/{n}": str(row["context"][1]) for n, row in enumerate(ROWS)}  # type: ignore[index]  # a list
SEARCHED = {path: text for path, text in FILES.items() if path.endswith(".py")}
ASKED = ("python_cff/test/easy/0", "python_cff/test/easy/1")

Chunk = tuple[str, int]


def _ingest(home: Path, *more: object) -> None:
    arguments = ["--source", home / "source", "--lake", home / "lake", "--chunkers", ",".join(CHUNKERS), *more]
    said = command("ingest", "repobench-r", *arguments)
    assert said.code in (0, 5), said.err


def _evaluate(home: Path) -> None:
    said = command("evaluate", "--lake", home / "lake")
    assert said.code == 0, said.err


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("boats")
    source(made / "source")
    commit(remote(made / "remotes"))
    _ingest(made, "--repositories", f"file://{made / 'remotes'}")
    _evaluate(made)
    return made


@pytest.fixture(scope="module")
def runs(home: Path) -> dict[tuple[str, str, str], str]:
    """(chunker, retriever, the oracle's protocol) → run."""
    rows = Lake(home / "lake").read("runs", benchmark="repobench-r").filter(pl.col("task") == TASK)
    return {
        (chunker, retriever, protocol or ""): run_id
        for chunker, retriever, protocol, run_id in rows.select(
            "chunker", "retriever", "protocol", "run_id"
        ).iter_rows()
    }


def _chunks(home: Path, chunker: str) -> dict[Chunk, str]:
    """Every chunk of the repository that is not white space alone; where a chunker cuts is for its own tests to say."""
    lines = {sha256_of(text.encode()): (path, text.splitlines(keepends=True)) for path, text in SEARCHED.items()}
    cut = Lake(home / "lake").read("chunks", chunker=chunker).select("sha256", "chunk_no", "line_start", "line_end")
    texts = {
        (lines[sha256][0], n): "".join(lines[sha256][1][start:end])
        for sha256, n, start, end in cut.iter_rows()
        if sha256 in lines
    }
    return {chunk: text for chunk, text in texts.items() if text.strip()}


def _jaccard(chunk: str, snippet: str) -> float:
    left, right = set(chunk.split()), set(snippet.split())
    return len(left & right) / len(left | right) if left | right else 0.0


def _overlap(chunk: str, snippet: str) -> float:
    left, right = (set(re.findall(r"\b[a-zA-Z_]\w*\b", text, re.ASCII)) - KEYWORDS for text in (chunk, snippet))
    return len(left & right) / len(left) if left else 0.0


def _pool(home: Path, chunker: str, item: str) -> dict[Chunk, tuple[float, float]]:
    """What an item searches, with both similarities to its gold snippet."""
    return {
        chunk: (_jaccard(text, SNIPPET[item]), _overlap(text, SNIPPET[item]))
        for chunk, text in _chunks(home, chunker).items()
        if chunk[0] != OWN[item]
    }


@pytest.mark.parametrize("chunker", CHUNKERS)
def test_similarities_are_of_the_pool_without_the_own_file(home: Path, chunker: str) -> None:
    rows = Lake(home / "lake").read("relevance", benchmark="repobench-r", chunker=chunker)
    rows = rows.filter(~pl.col("path").str.starts_with("cand:"))
    found = {
        (item, path, n): (jaccard, overlap)
        for item, path, n, jaccard, overlap in rows.select(
            "item_id", "path", "chunk_no", "jaccard", "identifier_overlap"
        ).iter_rows()
    }
    assert found == {(item, *chunk): both for item in ASKED for chunk, both in _pool(home, chunker, item).items()}


def test_no_list_holds_the_own_file_and_each_holds_all_the_rest(
    home: Path, runs: dict[tuple[str, str, str], str]
) -> None:
    assert {retriever for _, retriever, _ in runs} == {"bm25-okapi", "jaccard-regex", "oracle", "random"}
    for (chunker, _, _), run_id in runs.items():
        hits = Lake(home / "lake").read("hits", benchmark="repobench-r", run_id=run_id)
        for item in ASKED:
            ranked = hits.filter(pl.col("item_id") == item).sort("rank")
            assert ranked["rank"].to_list() == list(range(1, ranked.height + 1))
            assert set(ranked.select("path", "chunk_no").iter_rows()) == set(_pool(home, chunker, item))
        assert set(hits["item_id"]) == set(ASKED)


@pytest.mark.parametrize(("protocol", "which"), [("repobench-r@chunking-v1", 0), ("repobench-r@identifier-v1", 1)])
def test_scores_are_those_of_a_plain_reading(
    home: Path, runs: dict[tuple[str, str, str], str], protocol: str, which: int
) -> None:
    lake, n_relevant_in_all = Lake(home / "lake"), 0
    for (chunker, retriever, shown), run_id in runs.items():
        if shown not in ("", protocol):
            continue
        scores = lake.read("scores", benchmark="repobench-r", protocol=protocol, run_id=run_id)
        value = {
            (item, metric, k): number
            for item, metric, k, number in scores.select("item_id", "metric", "k", "value").iter_rows()
        }
        hits = lake.read("hits", benchmark="repobench-r", run_id=run_id).sort("item_id", "rank")
        for item in ASKED:
            pool = _pool(home, chunker, item)
            relevant = {chunk for chunk, both in pool.items() if both[which] >= 0.7}
            n_relevant_in_all += len(relevant)
            assert value[item, "reachable", 0] == float(bool(relevant))
            if retriever == "random":
                assert value[item, "accuracy", 1] == pytest.approx(len(relevant) / len(pool), abs=1e-12)
                continue
            ranked = list(hits.filter(pl.col("item_id") == item).select("path", "chunk_no").iter_rows())
            for k in (1, 3, 5):
                assert value[item, "accuracy", k] == float(bool(relevant & set(ranked[:k])))
            n_hit = len(relevant & set(ranked[:5]))
            assert value[item, "precision", 5] == n_hit / 5
            assert value[item, "recall", 5] == (n_hit / len(relevant) if relevant else 0.0)
            if retriever == "oracle":
                assert value[item, "accuracy", 1] == float(bool(relevant))
    assert n_relevant_in_all


def test_the_gold_of_a_row_is_the_file_its_snippet_stands_in(home: Path, runs: dict[tuple[str, str, str], str]) -> None:
    folders = {"benchmark": "repobench-r", "protocol": "repobench-r@chunking-v1"}
    scores = Lake(home / "lake").read("scores", **folders, run_id=runs["window-4-2", "bm25-okapi", ""])
    found = dict(scores.filter(pl.col("metric") == "boundary_similarity").select("item_id", "value").iter_rows())
    gold = dict(zip(ASKED, ("boats/hull.py", "boats/rigging.py"), strict=True))
    assert found == {
        item: max(both[0] for chunk, both in _pool(home, "window-4-2", item).items() if chunk[0] == path)
        for item, path in gold.items()
    }


TEXTS = st.lists(st.text(alphabet="ab_ (\n", max_size=12), min_size=1, max_size=5)


@given(TEXTS, TEXTS, st.integers(1, 3))
def test_items_that_share_a_pool_are_measured_as_each_alone(
    texts: list[str], snippets: list[str], at_once: int
) -> None:
    numbered = pl.DataFrame({"text_id": range(len(texts) + len(snippets)), "text": texts + snippets})
    items = [f"item {n}" for n in range(len(snippets))]
    gold = pl.DataFrame({"item_id": items, "text_id": range(len(texts), len(texts) + len(snippets))})
    pool = pl.DataFrame({"path": "x", "chunk_no": range(len(texts)), "text_id": range(len(texts))})
    chunks = pl.DataFrame({"item_id": items}).join(pool, how="cross")
    with patch("evaluate.rank.similarity.ITEMS_AT_ONCE", at_once):
        found = similarities(chunks, numbered, gold)
    assert found.select("item_id", "chunk_no", "jaccard", "identifier_overlap").rows() == [
        (item, n, _jaccard(text, snippet), _overlap(text, snippet))
        for item, snippet in zip(items, snippets, strict=True)
        for n, text in enumerate(texts)
    ]


def test_what_stands_of_the_other_tasks_is_not_made_anew(tmp_path: Path) -> None:
    source(tmp_path / "source")
    commit(remote(tmp_path / "remotes"))
    _ingest(tmp_path)
    _evaluate(tmp_path)
    lake = Lake(tmp_path / "lake")
    assert TASK not in set(lake.read("runs", benchmark="repobench-r")["task"])
    tables = ("hits", "run_items", "runs", "scores", "aggregates", "relevance")
    before = stored(tmp_path / "lake", *tables)
    made = {path: (tmp_path / "lake" / path).stat().st_mtime_ns for path in before}
    _ingest(tmp_path, "--repositories", f"file://{tmp_path / 'remotes'}")
    _evaluate(tmp_path)
    after = stored(tmp_path / "lake", *tables)
    assert len(after) > len(before)
    assert {path: after[path] for path in before} == before
    assert {path: (tmp_path / "lake" / path).stat().st_mtime_ns for path in before} == made


@pytest.mark.parametrize("protocol", ["repobench-r@chunking-v1", "repobench-r@identifier-v1"])
def test_trec_eval_has_the_same_numbers_of_what_is_exported(
    home: Path, runs: dict[tuple[str, str, str], str], tmp_path: Path, protocol: str
) -> None:
    """The judgements are of this task's gold, over the repository without the own file."""
    names = {"precision": "P_5", "recall": "recall_5", "accuracy": "success_5"}
    for chunker in CHUNKERS:
        run_id = runs[chunker, "bm25-okapi", ""]
        for name in ("trec", "qrels"):
            options = ("--protocol", protocol, "-o", tmp_path / name, "--lake", home / "lake")
            assert command("report", "export", run_id, "--format", name, *options).code == 0
        judged, ranked = ((tmp_path / name).read_text().splitlines() for name in ("qrels", "trec"))
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(judged), set(names.values()))
        theirs = evaluator.evaluate(pytrec_eval.parse_run(ranked))
        stored = Lake(home / "lake").read("scores", run_id=run_id, protocol=protocol).filter(k=5)
        ours = stored.filter(pl.col("metric").is_in(list(names))).select("item_id", "metric", "value").rows()
        assert {item for item, _, _ in ours} == set(theirs) == set(ASKED)
        for item, metric, value in ours:
            assert value == pytest.approx(theirs[item][names[metric]], abs=1e-12), (chunker, item, metric)
