"""Metrics of sets of lines, files and other units: how much of the gold a ranking returns or a context contains."""

import math
from dataclasses import replace

import polars as pl

from evaluate.metrics import Metric, Ratio, RatioAt, metric, size_at
from lake.catalog.protocol import BUDGETS, DEPTHS

LINE_BUDGETS = (100, 300, 500)
_ONE, _N_GOLD = pl.lit(1.0), pl.col("n_gold")

OVER_GOLD = ("", "|G ∩ P|", "|G|")
OVER_RETURNED = ("", "|G ∩ P|", "|P|")
OVER_BOTH = ("", "2 |G ∩ P|", "|G| + |P|")
"""Formulas of coverage, precision and F1 for any unit: G is the gold, P is what is returned."""


@metric("line_coverage", ks=BUDGETS, granularity="line", shape="covered", cut="budget", formula=OVER_GOLD)
def line_coverage(k: int) -> Ratio:
    """Share of the gold lines that are returned before k non-whitespace characters are spent.

    The ranking is read from the top, every line counts once, and the last chunk is cut after the last line that fits.
    At k 0 there is no limit: all of a gathered context counts.
    """
    return Ratio(pl.col(size_at("n_both", "budget", k)), _N_GOLD)


@metric("line_precision", ks=BUDGETS, granularity="line", shape="covered", cut="budget", formula=OVER_RETURNED)
def line_precision(k: int) -> Ratio:
    """Share of the lines returned for k non-whitespace characters that are gold; 0 if nothing is returned."""
    return Ratio(pl.col(size_at("n_both", "budget", k)), pl.col(size_at("n_returned", "budget", k)))


@metric("line_f1", title="Line F1", ks=BUDGETS, granularity="line", shape="covered", cut="budget", formula=OVER_BOTH)
def line_f1(k: int) -> Ratio:
    """Harmonic mean of line coverage and line precision at k non-whitespace characters.

    It is twice the shared lines over the sum of gold and returned lines, and compares chunks of any size and overlap.
    """
    return Ratio(2 * pl.col(size_at("n_both", "budget", k)), _N_GOLD + pl.col(size_at("n_returned", "budget", k)))


@metric(
    "self_share", ks=(5, 10), direction="neither", shape="covered",
    formula=("", "|lines of the first k ∩ the query's own lines|", "|lines of the first k|"),
)  # fmt: skip
def self_share(k: int) -> Ratio:
    """Share of the lines in the first k results that are the query's own text: the prompt, found again."""
    return Ratio(pl.col(size_at("n_own", "results", k)), pl.col(size_at("n_returned", "results", k)))


_OF_LINES = Metric("", ks=LINE_BUDGETS, granularity="line", shape="covered", cut="lines")
"""A metric of the first k distinct lines returned, including blank ones."""
_ALL_LINES = ("1 if all gold lines are among the first k lines, else 0",)


def _n_both(k: int) -> pl.Expr:
    return pl.col(size_at("n_both", "lines", k))


@replace(_OF_LINES, name="all_lines", title="All gold lines", formula=_ALL_LINES, micro="equals macro")
def all_lines(k: int) -> Ratio:
    """Whether all gold lines are among the first k different lines returned, blank ones counted: 1 or 0."""
    return Ratio(_n_both(k) == _N_GOLD, _ONE)


@replace(_OF_LINES, name="lines_coverage", title="Coverage", formula=OVER_GOLD)
def lines_coverage(k: int) -> Ratio:
    """Share of the gold lines that are among the first k different lines returned, blank ones counted."""
    return Ratio(_n_both(k), _N_GOLD)


@replace(_OF_LINES, name="lines_precision", title="Precision", formula=("", "|G ∩ P|", "k"))
def lines_precision(k: int) -> Ratio:
    """Gold lines among the first k different lines returned, over k, even when fewer were returned."""
    return Ratio(_n_both(k), pl.lit(k))


@replace(_OF_LINES, name="lines_f1", title="F1", formula=("", "2 |G ∩ P|", "|G| + k"))
def lines_f1(k: int) -> Ratio:
    """Harmonic mean of coverage and precision at k lines: twice the lines in both, over the gold lines and k."""
    return Ratio(2 * _n_both(k), _N_GOLD + k)


