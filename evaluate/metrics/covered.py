"""Metrics of the lines a ranking returns: what share of them is gold, however they were cut into chunks."""

from __future__ import annotations

import polars as pl

from evaluate.metrics.declaration import Ratio, metric, size_at
from lake.catalog.protocol import BUDGETS

_N_GOLD = pl.col("n_gold")

OVER_GOLD = ("", "|G ∩ P|", "|G|")
OVER_RETURNED = ("", "|G ∩ P|", "|P|")
OVER_BOTH = ("", "2 |G ∩ P|", "|G| + |P|")
"""Formulas of coverage, precision and F1, of whatever is counted: G is the gold, P what is returned."""


@metric("line_coverage", ks=BUDGETS, granularity="line", shape="covered", cut="budget", formula=OVER_GOLD)
def line_coverage(k: int) -> Ratio:
    """Share of the gold lines that are returned before k non-whitespace characters are spent.

    The ranking is walked from the top, every line counts once, and the last chunk is cut at the end of the last line
    that fits. Of a gathered context at k 0 all of it counts.
    """
    return Ratio(pl.col(size_at("n_both", "budget", k)), _N_GOLD)


@metric("line_precision", ks=BUDGETS, granularity="line", shape="covered", cut="budget", formula=OVER_RETURNED)
def line_precision(k: int) -> Ratio:
    """Share of the lines returned for k non-whitespace characters that are gold; 0 where nothing is returned."""
    return Ratio(pl.col(size_at("n_both", "budget", k)), pl.col(size_at("n_returned", "budget", k)))


@metric("line_f1", title="Line F1", ks=BUDGETS, granularity="line", shape="covered", cut="budget", formula=OVER_BOTH)
def line_f1(k: int) -> Ratio:
    """Harmonic mean of line coverage and line precision at k non-whitespace characters.

    Twice the lines in both over the lines of either side added up; chunks of any size and overlap compare by it.
    """
    return Ratio(2 * pl.col(size_at("n_both", "budget", k)), _N_GOLD + pl.col(size_at("n_returned", "budget", k)))


@metric(
    "self_share", ks=(5, 10), direction="neither", shape="covered",
    formula=("", "|lines of the first k ∩ the query's own lines|", "|lines of the first k|"),
)  # fmt: skip
def self_share(k: int) -> Ratio:
    """Share of the lines of the first k results that lie in the query's own text: the prompt, found again."""
    return Ratio(pl.col(size_at("n_own", "results", k)), pl.col(size_at("n_returned", "results", k)))
