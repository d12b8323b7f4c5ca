from collections.abc import Mapping

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate.metrics import metrics_of
from evaluate.score.conformance import protocol_hash
from evaluate.score.metric_inputs import ScoringInputs
from lake.catalog.protocols import protocols
from lake.tables import table
from tests.evaluate.score.one_run import SPAN, Span, axis_of, lines, score, spans_in
from tests.frames import frame

CHUNKING = protocols()["repoeval@chunking-v1"]


def scored(
    items: Mapping[str, str],
    hits: Mapping[str, list[Span]],
    gold: Mapping[str, list[Span]],
    pool: Mapping[str, list[Span]],
) -> pl.DataFrame:
    """Scores of a run given as plain spans (path, first line, line after the last); items maps an item to its pool."""
    ranking = [(item, rank, *hit) for item, found in hits.items() for rank, hit in enumerate(found, start=1)]
    chunks = [(name, number, *chunk) for name, held in pool.items() for number, chunk in enumerate(held)]
    inputs = ScoringInputs(
        CHUNKING,
        items=frame(items.items(), "item_id", "pool_id").with_columns(
            target_path=pl.lit("a.py"), query_line_start=pl.lit(0), target_line=pl.lit(1)
        ),
        gold=frame([(item, *place) for item, spans in gold.items() for place in spans], "item_id", *SPAN),
        pool=frame(chunks, "pool_id", "chunk_no", *SPAN),
        axis=axis_of({}),
    )
    return score(inputs, hits=frame(ranking, "item_id", "rank", *SPAN)).collect()


def value(scores: pl.DataFrame, item: str, metric: str, k: int) -> tuple[float, float | None, float | None]:
    row = scores.row(
        by_predicate=(pl.col("item_id") == item) & (pl.col("metric") == metric) & (pl.col("k") == k), named=True
    )
    return row["value"], row["numerator"], row["denominator"]


def test_three_items_by_hand() -> None:
    ten = [("a.py", start, start + 10) for start in range(0, 50, 10)]
    scores = scored(
        items={"x": "repo", "y": "repo", "z": "repo"},
        # x: gold 12..31 (half-open 12, 32) lies in the chunks 10-20, 20-30, 30-40; found are 40-50, 20-30, 10-20.
        hits={"x": [ten[4], ten[2], ten[1]], "y": [("b.py", 12, 32)]},
        gold={"x": [("a.py", 12, 32)], "y": [("a.py", 12, 32)], "z": [("a.py", 0, 1)]},
        pool={"repo": [*ten, ("b.py", 12, 32)]},
    )
    assert value(scores, "x", "precision", 5) == (2 / 5, 2, 5)
    assert value(scores, "x", "precision", 10) == (2 / 10, 2, 10)
    assert value(scores, "x", "recall", 5) == (2 / 3, 2, 3)
    assert value(scores, "x", "hit", 5) == (1, 1, 1)
    assert value(scores, "x", "mrr", 10) == (1 / 2, None, None)
    # Chunk 20-30 shares 10 lines, and gold has 20: 10 / 20. Chunk 10-20 shares 8 of 22.
    assert value(scores, "x", "iou", 5) == (10 / 20, None, None)
    # y's only hit has the right lines of another file.
    assert value(scores, "y", "recall", 5) == (0, 0, 3)
    assert value(scores, "y", "mrr", 10) == (0, None, None)
    # Nothing was returned for z, which has one relevant chunk.
    assert value(scores, "z", "recall", 5) == (0, 0, 1)
    assert value(scores, "z", "ndcg", 10) == (0, None, None)


def test_every_item_has_every_metric_and_fits_the_table() -> None:
    scores = scored({"x": "repo", "y": "nowhere"}, {}, {}, {})
    table("scores").checked(scores)
    assert scores.height == 2 * len(metrics_of(CHUNKING))
    # Only the rank of the first relevant result has no value where there is none.
    assert scores.filter(pl.col("metric") != "found_rank")["value"].unique().to_list() == [0]
    assert scores.filter(pl.col("metric") == "found_rank")["value"].unique().to_list() == [None]
    assert scores["protocol_hash"].unique().to_list() == [protocol_hash(CHUNKING)]
    assert scores.equals(scores.sort(table("scores").key))


spans = spans_in("a.py", "b.py", last_start=12, lengths=(0, 8))


@given(
    chunks=st.lists(spans, unique=True, max_size=14),
    order=st.permutations(range(14)),
    depth=st.integers(0, 14),
    gold=st.lists(spans, max_size=4),
)
def test_scores_are_those_of_sets_of_lines(chunks: list[Span], order: list[int], depth: int, gold: list[Span]) -> None:
    ranking = [chunks[place] for place in order if place < len(chunks)][:depth]
    scores = scored({"x": "repo"}, {"x": ranking}, {"x": gold}, {"repo": chunks})
    relevant = [bool(lines(hit) & lines(*gold)) for hit in ranking]
    n_relevant = sum(bool(lines(chunk) & lines(*gold)) for chunk in chunks)
    alike = [
        len(lines(hit) & lines(*gold))
        / len(lines(hit) | {place for place in lines(*gold) if place[0] == hit[0]} or {0})
        for hit in ranking
    ]
    for k in (5, 10):
        hits = sum(relevant[:k])
        assert value(scores, "x", "precision", k)[0] == pytest.approx(hits / k, abs=1e-15)
        assert value(scores, "x", "recall", k)[0] == pytest.approx(hits / n_relevant if n_relevant else 0, abs=1e-15)
        assert value(scores, "x", "hit", k)[0] == float(hits > 0)
        assert value(scores, "x", "iou", k)[0] == pytest.approx(max(alike[:k], default=0), abs=1e-15)
