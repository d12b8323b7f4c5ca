"""Where the gold went: each gold line, or the one gold candidate, of each item of a run in one of seven classes.

Every gold line that counts under the protocol is in the first class that holds it:

1. `found`: under the cut-off of the protocol's primary metric. Of a ranking that is a budget of characters, or of
   results where gold is a candidate; of an agent its whole final context.
2. `past_budget`: returned by a ranking, but past that cut-off.
3. `seen`: shown in an agent's steps and not kept in its final context.
4. `unreachable`: nothing that was searched holds it. It is in no chunk of the pool, or, where nobody knows the chunks,
   in no searched file (an agent has no index, and may read every file); under rules of similarity no chunk of the pool
   is relevant.
5. `no_answer`: the run returned nothing for the item; of an agent, no final context.
6. `other_lines`: its file was returned, shown or named, by other lines.
7. `not_returned`: its file never was.

Under rules of candidates and of similarity the one unit is the item's gold: any relevant chunk is it, and a chunk of
the gold candidate that is not relevant is other lines of its file.

The sizes of the first class are the numerator of a stored score, and the seven add up to its denominator. `random` is
the expectation over all orders of the whole pool: what is reachable is found or past the budget.
"""

from __future__ import annotations

import polars as pl

from evaluate.metrics import metrics_of
from lake.catalog.protocol import Protocol
from lake.naming import LINES, PUBLISHED_READING, RANKING
from lake.relevance import RELEVANCE, disjoint

CLASSES = ("found", "past_budget", "seen", "unreachable", "no_answer", "other_lines", "not_returned")
"""The classes, in the order in which each takes of what is left."""

_SPAN = ["item_id", "path"]


def is_kept(protocol: Protocol) -> bool:
    """Whether it can be said where the gold went under a protocol.

    Either lines are measured at a budget as they are, or there is one gold candidate to be ranked first. Published
    ranges, which may lie outside of files or count less than nothing, have no place where they could have gone.
    """
    names = [(metric.name, k) for metric, k in metrics_of(protocol)]
    if RELEVANCE[protocol.relevance].by_lines:
        clamped = protocol.context is None or protocol.context.ranges == "clamped"
        return clamped and ("line_coverage", protocol.primary.k) in names and protocol.primary.granularity == "line"
    return ("correct", 0) in names and protocol.primary.metric == "accuracy"


def ledger_of_lines(
    protocol: Protocol,
    *,
    scores: pl.LazyFrame,
    answered: pl.LazyFrame,
    hits: pl.LazyFrame,
    gold: pl.LazyFrame,
    files: pl.LazyFrame,
    chunks: pl.LazyFrame,
    is_chance: bool,
) -> pl.LazyFrame:
    """One row per item that has gold lines: item_id, n_gold and the CLASSES.

    Args:
        protocol: One that :func:`is_kept` holds of.
        scores: The run's rows of `scores` under it.
        answered: Its rows of `run_items`.
        hits: Its rows of `hits`; of a run with a part `lines` that is its ranking.
        gold: item_id, path, line_start, line_end, of the protocol's gold rule.
        files: item_id, path, n_lines of the gold files that are there.
        chunks: item_id, path, line_start, line_end: the chunks of the gold files that are searched; where nobody knows
            how they were cut, those files whole.
        is_chance: The run stands for every order of the pool.
    """
    of_coverage = scores.filter(metric="line_coverage", k=protocol.primary.k).filter(pl.col("denominator") > 0)
    known = of_coverage.select("item_id", n_gold="denominator", found="numerator")
    spans = disjoint(_clamped(gold, files))
    # An agent searches as it likes: every file of the repository is there for it.
    is_agent = answered.select(is_agent=pl.col("n_steps").is_not_null().any())
    whole = files.select(*_SPAN, line_start=pl.lit(0, pl.Int64), line_end="n_lines").join(is_agent, how="cross")
    free = whole.filter("is_agent").drop("is_agent")
    searched = pl.concat([chunks.select(*_SPAN, "line_start", "line_end"), free], how="vertical_relaxed")
    reached = _shared(searched, spans, files, "n_reachable")
    returned, named = reached.rename({"n_reachable": "n_returned"}), files.select(_SPAN).clear()
    kind = known.select("item_id", is_ranking=pl.lit(value=True))
    if not is_chance:
        part = pl.col("part")
        # The lines that are best returned stand in place of the ranking, where a run has both.
        shown = hits.filter(~part.str.starts_with(PUBLISHED_READING))
        shown = shown.filter((part != RANKING) | ~(part == LINES).any()).join(files.select(_SPAN), on=_SPAN, how="semi")
        returned, named = _shared(shown, spans, files, "n_returned"), shown.select(_SPAN).unique()
        kind = answered.select("item_id", is_ranking=pl.col("n_steps").is_null())
    named = named.with_columns(is_named=pl.lit(value=True))
    by_item = (
        reached.join(returned, on=_SPAN, how="full", coalesce=True)
        .join(named, on=_SPAN, how="left")
        .group_by("item_id")
        .agg(
            pl.col("n_returned", "n_reachable").sum(),
            n_in_named=(pl.max_horizontal("n_reachable", "n_returned") - pl.col("n_returned").fill_null(0))
            .filter(pl.col("is_named"))
            .sum(),
        )
    )
    sizes = pl.col("n_returned", "n_reachable", "n_in_named").fill_null(0).cast(pl.Float64)
    counts = known.join(by_item, on="item_id", how="left").join(kind, on="item_id", how="left").with_columns(sizes)
    # What a run returned can be reached, whatever is known of its chunks.
    both = pl.max_horizontal("n_returned", "found")
    return _classes(counts.with_columns(returned=both, reachable=pl.max_horizontal("n_reachable", both)), answered)


