"""The values of metrics of ranked lists, from relevant hits, and what is read of the items' gold and pools."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

import numpy as np
import polars as pl

from evaluate.metrics import Metric, RatioAt, Requested
from evaluate.score.coverage import CutOff, line_sets
from lake.catalog.protocol import Protocol
from lake.offsets import LineOffsets
from lake.pools import POOL
from lake.relevance import RELEVANCE, JudgementInputs, Rule, disjoint

CASE = ("run_id", "item_id")
"""The columns that identify an answer, a run's ranked list."""
SCORE_COLUMNS = ("item_id", "granularity", "metric", "k", "value", "numerator", "denominator")
"""The columns of a score without its run and protocol."""
BY_HITS = ("ranked", "found", "pooled")
"""The shapes of metrics that read relevant hits and item columns."""
_OF_THE_POOL = frozenset({"n_relevant", "gains", "shares", "boundary"})
"""The item columns that metrics read and `ScoringInputs.judged` computes from the whole pool."""


@dataclass(frozen=True)
class ScoringInputs:
    """The inputs that rankings of some items are scored with.

    `gold` are the items' spans by the protocol's rule; `pool` the chunks of each pool under the run's chunker, None if
    nobody knows how the searched files were cut: metrics that read the pool have no value then. `axis` is for protocols
    that measure sets of lines, `relevance` for those that judge by similarity.
    """

    protocol: Protocol
    items: pl.LazyFrame
    gold: pl.LazyFrame
    pool: pl.LazyFrame | None
    axis: LineOffsets | None = None
    relevance: pl.LazyFrame | None = None

    @property
    def rule(self) -> Rule:
        """The protocol's relevance rule."""
        return RELEVANCE[self.protocol.relevance]

    @property
    def chunks(self) -> pl.LazyFrame:
        """The pools' chunks; empty if they are unknown."""
        return pl.LazyFrame(schema=POOL) if self.pool is None else self.pool

    @property
    def applying(self) -> list[str]:
        """The item columns that decide which of the protocol's cut-offs apply."""
        return list(dict.fromkeys(column for _, _, column, _ in self.protocol.applies))

    @property
    def evidence(self) -> JudgementInputs:
        """The inputs of the relevance rule."""
        gold = self.rule.gold_of(self.gold)
        return JudgementInputs(self.items, gold, self.chunks, self.relevance, self.protocol.threshold)

    @cached_property
    def judged(self) -> pl.LazyFrame:
        """What denominators need of an item's whole pool, in the items' order; `gains` and `shares` are descending."""
        iou, similarity = pl.col("iou"), pl.col("similarity")
        lists = {"gains": iou.drop_nulls()} | ({"shares": pl.col("share")} if self.rule.by_lines else {})
        pooled = (
            self.rule.pool(self.evidence)
            .group_by("item_id")
            .agg(
                **{name: values.sort(descending=True) for name, values in lists.items()},
                n_relevant=iou.count().cast(pl.Int64),
                n_elsewhere=iou.filter(~pl.col("is_gold")).count().cast(pl.Int64),
                best=similarity.max(),
                boundary=similarity.filter("is_gold").max(),
            )
        )
        judged = (
            self.items.select("item_id", *self.applying)
            .join(pooled, on="item_id", how="left", maintain_order="left")
            .with_columns(
                pl.col("n_relevant", "n_elsewhere").fill_null(0),
                pl.col(*lists).fill_null(pl.lit([], pl.List(pl.Float64))),
                pl.col("best").fill_null(0.0),
            )
        )
        # Collected once, as several plans use it.
        return judged.collect().lazy()

    def gold_files(self, hits: pl.LazyFrame, cases: pl.LazyFrame) -> tuple[pl.LazyFrame, pl.LazyFrame]:
        """The gold files in each list, ranked among its distinct files; and the number of gold files of its item."""
        gold = self.evidence.gold.select("item_id", "path").unique()
        order = pl.col("rank").rank("ordinal").over(CASE).cast(pl.Int64)
        files = hits.group_by(*CASE, "path").agg(pl.col("rank").min()).with_columns(rank=order)
        n_files = gold.group_by("item_id").agg(n_relevant=pl.len().cast(pl.Int64))
        known = cases.select(CASE).join(n_files, on="item_id", how="left", maintain_order="left")
        relevant = files.join(gold, on=["item_id", "path"], how="semi")
        return relevant, known.with_columns(pl.col("n_relevant").fill_null(0))

    def judged_hits(self, hits: pl.LazyFrame, cases: pl.LazyFrame) -> tuple[pl.LazyFrame, pl.LazyFrame]:
        """All hits, with whether each one's file is in the item's pool (`is_judged`); and the keys of the cases."""
        of_pool = self.chunks.select("pool_id", "path", is_judged=pl.lit(value=True)).unique()
        placed = hits.join(self.items.select("item_id", "pool_id"), on="item_id")
        judged = placed.join(of_pool, on=["pool_id", "path"], how="left")
        return judged.with_columns(pl.col("is_judged").fill_null(value=False)), cases.select(CASE)


