"""Metrics of rankings over relevant hits, of what pools allow, and of completions (RepoCoder's)."""

import math
from functools import cache

import polars as pl

from evaluate.metrics import Ratio, metric
from lake.exact import exact_sum, from_steps, steps

PERSISTENCE = 0.8
_ONE, _N_RELEVANT = pl.lit(1.0), pl.col("n_relevant")
_NTH = pl.col("rank").rank("ordinal")
"""The number of relevant results up to and including this one."""


def within(k: int) -> pl.Expr:
    """Whether a result is among the first k, or, with k 0, anywhere in the list."""
    return pl.col("rank") <= k if k else pl.col("rank") >= 1


def discount(rank: pl.Expr) -> pl.Expr:
    """The weight of a gain at a rank: 1 / log2(rank + 1)."""
    return 1.0 / (rank + 1).log(2)


def hits_within(k: int) -> pl.Expr:
    """The number of relevant results among the first k."""
    return within(k).sum()


@cache
def _ideal(k: int) -> pl.Series:
    """The DCG of the best possible list, n relevant results at ranks 1 to n, for n from 0 to k."""
    gains = steps(discount(pl.int_range(1, k + 1)))
    # Summed in exact steps like a list's own gain, so that a perfect list scores exactly 1.
    return pl.select(from_steps(pl.concat([pl.lit(0, pl.Int128), gains.cum_sum()]))).to_series()


@metric("precision", ks=(5, 10), micro="equals macro", formula=("", "relevant results among the first k", "k"))
def precision(k: int) -> Ratio:
    """Share of the first k results that are relevant: hits / k, always over k, even when fewer were returned."""
    return Ratio(hits_within(k), pl.lit(k))


@metric(
    "file_recall", ks=(1, 3, 5, 10), granularity="file", shape="filed",
    meaning="Share of the gold files that are among the first k different files of the list. Not defined for random.",
    formula=("", "gold files among the first k files", "gold files"),
)  # fmt: skip
@metric("recall", ks=(5, 10), formula=("", "relevant results among the first k", "relevant chunks of the pool"))
def recall(k: int) -> Ratio:
    """Share of all relevant chunks of the pool that are among the first k results; 0 if the pool has none."""
    return Ratio(hits_within(k), _N_RELEVANT)


_ANY = ("1 if any of the first k results is relevant, else 0",)
_HIT = "Whether any of the first k results is relevant"


@metric("hit", title="Hit rate", ks=(5, 10), micro="equals macro", meaning=f"{_HIT}: 1 or 0.", formula=_ANY)
@metric(
    "success", ks=(1, 5, 10), micro="equals macro", formula=_ANY,
    meaning=f"{_HIT}, 1 or 0: the hit rate by the name trec_eval has for it.",
)  # fmt: skip
@metric(
    "correct", title="Found at all", granularity="item", micro="equals macro",
    meaning="Whether anything in the whole list is relevant: 1 or 0.",
    formula=("1 if anything in the list is relevant, else 0",),
)  # fmt: skip
@metric("accuracy", ks=(1, 3, 5), micro="equals macro", formula=("1 if the gold is among the first k, else 0",))
def accuracy(k: int) -> Ratio:
    """Whether the right candidate is among the first k: 1 or 0."""
    return Ratio(within(k).any(), _ONE)


@metric(
    "file_mrr", title="File MRR", ks=(10,), granularity="file", micro="undefined", shape="filed",
    meaning="Reciprocal rank of the first gold file among the first k different files, else 0. Not defined for random.",
    formula=("", "1", "rank of the first gold file, if ≤ k"),
)  # fmt: skip
@metric("mrr", title="MRR", ks=(10,), micro="undefined", formula=("", "1", "rank of the first relevant result, if ≤ k"))
def mrr(k: int) -> Ratio:
    """Reciprocal rank of the first relevant result within the first k (by default 10), else 0."""
    return Ratio((1.0 / pl.col("rank")).filter(within(k)).max(), _ONE)


@metric(
    "ndcg", title="nDCG", ks=(5, 10), micro="undefined",
    formula=("", "Σᵢ₌₁…ₖ relevantᵢ ÷ log₂(i + 1)", "Σᵢ₌₁…min(k, relevant) 1 ÷ log₂(i + 1)"),
)  # fmt: skip
def ndcg(k: int) -> Ratio:
    """Discounted gain of the first k results over that of an ideal list.

    Gain is 1 for a relevant result, the discount is log2(rank + 1), and the ideal list holds min(k, relevant) of them.
    If relevance is graded, gain is the grade, and the ideal list has the highest grades first.
    """
    ideal = pl.lit(_ideal(k)).gather(pl.min_horizontal("n_relevant", pl.lit(k)))
    return Ratio(exact_sum(discount(pl.col("rank")).filter(within(k))), ideal)


