"""Relevance of chunks to an item, for the returned ones and for all in the pool, and how much gold each contains."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

CHUNK_KEY = ("item_id", "path", "chunk_no")
"""The columns that identify a chunk of an item's pool."""


@dataclass(frozen=True)
class JudgementInputs:
    """The inputs of relevance judgements for some items (item_id, pool_id).

    `gold` comes from :meth:`Rule.gold_of`, `pool` has :data:`lake.pools.POOL`, `relevance` CHUNK_KEY and similarities.
    """

    items: pl.LazyFrame
    gold: pl.LazyFrame
    pool: pl.LazyFrame
    relevance: pl.LazyFrame | None = None
    threshold: float | None = None


Judge = Callable[[pl.LazyFrame, JudgementInputs, Sequence[str]], pl.LazyFrame]
"""(spans, inputs, identity) → the judged spans, each with the columns `identity`, which identify it."""


@dataclass(frozen=True)
class Rule:
    """A rule of relevance: which chunks are relevant, and how similar each is to the gold.

    It adds columns to judged rows. `iou`: the similarity of a relevant chunk, else null. `similarity`: the same for
    every chunk; rows without any may be missing. `share`: the share of the item's gold lines in a relevant chunk, only
    if gold is lines. `is_gold`: whether the chunk is in the gold's own file or candidate.

    `is_graded`: gold is documents with grades, kept in `iou`. `similarity` is the column of table `relevance` that is
    compared with the protocol's threshold.
    """

    judge: Judge
    by_lines: bool = False
    is_graded: bool = False
    similarity: str = ""

    def gold_of(self, gold: pl.LazyFrame) -> pl.LazyFrame:
        """Gold in the rule's form: disjoint spans (:func:`disjoint`), or item_id and path, with `iou` if given."""
        if self.is_graded:
            grade = pl.col("grade").fill_null(1).max().cast(pl.Float64)
            return gold.group_by("item_id", "path").agg(iou=grade)
        if self.by_lines:
            return disjoint(gold)
        files = gold.select("item_id", "path").unique()
        return files if self.similarity else files.with_columns(iou=pl.lit(1.0))

    def hits(self, hits: pl.LazyFrame, inputs: JudgementInputs, key: Sequence[str]) -> pl.LazyFrame:
        """The judged hits of lists that `key` identifies: `place` is the rank, `rank` too but null if not relevant."""
        if self.is_graded:
            # A document returned in several pieces counts once, at its best rank.
            hits = hits.group_by(*key, "path").agg(pl.col("rank").min())
        judged = self.judge(hits, inputs, [*key, "rank"])
        return judged.with_columns(place="rank", rank=pl.when(pl.col("iou").is_not_null()).then("rank"))

    def pool(self, inputs: JudgementInputs) -> pl.LazyFrame:
        """The judged chunks of the items' pools, with the columns of CHUNK_KEY."""
        if self.similarity and inputs.relevance is not None:
            return self.judge(inputs.relevance, inputs, CHUNK_KEY)
        files = inputs.gold.select("item_id", "path").unique()
        if self.is_graded:
            return self.judge(files.with_columns(chunk_no=pl.lit(0, pl.Int64)), inputs, CHUNK_KEY)
        # Only chunks of files with gold can be relevant.
        pools = inputs.items.select("item_id", "pool_id").join(files, on="item_id")
        return self.judge(pools.join(inputs.pool, on=["pool_id", "path"]), inputs, CHUNK_KEY)


def disjoint(gold: pl.LazyFrame, key: Sequence[str] = ("item_id",)) -> pl.LazyFrame:
    """The gold of each item and file without overlaps, so that every gold line counts once.

    Output: key, path, gold_start, gold_end (sorted) and n_gold_in_file, the number of gold lines in the file.
    """
    group = [*key, "path"]
    covered_to = pl.col("line_end").cum_max().shift(1).over(group)
    return (
        gold.sort(*group, "line_start", "line_end")
        .select(*group, gold_start=pl.max_horizontal("line_start", covered_to), gold_end="line_end")
        .filter(pl.col("gold_start") < pl.col("gold_end"))
        .with_columns(n_gold_in_file=(pl.col("gold_end") - pl.col("gold_start")).sum().over(group))
    )