def of_shape(requested: Requested, *shapes: str) -> Requested:
    """The requested metrics that have one of some shapes."""
    return [(metric, k) for metric, k in requested if metric.shape in shapes]


def measure(
    relevant: pl.LazyFrame, items: pl.LazyFrame, requested: Requested, *, key: Sequence[str] = ("item_id",)
) -> pl.LazyFrame:
    """Numerators, denominators and values of metrics, one row per item in the items' order.

    `relevant` has the key, `rank` (Int64, from 1; null for irrelevant results) and the other columns that metrics read;
    `items` the key and what denominators read. Per metric the columns are `<name>@<k>` (value), `<name>@<k>/n`, `…/d`.
    """
    depths = [k for _, k in requested]
    ranked, of_hits = of_shape(requested, "ranked", "filed"), of_shape(requested, "found", "listed")
    pooled = of_shape(requested, "pooled")
    # Where only relevant hits are read, a plain comparison can be pushed down to the file that holds the ranks.
    rank = pl.col("rank").fill_null(0) if of_hits else pl.col("rank")
    seen = relevant if 0 in depths else relevant.filter(rank <= max(depths, default=0))
    if any("n_relevant" in metric.at(k).numerator.meta.root_names() for metric, k in ranked):
        seen = seen.join(items.select(*key, "n_relevant"), on=key)
    counted = seen.group_by(key).agg(*_sides([*ranked, *of_hits], "n"), *_sides(of_hits, "d"))
    without = [f"{label(metric, k)}/n" for metric, k in [*ranked, *of_hits]]
    without += [f"{label(metric, k)}/d" for metric, k in of_hits]
    return (
        items.join(counted, on=key, how="left", maintain_order="left")
        .with_columns(pl.col(without).fill_null(0.0))
        .with_columns(*_sides(pooled, "n"), *_sides([*ranked, *pooled], "d"))
        .with_columns(_value(metric, k) for metric, k in requested)
    )


def measure_sets(sets: pl.LazyFrame, requested: Requested) -> pl.LazyFrame:
    """Numerators, denominators and values of metrics of sets, from the columns of `sets`, named as in `measure`."""
    return sets.with_columns(*_sides(requested, "n"), *_sides(requested, "d")).with_columns(
        _value(metric, k) for metric, k in requested
    )


def label(metric: Metric, k: int) -> str:
    """A metric with its cut-off, as a column name: `ndcg@10`."""
    return f"{metric.name}@{k}"


def lengthen(wide: pl.LazyFrame, requested: Requested, *, key: Sequence[str] = ("item_id",)) -> pl.LazyFrame:
    """One row per item, metric and cut-off, with the columns of a score; sums are null if a metric cannot be pooled."""
    # Concatenating a frame per metric is by far the fastest; the plan is collected first, as each would repeat it.
    values = wide.collect().lazy()
    return pl.concat(values.select(*key, *_score(metric, k)) for metric, k in requested)


def measure_runs(inputs: ScoringInputs, hits: pl.LazyFrame, cases: pl.LazyFrame, requested: Requested) -> pl.LazyFrame:
    """Metrics of lists by a protocol's rules: a row for each of `cases` (CASE, items, completion), metric and k."""
    protocol, measured = inputs.protocol, list[pl.LazyFrame]()
    covered, completed = (of_shape(requested, shape) for shape in ("covered", "completed"))
    if by_hits := of_shape(requested, *BY_HITS):
        known = cases.select(*CASE, *inputs.applying)
        if any(reads_pool(metric, k) for metric, k in by_hits):
            known = cases.select(CASE).join(inputs.judged, on="item_id", how="left", maintain_order="left")
        wide = measure(inputs.rule.hits(hits, inputs.evidence, CASE), known, by_hits, key=CASE)
        if protocol.full_lists:
            # A cut-off that a list does not reach although its pool does has the value 0.
            returned = hits.group_by(CASE).agg(n_returned=pl.len().cast(pl.Int64))
            sizes = inputs.chunks.group_by("pool_id").agg(n_in_pool=pl.len().cast(pl.Int64))
            of_lists = cases.select(*CASE, "pool_id").join(returned, on=CASE, how="left")
            of_lists = of_lists.join(sizes, on="pool_id", how="left")
            wide = wide.join(of_lists, on=CASE, how="left", maintain_order="left").with_columns(
                pl.when(pl.col("n_returned").fill_null(0) < pl.min_horizontal(pl.lit(k), "n_in_pool"))
                .then(0.0)
                .otherwise(pl.col(f"{label(metric, k)}{part}"))
                .alias(f"{label(metric, k)}{part}")
                for metric, k in by_hits
                if metric.shape == "ranked" and k
                for part in ("/n", "")
            )
        measured.append(lengthen(applied(wide, protocol, by_hits), by_hits, key=CASE))
    for shape, read in (("filed", inputs.gold_files), ("listed", inputs.judged_hits)):
        if listed := of_shape(requested, shape):
            measured.append(lengthen(measure(*read(hits, cases), listed, key=CASE), listed, key=CASE))
    if covered:
        assert inputs.axis is not None, "sets of lines are measured on the lines of the pools' files"
        cut_offs, gold = cut_offs_of(covered), disjoint(inputs.gold)
        sets = line_sets(hits=hits, items=cases, gold=gold, axis=inputs.axis, cut_offs=cut_offs, key=CASE)
        measured.append(lengthen(measure_sets(sets, covered), covered, key=CASE))
    if completed:
        measured.append(lengthen(measure_sets(completion_similarity(cases), completed), completed, key=CASE))
    return pl.concat(measured)


