"""What `evaluate` says of systems beside one another: what one reads of them, ranks and comparisons."""

from __future__ import annotations

import dataframely as dy
import polars as pl


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

    protocol = dy.String(primary_key=True)
    task = dy.String(primary_key=True)
    slice = dy.String(primary_key=True)
    slice_value = dy.String(primary_key=True)
    repo = dy.String(primary_key=True)
    factor = dy.String(primary_key=True)
    chunker = dy.String(primary_key=True)
    retriever = dy.String(primary_key=True)
    mean = dy.Float64(nullable=True)
    effect = dy.Float64(nullable=True)
    share = dy.Float64(nullable=True, min=-1, max=1)
    low = dy.Float64(nullable=True)
    high = dy.Float64(nullable=True)
    n_items = dy.Int64(min=1)
    n_repos = dy.Int64(min=1)
    left_out = dy.List(dy.String())


class Characters(dy.Schema):
    """How much one reads of a run: non-whitespace characters per item, over the slice that is shown first.

    `read` is what stands down to the cut-off `k` of the protocol's primary metric: in the first results, or of a budget
    what was returned as far as it goes; k 0 is the whole answer, of a ranking held against contexts the context that it
    gives. `returned` is all that was returned. Lines that were returned before are not counted again.
    """

    protocol = dy.String(primary_key=True)
    k = dy.Int64(primary_key=True, min=0)
    slice = dy.String(primary_key=True)
    slice_value = dy.String(primary_key=True)
    run_id = dy.String(primary_key=True)
    read = dy.Float64(min=0)
    returned = dy.Float64(min=0)
    n_items = dy.Int64(min=1)


class Ranks(dy.Schema):
    """The place of a system by a protocol's primary metric; systems that are not comparable, and baselines, have none.

    `rank_low` to `rank_high` are the places it may have by the verdicts of `comparisons`, `tie_group` is of those that
    the best of them cannot be told from. All are null where there are too few items or repositories to rank.
    """

    protocol = dy.String(primary_key=True)
    granularity = dy.String(primary_key=True)
    metric = dy.String(primary_key=True)
    k = dy.Int64(primary_key=True, min=0)
    slice = dy.String(primary_key=True)
    slice_value = dy.String(primary_key=True)
    run_id = dy.String(primary_key=True)
    rank = dy.Int64(nullable=True, min=1)
    rank_low = dy.Int64(nullable=True, min=1)
    rank_high = dy.Int64(nullable=True, min=1)
    tie_group = dy.Int64(nullable=True, min=1)
    too_few = dy.Bool()
    exploratory = dy.Bool()

    @dy.rule()
    def rank_is_within_its_bounds(cls) -> pl.Expr:
        """The shown place is one of those that the verdicts leave."""
        return pl.col("rank").is_between("rank_low", "rank_high") | pl.col("rank").is_null()


class Comparisons(dy.Schema):
    """Two systems by one metric over one slice, on the items that both have: `delta` is `run_b` less `run_a`.

    `low` to `high` is its 95 % interval, with repositories as the unit, `p` that of a sign-flip test over them.
    `p_adjusted` is for all pairs that were to be tested together; where it is null the row is exploratory. The
    `verdict` is on `run_b`. `wins` are items on which it is better; null against an expectation, which wins nothing.
    `smallest_detectable`: the difference that would be found in four of five such samples. `equivalent`: it surely is
    less than 0.01.
    """

    protocol = dy.String(primary_key=True)
    granularity = dy.String(primary_key=True)
    metric = dy.String(primary_key=True)
    k = dy.Int64(primary_key=True, min=0)
    slice = dy.String(primary_key=True)
    slice_value = dy.String(primary_key=True)
    run_a = dy.String(primary_key=True)
    run_b = dy.String(primary_key=True)
    delta = dy.Float64()
    low = dy.Float64(nullable=True)
    high = dy.Float64(nullable=True)
    p = dy.Float64(min=0, max=1)
    p_adjusted = dy.Float64(nullable=True, min=0, max=1)
    wins = dy.Int64(nullable=True, min=0)
    ties = dy.Int64(nullable=True, min=0)
    losses = dy.Int64(nullable=True, min=0)
    smallest_detectable = dy.Float64(nullable=True)
    equivalent = dy.Bool()
    verdict = dy.String(nullable=True)
    exploratory = dy.Bool()
    n_items = dy.Int64(min=1)
    n_repos = dy.Int64(min=1)
