import dataclasses

import pytest

from evaluate.metrics import metrics_of
from evaluate.score.conformance import protocol_hash
from lake.benchmarks import protocols
from lake.catalog.protocol import Primary, Protocol
from lake.relevance import RELEVANCE

CHUNKING = protocols()["repoeval@chunking-v1"]


@pytest.mark.parametrize("protocol", protocols().values(), ids=lambda protocol: str(protocol.name))
def test_the_rules_of_a_protocol_fit_one_another(protocol: Protocol) -> None:
    measured = [(metric.granularity, metric.name, k) for metric, k in metrics_of(protocol)]
    assert (protocol.primary.granularity, protocol.primary.metric, protocol.primary.k) in measured
    assert {rule[:2] for rule in protocol.applies} <= {(name, k) for _, name, k in measured}
    has_threshold = bool(RELEVANCE[protocol.relevance].similarity) or protocol.relevance == "line-iou"
    assert has_threshold == (protocol.threshold is not None)


def test_every_rule_is_under_the_seal() -> None:
    other: dict[str, object] = {
        "name": "repoeval@other-v1",
        "version": 2,
        "tasks": ("repoeval/other",),
        "gold": "other",
        "headline": None,
        "source": "elsewhere",
        "parity_only": True,
        "metrics": CHUNKING.metrics[1:],
        "primary": Primary("ndcg", 5, "chunk", "macro"),
    }
    hashes = {protocol_hash(CHUNKING)}
    for field, value in other.items():
        changed: Protocol = dataclasses.replace(CHUNKING, **{field: value})  # type: ignore[arg-type]  # one field at a time
        assert protocol_hash(changed) not in hashes, field
        hashes.add(protocol_hash(changed))
