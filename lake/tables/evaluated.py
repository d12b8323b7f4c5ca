"""Tables written by evaluate: vectors, relevance, scores, aggregates, and comparisons of systems."""

import dataframely as dy
import polars as pl

from lake.averages import AVERAGES, ITEM, REPOSITORY, average_columns
from lake.tables.columns import columns


class Vectors(dy.Schema):
    """The vector of a text, by model and the text's key, and how many of its tokens were cut off before embedding."""

    model, key = columns(2, dy.String, primary_key=True)
    vector = dy.List(dy.Float32())
    n_cut = dy.Int64(nullable=True, min=0)


class Relevance(dy.Schema):
    """The similarity of a chunk of an item's pool to the gold snippet: shares of tokens and of identifiers."""

    item_id, path, chunker = columns(3, dy.String, primary_key=True)
    chunk_no = dy.Int64(primary_key=True, min=0)
    jaccard, identifier_overlap = columns(2, dy.Float64, min=0, max=1)


class Scores(dy.Schema):
    """One value per run, protocol, item and metric; k is 0 if the metric has no cut-off."""

    run_id, protocol, item_id, granularity, metric = columns(5, dy.String, primary_key=True)
    k = dy.Int64(primary_key=True, min=0)
    value, numerator, denominator = columns(3, dy.Float64, nullable=True)
    protocol_hash = dy.String()


class StepScores(dy.Schema):
    """Counts of files, symbols, bytes or lines seen at a step of a trajectory, alone and together with earlier ones."""

    run_id, protocol, item_id, granularity = columns(4, dy.String, primary_key=True)
    step = dy.Int64(primary_key=True, min=1)
    n_gold, n_pred, n_hit, n_cumulative, n_cumulative_hit = columns(5, dy.Int64, nullable=True)


class Aggregates(dy.Schema):
    """A metric averaged over a slice of the items; slice `all`, value `all` is all items.

    The means are over `n` of `n_items`. Of the others, `n_not_applicable` were answered but have no value of the
    metric; the rest failed and are in no mean. `n_failed` also counts failed items that score 0, which are part of `n`.
    """

    run_id, protocol, granularity, metric = columns(4, dy.String, primary_key=True)
    k = dy.Int64(primary_key=True, min=0)
    slice, slice_value = columns(2, dy.String, primary_key=True)
    vars().update({
        column: dy.Float64(nullable=True) for average in AVERAGES for column in average_columns(average)
    })  # fmt: skip
    item_low, item_high = columns(2, dy.Float64, nullable=True)
    n, n_items, n_repos, n_failed, n_not_applicable = columns(5, dy.Int64, min=0)
    unit = dy.String(check=lambda unit: unit.is_in([REPOSITORY, ITEM]))


LEDGER_TITLES = {
    "found": "found", "past_budget": "ranked too low", "seen": "read, then dropped",
    "other_lines": "right file, other lines", "not_returned": "file never returned",
    "unreachable": "not in the index", "no_answer": "no answer",
}  # fmt: skip
"""Class of the ledger → its title, in the order of the bars."""


class Ledger(dy.Schema):
    """What happened to an item's gold in a run: each class takes its share of what the classes before it leave.

    Gold is counted in lines, or as 1 if it is one candidate. For `random` the classes hold expectations.
    """

    run_id, protocol, item_id = columns(3, dy.String, primary_key=True)
    n_gold, found, past_budget, seen, unreachable, no_answer, other_lines, not_returned = columns(8, dy.Float64, min=0)

    @dy.rule()
    def parts_add_up(cls) -> pl.Expr:
        """The classes add up to the item's gold."""
        return (pl.sum_horizontal(list(LEDGER_TITLES)) - pl.col("n_gold")).abs() <= 1e-12 * pl.col("n_gold")


class LedgerMeans(dy.Schema):
    """One class of the ledger, averaged over the items of a slice that have gold; the shares of a slice add up to 1."""

    run_id, protocol, slice, slice_value = columns(4, dy.String, primary_key=True)
    class_ = dy.String(primary_key=True, alias="class")
    macro, micro = columns(2, dy.Float64, min=0)
    n, n_items = columns(2, dy.Int64, min=0)
    n_gold = dy.Float64(min=0)


