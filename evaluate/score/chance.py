"""The scores of runs' items; for a random order the expected scores, in closed form or as the mean of seeded orders."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import dataframely as dy
import numpy as np
import polars as pl

from evaluate.metrics import Metric, metric_named, metrics_of
from evaluate.metrics.ranked import PERSISTENCE
from evaluate.score.conformance import sealed
from evaluate.score.metric_values import (
    SCORE_COLUMNS,
    ScoringInputs,
    applied,
    label,
    lengthen,
    measure_runs,
    reads_pool,
)
from evaluate.score.random_orders import mean_of_orders
from lake.exact import Floats
from lake.tables import LINES, RANKING
from lake.tables.evaluated import Scores

Amount = Callable[["_Draw", int], Floats]
Form = tuple[Amount, Amount]
"""The expected numerator and denominator per item: two functions of a draw and k."""


def _expected(inputs: ScoringInputs) -> pl.LazyFrame:
    """The expected scores of a uniformly random order of each item's pool; none of metrics of lists of files."""
    requested = [(metric, k) for metric, k in metrics_of(inputs.protocol) if metric.shape != "filed"]
    # Under graded judgements, a metric may have the computation of another one.
    by_computation = {metric_named(name).at: form for name, form in reversed(list(FORMS.items()))}
    forms = {(metric, k): by_computation[metric.at] for metric, k in requested if metric.at in by_computation}
    exact, drawn = list(forms), [pair for pair in requested if pair not in forms]
    measured: list[pl.LazyFrame] = [Scores.create_empty(lazy=True).select(SCORE_COLUMNS)]
    if exact:
        measured.append(lengthen(applied(_closed(inputs, forms).lazy(), inputs.protocol, exact), exact))
    if drawn:
        measured.append(lengthen(mean_of_orders(inputs, drawn), drawn))
    return pl.concat(measured)


@dataclass(frozen=True)
class _Draw:
    """A draw without replacement from each item's pool: arrays over items, and expected amounts for a cut-off k.

    `gains` are padded with zeros; `boundary` is NaN where the gold candidate has no chunks. `n_relevant` and `gains`
    are of the pool; `n_wanted` and `ideal_gains` are of all that is relevant: a judged document may be in no pool.
    """

    n: Floats
    n_relevant: Floats
    gains: Floats
    n_wanted: Floats
    ideal_gains: Floats
    n_elsewhere: Floats
    best: Floats
    boundary: Floats

    def drawn(self, k: int) -> Floats:
        """The number of chunks among the first k; all chunks if k is 0."""
        return np.minimum(self.n, k) if k else self.n

    def none_of(self, special: Floats, k: int) -> Floats:
        """The probability that none of `special` chunks is among the first k: C(n − special, k) / C(n, k)."""
        chance = np.ones(np.broadcast(self.n, special).shape)
        for drawn in range(k):
            left = self.n - drawn
            chance *= np.divide(np.maximum(left - special, 0), left, out=np.ones_like(chance), where=left > 0)
        return chance

    def share_of_discounts(self, k: int) -> Floats:
        """The sum of 1 / log2(rank + 1) over the first k ranks that the pool fills, divided by the pool's size."""
        return _over(_up_to(1 / np.log2(np.arange(2, k + 2)), self.drawn(k)), self.n)

    def one(self, k: int) -> Floats:
        return np.ones_like(self.n)

    def wanted(self, k: int) -> Floats:
        return self.n_wanted

    def hits(self, k: int) -> Floats:
        return _over(self.drawn(k) * self.n_relevant, self.n)

    def any_hit(self, k: int) -> Floats:
        return 1 - self.none_of(self.n_relevant, k) if k else self.is_any_relevant(k)

    def is_any_relevant(self, k: int) -> Floats:
        return (self.n_relevant > 0).astype(np.float64)

    def reciprocal_rank(self, k: int) -> Floats:
        none = [self.none_of(self.n_relevant, rank) for rank in range(k + 1)]
        mean: Floats = np.sum([(none[rank - 1] - none[rank]) / rank for rank in range(1, k + 1)], axis=0)
        return mean

    def precisions(self, k: int) -> Floats:
        # Each of the r - 1 results before a relevant one at rank r is relevant with probability `others`.
        n_ranks = self.drawn(k)
        harmonic = _up_to(1 / np.arange(1, n_ranks.max(initial=0) + 1), n_ranks)
        others = _over(self.n_relevant - 1, self.n - 1)
        return _over(self.n_relevant, self.n) * (harmonic + (n_ranks - harmonic) * others)

    def ideal(self, k: int) -> Floats:
        return _up_to(1 / np.log2(np.arange(2, k + 2)), np.minimum(self.n_wanted, k))

    def best_gain(self, k: int) -> Floats:
        # The j-th largest gain is the best one drawn if it is drawn and none of the j − 1 larger ones is.
        across = replace(self, n=self.n[:, None], n_relevant=self.n_relevant[:, None])
        places = np.arange(self.gains.shape[1], dtype=np.float64)[None, :]
        is_best = across.none_of(places, k) - across.none_of(places + 1, k)
        best: Floats = (self.gains * is_best).sum(axis=1)
        return best

    def ideal_of_gains(self, k: int) -> Floats:
        best = self.ideal_gains[:, :k]
        ideal: Floats = (best / np.log2(np.arange(2, best.shape[1] + 2))).sum(axis=1)
        return ideal


