"""The inputs of metrics: the gold and the pools of items, and what denominators need of these."""

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from lake.catalog.protocol import Protocol
from lake.offsets import LineOffsets
from lake.pools import POOL
from lake.relevance import RELEVANCE, JudgementInputs, Rule

CASE = ("run_id", "item_id")
"""The columns that identify an answer, a run's ranked list."""


@dataclass(frozen=True)
class ScoringInputs:
    """The inputs that rankings of some items are scored with.

    `items` are rows of `items` with the pools of the task, `gold` their spans by the protocol's rule. `pool` has the
    chunks of each pool under the run's chunker; None if nobody knows how the searched files were cut: metrics that read
    the pool have no value then. `axis` has the lines of the pools' files, for protocols that measure sets of lines;
    `relevance` rows of that table, for protocols that judge by similarity.
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
        """The columns that denominators need, from each item's whole pool, in the items' order.

        These are n_relevant, gains and (if gold is lines) shares, both descending; the best similarity of any chunk
        (best) and of the gold candidate's (boundary); n_elsewhere, relevant chunks of others.
        """
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
