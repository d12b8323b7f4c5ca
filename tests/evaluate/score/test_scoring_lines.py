import math
from collections.abc import Mapping, Sequence

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate.metrics import metric_named
from evaluate.score.coverage import OWN_TEXT, CutOff, line_sets
from evaluate.score.metric_values import ScoringInputs, measure
from lake.benchmarks import protocols
from lake.relevance import disjoint
from tests.evaluate.score.one_run import SPAN, Span, alike, axis_of, lines, score, spans_in
from tests.frames import frame

CHUNKING = protocols()["repoeval@chunking-v1"]
BUDGETS = [7, 20, 0]
DEPTHS = [1, 3]
N_LINES = [4, 11]

Files = Mapping[str, Sequence[int]]


def one_item(own: Span | None) -> pl.LazyFrame:
    columns = dict(zip(OWN_TEXT, own or (None, None, None), strict=True))
    schema = {"item_id": pl.String, "pool_id": pl.String} | dict(zip(OWN_TEXT, SPAN.values(), strict=True))
    return pl.LazyFrame([{"item_id": "x", "pool_id": "repo", **columns}], schema)


def spans_of(spans: Sequence[Span]) -> pl.LazyFrame:
    return frame([("x", rank, *span) for rank, span in enumerate(spans, start=1)], "item_id", "rank", *SPAN)


def sizes(
    hits: Sequence[Span],
    gold: Sequence[Span],
    files: Files,
    own: Span | None = None,
    budgets: Sequence[int] = BUDGETS,
    depths: Sequence[int] = DEPTHS,
    n_lines: Sequence[int] = N_LINES,
) -> dict[str, int]:
    spans = disjoint(spans_of(gold))
    axis = axis_of(files)
    cut_offs: list[CutOff] = [
        *(("budget", k) for k in budgets),
        *(("lines", k) for k in n_lines),
        *(("results", k) for k in depths),
    ]
    counts = line_sets(hits=spans_of(hits), items=one_item(own), gold=spans, axis=axis, cut_offs=cut_offs).collect()
    assert counts["item_id"].to_list() == ["x"]
    return counts.drop("item_id").row(0, named=True)


def test_a_budget_is_walked_by_hand() -> None:
    # Lines 0..9 of a.py hold 0, 1, 2, … 9 characters.
    files = {"a.py": range(10)}
    # First 4 + 5, then only line 3 is new, then 6 + 7: spent are 9, 12, 18, 25.
    hits = [("a.py", 4, 6), ("a.py", 3, 6), ("a.py", 5, 8)]
    counts = sizes(hits, [("a.py", 5, 7)], files, budgets=[8, 9, 12, 17, 18, 24, 25])
    returned = {budget: counts[f"n_returned@{budget}"] for budget in (8, 9, 12, 17, 18, 24, 25)}
    assert returned == {8: 1, 9: 2, 12: 3, 17: 3, 18: 4, 24: 4, 25: 5}
    # Gold is lines 5 and 6.
    assert [counts[f"n_both@{budget}"] for budget in (8, 9, 17, 18)] == [0, 1, 1, 2]
    assert counts["n_gold"] == 2


spans = spans_in("a.py", "b.py", "gone.py", lengths=(0, 14))


contents = st.lists(st.integers(0, 6), max_size=12)


def walked(hits: Sequence[Span], files: Files, budget: float) -> set[tuple[str, int]]:
    """The definition: lines in order, each once, until one does not fit."""
    taken: dict[tuple[str, int], int] = {}
    for path, start, end in hits:
        for line in range(start, min(end, len(files.get(path, ())))):
            cost = 0 if (path, line) in taken else files[path][line]
            if sum(taken.values()) + cost > budget:
                return set(taken)
            taken.setdefault((path, line), cost)
    return set(taken)


