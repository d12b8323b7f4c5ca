"""What a run is scored by: our metrics by their own names, or by those that trec_eval has for them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evaluate.metrics import Metric, metric_named, parse_metric
from evaluate.score.metric_values import label
from lake.errors import Exit, GoldspanError

DEFAULT = (
    "map", "r_precision", "recip_rank", "ndcg", "ndcg@5", "ndcg@10", "ndcg@20", "ndcg@100", "precision@5",
    "precision@10", "precision@20", "precision@100", "recall@5", "recall@10", "recall@20", "recall@100", "success@1",
    "success@5", "success@10",
)  # fmt: skip

_OF_A_LIST = {"map": "map", "Rprec": "r_precision", "recip_rank": "mrr", "ndcg": "ndcg", "set_recall": "recall"}
_CUT_OFF = {"P": "precision", "recall": "recall", "success": "success", "ndcg_cut": "ndcg", "map_cut": "map"}
"""trec_eval's name → ours."""

_CUT = re.compile(r"(\w+)_([1-9][0-9]*)")
_READABLE = {"rank", "n_relevant", "share", "shares"}
_EVERY_RANK = 1 << 40
"""A cut-off that no list reaches."""


@dataclass(frozen=True)
class Measure:
    """A metric with its cut-off, under the name that it is shown by.

    Attributes:
        name: `ndcg@10`; of a whole list the name alone.
        metric: Which.
        k: Its cut-off; 0 is the whole list.
    """

    name: str
    metric: Metric
    k: int

    @property
    def column(self) -> str:
        """What its values are called where they are measured."""
        return label(self.metric, self.k)


def measure_named(text: str) -> Measure:
    """The measure that a text names: `ndcg@10`, or as trec_eval has it `ndcg_cut_10`, `P_10`, `recip_rank`.

    A result's gain in nDCG is its grade, as trec_eval has it; of grades 0 and 1 that is our `ndcg`.

    Raises:
        GoldspanError: There is none of that name, it needs a cut-off, or it asks for more than relevance judgements.
    """
    cut = _CUT.fullmatch(text)
    if text in _OF_A_LIST:
        found, name = (metric_named(_OF_A_LIST[text]), 0), "r_precision" if text == "Rprec" else text
    else:
        written = f"{_CUT_OFF[cut[1]]}@{cut[2]}" if cut is not None and cut[1] in _CUT_OFF else text
        found = parse_metric(written)
        name = f"{found[0].name}@{found[1]}" if found[1] else found[0].name
    metric, k = found
    if metric.name == "ndcg":
        metric = metric_named("ndcg_graded")
    if metric.shape != "ranked" or not metric.at(k or 1).reads <= _READABLE:
        message = f"metric {text!r} asks for more than relevance judgements"
        raise GoldspanError(message, hint="Score a run of a benchmark: python -m evaluate.", code=Exit.USAGE)
    # An ideal list is made of as many as the cut-off says.
    return Measure(name, metric, _EVERY_RANK if metric.name == "ndcg_graded" and k == 0 else k)