@metric(
    "iou", title="Best IoU", ks=(5, 10), micro="undefined",
    formula=("max over the first k of ", "|result ∩ gold|", "|result ∪ gold|"),
)  # fmt: skip
def iou(k: int) -> Ratio:
    """Best intersection over union, in lines, between the gold lines of a file and one of the first k results in it."""
    return Ratio(pl.col("iou").filter(within(k)).max(), _ONE)


@metric(
    "ndcg_iou", title="nDCG by IoU", ks=(5, 10), micro="undefined",
    formula=("", "Σᵢ₌₁…ₖ IoUᵢ ÷ log₂(i + 1)", "the same of the pool's best order"),
)  # fmt: skip
def ndcg_iou(k: int) -> Ratio:
    """Like nDCG, but a result's gain is its IoU with the gold, and the ideal is the best order of the pool's chunks."""
    return Ratio(_dcg("iou", k), _ideal_dcg("gains", k))


@metric("dcg_iou", title="DCG by IoU", ks=(5, 10), micro="undefined", formula=("min(1, Σᵢ₌₁…ₖ IoUᵢ ÷ log₂(i + 1))",))
def dcg_iou(k: int) -> Ratio:
    """Like nDCG by IoU, but the ideal is 1: a first result that is exactly the gold. Values above 1 count as 1."""
    return Ratio(pl.min_horizontal(_dcg("iou", k), _ONE), _ONE)


def _dcg(gain: str, k: int) -> pl.Expr:
    return exact_sum((pl.col(gain) * discount(pl.col("rank"))).filter(within(k)))


def _ideal_dcg(gains: str, k: int) -> pl.Expr:
    rank = pl.int_range(1, pl.len() + 1)
    return pl.col(gains).list.head(k).list.eval(exact_sum(pl.element() * discount(rank))).list.first()


@metric("accuracy_reachable", title="Accuracy, reachable", ks=(1, 3, 5), micro="equals macro", is_undefined_null=True)
def accuracy_reachable(k: int) -> Ratio:
    """Accuracy over the items whose pool contains a relevant chunk; no value for other items."""
    return Ratio(within(k).any(), pl.col("n_relevant") > 0)


@metric(
    "non_gold_share", title="From another candidate", ks=(5,), direction="neither", shape="found",
    is_undefined_null=True,
    formula=("", "relevant results among the first k not from the gold", "relevant results among the first k"),
)  # fmt: skip
def non_gold_share(k: int) -> Ratio:
    """Share of relevant results among the first k that are not from the gold candidate; no value if there are none."""
    return Ratio((within(k) & ~pl.col("is_gold")).sum(), hits_within(k))


@metric(
    "found_rank", title="Rank of the first", granularity="item", direction="lower", bounds=(1.0, math.inf),
    micro="undefined", shape="found", is_undefined_null=True,
)  # fmt: skip
def found_rank(k: int) -> Ratio:
    """The rank of the first relevant result in the whole list; no value if there is none."""
    return Ratio(pl.col("rank").filter(within(k)).min(), within(k).any())


@metric("best_similarity", granularity="item", micro="undefined")
def best_similarity(k: int) -> Ratio:
    """Highest similarity to the gold of any result in the list, as the relevance rule measures it; 0 if none.

    If gold is lines, intersection over union in lines; if it is a snippet, the share of tokens or identifiers.
    """
    # Over all results, as the similarity may be below the threshold of relevance.
    returned = pl.col("place") <= k if k else pl.col("place") >= 1
    return Ratio(pl.col("similarity").filter(returned).max(), _ONE)


@metric(
    "reachable", granularity="item", micro="equals macro", shape="pooled",
    formula=("1 if any chunk of the pool is relevant, else 0",),
)  # fmt: skip
def reachable(k: int) -> Ratio:
    """Whether any chunk of the pool is relevant: 1 or 0. It depends on the chunker alone; no ranking can do better."""
    return Ratio(pl.col("n_relevant") > 0, _ONE)


@metric("boundary_similarity", granularity="item", micro="undefined", shape="pooled", is_undefined_null=True)
def boundary_similarity(k: int) -> Ratio:
    """Similarity of the gold snippet to the most similar of its own chunks: 1 if the chunker leaves it whole.

    It does not depend on the ranking. No value if the pool does not contain the snippet as a candidate.
    """
    return Ratio(pl.col("boundary"), pl.col("boundary").is_not_null())


