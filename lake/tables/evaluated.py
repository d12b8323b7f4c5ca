"""What evaluate writes: vectors, relevance, scores, what is made of them, and systems beside one another."""

from __future__ import annotations

import dataframely as dy
import polars as pl

from lake.catalog.unit import ITEM, REPOSITORY
from lake.tables.columns import integers, keys, numbers, texts


class Vectors(dy.Schema):
    """Vectors by the key of the text that each stands for, and how many tokens of it the model did not see."""

    model, key = keys(2)
    vector = dy.List(dy.Float32())
    n_cut = dy.Int64(nullable=True, min=0)


class Relevance(dy.Schema):
    """How like the gold snippet a chunk of an item's pool is: shares of tokens and of identifiers."""

    item_id, path, chunker = keys(3)
    chunk_no = dy.Int64(primary_key=True, min=0)
    jaccard = dy.Float64(min=0, max=1)
    identifier_overlap = dy.Float64(min=0, max=1)


class Scores(dy.Schema):
    """One number per run, protocol, item and metric; k is 0 where the metric has no cut-off."""

    run_id, protocol, item_id, granularity, metric = keys(5)
    k = dy.Int64(primary_key=True, min=0)
    value, numerator, denominator = numbers(3, nullable=True)
    protocol_hash = dy.String()


class StepScores(dy.Schema):
    """What each step of a trajectory saw: sizes of sets, of the step alone and of all steps up to it.

    Sizes are counts of files, symbols, bytes (granularity `span`) or lines.
    """

    run_id, protocol, item_id, granularity = keys(4)
    step = dy.Int64(primary_key=True, min=1)
    n_gold, n_pred, n_hit, n_cumulative, n_cumulative_hit = integers(5, least=None, nullable=True)


class Aggregates(dy.Schema):
    """A metric over a slice of the items; the whole is slice `all`, value `all`.

    The means are over `n` of `n_items`. `n_not_applicable` have no value of the metric though the run answered them;
    what is left failed and is in no mean. `n_failed` counts every failed item, also where it scores 0 and so is in `n`.
    `low` to `high` is the 95 % interval of `macro`; `micro_…` and `by_repo_…` are those of the other means. What they
    are over is the `unit`: other repositories like these, or, where fewer than six have a value, other items of these
    repositories only. `item_low` to `item_high` is that of `macro` for these repositories only, resampled from
    their items in the slice a board opens with, and in the whole. `n_repos` have a value.
    """

    run_id, protocol, granularity, metric = keys(4)
    k = dy.Int64(primary_key=True, min=0)
    slice, slice_value = keys(2)
    macro, micro, by_repo, low, high = numbers(5, nullable=True)
    micro_low, micro_high, by_repo_low, by_repo_high, item_low, item_high = numbers(6, nullable=True)
    n, n_items, n_repos, n_failed, n_not_applicable = integers(5)
    unit = dy.String(check=lambda unit: unit.is_in([REPOSITORY, ITEM]))
    share_of_oracle = dy.Float64(nullable=True)


class Ledger(dy.Schema):
    """Where an item's gold went in a run, in gold lines, or in units of 1 where gold is one candidate: it adds up.

    `n_gold` is the sum of the seven that follow, each taking of what those before it leave; a share is a part over
    `n_gold`. `found`: within the cut-off of the protocol's primary metric. `past_budget`: returned by a ranking beyond
    it. `seen`: shown in an agent's steps, not kept in its final context. `unreachable`: in nothing that was searched.
    `no_answer`: the run gave no answer. `other_lines`: its file was returned by other lines. `not_returned`: its file
    never was. For `random` they are expectations over all orders of the pool.
    """

    run_id, protocol, item_id = keys(3)
    n_gold, found, past_budget, seen, unreachable, no_answer, other_lines, not_returned = numbers(8, least=0)

    @dy.rule()
    def parts_add_up(cls) -> pl.Expr:
        """The parts are the whole."""
        parts = ("found", "past_budget", "seen", "unreachable", "no_answer", "other_lines", "not_returned")
        return (pl.sum_horizontal(parts) - pl.col("n_gold")).abs() <= 1e-12 * pl.col("n_gold")


class LedgerMeans(dy.Schema):
    """What share of the gold is in a class of the ledger, over a slice of the items; the shares of a slice add up to 1.

    `macro` is the mean of the items' shares, `micro` the share of all gold together; both are over the `n` items that
    have gold. `n_items` of them have some in the class, `n_gold` lines or candidates in all.
    """

    run_id, protocol, slice, slice_value = keys(4)
    class_ = dy.String(primary_key=True, alias="class")
    macro, micro = numbers(2, least=0)
    n, n_items = integers(2)
    n_gold = dy.Float64(min=0)


