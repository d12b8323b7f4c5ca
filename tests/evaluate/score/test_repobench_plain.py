"""All mined rows: what the lake holds of them is what a plain reading of the rules gives, to the last bit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import pytest

from tests.evaluate.conftest import CHUNKERS, Mined
from tests.evaluate.score.repobench_plain import Chunk, Row, accuracies, by_score, jaccard, overlap, rechunked, scores

pytestmark = pytest.mark.slow

RETRIEVERS = ("bm25-okapi", "jaccard-regex", "edit-regex")


def official(row: Row, retriever: str) -> tuple[list[int], list[float]]:
    found = scores(retriever, row.last_lines, row.candidates)
    order = by_score(found)
    return order, [found[place] for place in order]


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


@pytest.mark.parametrize("retriever", RETRIEVERS)
def test_the_published_accuracies_are_those_of_a_plain_reading(mined: Mined, retriever: str) -> None:
    task, system = "repobench-r/official", f"whole-file+{retriever}"
    ranking = mined.ranking(task, system)
    stored = mined.scored(task, system, "repobench-r@official-v1")
    assert stored.keys() == mined.rows.keys()
    by_slice: dict[tuple[str, int], list[float]] = defaultdict(list)
    for item_id, row in mined.rows.items():
        order, found = official(row, retriever)
        assert [chunk for chunk, _ in ranking[item_id]] == [(f"cand:{place}", 0) for place in order]
        theirs = [score for _, score in ranking[item_id]]
        # The sums of BM25 are added up in another order; every other score is one division.
        assert theirs == (pytest.approx(found, rel=0, abs=1e-9) if retriever == "bm25-okapi" else found)
        plain = accuracies(row, order)
        for k in (1, 3, 5):
            assert stored[item_id]["accuracy", k] == plain.get(k)
        for k, value in plain.items():
            by_slice[item_id.rpartition("/")[0], k].append(value)
    folders = {"benchmark": "repobench-r", "run_id": mined.runs[task, system], "protocol": "repobench-r@official-v1"}
    aggregates = mined.lake.read("aggregates").filter(**folders).filter(slice="subset/split/level", metric="accuracy")
    shown = {
        (value, k): macro for value, k, macro in aggregates.select("slice_value", "k", "macro").drop_nulls().iter_rows()
    }
    assert shown == {key: mean(values) for key, values in by_slice.items()}


@pytest.mark.parametrize("chunker", CHUNKERS)
def test_every_stored_likeness_is_that_of_a_plain_reading(mined: Mined, chunker: str) -> None:
    stored: dict[str, dict[Chunk, tuple[float, float]]] = defaultdict(dict)
    columns = ("item_id", "path", "chunk_no", "jaccard", "identifier_overlap")
    for item_id, path, number, *both in mined.lake.read("relevance", chunker=chunker).select(columns).iter_rows():
        stored[item_id][path, number] = (both[0], both[1])
    pools = mined.pools(chunker)
    assert stored.keys() == pools.keys() == mined.rows.keys()
    for item_id, row in mined.rows.items():
        gold = row.candidates[row.gold]
        assert stored[item_id] == {
            chunk: (jaccard(text, gold), overlap(text, gold)) for chunk, text in pools[item_id].items()
        }


@pytest.mark.parametrize("chunker", CHUNKERS)
@pytest.mark.parametrize("retriever", ["bm25-okapi", "jaccard-regex"])
def test_the_rechunked_scores_are_those_of_a_plain_reading(mined: Mined, chunker: str, retriever: str) -> None:
    task, system = "repobench-r/chunks", f"{chunker}+{retriever}"
    ranking, pools = mined.ranking(task, system), mined.pools(chunker)
    chunking = mined.scored(task, system, "repobench-r@chunking-v1")
    identifier = mined.scored(task, system, "repobench-r@identifier-v1")
    for place, (item_id, row) in enumerate(mined.rows.items()):
        pool, gold = pools[item_id], row.candidates[row.gold]
        listed = [chunk for chunk, _ in ranking[item_id]]
        theirs = [score for _, score in ranking[item_id]]
        if retriever == "jaccard-regex" or place % 20 == 0:  # rank_bm25 takes its time for queries of so many words
            query = f"{row.imports}\n\n{row.code}"
            found = dict(zip(pool, scores(retriever, query, list(pool.values())), strict=True))
            assert theirs == pytest.approx([found[chunk] for chunk in listed], rel=1e-12, abs=1e-9)
        # From best to worst and all of them; which of two equal ones comes first, the item's hash has decided.
        assert theirs == sorted(theirs, reverse=True)
        assert sorted(listed) == sorted(pool)
        by_tokens = {chunk: jaccard(text, gold) for chunk, text in pool.items()}
        by_names = {chunk: overlap(text, gold) for chunk, text in pool.items()}
        assert chunking[item_id] == rechunked(by_tokens, listed, row.gold, has_boundary=True)
        assert identifier[item_id] == rechunked(by_names, listed, row.gold, has_boundary=False)