FORMS: Mapping[str, Form] = {
    "precision": (_Draw.hits, lambda draw, k: np.full_like(draw.n, k)),
    "recall": (_Draw.hits, _Draw.wanted),
    **dict.fromkeys(("accuracy", "correct", "hit", "success"), (_Draw.any_hit, _Draw.one)),
    "mrr": (_Draw.reciprocal_rank, _Draw.one),
    "ndcg": (lambda draw, k: draw.n_relevant * draw.share_of_discounts(k), _Draw.ideal),
    "iou": (_Draw.best_gain, _Draw.one),
    "ndcg_iou": (lambda draw, k: draw.gains.sum(axis=1) * draw.share_of_discounts(k), _Draw.ideal_of_gains),
    "f1": (lambda draw, k: 2 * draw.hits(k), lambda draw, k: draw.n_wanted + k),
    "map": (_Draw.precisions, _Draw.wanted),
    "r_precision": (lambda draw, k: _over(np.minimum(draw.n, draw.n_wanted) * draw.n_relevant, draw.n), _Draw.wanted),
    "rbp": (lambda draw, k: _over(draw.n_relevant, draw.n) * (1 - PERSISTENCE ** draw.drawn(k)), _Draw.one),
    "judged": (_Draw.drawn, _Draw.drawn),
    # Relevant chunks split the others into gaps of equal expected length. The metric has no cut-off.
    "found_rank": (lambda draw, k: (draw.n + 1) / (draw.n_relevant + 1), _Draw.is_any_relevant),
    # Within k only relevant chunks count: where gold is lines, no others resemble it.
    "best_similarity": (lambda draw, k: draw.best_gain(k) if k else draw.best, _Draw.one),
    "reachable": (_Draw.is_any_relevant, _Draw.one),
    "accuracy_reachable": (_Draw.any_hit, _Draw.is_any_relevant),
    "boundary_similarity": (lambda draw, k: draw.boundary, _Draw.one),
    # Each relevant chunk is equally likely to be drawn: if any is, the expected share is that of the whole pool,
    # however many are drawn.
    "non_gold_share": (lambda draw, k: _over(draw.drawn(k) * draw.n_elsewhere, draw.n), _Draw.hits),
}
"""Metric → expected numerator and denominator (hypergeometric distribution); their ratio is the expected value. Other
metrics need drawing: they are ratios of two random numbers, unions, or capped."""


