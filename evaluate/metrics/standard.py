"""Measures that readers of retrieval tables expect, in their standard definitions; none is under a protocol's seal."""

from dataclasses import replace

import polars as pl

from evaluate.metrics import Metric, Micro, Ratio, metric, size_at
from evaluate.metrics.context import OVER_GOLD, OVER_RETURNED
from evaluate.metrics.ranked import discount, hits_within, within
from lake.exact import exact_sum

LINE_BUDGETS = (100, 300, 500)
PERSISTENCE = 0.8
_ONE, _N_RELEVANT, _N_GOLD = pl.lit(1.0), pl.col("n_relevant"), pl.col("n_gold")
_NTH = pl.col("rank").rank("ordinal")
"""How many relevant results there are up to one, itself included."""


@metric(
    "map", title="Average precision", ks=(0, 10, 100), micro="undefined",
    formula=("", "Σᵢ₌₁…ₖ relevantᵢ × precision at i", "relevant chunks of the pool"),
)  # fmt: skip
def average_precision(k: int) -> Ratio:
    """Mean over all relevant chunks of the precision at the rank of each; 0 for those not among the first k.

    As trec_eval's map_cut, and without k its map, over the whole list that a run keeps.
    """
    return Ratio(exact_sum((_NTH / pl.col("rank")).filter(within(k))), _N_RELEVANT)


@metric(
    "r_precision", title="R-precision", micro="ratio of sums",
    formula=("", "relevant results among the first R", "R = relevant chunks of the pool"),
)  # fmt: skip
def r_precision(k: int) -> Ratio:
    """Precision among the first R results, R being how many relevant chunks the pool has; 0 where it has none."""
    return Ratio((pl.col("rank") <= _N_RELEVANT).sum(), _N_RELEVANT)


@metric(
    "success", ks=(1, 5, 10), micro="equals macro", formula=("1 if any of the first k results is relevant, else 0",),
)  # fmt: skip
def success(k: int) -> Ratio:
    """Whether any of the first k results is relevant, 1 or 0: the hit rate by the name trec_eval has for it."""
    return Ratio(within(k).any(), _ONE)


@metric("f1", ks=(5, 10), formula=("", "2 × relevant results among the first k", "k + relevant chunks of the pool"))
def f1(k: int) -> Ratio:
    """Harmonic mean of precision and recall at k: twice the relevant results over k and all relevant chunks."""
    return Ratio(2 * hits_within(k), _N_RELEVANT + k)


@metric(
    "ndcg_graded", title="Graded nDCG", ks=(5, 10), micro="undefined",
    formula=("", "Σᵢ₌₁…ₖ gainᵢ ÷ log₂(i + 1)", "the same of the pool's best order"),
)  # fmt: skip
def ndcg_graded(k: int) -> Ratio:
    """Like nDCG, but a result's gain is its share of the item's gold lines, not 1; the ideal is the best of the pool.

    As trec_eval's ndcg_cut with the number of gold lines in a chunk as its grade.
    """
    rank = pl.int_range(1, pl.len() + 1)
    ideal = pl.col("shares").list.head(k).list.eval(exact_sum(pl.element() * discount(rank))).list.first()
    return Ratio(exact_sum((pl.col("share") * discount(pl.col("rank"))).filter(within(k))), ideal)


@metric(
    "err", title="ERR", ks=(10,), micro="undefined",
    formula=("Σᵢ₌₁…ₖ ", "relevantᵢ", "i × 2^(relevant results up to i)"),
)  # fmt: skip
def err(k: int) -> Ratio:
    """Expected reciprocal rank at which a reader stops, who stops at a relevant result with chance 1/2.

    Chapelle and others' (2^grade - 1) / 2^(highest grade) with grades 0 and 1; a tool that takes 4 as the highest grade
    whatever the data has gives less.
    """
    return Ratio(exact_sum((0.5**_NTH / pl.col("rank")).filter(within(k))), _ONE)


