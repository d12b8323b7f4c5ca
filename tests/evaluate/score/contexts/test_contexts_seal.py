"""The seal on the protocols of contexts: every rule moves a number of the fixture it is sealed with."""

from __future__ import annotations

import dataclasses

import pytest

from evaluate.score.conformance import contexts, protocol_hash
from evaluate.score.contexts.scoring import Scored, score_contexts
from lake.catalog.benchmarks.contextbench import CONTEXTS, PUBLISHED
from lake.catalog.protocol import DOCS_CONTEXTS, OFFICIAL_CONTEXTS, ContextRules, Protocol

# Which set of definitions is read is decided where they are read.
RULES = [field.name for field in dataclasses.fields(ContextRules) if field.name != "symbols"]


def under(rules: ContextRules) -> Scored:
    protocol = dataclasses.replace(CONTEXTS, context=rules)
    return score_contexts(protocol, *contexts())


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("base", "other"),
    [(DOCS_CONTEXTS, OFFICIAL_CONTEXTS), (OFFICIAL_CONTEXTS, DOCS_CONTEXTS)],
    ids=["docs", "official"],
)
def test_every_rule_moves_a_number(base: ContextRules, other: ContextRules, rule: str) -> None:
    changed = dataclasses.replace(base, **{rule: getattr(other, rule)})
    before, after = under(base), under(changed)
    assert not before.scores.equals(after.scores) or not before.steps.equals(after.steps)


@pytest.mark.parametrize("protocol", [CONTEXTS, PUBLISHED], ids=lambda one: one.name)
def test_a_rule_is_part_of_the_seal_and_a_title_is_not(protocol: Protocol) -> None:
    other = OFFICIAL_CONTEXTS if protocol is CONTEXTS else DOCS_CONTEXTS
    assert protocol.context is not None
    changed = dataclasses.replace(protocol.context, symbols=other.symbols)
    assert protocol_hash(dataclasses.replace(protocol, context=changed)) != protocol_hash(protocol)
    assert protocol_hash(dataclasses.replace(protocol, title="Another")) == protocol_hash(protocol)


def test_the_fixture_gives_both_rankings_and_agents_numbers_and_gaps() -> None:
    scores = under(DOCS_CONTEXTS).scores
    for run in contexts()[1].names:
        values = scores.filter(run_id=run)["value"]
        assert 0 < values.null_count() < len(values)
        assert values.n_unique() > 10
