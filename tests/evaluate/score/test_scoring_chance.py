import dataclasses
from collections.abc import Sequence
from itertools import permutations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluate.metrics import metrics
from evaluate.score.chance import FORMS, expected_random
from evaluate.score.coverage import OWN_TEXT
from evaluate.score.metric_inputs import ScoringInputs
from evaluate.score.random_orders import N_ORDERS, draw
from lake.catalog.protocol import Primary
from lake.catalog.protocols import protocols
from lake.tables import table
from tests.evaluate.score.one_run import SPAN, Span, axis_of, score, spans_in
from tests.frames import frame

CHUNKING = protocols()["repoeval@chunking-v1"]
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
    scores = expected_random(ScoringInputs(SMALL, **frames(["x"], gold, chunks), axis=AXIS), "random").collect()
    table("scores").checked(scores)
    return means(scores)


spans = spans_in("a.py", "b.py")


@settings(max_examples=12)
@given(chunks=st.lists(spans, unique=True, max_size=5), gold=st.lists(spans, max_size=2))
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
@given(chunks=st.lists(spans, unique=True, min_size=1, max_size=12), gold=st.lists(spans, max_size=3))
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


def test_equal_pools_have_equal_orders() -> None:
    chunks = [("a.py", line, line + 3) for line in range(10)]
    pool = frames(["x"], [], chunks)["pool"]
    another = pl.concat(
        [pool.with_columns(pool_id=pl.lit("another")), pool.collect().sample(fraction=1, shuffle=True).lazy()]
    )
    first = draw(pool, None, [("results", 4)])
    assert first.height == N_ORDERS * 4
    assert draw(another, None, [("results", 4)]).filter(pool_id="repo").equals(first)


def test_a_random_order_has_no_score_by_what_is_of_files() -> None:
    of_files = [(name, metric.ks) for name, metric in metrics().items() if metric.shape == "filed"]
    rules = dataclasses.replace(SMALL, metrics=(*of_files, ("recall", (3,))))
    inputs = ScoringInputs(rules, **frames(["x"], [("a.py", 0, 3)], [("a.py", 0, 3)]), axis=AXIS)
    assert set(expected_random(inputs, "random").collect()["metric"]) == {"recall"}
    assert len(of_files) > 1


def test_items_without_a_pool_score_zero_and_have_no_rank() -> None:
    numbers = {metric: values[0] for (metric, _), values in expected([("a.py", 0, 3)], []).items()}
    assert numbers.pop("found_rank") is None
    assert set(numbers.values()) == {0}
