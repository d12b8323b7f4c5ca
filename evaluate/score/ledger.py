"""Table `ledger`: what happened to the gold of a run's items, every gold line (or gold candidate) in one of 7 classes.

Every gold line that counts under the protocol is in the first class that applies:

1. `found`: within the cut-off of the protocol's primary metric; for an agent, in its final context.
2. `past_budget`: returned by a ranking, but beyond that cut-off.
3. `seen`: shown in an agent's steps, but not kept in its final context.
4. `unreachable`: in no chunk of the pool, if the chunks are unknown in no searched file, for an agent in no file.
5. `no_answer`: the run returned nothing for the item; an agent has no final context.
6. `other_lines`: its file was returned, shown or named, but with other lines.
7. `not_returned`: its file never was.

Under rules of candidates and of similarity, the only unit is the item's gold: any relevant chunk counts as the gold.
The first class is the numerator of a stored score, all seven add up to its denominator.
"""

from collections.abc import Sequence

import polars as pl

from evaluate.metrics import metrics_of
from lake.catalog.protocol import Protocol
from lake.relevance import RELEVANCE, disjoint
from lake.tables import LINES, PUBLISHED_READING, RANKING

GOLD_CLASSES = ("found", "past_budget", "seen", "unreachable", "no_answer", "other_lines", "not_returned")
"""The classes, in the order in which gold is assigned to them."""
_CASE = ["run_id", "item_id"]
_FILE = ["item_id", "path"]


def is_kept(protocol: Protocol) -> bool:
    """Whether a protocol has a ledger: it measures lines at a budget, or whether one gold candidate is ranked first."""
    names = [(metric.name, k) for metric, k in metrics_of(protocol)]
    if RELEVANCE[protocol.relevance].by_lines:
        # Published ranges may be outside of files or have negative sizes.
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
    chance: Sequence[str] = (),
) -> pl.LazyFrame:
    """One row per run and item with gold lines: run_id, item_id, n_gold and the GOLD_CLASSES.

    `answered` are rows of `run_items`; `gold` and `chunks` (of the searched gold files) have item_id, path, line_start,
    line_end; `files`, the gold files that exist, n_lines. The runs in `chance` stand for every order of the pool.
    """
    of_coverage = scores.filter(metric="line_coverage", k=protocol.primary.k).filter(pl.col("denominator") > 0)
    is_chance = pl.col("run_id").is_in(list(chance))
    known = of_coverage.select(*_CASE, n_gold="denominator", found="numerator")
    is_agent = answered.group_by("run_id").agg(is_agent=pl.col("n_steps").is_not_null().any())
    known = known.join(is_agent, on="run_id", how="left").with_columns(pl.col("is_agent").fill_null(value=False))
    spans = disjoint(_clamped(gold, files))
    # An agent can read every file of the repository.
    whole = files.select(*_FILE, line_start=pl.lit(0, pl.Int64), line_end="n_lines")
    in_chunks = _shared(chunks, spans, files, "n_in_chunks")
    reached = _shared(whole, spans, files, "n_in_files").join(in_chunks, on=_FILE, how="left")
    part = pl.col("part")
    # LINES, the best order for lines, replaces the ranking of a run that has both.
    shown = hits.filter(~part.str.starts_with(PUBLISHED_READING))
    shown = shown.filter((part != RANKING) | ~(part == LINES).any().over("run_id"))
    shown = shown.join(files.select(_FILE), on=_FILE, how="semi")
    returned = _shared(shown, spans, files, "n_returned", key=_CASE)
    by_item = (
        known.select(*_CASE, "is_agent")
        .join(reached, on="item_id")
        .with_columns(n_reachable=pl.when("is_agent").then("n_in_files").otherwise("n_in_chunks").fill_null(0))
        .join(returned, on=[*_CASE, "path"], how="left")
        .join(shown.select(*_CASE, "path", is_named=True).unique(), on=[*_CASE, "path"], how="left")
        .with_columns(n_returned=pl.when(is_chance).then("n_reachable").otherwise(pl.col("n_returned").fill_null(0)))
        .group_by(_CASE)
        .agg(
            pl.col("n_returned", "n_reachable").sum(),
            n_in_named=(pl.max_horizontal("n_reachable", "n_returned") - pl.col("n_returned"))
            .filter(pl.col("is_named"))
            .sum(),
        )
    )
    kind = answered.select(*_CASE, is_ranking=pl.col("n_steps").is_null() | is_chance)
    sizes = pl.col("n_returned", "n_reachable", "n_in_named").fill_null(0).cast(pl.Float64)
    counts = known.join(by_item, on=_CASE, how="left").join(kind, on=_CASE, how="left").with_columns(sizes)
    # Whatever a run returned is reachable, even if its chunks are unknown.
    both = pl.max_horizontal("n_returned", "found")
    return _classes(counts.with_columns(returned=both, reachable=pl.max_horizontal("n_reachable", both)), answered)


