"""What evaluate writes: vectors, relevance, scores and what is made of them."""

from __future__ import annotations

import dataframely as dy
import polars as pl


class Vocabularies(dy.Schema):
    """Every token of the contents of a part, in the order of spelling: its row is its number in the part's `tokens`."""

    token = dy.String(primary_key=True)


class Tokens(dy.Schema):
    """How a tokenizer cuts a content: its different tokens ascending, how often it has each, and the lines of all."""

    sha256 = dy.String(primary_key=True)
    tokens = dy.List(dy.UInt32())
    n = dy.List(dy.UInt32())
    lines = dy.List(dy.UInt32())


class Vectors(dy.Schema):
    """Vectors by the key of the text that each stands for, and how many tokens of it the model did not see."""

    model = dy.String(primary_key=True)
    key = dy.String(primary_key=True)
    vector = dy.List(dy.Float32())
    n_cut = dy.Int64(nullable=True, min=0)


class Relevance(dy.Schema):
    """How like the gold snippet a chunk of an item's pool is: shares of tokens and of identifiers."""

    item_id = dy.String(primary_key=True)
    path = dy.String(primary_key=True)
    chunker = dy.String(primary_key=True)
    chunk_no = dy.Int64(primary_key=True, min=0)
    jaccard = dy.Float64(min=0, max=1)
    identifier_overlap = dy.Float64(min=0, max=1)


class Scores(dy.Schema):
    """One number per run, protocol, item and metric; k is 0 where the metric has no cut-off."""

    run_id = dy.String(primary_key=True)
    protocol = dy.String(primary_key=True)
    item_id = dy.String(primary_key=True)
    granularity = dy.String(primary_key=True)
    metric = dy.String(primary_key=True)
    k = dy.Int64(primary_key=True, min=0)
    value = dy.Float64(nullable=True)
    numerator = dy.Float64(nullable=True)
    denominator = dy.Float64(nullable=True)
    protocol_hash = dy.String()


class StepScores(dy.Schema):
    """What each step of a trajectory saw: sizes of sets, of the step alone and of all steps up to it.

    Sizes are counts of files, symbols, bytes (granularity `span`) or lines.
    """

    run_id = dy.String(primary_key=True)
    protocol = dy.String(primary_key=True)
    item_id = dy.String(primary_key=True)
    granularity = dy.String(primary_key=True)
    step = dy.Int64(primary_key=True, min=1)
    n_gold = dy.Int64(nullable=True)
    n_pred = dy.Int64(nullable=True)
    n_hit = dy.Int64(nullable=True)
    n_cumulative = dy.Int64(nullable=True)
    n_cumulative_hit = dy.Int64(nullable=True)


class Aggregates(dy.Schema):
    """A metric over a slice of the items; the whole is slice `all`, value `all`.

    The means are over `n` of `n_items`. `n_not_applicable` have no value of the metric though the run answered them;
    what is left failed and is in no mean. `n_failed` counts every failed item, also where it scores 0 and so is in `n`.
    `low` to `high` is the 95 % interval of `macro` over other repositories like these; `micro_…` and `by_repo_…` are
    those of the other means. `item_low` to `item_high` is that of `macro` for these repositories only, resampled from
    their items in the slice a board opens with, and in the whole.
    """

    run_id = dy.String(primary_key=True)
    protocol = dy.String(primary_key=True)
    granularity = dy.String(primary_key=True)
    metric = dy.String(primary_key=True)
    k = dy.Int64(primary_key=True, min=0)
    slice = dy.String(primary_key=True)
    slice_value = dy.String(primary_key=True)
    macro = dy.Float64(nullable=True)
    micro = dy.Float64(nullable=True)
    by_repo = dy.Float64(nullable=True)
    low = dy.Float64(nullable=True)
    high = dy.Float64(nullable=True)
    micro_low = dy.Float64(nullable=True)
    micro_high = dy.Float64(nullable=True)
    by_repo_low = dy.Float64(nullable=True)
    by_repo_high = dy.Float64(nullable=True)
    item_low = dy.Float64(nullable=True)
    item_high = dy.Float64(nullable=True)
    n = dy.Int64(min=0)
    n_items = dy.Int64(min=0)
    n_repos = dy.Int64(min=0)
    n_failed = dy.Int64(min=0)
    n_not_applicable = dy.Int64(min=0)
    share_of_oracle = dy.Float64(nullable=True)


class Parity(dy.Schema):
    """One quantity that someone outside this project computed too: how many of its values are equal here.

    Equal means to 1e-12, of values beyond 1 in proportion. A row that compared nothing says in `explanation` why
    its reference was not run.
    """

    reference = dy.String(primary_key=True)
    quantity = dy.String(primary_key=True)
    benchmark = dy.String()
    kind = dy.String()
    n_compared = dy.Int64(min=0)
    n_equal = dy.Int64(min=0)
    largest_difference = dy.Float64(nullable=True)
    explanation = dy.String()


class Ledger(dy.Schema):
    """Where an item's gold went in a run, in gold lines, or in units of 1 where gold is one candidate: it adds up.

    `n_gold` is the sum of the seven that follow, each taking of what those before it leave; a share is a part over
    `n_gold`. `found`: within the cut-off of the protocol's primary metric. `past_budget`: returned by a ranking beyond
    it. `seen`: shown in an agent's steps, not kept in its final context. `unreachable`: in nothing that was searched.
    `no_answer`: the run gave no answer. `other_lines`: its file was returned by other lines. `not_returned`: its file
    never was. For `random` they are expectations over all orders of the pool.
    """

    run_id = dy.String(primary_key=True)
    protocol = dy.String(primary_key=True)
    item_id = dy.String(primary_key=True)
    n_gold = dy.Float64(min=0)
    found = dy.Float64(min=0)
    past_budget = dy.Float64(min=0)
    seen = dy.Float64(min=0)
    unreachable = dy.Float64(min=0)
    no_answer = dy.Float64(min=0)
    other_lines = dy.Float64(min=0)
    not_returned = dy.Float64(min=0)

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

    run_id = dy.String(primary_key=True)
    protocol = dy.String(primary_key=True)
    slice = dy.String(primary_key=True)
    slice_value = dy.String(primary_key=True)
    class_ = dy.String(primary_key=True, alias="class")
    macro = dy.Float64(min=0)
    micro = dy.Float64(min=0)
    n = dy.Int64(min=0)
    n_items = dy.Int64(min=0)
    n_gold = dy.Float64(min=0)