@metric(
    "em", title="Exact match", granularity="completion", micro="equals macro", shape="completed",
    formula=("1 if the lines are equal, else 0",),
)  # fmt: skip
def em(k: int) -> Ratio:
    """Whether the completion has exactly the target's lines: stripped, without blank lines, cut to the same number."""
    return Ratio(pl.col("is_exact"), _ONE)


@metric(
    "es", title="Edit similarity", granularity="completion", micro="undefined", shape="completed",
    formula=("1 − ", "edit distance", "length of the longer"),
)  # fmt: skip
def es(k: int) -> Ratio:
    """One minus the edit distance over the longer length, of the same lines joined by newlines; 0 without an answer."""
    return Ratio(pl.col("similarity"), _ONE)


# Metrics that readers of retrieval tables expect, in their standard definitions; no protocol's seal covers them.


@metric(
    "map", title="Average precision", ks=(0, 10, 100), micro="undefined",
    formula=("", "Σᵢ₌₁…ₖ relevantᵢ × precision at i", "relevant chunks of the pool"),
)  # fmt: skip
def average_precision(k: int) -> Ratio:
    """Mean over all relevant chunks of the precision at the rank of each; 0 for those not among the first k.

    Equal to trec_eval's map_cut, or, without k, to its map over the whole list that a run keeps.
    """
    return Ratio(exact_sum((_NTH / pl.col("rank")).filter(within(k))), _N_RELEVANT)


@metric(
    "r_precision", title="R-precision",
    formula=("", "relevant results among the first R", "R = relevant chunks of the pool"),
)  # fmt: skip
def r_precision(k: int) -> Ratio:
    """Precision among the first R results, where R is the number of relevant chunks in the pool; 0 if it has none."""
    return Ratio((pl.col("rank") <= _N_RELEVANT).sum(), _N_RELEVANT)


@metric("f1", ks=(5, 10), formula=("", "2 × relevant results among the first k", "k + relevant chunks of the pool"))
def f1(k: int) -> Ratio:
    """Harmonic mean of precision and recall at k: twice the relevant results over k and all relevant chunks."""
    return Ratio(2 * hits_within(k), _N_RELEVANT + k)


@metric(
    "ndcg_graded", title="Graded nDCG", ks=(5, 10), micro="undefined",
    formula=("", "Σᵢ₌₁…ₖ gainᵢ ÷ log₂(i + 1)", "the same of the pool's best order"),
)  # fmt: skip
def ndcg_graded(k: int) -> Ratio:
    """Like nDCG, but a result's gain is its share of the item's gold lines; the ideal is the pool's best order.

    Equal to trec_eval's ndcg_cut with the number of gold lines in a chunk as its grade.
    """
    return Ratio(_dcg("share", k), _ideal_dcg("shares", k))


@metric(
    "err", title="ERR", ks=(10,), micro="undefined",
    formula=("Σᵢ₌₁…ₖ ", "relevantᵢ", "i × 2^(relevant results up to i)"),
)  # fmt: skip
def err(k: int) -> Ratio:
    """Expected reciprocal rank at which a reader stops who stops at each relevant result with probability 1/2.

    Defined by Chapelle et al. as (2^grade - 1) / 2^(highest grade), here with grades 0 and 1; a tool that always takes
    4 as the highest grade gives less.
    """
    return Ratio(exact_sum((0.5**_NTH / pl.col("rank")).filter(within(k))), _ONE)


@metric("rbp", title="RBP", ks=(10, 100), micro="undefined", formula=("0.2 × Σᵢ₌₁…ₖ relevantᵢ × 0.8^(i − 1)",))
def rbp(k: int) -> Ratio:
    """Rank-biased precision of the first k: the gain of a reader who reads on after a result with probability 0.8."""
    gain = (1 - PERSISTENCE) * PERSISTENCE ** (pl.col("rank") - 1)
    return Ratio(exact_sum(gain.filter(within(k))), _ONE)


@metric(
    "judged", ks=(5, 10), direction="neither", shape="listed",
    formula=("", "results among the first k whose relevance is known", "results among the first k"),
)  # fmt: skip
def judged(k: int) -> Ratio:
    """Share of the first k results whose relevance is known because their file is in the searched pool."""
    return Ratio((within(k) & pl.col("is_judged")).sum(), hits_within(k))


@metric(
    "all_files", title="All gold files", ks=(1, 3, 5), granularity="file", micro="equals macro", shape="filed",
    formula=("1 if all gold files are among the first k files, else 0",),
)  # fmt: skip
def all_files(k: int) -> Ratio:
    """Whether all gold files are among the first k different files of the list: 1 or 0.

    Agentless and Loc-Bench call it Acc@k. Not defined for random.
    """
    return Ratio(hits_within(k) == _N_RELEVANT.first(), _ONE)
