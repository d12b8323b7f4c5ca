"""What a ranking in random order scores: in closed form where there is one, else the mean of seeded orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from evaluate.metrics import Metric, metric_named, metrics_of
from evaluate.metrics.standard import PERSISTENCE
from evaluate.score.contexts.closed import has_closed_form
from evaluate.score.metric_inputs import judged_items
from evaluate.score.metric_values import SCORE_COLUMNS, Requested, applied, label, lengthen
from evaluate.score.random_orders import N_ORDERS, mean_of_orders
from evaluate.score.scoring import sealed
from lake.catalog.protocol import Protocol
from lake.lines import LineAxis
from lake.relevance import RELEVANCE
from lake.tables import table

Floats = npt.NDArray[np.float64]
Expectation = Callable[["Draw", int], tuple[Floats, Floats]]
"""(draw, k) → expected numerator and expected denominator, per item; their ratio is the expected value."""


def expected_random(
    protocol: Protocol,
    *,
    run_id: str,
    items: pl.LazyFrame,
    gold: pl.LazyFrame,
    pool: pl.LazyFrame,
    axis: LineAxis | None = None,
    relevance: pl.LazyFrame | None = None,
) -> pl.LazyFrame:
    """The scores to expect of a uniformly random order of each item's pool: rows of table `scores`, sorted by its key.

    Metrics of lists of files have no row: what they expect is not worked out.

    Args:
        protocol: The rules.
        run_id: The run these stand for.
        items: The scorable items, as for :func:`evaluate.score.scoring.score`.
        gold: item_id, path, line_start, line_end, of the protocol's gold rule.
        pool: pool_id, path, chunk_no, line_start, line_end: the chunks each pool holds.
        axis: The lines of the pools' files, for protocols that measure sets of lines.
        relevance: As for :func:`evaluate.score.scoring.score`.
    """
    spans = RELEVANCE[protocol.relevance].gold_of(gold)
    judged = judged_items(protocol, items, spans, pool, relevance)
    exact = [(metric, k) for metric, k in metrics_of(protocol) if _form_of(metric)]
    drawn = [(one, k) for one, k in metrics_of(protocol) if not _form_of(one) and one.shape != "filed"]
    measured = [pl.LazyFrame(schema={name: table("scores").columns[name] for name in SCORE_COLUMNS})]
    if exact:
        closed = _closed(items, judged, pool, exact).lazy()
        measured.append(lengthen(applied(closed, protocol, exact), exact))
    if drawn:
        orders = mean_of_orders(
            protocol, drawn, items=items, spans=spans, judged=judged, pool=pool, axis=axis, relevance=relevance
        )
        measured.append(lengthen(orders, drawn))
    return sealed(pl.concat(measured), protocol, run_id)


def how_expected(metric: str, k: int = 0) -> str:
    """How the number of the random order was found, for its label."""
    is_closed = metric in _FORMS or has_closed_form(metric_named(metric), k)
    return "closed form" if is_closed else f"mean of {N_ORDERS} seeded orders"


@dataclass(frozen=True)
class Draw:
    """Drawing an item's pool without replacement, in arrays over items.

    Attributes:
        n: Chunks in the pool.
        n_relevant: Relevant ones among them.
        gains: Per item and relevant chunk its IoU, best first, then zeros.
        n_elsewhere: Relevant ones that are not from the gold candidate.
        best: The best similarity of any chunk.
        boundary: The best of the gold candidate's own chunks; NaN where it has none.
    """

    n: Floats
    n_relevant: Floats
    gains: Floats
    n_elsewhere: Floats
    best: Floats
    boundary: Floats

    def none_of(self, special: Floats, k: int) -> Floats:
        """The chance that none of so many special chunks is among the first k: C(n − special, k) / C(n, k)."""
        chance = np.ones(np.broadcast(self.n, special).shape)
        for drawn in range(k):
            left = self.n - drawn
            chance *= np.divide(np.maximum(left - special, 0), left, out=np.ones_like(chance), where=left > 0)
        return chance

    def share_of_discounts(self, k: int) -> Floats:
        """The sum of 1 / log2(rank + 1) over the first k ranks that the pool fills, divided by the pool's size."""
        sums = np.concatenate(([0.0], np.cumsum(1 / np.log2(np.arange(2, k + 2)))))
        return _over(sums[np.minimum(self.n, k).astype(np.int64)], self.n)


