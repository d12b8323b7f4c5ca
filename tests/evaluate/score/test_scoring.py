import dataclasses
from collections.abc import Mapping, Sequence
from itertools import permutations

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evaluate.metrics import metrics, metrics_of
from evaluate.score.chance import FORMS
from evaluate.score.conformance import protocol_hash
from evaluate.score.coverage import OWN_TEXT, CutOff
from evaluate.score.metric_values import ScoringInputs
from evaluate.score.random_orders import N_ORDERS, draw
from lake.benchmarks import protocols
from lake.catalog.protocol import Primary, Protocol
from lake.tables import table
from tests.evaluate.score.one_run import SPAN, Span, alike, axis_of, expected_random, lines, score, spans_in
from tests.frames import frame

CHUNKING = protocols()["repoeval@chunking-v1"]


def scored(
    items: Mapping[str, str],
    hits: Mapping[str, list[Span]],
    gold: Mapping[str, list[Span]],
    pool: Mapping[str, list[Span]],
    rules: Protocol = CHUNKING,
) -> pl.DataFrame:
    """Scores of a run given as plain spans (path, first line, line after the last); items maps an item to its pool."""
    ranking = [(item, rank, *hit) for item, ranked in hits.items() for rank, hit in enumerate(ranked, start=1)]
    chunks = [(name, number, *chunk) for name, held in pool.items() for number, chunk in enumerate(held)]
    inputs = ScoringInputs(
        rules,
        items=frame(items.items(), "item_id", "pool_id").with_columns(
            target_path=pl.lit("a.py"), query_line_start=pl.lit(0), target_line=pl.lit(1)
        ),
        gold=frame([(item, *span) for item, spans in gold.items() for span in spans], "item_id", *SPAN),
        pool=frame(chunks, "pool_id", "chunk_no", *SPAN),
        axis=axis_of({}),
    )
    return score(inputs, hits=frame(ranking, "item_id", "rank", *SPAN)).collect()


def value(scores: pl.DataFrame, item: str, metric: str, k: int) -> tuple[float, float | None, float | None]:
    (row,) = scores.filter(item_id=item, metric=metric, k=k).to_dicts()
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
    ranking = [chunks[row] for row in order if row < len(chunks)][:depth]
    scores = scored({"x": "repo"}, {"x": ranking}, {"x": gold}, {"repo": chunks})
    relevant = [bool(lines(hit) & lines(*gold)) for hit in ranking]
    n_relevant = sum(bool(lines(chunk) & lines(*gold)) for chunk in chunks)
    similar = [alike(hit, gold) for hit in ranking]
    for k in (5, 10):
        hits = sum(relevant[:k])
        assert value(scores, "x", "precision", k)[0] == pytest.approx(hits / k, abs=1e-15)
        assert value(scores, "x", "recall", k)[0] == pytest.approx(hits / n_relevant if n_relevant else 0, abs=1e-15)
        assert value(scores, "x", "hit", k)[0] == float(hits > 0)
        assert value(scores, "x", "iou", k)[0] == pytest.approx(max(similar[:k], default=0), abs=1e-15)


@settings(max_examples=12)
@given(chunks=st.lists(spans, unique=True, max_size=14), depth=st.integers(0, 14), gold=st.lists(spans, max_size=4))
@example(chunks=[("a.py", 0, 2)], depth=1, gold=[("a.py", 0, 1)])
def test_relevance_by_iou_equals_that_of_sets_of_lines(chunks: list[Span], depth: int, gold: list[Span]) -> None:
    for percent in (30, 50, 70):
        rules = protocols()[f"repoeval@iou-{percent}-v1"]
        scores = scored({"x": "repo"}, {"x": chunks[:depth]}, {"x": gold}, {"repo": chunks}, rules)
        n, n_hits = (sum(alike(chunk, gold) * 100 >= percent for chunk in of) for of in (chunks, chunks[:depth][:10]))
        assert value(scores, "x", "recall", 10)[0] == pytest.approx(n_hits / n if n else 0, abs=1e-15)