@replace(_OF_LINES, name="lines_efficiency", title="Context efficiency", formula=OVER_RETURNED)
def lines_efficiency(k: int) -> Ratio:
    """Share of gold among the first k different lines returned, over as many as were returned; 0 if none were."""
    return Ratio(_n_both(k), pl.col(size_at("n_returned", "lines", k)))


_AUC = ("mean over the steps s of ", "|G ∩ (C₁ ∪ … ∪ Cₛ)|", "|G|")
_REDUNDANCY = ("1 − ", "|C₁ ∪ … ∪ Cₙ|", "|C₁| + … + |Cₙ|")
_OF = {
    "file": "files",
    "symbol": "definitions (functions, classes and the like)",
    "span": "bytes",
    "editloc": "edited lines",
    "line": "lines",
}


def _declare(like: Metric, name: str, meaning: str, formula: tuple[str, ...], at: RatioAt) -> None:
    of = like.granularity
    replace(like, name=f"{of}_{name.lower()}", title=f"{of.capitalize()} {name}", meaning=meaning, formula=formula)(at)


def _declare_sets(granularity: str, what: str) -> None:
    """Coverage, precision and F1 of a final context as a set, and of the first k results of a ranking."""
    is_edit = granularity == "editloc"
    gold = "the lines that the gold patch edits" if is_edit else f"the gold {what}"
    returned = "the lines that the run's patch edits" if is_edit else f"the {what} in the final context"
    more = "." if is_edit else "; at k, what a ranking's first k results hold."
    like = Metric("", ks=(0,) if is_edit else (0, *DEPTHS), granularity=granularity, shape="gathered")
    n_gold = pl.col(f"n_gold/{granularity}")

    def n(of: str, k: int) -> pl.Expr:
        return pl.col(f"n_{of}/{granularity}@{k}")

    share = f"Share of {gold} that are among {returned}{more}"
    _declare(like, "coverage", share, OVER_GOLD, lambda k: Ratio(n("hit", k), n_gold))
    share = f"Share of {returned} that are among {gold}{more}"
    _declare(like, "precision", share, OVER_RETURNED, lambda k: Ratio(n("hit", k), n("pred", k)))
    mean = f"Harmonic mean of coverage and precision of {what}{more}"
    _declare(like, "F1", mean, OVER_BOTH, lambda k: Ratio(2 * n("hit", k), n_gold + n("pred", k)))


def _declare_trajectory(granularity: str, what: str) -> None:
    like = Metric("", granularity=granularity, shape="gathered", is_of_steps=True)
    n_seen, n_union = pl.col(f"n_seen/{granularity}"), pl.col(f"n_union/{granularity}")
    auc = f"Mean over the steps of the share of the gold {what} that had been seen by then: the earlier, the higher."
    of_steps = replace(like, micro="undefined")
    _declare(of_steps, "AUC", auc, _AUC, lambda k: Ratio(pl.col(f"auc/{granularity}"), _ONE))
    again = f"Share of the {what} seen in all steps that an earlier step had seen already."
    lower = replace(like, direction="lower")
    _declare(lower, "redundancy", again, _REDUNDANCY, lambda k: Ratio(n_seen - n_union, n_seen))


@metric(
    "symbol_all", title="All gold definitions", ks=(0, *DEPTHS), granularity="symbol", micro="equals macro",
    shape="gathered", formula=("1 if there are gold definitions and all are in the context, else 0",),
)  # fmt: skip
def symbol_all(k: int) -> Ratio:
    """Whether all gold definitions are in the final context, or, at k, in a ranking's first k results: 1 or 0."""
    n_hit, n_gold = pl.col(f"n_hit/symbol@{k}"), pl.col("n_gold/symbol")
    return Ratio((n_hit == n_gold) & (n_gold > 0), _ONE)


for _granularity, _what in _OF.items():
    if _granularity != "line":
        _declare_sets(_granularity, _what)
    if _granularity != "editloc":
        _declare_trajectory(_granularity, _what)


@metric(
    "n_steps", title="Steps", ks=(0,), granularity="trajectory", direction="neither", bounds=(0.0, math.inf),
    micro="equals macro", shape="gathered", is_of_steps=True,
)  # fmt: skip
def n_steps(k: int) -> Ratio:
    """Number of steps of a run; for a ranking, the number of its results that are taken as steps."""
    return Ratio(pl.col("n_steps"), _ONE)