def applied(wide: pl.LazyFrame, protocol: Protocol, requested: Requested) -> pl.LazyFrame:
    """The measured columns, null where the protocol does not apply a cut-off to an item."""
    labels = {(metric.name, k): label(metric, k) for metric, k in requested}
    limits = [(labels[metric, k], pl.col(column) == value) for metric, k, column, value in protocol.applies]
    return wide.with_columns(
        pl.when(holds).then(pl.col(f"{name}{part}")).alias(f"{name}{part}")
        for name, holds in limits
        for part in ("/n", "/d", "")
    )


def cut_offs_of(requested: Requested) -> list[CutOff]:
    """The distinct cut-offs of some metrics."""
    return list(dict.fromkeys((metric.cut, k) for metric, k in requested))


def reads_pool(metric: Metric, k: int) -> bool:
    """Whether a metric compares a list with the whole pool, or measures the pool alone."""
    return metric.shape == "listed" or (metric.shape in BY_HITS and bool(_OF_THE_POOL & metric.at(k).reads))


def _sides(requested: Requested, side: Literal["n", "d"]) -> list[pl.Expr]:
    return [_side(metric.at, label(metric, k), k, side) for metric, k in requested]


# Cached like the expressions below: every part, chunker and protocol needs the same ones again.
@cache
def _side(at: RatioAt, name: str, k: int, side: str) -> pl.Expr:
    amount = at(k).numerator if side == "n" else at(k).denominator
    return amount.cast(pl.Float64).alias(f"{name}/{side}")


@cache
def _value(metric: Metric, k: int) -> pl.Expr:
    name = label(metric, k)
    numerator, denominator = pl.col(f"{name}/n"), pl.col(f"{name}/d")
    nothing = pl.lit(None, pl.Float64) if metric.is_undefined_null else pl.lit(0.0)
    # Polars divides by a constant by multiplying with its reciprocal, but only with several rows: 3 / 5 would be 0.6 or
    # 0.6000000000000001. Adding 0 * numerator makes the denominator a column.
    exact = numerator / (denominator + 0 * numerator)
    return pl.when(denominator == 0).then(nothing).otherwise(exact).alias(name)


@cache
def _score(metric: Metric, k: int) -> list[pl.Expr]:
    name = label(metric, k)
    is_pooled = metric.micro != "undefined"
    sums = [pl.col(f"{name}/{part}") if is_pooled else pl.lit(None, pl.Float64) for part in "nd"]
    what = (pl.lit(metric.granularity), pl.lit(metric.name), pl.lit(k, pl.Int64), pl.col(name), *sums)
    return [value.alias(column) for column, value in zip(SCORE_COLUMNS[1:], what, strict=True)]


_END = r"\n\r\x0b\x0c\x1c-\x1e\x85\u{2028}\u{2029}"
_SPACE = rf"{_END}\t\x1f \xa0\u{{1680}}\u{{2000}}-\u{{200a}}\u{{202f}}\u{{205f}}\u{{3000}}"
_LINE = rf"[^{_SPACE}](?:[^{_END}]*[^{_SPACE}])?"
"""A stripped line that is not blank; line ends and white space are those of Python's `splitlines` and `strip`."""


def completion_similarity(cases: pl.LazyFrame) -> pl.LazyFrame:
    """The similarity of each completion to its target, as columns is_exact and similarity (RepoCoder's compute_score).

    Stripped lines that are not blank are compared, as many as the target has.
    """
    # Imported when needed: rankings have no completions.
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    given, wanted = (pl.col(name).str.extract_all(_LINE) for name in ("completion", "target_text"))
    given, wanted = given.list.head(wanted.list.len()).list.join("\n"), wanted.list.join("\n")
    texts = cases.with_columns(given=given, wanted=wanted, is_exact=given == wanted).collect()
    pairs = texts.select(pl.col("given", "wanted").fill_null("")).iter_columns()
    similarity = pl.Series(cpdist(*pairs, scorer=Levenshtein.normalized_similarity, dtype=np.float64))
    known = pl.when(pl.col("is_exact").is_not_null())
    compared = texts.lazy().with_columns(similarity=known.then(similarity).otherwise(0.0))
    return compared.with_columns(pl.col("is_exact").fill_null(value=False)).drop("given", "wanted")