def _hits(draw: Draw, k: int) -> Floats:
    return _over(np.minimum(draw.n, k) * draw.n_relevant, draw.n)


def _precision(draw: Draw, k: int) -> tuple[Floats, Floats]:
    return _hits(draw, k), np.full_like(draw.n, k)


def _recall(draw: Draw, k: int) -> tuple[Floats, Floats]:
    return _hits(draw, k), draw.n_relevant


def _hit(draw: Draw, k: int) -> tuple[Floats, Floats]:
    return 1 - draw.none_of(draw.n_relevant, k), np.ones_like(draw.n)


def _mrr(draw: Draw, k: int) -> tuple[Floats, Floats]:
    none = [draw.none_of(draw.n_relevant, rank) for rank in range(k + 1)]
    return np.sum([(none[rank - 1] - none[rank]) / rank for rank in range(1, k + 1)], axis=0), np.ones_like(draw.n)


def _f1(draw: Draw, k: int) -> tuple[Floats, Floats]:
    return 2 * _hits(draw, k), draw.n_relevant + k


def _map(draw: Draw, k: int) -> tuple[Floats, Floats]:
    # A relevant result at rank r has there before it its share of the r - 1 others.
    n_ranks = np.minimum(draw.n, k) if k else draw.n
    harmonic = np.concatenate(([0.0], np.cumsum(1 / np.arange(1, n_ranks.max(initial=0) + 1))))[
        n_ranks.astype(np.int64)
    ]
    others = _over(draw.n_relevant - 1, draw.n - 1)
    return _over(draw.n_relevant, draw.n) * (harmonic + (n_ranks - harmonic) * others), draw.n_relevant


def _r_precision(draw: Draw, k: int) -> tuple[Floats, Floats]:
    del k
    return _over(draw.n_relevant**2, draw.n), draw.n_relevant


def _rbp(draw: Draw, k: int) -> tuple[Floats, Floats]:
    return _over(draw.n_relevant, draw.n) * (1 - PERSISTENCE ** np.minimum(draw.n, k)), np.ones_like(draw.n)


def _judged(draw: Draw, k: int) -> tuple[Floats, Floats]:
    return np.minimum(draw.n, k), np.minimum(draw.n, k)


def _ndcg(draw: Draw, k: int) -> tuple[Floats, Floats]:
    sums = np.concatenate(([0.0], np.cumsum(1 / np.log2(np.arange(2, k + 2)))))
    return draw.n_relevant * draw.share_of_discounts(k), sums[np.minimum(draw.n_relevant, k).astype(np.int64)]


def _iou(draw: Draw, k: int) -> tuple[Floats, Floats]:
    # The best is the j-th of all when it is drawn and none of the j − 1 before it is.
    across = replace(draw, n=draw.n[:, None], n_relevant=draw.n_relevant[:, None])
    places = np.arange(draw.gains.shape[1], dtype=np.float64)[None, :]
    is_best = across.none_of(places, k) - across.none_of(places + 1, k)
    return (draw.gains * is_best).sum(axis=1), np.ones_like(draw.n)


def _ndcg_iou(draw: Draw, k: int) -> tuple[Floats, Floats]:
    best = draw.gains[:, :k]
    ideal = (best / np.log2(np.arange(2, best.shape[1] + 2))).sum(axis=1)
    return draw.gains.sum(axis=1) * draw.share_of_discounts(k), ideal


def _correct(draw: Draw, k: int) -> tuple[Floats, Floats]:
    return _hit(draw, k) if k else ((draw.n_relevant > 0).astype(np.float64), np.ones_like(draw.n))


def _found_rank(draw: Draw, k: int) -> tuple[Floats, Floats]:
    # The relevant cut the others into gaps of equal expected length; none relevant is no value. It has no cut-off.
    return np.where(draw.n_relevant > k, (draw.n + 1) / (draw.n_relevant + 1), np.nan), np.ones_like(draw.n)


