"""What a ranking in random order scores: in closed form where there is one, else the mean of seeded orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from evaluate.judging import disjoint
from evaluate.lines import LineAxis
from evaluate.measuring import Requested, judged_items, label, lengthen
from evaluate.protocols import Protocol
from evaluate.random_orders import N_ORDERS, mean_of_orders
from evaluate.scoring import sealed

Floats = npt.NDArray[np.float64]
Expectation = Callable[["Draw", int], tuple[Floats, Floats]]
"""(draw, k) → expected numerator and the denominator, per item; the denominator never depends on the order."""


def expected_random(
    protocol: Protocol,
    *,
    run_id: str,
    items: pl.LazyFrame,
    gold: pl.LazyFrame,
    pool: pl.LazyFrame,
    axis: LineAxis | None = None,
) -> pl.LazyFrame:
    """The scores to expect of a uniformly random order of each item's pool: rows of table `scores`, sorted by its key.

    Args:
        protocol: The rules.
        run_id: The run these stand for.
        items: The scorable items, as for :func:`evaluate.scoring.score`.
        gold: item_id, path, line_start, line_end, of the protocol's gold rule.
        pool: pool_id, path, chunk_no, line_start, line_end: the chunks each pool holds.
        axis: The lines of the pools' files, for protocols that measure sets of lines.
    """
    spans = disjoint(gold)
    judged = judged_items(protocol, items, spans, pool)
    exact = [(metric, k) for metric, k in protocol.requested() if metric.name in CLOSED_FORMS]
    drawn = [(metric, k) for metric, k in protocol.requested() if metric.name not in CLOSED_FORMS]
    measured = []
    if exact:
        measured.append(lengthen(_closed(items, judged, pool, exact).lazy(), exact))
    if drawn:
        orders = mean_of_orders(protocol, drawn, items=items, spans=spans, judged=judged, pool=pool, axis=axis)
        measured.append(lengthen(orders, drawn))
    return sealed(pl.concat(measured), protocol, run_id)


def how_expected(metric: str) -> str:
    """How the number of the random order was found, for its label."""
    return "closed form" if metric in CLOSED_FORMS else f"mean of {N_ORDERS} seeded orders"


@dataclass(frozen=True)
class Draw:
    """Drawing an item's pool without replacement, in arrays over items.

    Attributes:
        n: Chunks in the pool.
        n_relevant: Relevant ones among them.
        gains: Per item and relevant chunk its IoU, best first, then zeros.
    """

    n: Floats
    n_relevant: Floats
    gains: Floats

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


def _ndcg(draw: Draw, k: int) -> tuple[Floats, Floats]:
    sums = np.concatenate(([0.0], np.cumsum(1 / np.log2(np.arange(2, k + 2)))))
    return draw.n_relevant * draw.share_of_discounts(k), sums[np.minimum(draw.n_relevant, k).astype(np.int64)]


def _iou(draw: Draw, k: int) -> tuple[Floats, Floats]:
    # The best is the j-th of all when it is drawn and none of the j − 1 before it is.
    across = Draw(draw.n[:, None], draw.n_relevant[:, None], draw.gains)
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
    return _iou(draw, k) if k else (draw.gains.max(axis=1, initial=0.0), np.ones_like(draw.n))


CLOSED_FORMS: Mapping[str, Expectation] = {
    "precision": _precision,
    "recall": _recall,
    "hit": _hit,
    "accuracy": _hit,
    "mrr": _mrr,
    "ndcg": _ndcg,
    "iou": _iou,
    "ndcg_iou": _ndcg_iou,
    "correct": _correct,
    "found_rank": _found_rank,
    "best_similarity": _best_similarity,
}
"""Metrics whose expectation needs no drawing (the hypergeometric distribution); the others are ratios of two drawn
numbers, unions, or capped."""


def _closed(items: pl.LazyFrame, judged: pl.LazyFrame, pool: pl.LazyFrame, requested: Requested) -> pl.DataFrame:
    sizes = pool.group_by("pool_id").agg(pl.len().cast(pl.Int64).alias("n"))
    known = (
        items.select("item_id", "pool_id")
        .join(sizes, on="pool_id", how="left", maintain_order="left")
        .join(judged, on="item_id", how="left", maintain_order="left")
        .with_columns(pl.col("n").fill_null(0))
        .collect()
    )
    n, n_relevant = (known[name].to_numpy().astype(np.float64) for name in ("n", "n_relevant"))
    width = int(n_relevant.max(initial=0))
    gains = np.zeros((known.height, width))
    gains[np.arange(width)[None, :] < n_relevant[:, None]] = known["gains"].explode().drop_nulls().to_numpy()
    draw = Draw(n, n_relevant, gains)
    columns: dict[str, Floats] = {}
    for metric, k in requested:
        name = label(metric, k)
        numerator, denominator = CLOSED_FORMS[metric.name](draw, k)
        columns |= {f"{name}/n": numerator, f"{name}/d": denominator, name: _over(numerator, denominator)}
    return known.select("item_id").with_columns(
        pl.Series(name, values).fill_nan(None) for name, values in columns.items()
    )


def _over(numerator: Floats, denominator: Floats) -> Floats:
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