def ledger_of_candidates(
    protocol: Protocol, *, scores: pl.LazyFrame, answered: pl.LazyFrame, hits: pl.LazyFrame, gold: pl.LazyFrame
) -> pl.LazyFrame:
    """One row per item: item_id, n_gold (1) and the CLASSES; arguments as for :func:`ledger_of_lines`."""
    names = {"found": (protocol.primary.metric, protocol.primary.k), "correct": ("correct", 0)}
    if "reachable" in {metric.name for metric, _ in metrics_of(protocol)}:
        names["reachable"] = ("reachable", 0)
    key = pl.struct("metric", "k")
    values = [
        pl.col("value").filter(key == pl.struct(metric=pl.lit(metric), k=pl.lit(k, pl.Int64))).first().alias(name)
        for name, (metric, k) in names.items()
    ]
    known = scores.group_by("item_id").agg(values)
    if "reachable" not in names:
        known = known.with_columns(reachable=pl.lit(1.0))
    returned = pl.max_horizontal("found", "correct")
    known = known.with_columns(returned=returned, reachable=pl.max_horizontal("reachable", returned))
    # Of complete lists nothing is left, and their hits need not be looked through.
    open_ = known.filter(pl.col("reachable") > pl.col("returned"))
    in_its_file = hits.join(open_, on="item_id", how="semi").join(gold, on=_SPAN, how="semi")
    other = in_its_file.select("item_id", n_in_named=pl.lit(1.0)).unique()
    counts = known.join(other, on="item_id", how="left").with_columns(pl.col("n_in_named").fill_null(0.0))
    return _classes(counts.with_columns(n_gold=pl.lit(1.0), is_ranking=pl.lit(value=True)), answered)


def _classes(counts: pl.LazyFrame, answered: pl.LazyFrame) -> pl.LazyFrame:
    """The classes of each item, from n_gold, found, returned, reachable, is_ranking and n_in_named.

    That is how much of its gold that was not returned lies in files that were.
    """
    is_silent = answered.select("item_id", is_silent=pl.col("n_returned") == 0)
    silent, is_ranking = pl.col("is_silent").fill_null(value=True), pl.col("is_ranking").fill_null(value=True)
    past, left = pl.col("returned") - pl.col("found"), pl.col("reachable") - pl.col("returned")
    other = pl.when(silent).then(0.0).otherwise(pl.min_horizontal("n_in_named", left))
    return counts.join(is_silent, on="item_id", how="left").select(
        "item_id",
        "n_gold",
        "found",
        past_budget=pl.when(is_ranking).then(past).otherwise(0.0),
        seen=pl.when(is_ranking).then(0.0).otherwise(past),
        unreachable=pl.col("n_gold") - pl.col("reachable"),
        no_answer=pl.when(silent).then(left).otherwise(0.0),
        other_lines=other,
        not_returned=pl.when(silent).then(0.0).otherwise(left - other),
    )


def _clamped(spans: pl.LazyFrame, files: pl.LazyFrame) -> pl.LazyFrame:
    """Spans cut to their files: item_id, path, line_start, line_end; those of no file are left out."""
    n_lines = pl.col("n_lines")
    return (
        spans.select(*_SPAN, "line_start", "line_end")
        .filter(pl.col("line_start").is_not_null())
        .join(files.select(*_SPAN, "n_lines"), on=_SPAN)
        .select(
            *_SPAN,
            pl.col("line_start").clip(0, n_lines),
            # Without an end it is a view on to the file's.
            pl.col("line_end").fill_null(n_lines).clip(0, n_lines),
        )
    )


def _shared(spans: pl.LazyFrame, gold: pl.LazyFrame, files: pl.LazyFrame, name: str) -> pl.LazyFrame:
    """How many gold lines of each file lie in any of some spans: item_id, path and the name."""
    held = disjoint(_clamped(spans, files)).select(*_SPAN, start="gold_start", end="gold_end")
    shared = pl.min_horizontal("end", "gold_end") - pl.max_horizontal("start", "gold_start")
    return held.join(gold, on=_SPAN).group_by(_SPAN).agg(shared.clip(0).sum().alias(name))
