"""Candidates, gold and queries of nothing but white space, from raw rows to numbers, held against plain Python."""

from __future__ import annotations

import gzip
import pickle
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from lake.store import Lake
from tests.evaluate.score.repobench_plain import Chunk, Number, Row, accuracies, by_score, rows_of, scores
from tests.tiny import command

RETRIEVERS = ("bm25-okapi", "jaccard-regex", "edit-regex")
OFFICIAL, CHUNKS = "repobench-r/official", "repobench-r/chunks"
PUBLISHED, CHUNKING = "repobench-r@official-v1", "repobench-r@chunking-v1"

Raw = dict[str, object]


@dataclass(frozen=True)
class Evaluated:
    """Some rows, as they lie there and as a lake holds them."""

    rows: Mapping[str, Row]
    lake: Lake

    @cached_property
    def runs(self) -> dict[tuple[str, str], str]:
        """Task and system → run."""
        found = self.lake.read("runs").select("task", "system", "run_id").rows()
        return {(task, system): run_id for task, system, run_id in found}

    def ranking(self, task: str, system: str) -> dict[str, list[tuple[Chunk, float]]]:
        """What each item was answered, in order, with scores."""
        hits = self.lake.scan("hits", benchmark="repobench-r", run_id=self.runs[task, system])
        ordered = hits.filter(part="ranking").sort("item_id", "rank")
        found: dict[str, list[tuple[Chunk, float]]] = defaultdict(list)
        for item_id, rank, path, number, score in (
            ordered.select("item_id", "rank", "path", "chunk_no", "score").collect().iter_rows()
        ):
            found[item_id].append(((path, number), score))
            assert len(found[item_id]) == rank
        return found

    def scored(self, task: str, system: str, protocol: str) -> dict[str, dict[tuple[str, int], Number]]:
        """Every stored value of a run under a protocol."""
        folders = {"benchmark": "repobench-r", "run_id": self.runs[task, system], "protocol": protocol}
        found: dict[str, dict[tuple[str, int], Number]] = defaultdict(dict)
        stored = self.lake.read("scores", **folders).select("item_id", "metric", "k", "value")
        for item_id, metric, k, value in stored.iter_rows():
            found[item_id][metric, k] = value
        return found


def row(context: Sequence[str], gold: int, code: str = "x = 1\ntotal = helper(alpha)\n") -> Raw:
    texts = {
        "repo_name": "somebody/something",
        "file_path": "main.py",
        "next_line": "y",
        "import_statement": "import z",
    }
    return {**texts, "context": list(context), "code": code, "gold_snippet_index": gold}


FOUR = (
    row(["def helper(alpha): ...", "other", "b", "c", "d"], 0),
    # The gold is blank, and everything else shares as little with the query.
    row(["one", "two", " \n", "three", "four"], 2),
    # Nothing is shared: the first candidate, a blank one, comes first.
    row(["", "gold", "two", "three", "four"], 1),
    row(["\n\n", "def helper(alpha): ...", "b", "c", "d"], 1, code="\n\n"),
)
"""Right at the first row alone."""


def evaluated(folder: Path, easy: Sequence[Raw], hard: Sequence[Raw] = ()) -> Evaluated:
    (folder / "raw/data").mkdir(parents=True)
    rows = pickle.dumps({"test": {"easy": list(easy), "hard": list(hard)}})
    (folder / "raw/data/python_cff.gz").write_bytes(gzip.compress(rows))
    lake = folder / "lake"
    asked = ("--source", folder / "raw", "--chunkers", "whole-file,fixed-nws-12")
    said = command("ingest", "repobench-r", *asked, "--lake", lake)
    assert said.code == 0, said.err
    said = command("evaluate", "--lake", lake)
    assert said.code == 0, said.err
    n_blank = sum(not str(one["context"][int(str(one["gold_snippet_index"]))]).strip() for one in (*easy, *hard))  # type: ignore[index] # a list
    assert (f"not asked by {CHUNKS}, as their gold is white space alone: {n_blank:,} item" in said.err) == bool(n_blank)
    return Evaluated({one.item_id: one for one in rows_of(folder / "raw")}, Lake(lake))