def _closed(inputs: ScoringInputs, forms: Mapping[tuple[Metric, int], Form]) -> pl.DataFrame:
    sizes = inputs.chunks.group_by("pool_id").agg(n=pl.len().cast(pl.Int64))
    known = (
        inputs.items.select("item_id", "pool_id")
        .join(sizes, on="pool_id", how="left", maintain_order="left")
        .join(inputs.judged, on="item_id", how="left", maintain_order="left")
        .with_columns(pl.col("n").fill_null(0))
        .collect()
    )
    numbers = ("n", "n_elsewhere", "best", "boundary")
    floats = known.select(pl.col(*numbers).cast(pl.Float64).fill_null(np.nan))
    n, *others = (floats[name].to_numpy() for name in numbers)
    drawn = wanted = _matrix(known["gains"])
    if inputs.rule.is_graded:
        # The grades of the judged documents that each item's pool holds, best first.
        judged = inputs.rule.pool(inputs.evidence).join(inputs.items.select("item_id", "pool_id"), on="item_id")
        in_pool = judged.join(inputs.chunks, on=["pool_id", "path"], how="semi").group_by("item_id")
        grades = in_pool.agg(in_pool=pl.col("iou").drop_nulls().sort(descending=True)).collect()
        rows = known.select("item_id").join(grades, on="item_id", how="left", maintain_order="left")
        drawn = _matrix(rows.select(pl.col("in_pool").fill_null(pl.lit([], pl.List(pl.Float64)))).to_series())
    draw = _Draw(n, *drawn, *wanted, *others)
    columns: dict[str, Floats] = {}
    for (metric, k), form in forms.items():
        name = label(metric, k)
        numerator, denominator = (amount(draw, k) for amount in form)
        undefined = np.nan if metric.is_undefined_null else 0.0
        columns |= {f"{name}/n": numerator, f"{name}/d": denominator, name: _over(numerator, denominator, undefined)}
    return known.hstack(pl.DataFrame(columns).with_columns(pl.all().fill_nan(None)))


def _matrix(gains: pl.Series) -> tuple[Floats, Floats]:
    """The number of gains of each item, and a row of its gains, filled up with zeros."""
    n = gains.list.len().cast(pl.Float64).to_numpy()
    matrix = np.zeros((len(n), int(n.max(initial=0))))
    matrix[np.arange(matrix.shape[1])[None, :] < n[:, None]] = gains.explode().drop_nulls().to_numpy()
    return n, matrix


def _up_to(amounts: Floats, n: Floats) -> Floats:
    """The sum of the first `n` amounts."""
    sums: Floats = np.concatenate(([0.0], np.cumsum(amounts)))[n.astype(np.int64)]
    return sums


def _over(numerator: Floats, denominator: Floats, undefined: float = 0.0) -> Floats:
    return np.divide(numerator, denominator, out=np.full_like(numerator, undefined), where=denominator > 0)


def score_runs(
    inputs: ScoringInputs, *, hits: pl.LazyFrame, answers: pl.LazyFrame, chance: Sequence[str] = ()
) -> dy.DataFrame[Scores]:
    """Score the items of one part for all runs over one chunker's chunks: a row per answer, metric and cut-off.

    Metrics at a budget are measured on a run's part `lines`, if it has one (the oracle). The runs in `chance` stand for
    every order of the pool and have no answers.
    """
    scores = [_expected(inputs).with_columns(run_id=pl.lit(run_id)).collect() for run_id in chance]
    # Collected once, as several plans use it.
    cases = answers.join(inputs.items, on="item_id", maintain_order="left").collect()
    if not scores or not cases.is_empty():
        scores.append(_score_lists(inputs, hits, cases.lazy()))
    columns = ("run_id", *SCORE_COLUMNS)
    return sealed(pl.concat([of_runs.select(columns) for of_runs in scores]).lazy(), inputs.protocol).collect()


def _score_lists(inputs: ScoringInputs, hits: pl.LazyFrame, cases: pl.LazyFrame) -> pl.DataFrame:
    requested = metrics_of(inputs.protocol)
    scores = measure_runs(inputs, hits.filter(part=RANKING), cases, requested).collect()
    if inputs.pool is None and not inputs.rule.is_graded:
        # Metrics that compare a list with its pool have no value if the pool is unknown.
        known = ~pl.col("metric").is_in([metric.name for metric, k in requested if reads_pool(metric, k)])
        return scores.with_columns(pl.when(known).then(pl.col("value", "numerator", "denominator")))
    budgets = [(metric, k) for metric, k in requested if metric.cut != "results"]
    lines, at_budget = hits.filter(part=LINES), pl.col("metric").is_in([metric.name for metric, _ in budgets])
    bounding = lines.select("run_id").unique().collect()["run_id"] if budgets else pl.Series(dtype=pl.String)
    if bounding.is_empty():
        return scores
    has_lines = pl.col("run_id").is_in(bounding.implode())
    of_lines = measure_runs(inputs, lines, cases.filter(has_lines), budgets).collect()
    return pl.concat([scores.filter(~(has_lines & at_budget)), of_lines])
