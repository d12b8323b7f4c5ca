import dataclasses
from collections.abc import Iterator

import pytest

from evaluate.metrics import metrics_of, ranked
from evaluate.score.conformance import protocol_hash, seal_of
from lake.benchmarks import protocols
from lake.catalog.protocol import Primary, Protocol
from lake.relevance import RELEVANCE

CHUNKING = protocols()["repoeval@chunking-v1"]


@pytest.fixture
def unsealed() -> Iterator[None]:
    protocol_hash.cache_clear()
    yield
    protocol_hash.cache_clear()


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


@pytest.mark.usefixtures("unsealed")
def test_a_change_that_moves_no_number_keeps_the_seal(monkeypatch: pytest.MonkeyPatch) -> None:
    # nDCG is the same by any base: numerator and ideal change alike.
    binary = dataclasses.replace(CHUNKING, metrics=(("ndcg", (5, 10)),), primary=Primary("ndcg", 10, "chunk", "macro"))
    before = seal_of(binary)
    monkeypatch.setattr(ranked, "discount", lambda rank: 1.0 / (rank + 1).log(3))
    ranked._ideal.cache_clear()
    assert seal_of(binary) == before
    ranked._ideal.cache_clear()