def _overlapping(spans: pl.LazyFrame, inputs: JudgementInputs, identity: Sequence[str]) -> pl.LazyFrame:
    """The overlap of spans with gold. Relevant = in a gold file, sharing at least one line with the item's gold.

    `share` is the shared lines divided by all of the item's gold lines. `iou` is the shared lines divided by the lines
    in either the span or the item's gold in that file. A span that overlaps several gold spans gives one row.
    """
    spans = spans.select(*identity, *({"item_id", "path", "line_start", "line_end"} - set(identity)))
    shared = pl.min_horizontal("line_end", "gold_end") - pl.max_horizontal("line_start", "gold_start")
    n_shared, n_lines = pl.col("n_shared"), pl.col("line_end") - pl.col("line_start")
    n_gold = (pl.col("gold_end") - pl.col("gold_start")).sum().over("item_id")
    return _all_relevant(
        spans.join(inputs.gold.with_columns(n_gold=n_gold), on=["item_id", "path"])
        .with_columns(n_shared=shared, n_either=n_lines + pl.col("n_gold_in_file"))
        .filter(n_shared > 0)
        .group_by(*identity)
        .agg(n_shared.sum(), pl.col("n_either", "n_gold").first())
        .select(*identity, iou=n_shared / (pl.col("n_either") - n_shared), share=n_shared / pl.col("n_gold"))
    )


def _alike(spans: pl.LazyFrame, inputs: JudgementInputs, identity: Sequence[str]) -> pl.LazyFrame:
    """Relevant = intersection over union of lines at least the protocol's threshold."""
    is_relevant = pl.col("similarity") >= inputs.threshold
    judged = _overlapping(spans, inputs, identity)
    return judged.with_columns(pl.when(is_relevant).then(name).alias(name) for name in ("iou", "share"))


def _graded(spans: pl.LazyFrame, inputs: JudgementInputs, identity: Sequence[str]) -> pl.LazyFrame:
    spans = spans.select(*dict.fromkeys([*identity, "path"]))
    return _all_relevant(spans.join(inputs.gold, on=["item_id", "path"]))


def _all_relevant(judged: pl.LazyFrame) -> pl.LazyFrame:
    return judged.with_columns(similarity="iou", is_gold=pl.lit(value=True))


def _similar(column: str) -> Rule:
    """Relevant = similarity to the gold snippet, a column of `relevance`, at least the protocol's threshold."""

    def judge(spans: pl.LazyFrame, inputs: JudgementInputs, identity: Sequence[str]) -> pl.LazyFrame:
        assert inputs.relevance is not None, "the similarity of every chunk of the run's chunker is measured before"
        own = inputs.gold.with_columns(is_gold=pl.lit(value=True))
        iou = pl.when(pl.col("similarity") >= inputs.threshold).then("similarity")
        chunks = (
            inputs.relevance.select(*CHUNK_KEY, similarity=column)
            .join(own, on=["item_id", "path"], how="left", maintain_order="left")
            .with_columns(pl.col("is_gold").fill_null(value=False), iou=iou)
        )
        # All chunks of the pools are judged already.
        known = spans is inputs.relevance
        return chunks if known else spans.select(*{*identity, *CHUNK_KEY}).join(chunks, on=CHUNK_KEY)

    return Rule(judge, similarity=column)


RELEVANCE: Mapping[str, Rule] = {
    "line-overlap": Rule(_overlapping, by_lines=True),
    "line-iou": Rule(_alike, by_lines=True),
    "same-candidate": Rule(_graded),
    "graded": Rule(_graded, is_graded=True),
    "jaccard": _similar("jaccard"),
    "identifier-overlap": _similar("identifier_overlap"),
}
