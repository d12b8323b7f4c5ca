"""What metrics are worked out from: rankings and, of their items, gold, pools and what denominators read of those."""

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from lake.catalog.protocol import Protocol
from lake.offsets import LineOffsets
from lake.pools import POOL
from lake.relevance import RELEVANCE, JudgementInputs, Rule, disjoint


@dataclass(frozen=True)
class ScoringInputs:
    """What rankings of some items are scored by.

    Attributes:
        items: Rows of `items`, with the pools of the task. Every item must have a score.
        gold: item_id, path, line_start, line_end, of the protocol's gold rule.
        pool: The columns of POOL: the chunks each pool holds under the run's chunker. None where nobody knows how the
            searched files were cut: what counts the relevant chunks of the pool has no value then.
        axis: The lines of the pools' files, for protocols that measure sets of lines.
        relevance: The rows of table `relevance` of the pools' chunks, for protocols that judge by similarity.
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
        """The pools' chunks, as far as they are known."""
        return pl.LazyFrame(schema=POOL) if self.pool is None else self.pool

    @property
    def applying(self) -> list[str]:
        """The item columns by which the protocol says what applies."""
        return list(dict.fromkeys(column for _, _, column, _ in self.protocol.applies))

    @cached_property
    def evidence(self) -> JudgementInputs:
        """What relevance is judged by."""
        return JudgementInputs(
            self.items, self.rule.gold_of(self.gold), self.chunks, self.relevance, self.protocol.threshold
        )

    @cached_property
    def lines(self) -> pl.LazyFrame:
        """The gold lines, each once: see :func:`lake.relevance.disjoint`."""
        return disjoint(self.gold)

    @property
    def files(self) -> LineOffsets:
        """The axis, which protocols that measure sets of lines are given."""
        assert self.axis is not None, "sets of lines are measured on the lines of the pools' files"
        return self.axis

    @cached_property
    def judged(self) -> pl.LazyFrame:
        """What denominators read of an item, from its whole pool, in the items' order.

        These are item_id, what `applies` names, n_relevant, gains and, where gold is lines, shares, best first; best is
        the best similarity of any chunk, boundary that of the gold candidate's own, n_elsewhere the relevant of others.
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
        # Worked out once: several plans read it.
        return judged.collect().lazy()


@dataclass(frozen=True)
class Lists:
    """The ranked lists of some runs, or of one, over the items that are scored.

    `cases`, a row for every list that must have a score, have the key, the item's columns and the completion (null for
    no answer); `key` tells one list from another: item_id, of several runs with run_id.
    """

    inputs: ScoringInputs
    hits: pl.LazyFrame
    cases: pl.LazyFrame
    key: tuple[str, ...]

    @property
    def lengths(self) -> pl.LazyFrame:
        """How long each list is, and how long it could be: the key, n_returned, n_in_pool (null if not known)."""
        returned = self.hits.group_by(self.key).agg(n_returned=pl.len().cast(pl.Int64))
        sizes = self.inputs.chunks.group_by("pool_id").agg(n_in_pool=pl.len().cast(pl.Int64))
        return (
            self.cases.select(*self.key, "pool_id")
            .join(returned, on=self.key, how="left", maintain_order="left")
            .join(sizes, on="pool_id", how="left", maintain_order="left")
            .select(*self.key, pl.col("n_returned").fill_null(0), "n_in_pool")
        )

    def gold_files(self) -> tuple[pl.LazyFrame, pl.LazyFrame]:
        """The gold files that lists name, each at its place among their different files; and how many each item has."""
        gold = self.inputs.evidence.gold.select("item_id", "path").unique()
        order = pl.col("rank").rank("ordinal").over(self.key).cast(pl.Int64)
        files = self.hits.group_by(*self.key, "path").agg(pl.col("rank").min()).with_columns(rank=order)
        n_files = gold.group_by("item_id").agg(n_relevant=pl.len().cast(pl.Int64))
        known = self.cases.select(*self.key).join(n_files, on="item_id", how="left", maintain_order="left")
        relevant = files.join(gold, on=["item_id", "path"], how="semi")
        return relevant, known.with_columns(pl.col("n_relevant").fill_null(0))

    def judged_hits(self) -> tuple[pl.LazyFrame, pl.LazyFrame]:
        """All hits, and whether each is of a file that the item's pool holds; and the cases."""
        of_pool = self.inputs.chunks.select("pool_id", "path", is_judged=pl.lit(value=True)).unique()
        placed = self.hits.join(self.inputs.items.select("item_id", "pool_id"), on="item_id")
        judged = placed.join(of_pool, on=["pool_id", "path"], how="left")
        return judged.with_columns(pl.col("is_judged").fill_null(value=False)), self.cases.select(*self.key)