class Effects(dy.Schema):
    """The effects of chunker, retriever and their interaction on the primary metric (analysis of variance).

    They are computed on the largest complete grid of ranked systems, in which every chunker occurs with every
    retriever. By `factor`, a row is the `grand mean`; a `chunker` or `retriever` with its main `effect`; a system with
    its `interaction`, the effect left by those two; or, without names, a whole factor with its `share` of the variance.
    Only rows over all repositories have intervals.
    """

    protocol, task, slice, slice_value, repo, factor, chunker, retriever = columns(8, dy.String, primary_key=True)
    mean, effect = columns(2, dy.Float64, nullable=True)
    share = dy.Float64(nullable=True, min=-1, max=1)
    low, high = columns(2, dy.Float64, nullable=True)
    n_items, n_repos = columns(2, dy.Int64, min=1)
    left_out = dy.List(dy.String())


class Ranks(dy.Schema):
    """The rank of a system on a board; null if there are too few items. Baselines and partial runs have no row."""

    protocol, granularity, metric = columns(3, dy.String, primary_key=True)
    k = dy.Int64(primary_key=True, min=0)
    slice, slice_value, run_id = columns(3, dy.String, primary_key=True)
    rank, rank_low, rank_high, tie_group = columns(4, dy.Int64, min=1, nullable=True)
    too_few = dy.Bool()
    exploratory = dy.Bool()
    unit = dy.String(check=lambda unit: unit.is_in([REPOSITORY, ITEM]))

    @dy.rule()
    def rank_is_within_its_bounds(cls) -> pl.Expr:
        """The rank is within the bounds that the pairwise verdicts allow."""
        return pl.col("rank").is_between("rank_low", "rank_high") | pl.col("rank").is_null()


class Boards(dy.Schema):
    """A cell of a leaderboard: a run's score in one `column` (a metric at a cut-off), by one of three averages.

    Of each slice, the 24 values with the most items are included. Ranks are by the protocol's primary metric.
    """

    protocol, task, slice, slice_value, average, run_id, column = columns(7, dy.String, primary_key=True)
    granularity, metric = columns(2, dy.String)
    k = dy.Int64(min=0)
    is_opening, is_shown = dy.Bool(), dy.Bool()
    position = dy.Int64(min=0)
    place = dy.Int64(min=1)
    state = dy.String()
    value, low, high, share_of_oracle, delta, delta_low, delta_high = columns(7, dy.Float64, nullable=True)
    read, returned = columns(2, dy.Float64, min=0, nullable=True)
    n, n_items, of_items, n_repos, n_failed, n_not_applicable = columns(6, dy.Int64, min=0)
    unit = dy.String(check=lambda unit: unit.is_in([REPOSITORY, ITEM]))
    rank, rank_low, rank_high, tie_group = columns(4, dy.Int64, min=1, nullable=True)
    too_few = dy.Bool(nullable=True)


class Repairs(dy.Schema):
    """The mean gold coverage of an agent's resolved items minus that of its others, each relative to its repository's.

    Only repositories with items of both kinds count. `metric` is the coverage of files or lines by the final context.
    """

    run_id, protocol, metric = columns(3, dy.String, primary_key=True)
    delta, low, high = columns(3, dy.Float64)
    n_items, n_repos = columns(2, dy.Int64, min=1)
    unit = dy.String(check=lambda unit: unit.is_in([REPOSITORY, ITEM]))


class Comparisons(dy.Schema):
    """Two systems compared by one metric over one slice, on the items that both have: `delta` is `run_b` minus `run_a`.

    `smallest_detectable` refers to the adjusted test; in an exploratory row, to a t test of this pair alone.
    """

    protocol, granularity, metric = columns(3, dy.String, primary_key=True)
    k = dy.Int64(primary_key=True, min=0)
    slice, slice_value, run_a, run_b = columns(4, dy.String, primary_key=True)
    delta = dy.Float64()
    low, high = columns(2, dy.Float64, nullable=True)
    p = dy.Float64(min=0, max=1)
    p_adjusted = dy.Float64(nullable=True, min=0, max=1)
    wins, ties, losses = columns(3, dy.Int64, min=0, nullable=True)
    smallest_detectable = dy.Float64(nullable=True)
    equivalent = dy.Bool()
    verdict = dy.String(nullable=True)
    exploratory = dy.Bool()
    n_items, n_repos = columns(2, dy.Int64, min=1)
    unit = dy.String(check=lambda unit: unit.is_in([REPOSITORY, ITEM]))