@given(
    hits=st.lists(spans, max_size=6),
    gold=st.lists(spans, max_size=3),
    own=st.one_of(st.none(), spans),
    a=contents,
    b=contents,
)
def test_sizes_are_of_sets(hits: list[Span], gold: list[Span], own: Span | None, a: list[int], b: list[int]) -> None:
    files = {"a.py": a, "b.py": b}
    counts = sizes(hits, gold, files, own)
    all_gold = {(path, line) for path, line in lines(*gold) if path == "gone.py" or line < len(files[path])}
    expected = {"n_gold": len(all_gold)}
    cut_offs = {f"@{budget}": walked(hits, files, budget or math.inf) for budget in BUDGETS}
    # The first so many different lines, in their order.
    in_order = [(path, at) for path, start, end in hits for at in range(start, min(end, len(files.get(path, ()))))]
    cut_offs |= {f"@lines{n}": set(list(dict.fromkeys(in_order))[:n]) for n in N_LINES}
    cut_offs |= {f"@top{k}": walked(hits[:k], files, math.inf) for k in DEPTHS}
    for cut_off, returned in cut_offs.items():
        expected[f"n_returned{cut_off}"] = len(returned)
        expected[f"n_both{cut_off}"] = len(returned & all_gold)
        expected[f"n_own{cut_off}"] = len(returned & lines(own)) if own else 0
    assert counts == expected


def test_line_metrics_of_a_run_by_hand() -> None:
    # Ten characters a line: 8,000 pay for 800 lines, 2,000 for 200, 32,000 for all 1,000.
    files = {"a.py": [10] * 1_000}
    inputs = ScoringInputs(
        CHUNKING,
        items=one_item(("a.py", 0, 100)),
        gold=spans_of([("a.py", 100, 300)]).drop("rank"),
        pool=frame([("repo", 0, "a.py", 0, 1_000)], "pool_id", "chunk_no", *SPAN),
        axis=axis_of(files),
    )
    scores = score(inputs, hits=spans_of([("a.py", 0, 1_000)])).collect()

    def numbers(metric: str, k: int) -> tuple[float, float, float]:
        return scores.filter(metric=metric, k=k).select("value", "numerator", "denominator").row(0)

    assert numbers("line_coverage", 2_000) == (100 / 200, 100, 200)
    assert numbers("line_precision", 2_000) == (100 / 200, 100, 200)
    assert numbers("line_f1", 2_000) == (200 / 400, 200, 400)
    assert numbers("line_f1", 8_000) == (400 / 1_000, 400, 1_000)
    assert numbers("line_f1", 32_000) == (400 / 1_200, 400, 1_200)
    assert numbers("self_share", 5) == (100 / 1_000, 100, 1_000)
    assert scores.filter(metric="line_f1")["granularity"].unique().to_list() == ["line"]


def by_iou(hits: Sequence[Span], gold: Sequence[Span], pool: Sequence[Span], k: int) -> dict[str, float]:
    chunks = frame([("repo", number, *chunk) for number, chunk in enumerate(pool)], "pool_id", "chunk_no", *SPAN)
    requested = [(metric_named(name), k) for name in ("ndcg_iou", "dcg_iou", "iou")]
    judged = ScoringInputs(CHUNKING, one_item(None), spans_of(gold), chunks).judged
    gains = [("x", rank, alike(hit, gold)) for rank, hit in enumerate(hits, start=1)]
    schema = {"item_id": pl.String, "rank": pl.Int64, "iou": pl.Float64}
    relevant = pl.LazyFrame([row for row in gains if row[2] > 0], schema, orient="row")
    return measure(relevant, judged, requested).select(f"ndcg_iou@{k}", f"dcg_iou@{k}").collect().row(0, named=True)


@given(pool=st.lists(spans, unique=True, max_size=8), gold=st.lists(spans, max_size=2), k=st.sampled_from([1, 5]))
def test_gains_by_iou_are_discounted_and_normalised(pool: list[Span], gold: list[Span], k: int) -> None:
    def dcg(gains: Sequence[float]) -> float:
        return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:k], start=1))

    gains = [alike(chunk, gold) for chunk in pool]
    ideal = dcg(sorted(gains, reverse=True))
    scores = by_iou(pool, gold, pool, k)
    assert scores[f"ndcg_iou@{k}"] == pytest.approx(dcg(gains) / ideal if ideal else 0, abs=1e-12)
    assert scores[f"dcg_iou@{k}"] == pytest.approx(min(1, dcg(gains)), abs=1e-12)


def test_the_best_order_by_iou_scores_exactly_one() -> None:
    gold = [("a.py", 3, 20)]
    pool = [("a.py", start, start + 7) for start in range(0, 30, 3)]
    best = sorted(pool, key=lambda chunk: -alike(chunk, gold))
    assert by_iou(best, gold, pool, 5)["ndcg_iou@5"] == 1