def test_blank_candidates_and_blank_gold_count_as_published(tmp_path: Path) -> None:
    found = evaluated(tmp_path, FOUR)
    for retriever in RETRIEVERS:
        run_id = found.runs[OFFICIAL, f"whole-file+{retriever}"]
        head = found.lake.read("aggregates").filter(run_id=run_id, protocol=PUBLISHED)
        head = head.filter(slice="subset", metric="accuracy", k=1)
        assert head.select("macro", "n", "n_items").rows() == [(0.25, 4, 4)], retriever


def plain(row: Row, retriever: str) -> list[float]:
    given = (
        scores(retriever, row.last_lines, row.candidates)
        if any(map(str.split, row.candidates))
        else [0.0] * len(row.candidates)
    )
    is_asked = bool(row.last_lines.strip())
    return [score if is_asked and text.strip() else 0.0 for score, text in zip(given, row.candidates, strict=True)]


def test_rows_full_of_blanks_are_ranked_as_a_plain_reading_ranks_them(tmp_path: Path) -> None:
    chance = random.Random(7)
    words = ["alpha", "helper", "total", "def f(x):", "return total", "zebra = 3", "(", "beta"]

    def text() -> str:
        some = chance.choices(words, k=chance.randint(1, 5))
        return chance.choice(["", " ", "\n", "\t\n \n", *["\n".join(some)] * 5])

    def drawn(fewest: int) -> Raw:
        candidates = [text() for _ in range(fewest + chance.randint(0, 4))]
        code = f"alpha\n{text()}\n{chance.choice(['', ' ', 'total = alpha'])}"
        return row(candidates, chance.randrange(len(candidates)), chance.choice([code, code, "\n \n\n"]))

    found = evaluated(tmp_path, [drawn(5) for _ in range(60)], [drawn(10) for _ in range(40)])
    for retriever in RETRIEVERS:
        system = f"whole-file+{retriever}"
        ranking, stored = found.ranking(OFFICIAL, system), found.scored(OFFICIAL, system, PUBLISHED)
        assert ranking.keys() == stored.keys() == found.rows.keys()
        for item_id, one in found.rows.items():
            numbers = plain(one, retriever)
            order = by_score(numbers)
            assert [chunk for chunk, _ in ranking[item_id]] == [(f"cand:{place}", 0) for place in order]
            assert [score for _, score in ranking[item_id]] == pytest.approx([numbers[place] for place in order])
            assert {k: stored[item_id]["accuracy", k] for k in accuracies(one, order)} == accuracies(one, order)
    oracle, chances = (found.scored(OFFICIAL, f"whole-file+{name}", PUBLISHED) for name in ("oracle", "random"))
    for item_id, one in found.rows.items():
        assert oracle[item_id]["accuracy", 1] == 1.0
        assert chances[item_id]["accuracy", 1] == pytest.approx(1 / len(one.candidates))
        assert chances[item_id]["found_rank", 0] == pytest.approx((len(one.candidates) + 1) / 2)


def test_chunks_of_white_space_stay_out_of_every_other_pool(tmp_path: Path) -> None:
    found = evaluated(tmp_path, FOUR)
    stored = found.scored(CHUNKS, "whole-file+bm25-okapi", CHUNKING)
    assert sorted(stored) == [f"python_cff/test/easy/{n}" for n in (0, 2, 3)]
    ranking = found.ranking(CHUNKS, "whole-file+bm25-okapi")
    assert {path for item in ("2", "3") for (path, _), _ in ranking[f"python_cff/test/easy/{item}"]} == {
        f"cand:{place}" for place in range(1, 5)
    }