def ledger_of_candidates(
    protocol: Protocol, *, scores: pl.LazyFrame, answered: pl.LazyFrame, hits: pl.LazyFrame, gold: pl.LazyFrame
) -> pl.LazyFrame:
    """One row per run and item: run_id, item_id, n_gold (1), the GOLD_CLASSES; arguments as for `ledger_of_lines`."""
    names = {"found": (protocol.primary.metric, protocol.primary.k), "correct": ("correct", 0)}
    if "reachable" in {metric.name for metric, _ in metrics_of(protocol)}:
        names["reachable"] = ("reachable", 0)
    known = scores.group_by(_CASE).agg(
        pl.col("value").filter(metric=metric, k=k).first().alias(name) for name, (metric, k) in names.items()
    )
    if "reachable" not in names:
        known = known.with_columns(reachable=pl.lit(1.0))
    returned = pl.max_horizontal("found", "correct")
    known = known.with_columns(returned=returned, reachable=pl.max_horizontal("reachable", returned))
    # Complete lists leave nothing unreturned, so their hits need not be read.
    open_ = known.filter(pl.col("reachable") > pl.col("returned"))
    in_its_file = hits.join(open_, on=_CASE, how="semi").join(gold, on=_FILE, how="semi")
    other = in_its_file.select(*_CASE, n_in_named=pl.lit(1.0)).unique()
    counts = known.join(other, on=_CASE, how="left").with_columns(pl.col("n_in_named").fill_null(0.0))
    return _classes(counts.with_columns(n_gold=pl.lit(1.0), is_ranking=pl.lit(value=True)), answered)


def _classes(counts: pl.LazyFrame, answered: pl.LazyFrame) -> pl.LazyFrame:
    """The classes, from the amounts; n_in_named is the gold that was not returned, but whose file was."""
    is_silent = answered.select(*_CASE, is_silent=pl.col("n_returned") == 0)
    silent, is_ranking = pl.col("is_silent").fill_null(value=True), pl.col("is_ranking").fill_null(value=True)
    past, left = pl.col("returned") - pl.col("found"), pl.col("reachable") - pl.col("returned")
    other = pl.when(silent).then(0.0).otherwise(pl.min_horizontal("n_in_named", left))
    return counts.join(is_silent, on=_CASE, how="left").select(
        *_CASE,
        "n_gold",
        "found",
        past_budget=pl.when(is_ranking).then(past).otherwise(0.0),
        seen=pl.when(is_ranking).then(0.0).otherwise(past),
        unreachable=pl.col("n_gold") - pl.col("reachable"),
        no_answer=pl.when(silent).then(left).otherwise(0.0),
        other_lines=other,
        not_returned=pl.when(silent).then(0.0).otherwise(left - other),
    )


def _clamped(spans: pl.LazyFrame, files: pl.LazyFrame, key: Sequence[str] = ("item_id",)) -> pl.LazyFrame:
    """Spans clipped to their files: the key, path, line_start, line_end; spans without such a file are left out."""
    n_lines = pl.col("n_lines")
    return (
        spans.select(*key, "path", "line_start", "line_end")
        .filter(pl.col("line_start").is_not_null())
        .join(files.select(*_FILE, "n_lines"), on=_FILE)
        .select(
            *key,
            "path",
            pl.col("line_start").clip(0, n_lines),
            # Without an end, a span reaches to the end of the file.
            pl.col("line_end").fill_null(n_lines).clip(0, n_lines),
        )
    )


def _shared(
    spans: pl.LazyFrame, gold: pl.LazyFrame, files: pl.LazyFrame, name: str, key: Sequence[str] = ("item_id",)
) -> pl.LazyFrame:
    """The number of gold lines of each file that are in any of `spans`: the key, path and a column called `name`."""
    lines = disjoint(_clamped(spans, files, key), key).select(*key, "path", start="gold_start", end="gold_end")
    shared = pl.min_horizontal("end", "gold_end") - pl.max_horizontal("start", "gold_start")
    return lines.join(gold, on=_FILE).group_by(*key, "path").agg(shared.clip(0).sum().alias(name))