class Effects(dy.Schema):
    """What the choice of chunker does to the primary metric, what that of retriever does, and what the two together do.

    It is of the largest grid of ranked systems in which every chunker is there with every retriever, over the slice
    that is shown first; `left_out` are the other systems. Of a row without a repository `low` to `high` is the 95 %
    interval. By `factor`:

    - `grand mean`: the `mean` of all systems of the grid; the interval is its own.
    - `chunker`: the `mean` of a chunker's systems, and its `effect`, how far it lies from the grand mean; the interval
      is that of the effect. Likewise `retriever`. Without names they are the whole factor: the `share` of the variation
      between the systems that it explains, with its interval; null where nothing varies but by chance.
    - `interaction`: the `mean` of one system, and as its `effect` what those two leave of it; without names the share.
    - `retriever over chunker`: the share of the retriever less that of the chunker.
    """

    protocol, task, slice, slice_value, repo, factor, chunker, retriever = keys(8)
    mean, effect = numbers(2, nullable=True)
    share = dy.Float64(nullable=True, min=-1, max=1)
    low, high = numbers(2, nullable=True)
    n_items, n_repos = integers(2, least=1)
    left_out = dy.List(dy.String())


class Characters(dy.Schema):
    """How much one reads of a run: non-whitespace characters per item, over the slice that is shown first.

    `read` is what stands down to the cut-off `k` of the protocol's primary metric: in the first results, or of a budget
    what was returned as far as it goes; k 0 is the whole answer, of a ranking held against contexts the context that it
    gives. `returned` is all that was returned. Lines that were returned before are not counted again.
    """

    protocol = dy.String(primary_key=True)
    k = dy.Int64(primary_key=True, min=0)
    slice, slice_value, run_id = keys(3)
    read, returned = numbers(2, least=0)
    n_items = dy.Int64(min=1)


class Ranks(dy.Schema):
    """The place of a system by a protocol's primary metric; systems that are not comparable, and baselines, have none.

    `rank_low` to `rank_high` are the places it may have by the verdicts of `comparisons`, `tie_group` is of those that
    the best of them cannot be told from. All are null where there are too few items to rank. `unit` is
    that of `aggregates`.
    """

    protocol, granularity, metric = keys(3)
    k = dy.Int64(primary_key=True, min=0)
    slice, slice_value, run_id = keys(3)
    rank, rank_low, rank_high, tie_group = integers(4, least=1, nullable=True)
    too_few = dy.Bool()
    exploratory = dy.Bool()
    unit = dy.String(check=lambda unit: unit.is_in([REPOSITORY, ITEM]))

    @dy.rule()
    def rank_is_within_its_bounds(cls) -> pl.Expr:
        """The shown place is one of those that the verdicts leave."""
        return pl.col("rank").is_between("rank_low", "rank_high") | pl.col("rank").is_null()


class Boards(dy.Schema):
    """What a leaderboard shows: a metric at a cut-off is a `column`, averaged in each of three ways.

    Of each slice the 24 values of most items are there. `is_shown` is the way of averaging that the protocol shows,
    `is_opening` the slice that a board opens on, `position` the column's place, the primary metric 0. `place` is the
    run's in the column's order, best first, those behind that are not compared: their `state` says why, and is empty
    for all others. Ranks are by the primary metric as it is shown. `delta` is the difference to the reference that the
    benchmark declares, from `comparisons` where the two were compared.
    """

    protocol, task, slice, slice_value, average, run_id, column = keys(7)
    granularity, metric = texts(2)
    k = dy.Int64(min=0)
    is_opening, is_shown = dy.Bool(), dy.Bool()
    position = dy.Int64(min=0)
    place = dy.Int64(min=1)
    state = dy.String()
    value, low, high, share_of_oracle, delta, delta_low, delta_high, read = numbers(8, nullable=True)
    n, n_items, of_items, n_repos, n_failed, n_not_applicable = integers(6)
    unit = dy.String(check=lambda unit: unit.is_in([REPOSITORY, ITEM]))
    rank, rank_low, rank_high, tie_group = integers(4, least=1, nullable=True)
    too_few = dy.Bool(nullable=True)


class Comparisons(dy.Schema):
    """Two systems by one metric over one slice, on the items that both have: `delta` is `run_b` less `run_a`.

    `low` to `high` is its 95 % interval, `p` that of a sign-flip test, both over the `unit`: repositories, or items
    where those that both have lie in fewer than six. `p_adjusted` is for all pairs that were to be tested together;
    where it is null the row is exploratory. The `verdict` is on `run_b`. `wins` are items on which it is better; null
    against an expectation, which wins nothing. `smallest_detectable`: the difference that
    would be found in four of five such samples, by the adjusted test, in an exploratory row by a t test of the pair
    alone; null where there are too few items or none would be. `equivalent`: it surely is less than 0.01.
    """

    protocol, granularity, metric = keys(3)
    k = dy.Int64(primary_key=True, min=0)
    slice, slice_value, run_a, run_b = keys(4)
    delta = dy.Float64()
    low, high = numbers(2, nullable=True)
    p = dy.Float64(min=0, max=1)
    p_adjusted = dy.Float64(nullable=True, min=0, max=1)
    wins, ties, losses = integers(3, nullable=True)
    smallest_detectable = dy.Float64(nullable=True)
    equivalent = dy.Bool()
    verdict = dy.String(nullable=True)
    exploratory = dy.Bool()
    n_items, n_repos = integers(2, least=1)
    unit = dy.String(check=lambda unit: unit.is_in([REPOSITORY, ITEM]))