BESIDE = {"reachable", "accuracy_reachable", "boundary_similarity", "non_gold_share"}
# Those beside others have a value of some items alone.
CLOSED_FORMS = FORMS.keys() - BESIDE
OWN_KS = {
    "mrr": (10,),
    "map": (0, 3),
    "r_precision": (0,),
    "found_rank": (0,),
    "correct": (0, 3),
    "best_similarity": (0, 3),
}
# Small budgets, so that small files spend them; every metric with an expectation of its own.
SMALL = dataclasses.replace(
    CHUNKING,
    metrics=(
        *((name, OWN_KS.get(name, (1, 3))) for name in sorted(CLOSED_FORMS)),
        ("dcg_iou", (1, 3)),
        ("self_share", (1, 3)),
        ("err", (1, 3)),
        ("ndcg_graded", (1, 3)),
        *((name, (4, 9)) for name in metrics() if name.startswith("lines_")),
        *((name, (7, 20)) for name in ("line_coverage", "line_precision", "line_f1")),
    ),
    primary=Primary("line_f1", 20, "line", "macro"),
)

Frames = dict[str, pl.LazyFrame]

N_LINES = 20
AXIS = axis_of({"a.py": [line % 4 for line in range(N_LINES)], "b.py": [1] * N_LINES})


def frames(items: Sequence[str], gold: Sequence[Span], chunks: Sequence[Span]) -> Frames:
    own = dict(zip(OWN_TEXT, (pl.lit("a.py"), pl.lit(2), pl.lit(9)), strict=True))
    return {
        "items": pl.LazyFrame({"item_id": items}).with_columns(pool_id=pl.lit("repo"), **own),
        "gold": frame([(item, *span) for item in items for span in gold], "item_id", *SPAN),
        "pool": frame([("repo", number, *chunk) for number, chunk in enumerate(chunks)], "pool_id", "chunk_no", *SPAN),
    }


def means(scores: pl.DataFrame) -> dict[tuple[str, int], tuple[float | None, ...]]:
    grouped = scores.group_by("metric", "k").agg(pl.col("value", "numerator", "denominator").mean())
    return {(metric, k): tuple(numbers) for metric, k, *numbers in grouped.iter_rows()}


def expected(gold: Sequence[Span], chunks: Sequence[Span]) -> dict[tuple[str, int], tuple[float | None, ...]]:
    scores = expected_random(ScoringInputs(SMALL, **frames(["x"], gold, chunks), axis=AXIS))
    table("scores").checked(scores)
    return means(scores)


chunk_spans = spans_in("a.py", "b.py")


@settings(max_examples=12)
@given(chunks=st.lists(chunk_spans, unique=True, max_size=5), gold=st.lists(chunk_spans, max_size=2))
def test_closed_forms_are_the_mean_of_every_order(chunks: list[Span], gold: list[Span]) -> None:
    orders = {f"order {number}": order for number, order in enumerate(permutations(chunks))}
    hits = [(name, rank, *chunk) for name, order in orders.items() for rank, chunk in enumerate(order, start=1)]
    inputs = ScoringInputs(SMALL, **frames(list(orders), gold, chunks), axis=AXIS)
    scores = score(inputs, hits=frame(hits, "item_id", "rank", *SPAN)).collect()
    theirs, ours = means(scores), expected(gold, chunks)
    assert ours.keys() == theirs.keys()
    for (metric, k), numbers in theirs.items():
        if metric in CLOSED_FORMS:
            assert ours[metric, k] == pytest.approx(numbers, abs=1e-12), (metric, k)


