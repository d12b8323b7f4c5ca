"""A gate: what of a comparison fails a change in somebody's own continuous integration."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evaluate.metrics import Metric, parse_metric
from evaluate.results.compared import Compared
from lake.errors import Exit, GoldspanError
from lake.verdict import WORSE


@dataclass(frozen=True)
class Gate:
    """A condition that fails a comparison.

    Attributes:
        metric: By which the two are compared.
        k: Its cut-off.
        change: `drops` or `rises`: the second's number lies so far below or above the first's; `is worse`: the verdict.
        by: How far; 0 for a verdict.
    """

    metric: Metric
    k: int
    change: str
    by: float

    def is_broken_by(self, compared: Compared) -> bool:
        """Whether a comparison of this metric fails it."""
        if (compared.metric, compared.k) != (self.metric.name, self.k):
            return False
        if self.change == "is worse":
            return compared.verdict == WORSE
        return (-compared.delta if self.change == "drops" else compared.delta) > self.by


_GATE = re.compile(r"\s*(\S+)\s+(?:(drops|rises)\s*>\s*(\d+(?:\.\d+)?)|is\s+worse)\s*")


def parse_gate(text: str) -> Gate:
    """`ndcg@10 drops > 0.01` or `ndcg@10 is worse` as a gate.

    Raises:
        GoldspanError: It is written otherwise, or names no metric.
    """
    found = _GATE.fullmatch(text)
    if found is None:
        message = f"--fail-if {text!r} is no condition"
        hint = 'Write it as "ndcg@10 drops > 0.01" (instead of drops: rises), or as "ndcg@10 is worse".'
        raise GoldspanError(message, hint=hint, code=Exit.USAGE)
    metric, k = parse_metric(found[1])
    return Gate(metric, k, found[2] or "is worse", float(found[3] or 0))
