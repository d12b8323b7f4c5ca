"""What each metric computes, as a formula that can be read as text: a fraction, or a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Formula(NamedTuple):
    """What stands before a fraction, above its line, and below it; without a line all of it stands before."""

    before: str
    above: str = ""
    below: str = ""


_HIT = Formula("1 if any of the first k results is relevant, else 0")
_DISCOUNT = "log₂(i + 1)"
_GAIN = f"Σᵢ₌₁…ₖ gainᵢ ÷ {_DISCOUNT}"

FORMULAS: Mapping[str, Formula] = {
    "accuracy": Formula("1 if the gold is among the first k, else 0"),
    "correct": Formula("1 if anything in the list is relevant, else 0"),
    "reachable": Formula("1 if any chunk of the pool is relevant, else 0"),
    "hit": _HIT,
    "success": _HIT,
    "mrr": Formula("", "1", "rank of the first relevant result, if ≤ k"),
    "file_mrr": Formula("", "1", "rank of the first gold file, if ≤ k"),
    "precision": Formula("", "relevant results among the first k", "k"),
    "r_precision": Formula("", "relevant results among the first R", "R = relevant chunks of the pool"),
    "recall": Formula("", "relevant results among the first k", "relevant chunks of the pool"),
    "file_recall": Formula("", "gold files among the first k files", "gold files"),
    "all_files": Formula("1 if all gold files are among the first k files, else 0"),
    "all_lines": Formula("1 if all gold lines are among the first k lines, else 0"),
    "symbol_all": Formula("1 if all gold definitions are in the context, else 0"),
    "f1": Formula("", "2 × relevant results among the first k", "k + relevant chunks of the pool"),
    "map": Formula("", "Σᵢ₌₁…ₖ relevantᵢ × precision at i", "relevant chunks of the pool"),
    "ndcg": Formula("", f"Σᵢ₌₁…ₖ relevantᵢ ÷ {_DISCOUNT}", f"Σᵢ₌₁…min(k, relevant) 1 ÷ {_DISCOUNT}"),
    "ndcg_graded": Formula(
        "",
        _GAIN,
        "the same of the pool's best order",
    ),
    "ndcg_iou": Formula("", f"Σᵢ₌₁…ₖ IoUᵢ ÷ {_DISCOUNT}", "the same of the pool's best order"),
    "dcg_iou": Formula(f"min(1, Σᵢ₌₁…ₖ IoUᵢ ÷ {_DISCOUNT})"),
    "iou": Formula("max over the first k of ", "|result ∩ gold|", "|result ∪ gold|"),
    "err": Formula("Σᵢ₌₁…ₖ ", "relevantᵢ", "i × 2^(relevant results up to i)"),
    "rbp": Formula("0.2 × Σᵢ₌₁…ₖ relevantᵢ × 0.8^(i − 1)"),
    "judged": Formula("", "results among the first k whose relevance is known", "k"),
    "self_share": Formula("", "|lines of the first k ∩ the query's own lines|", "|lines of the first k|"),
    "non_gold_share": Formula("", "relevant results among the first k not from the gold", "relevant ones among them"),
    "es": Formula("1 − ", "edit distance", "length of the longer"),
    "em": Formula("1 if the lines are equal, else 0"),
    "lines_precision": Formula("", "|G ∩ P|", "k"),
    "lines_f1": Formula("", "2 |G ∩ P|", "|G| + k"),
    "lines_efficiency": Formula("", "|G ∩ P|", "|P|"),
}

_BY_ENDING: Mapping[str, Formula] = {
    "coverage": Formula("", "|G ∩ P|", "|G|"),
    "precision": Formula("", "|G ∩ P|", "|P|"),
    "f1": Formula("", "2 |G ∩ P|", "|G| + |P|"),
    "auc": Formula("mean over the steps s of ", "|G ∩ (C₁ ∪ … ∪ Cₛ)|", "|G|"),
    "redundancy": Formula("1 − ", "|C₁ ∪ … ∪ Cₙ|", "|C₁| + … + |Cₙ|"),
}
"""Of what is counted in lines, bytes, definitions or files: what the last word of a metric's name says."""


def formula_of(metric: str) -> Formula | None:
    """A metric's formula; None where its description is all there is to say."""
    return FORMULAS.get(metric) or _BY_ENDING.get(metric.rpartition("_")[2] if "_" in metric else "")