@settings(max_examples=12)
@given(chunks=st.lists(chunk_spans, unique=True, min_size=1, max_size=12), gold=st.lists(chunk_spans, max_size=3))
def test_the_other_metrics_are_the_mean_of_the_drawn_orders(chunks: list[Span], gold: list[Span]) -> None:
    items = [f"order {number}" for number in range(N_ORDERS)]
    inputs = frames(items, gold, chunks)
    # Budget 0 is no limit: whole orders, of which the expectation sees the heads alone.
    whole = draw(inputs["pool"], AXIS, [("budget", 0)])
    assert whole.height == N_ORDERS * len(chunks)
    hits = whole.lazy().with_columns(item_id=pl.format("order {}", "order"))
    theirs = means(score(ScoringInputs(SMALL, **inputs, axis=AXIS), hits=hits).collect())
    ours = expected(gold, chunks)
    for (metric, k), numbers in theirs.items():
        if metric not in CLOSED_FORMS:
            assert ours[metric, k] == pytest.approx(numbers, abs=1e-12), (metric, k)


def test_the_orders_of_a_pool_do_not_depend_on_other_pools() -> None:
    rows = [(pool, f"{n}.py", 0, 0, n_lines) for pool, n_lines in (("a", 9), ("b", 1), ("c", 4)) for n in range(99)]
    names = dict.fromkeys(("chunk_no", "line_start", "line_end"), pl.Int64())
    pools = frame(rows, "pool_id", "path", **names)
    budget: list[CutOff] = [("lines", 20)]
    alone = [draw(pools.filter(pool_id=pool), None, budget) for pool in ("a", "b", "c")]
    assert draw(pools, None, budget).equals(pl.concat(alone))
    assert [heads.height for heads in alone] == [N_ORDERS * n for n in (3, 21, 6)]


def test_no_order_returns_a_judged_document_that_the_pool_lacks() -> None:
    documents = [(name, 0, 1) for name in ("a", "b", "c", "d")]
    grades = [("a", 2), ("b", 1), ("gone", 3)]
    orders = {f"order {number}": order for number, order in enumerate(permutations(documents))}
    rules = protocols()["beir@graded-v1"]
    more = (("map", (0, 3)), ("r_precision", (0,)), ("f1", (3,)), ("rbp", (0,)))
    rules = dataclasses.replace(rules, metrics=(*rules.metrics, *more))

    def inputs(items: Sequence[str]) -> ScoringInputs:
        gold = frame([(item, name, 0, 1, grade) for item in items for name, grade in grades], "item_id", *SPAN, "grade")
        of_pool = frames(items, [], documents)
        return ScoringInputs(rules, of_pool["items"], gold, of_pool["pool"])

    hits = [(name, rank, *document) for name, order in orders.items() for rank, document in enumerate(order, start=1)]
    theirs = means(score(inputs(list(orders)), hits=frame(hits, "item_id", "rank", *SPAN)).collect())
    ours = means(expected_random(inputs(["x"])))
    assert ours["recall", 10][0] == pytest.approx(2 / 3)
    assert ours == {key: pytest.approx(numbers, abs=1e-12) for key, numbers in theirs.items()}


def test_equal_pools_have_equal_orders() -> None:
    chunks = [("a.py", line, line + 3) for line in range(10)]
    pool = frames(["x"], [], chunks)["pool"]
    shuffled = pool.collect().sample(fraction=1, shuffle=True).lazy()
    another = pl.concat([pool.with_columns(pool_id=pl.lit("another")), shuffled])
    first = draw(pool, None, [("results", 4)])
    assert first.height == N_ORDERS * 4
    assert draw(another, None, [("results", 4)]).filter(pool_id="repo").equals(first)


def test_a_random_order_has_no_score_by_what_is_of_files() -> None:
    of_files = [(name, metric.ks) for name, metric in metrics().items() if metric.shape == "filed"]
    rules = dataclasses.replace(SMALL, metrics=(*of_files, ("recall", (3,))))
    inputs = ScoringInputs(rules, **frames(["x"], [("a.py", 0, 3)], [("a.py", 0, 3)]), axis=AXIS)
    assert set(expected_random(inputs)["metric"]) == {"recall"}
    assert len(of_files) > 1


def test_items_without_a_pool_score_zero_and_have_no_rank() -> None:
    numbers = {metric: values[0] for (metric, _), values in expected([("a.py", 0, 3)], []).items()}
    assert numbers.pop("found_rank") is None
    assert set(numbers.values()) == {0}