def _best_similarity(draw: Draw, k: int) -> tuple[Floats, Floats]:
    # Within k it is that of the relevant alone, which are all that is like gold where gold is lines.
    return _iou(draw, k) if k else (draw.best, np.ones_like(draw.n))


def _reachable(draw: Draw, k: int) -> tuple[Floats, Floats]:
    del k
    return (draw.n_relevant > 0).astype(np.float64), np.ones_like(draw.n)


def _accuracy_reachable(draw: Draw, k: int) -> tuple[Floats, Floats]:
    return _hit(draw, k)[0], _reachable(draw, k)[0]


def _boundary_similarity(draw: Draw, k: int) -> tuple[Floats, Floats]:
    del k
    return draw.boundary, np.ones_like(draw.n)


def _non_gold_share(draw: Draw, k: int) -> tuple[Floats, Floats]:
    # Whichever relevant chunks are drawn, each is as likely to be any of them: where there is a share, its expectation
    # is that of the whole pool, however many are drawn.
    return _over(np.minimum(draw.n, k) * draw.n_elsewhere, draw.n), _hits(draw, k)


CLOSED_FORMS: Mapping[str, Expectation] = {
    "precision": _precision,
    "recall": _recall,
    "hit": _hit,
    "accuracy": _hit,
    "mrr": _mrr,
    "ndcg": _ndcg,
    "iou": _iou,
    "ndcg_iou": _ndcg_iou,
    "success": _hit,
    "f1": _f1,
    "map": _map,
    "r_precision": _r_precision,
    "rbp": _rbp,
    "judged": _judged,
    "correct": _correct,
    "found_rank": _found_rank,
    "best_similarity": _best_similarity,
}
"""Metrics whose expectation needs no drawing (the hypergeometric distribution); the others are ratios of two drawn
numbers, unions, or capped."""

BESIDE: Mapping[str, Expectation] = {
    "reachable": _reachable,
    "accuracy_reachable": _accuracy_reachable,
    "boundary_similarity": _boundary_similarity,
    "non_gold_share": _non_gold_share,
}
"""Metrics that stand beside others and may have no value; their expectation needs no drawing either."""

_FORMS = {**CLOSED_FORMS, **BESIDE}


def _form_of(metric: Metric) -> Expectation | None:
    """The closed form of what a metric computes, which under judgements in grades is another's of that kind."""
    return next((form for name, form in _FORMS.items() if metric_named(name).at is metric.at), None)


def _closed(items: pl.LazyFrame, judged: pl.LazyFrame, pool: pl.LazyFrame, requested: Requested) -> pl.DataFrame:
    sizes = pool.group_by("pool_id").agg(pl.len().cast(pl.Int64).alias("n"))
    known = (
        items.select("item_id", "pool_id")
        .join(sizes, on="pool_id", how="left", maintain_order="left")
        .join(judged, on="item_id", how="left", maintain_order="left")
        .with_columns(pl.col("n").fill_null(0))
        .collect()
    )
    numbers = ("n", "n_relevant", "n_elsewhere", "best", "boundary")
    n, n_relevant, *others = (known[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in numbers)
    width = int(n_relevant.max(initial=0))
    gains = np.zeros((known.height, width))
    gains[np.arange(width)[None, :] < n_relevant[:, None]] = known["gains"].explode().drop_nulls().to_numpy()
    draw = Draw(n, n_relevant, gains, *others)
    columns: dict[str, Floats] = {}
    for metric, k, form in ((metric, k, form) for metric, k in requested if (form := _form_of(metric))):
        name = label(metric, k)
        numerator, denominator = form(draw, k)
        undefined = np.nan if metric.is_undefined_null else 0.0
        columns |= {f"{name}/n": numerator, f"{name}/d": denominator, name: _over(numerator, denominator, undefined)}
    return known.with_columns(pl.Series(name, values).fill_nan(None) for name, values in columns.items())


def _over(numerator: Floats, denominator: Floats, undefined: float = 0.0) -> Floats:
    return np.divide(numerator, denominator, out=np.full_like(numerator, undefined), where=denominator > 0)