@metric("rbp", title="RBP", ks=(10, 100), micro="undefined", formula=("0.2 × Σᵢ₌₁…ₖ relevantᵢ × 0.8^(i − 1)",))
def rbp(k: int) -> Ratio:
    """Rank-biased precision of the first k: what a reader gains who goes on to the next result with chance 0.8."""
    gain = (1 - PERSISTENCE) * PERSISTENCE ** (pl.col("rank") - 1)
    return Ratio(exact_sum(gain.filter(within(k))), _ONE)


@metric(
    "judged", ks=(5, 10), direction="neither", shape="listed",
    formula=("", "results among the first k whose relevance is known", "k"),
)  # fmt: skip
def judged(k: int) -> Ratio:
    """Share of the first k results whose relevance is known: those that are files of the searched pool."""
    return Ratio((within(k) & pl.col("is_judged")).sum(), hits_within(k))


@metric(
    "file_recall", ks=(1, 3, 5, 10), granularity="file", shape="filed",
    formula=("", "gold files among the first k files", "gold files"),
)  # fmt: skip
def file_recall(k: int) -> Ratio:
    """Share of the gold files that are among the first k different files of the list. Not defined for random."""
    return Ratio(hits_within(k), _N_RELEVANT)


@metric(
    "file_mrr", title="File MRR", ks=(10,), granularity="file", micro="undefined", shape="filed",
    formula=("", "1", "rank of the first gold file, if ≤ k"),
)  # fmt: skip
def file_mrr(k: int) -> Ratio:
    """Reciprocal rank of the first gold file among the first k different files, else 0. Not defined for random."""
    return Ratio((1.0 / pl.col("rank")).filter(within(k)).max(), _ONE)


@metric(
    "all_files", title="All gold files", ks=(1, 3, 5), granularity="file", micro="equals macro", shape="filed",
    formula=("1 if all gold files are among the first k files, else 0",),
)  # fmt: skip
def all_files(k: int) -> Ratio:
    """Whether all gold files are among the first k different files of the list: 1 or 0.

    Agentless and Loc-Bench call it Acc@k. Not defined for random.
    """
    return Ratio(hits_within(k) == _N_RELEVANT.first(), _ONE)


def _of_lines(name: str, title: str, *formula: str, micro: Micro = "ratio of sums") -> Metric:
    """A metric of the first k different lines returned, blank ones counted."""
    like = Metric(name, title=title, ks=LINE_BUDGETS, granularity="line", shape="covered", cut="lines")
    return replace(like, formula=formula, micro=micro)


def _n(size: str, k: int) -> pl.Expr:
    return pl.col(size_at(f"n_{size}", "lines", k))


_ALL = "1 if all gold lines are among the first k lines, else 0"


@_of_lines("all_lines", "All gold lines", _ALL, micro="equals macro")
def all_lines(k: int) -> Ratio:
    """Whether all gold lines are among the first k different lines returned, blank ones counted: 1 or 0."""
    return Ratio(_n("both", k) == _N_GOLD, _ONE)


@_of_lines("lines_coverage", "Coverage", *OVER_GOLD)
def lines_coverage(k: int) -> Ratio:
    """Share of the gold lines that are among the first k different lines returned, blank ones counted."""
    return Ratio(_n("both", k), _N_GOLD)


@_of_lines("lines_precision", "Precision", "", "|G ∩ P|", "k")
def lines_precision(k: int) -> Ratio:
    """Gold lines among the first k different lines returned, over k, even when fewer were returned."""
    return Ratio(_n("both", k), pl.lit(k))


@_of_lines("lines_f1", "F1", "", "2 |G ∩ P|", "|G| + k")
def lines_f1(k: int) -> Ratio:
    """Harmonic mean of coverage and precision at k lines: twice the lines in both, over the gold lines and k."""
    return Ratio(2 * _n("both", k), _N_GOLD + k)


@_of_lines("lines_efficiency", "Context efficiency", *OVER_RETURNED)
def lines_efficiency(k: int) -> Ratio:
    """Share of the first k different lines returned that are gold, over as many as were returned; 0 for none."""
    return Ratio(_n("both", k), _n("returned", k))
