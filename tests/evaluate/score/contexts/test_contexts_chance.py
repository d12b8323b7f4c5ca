import dataclasses
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import polars as pl
import pytest

from evaluate.score.conformance import contexts, protocol_hash
from evaluate.score.contexts.chance import expected_coverage
from evaluate.score.contexts.material import ContextRuns, Material
from evaluate.score.contexts.scoring import Scored, score_contexts
from lake.catalog.protocol import DOCS_CONTEXTS, OFFICIAL_CONTEXTS, ContextRules, Protocol
from lake.tables import RANKING
from tests.evaluate.score.contexts.contexts_world import CONTEXTS, PUBLISHED, View, ranking, scored, world

KEY = ["granularity", "metric", "k"]
# A file that begins with a line which no budget pays for, as minified ones do.
WIDE = f"{'x' * 9_000}\n" + "".join(f"line {number}\n" for number in range(9))
DEFINITIONS = (
    ("a.py", 0, 45, "class", "A", "A"),
    ("a.py", 9, 40, "method", "f", "A.f"),
    ("a.py", 60, 80, "method", "f", "A.f"),
    ("wide.py", 9_001, 9_030, "function", "g", "g"),
)
GOLD = (("a.py", 2, 8), ("wide.py", 1, 4), ("gone.py", 1, 2))
MIXED = world({"a.py": "12345678\n" * 10, "wide.py": WIDE}, GOLD, DEFINITIONS)
# Windows that overlap, more of one file than of the other.
WINDOWS = [View("a.py", 1, 4), View("a.py", 3, 7), View("a.py", 6, 10), View("wide.py", 1, 2), View("wide.py", 2, 10)]


def closed(protocol: Protocol, material: Material, chunks: Sequence[View], n_first: int) -> pl.DataFrame:
    gold = set(material.gold["path"])
    rows = [(chunk.path, (chunk.start or 0) - 1, chunk.end) for chunk in chunks if chunk.path in gold]
    hits = pl.DataFrame(rows, schema=["path", "line_start", "line_end"], orient="row").with_columns(
        *(pl.lit(None, pl.String).alias(name) for name in ("path_given", "symbol")),
        run_id=pl.lit("any"),
        item_id=pl.lit("item"),
        part=pl.lit(RANKING),
        step=pl.lit(0, pl.Int64),
        rank=pl.int_range(1, pl.len() + 1),
    )
    answered = pl.DataFrame({"run_id": "any", "item_id": "item", "status": "done"}).with_columns(
        n_steps=pl.lit(None, pl.Int64), has_patch=pl.lit(None, pl.Boolean), is_ranking=True
    )
    sizes = pl.DataFrame({"item_id": "item", "n": len(chunks), "n_first": n_first})
    return expected_coverage(protocol, material, ContextRuns(answered, hits, hits.clear()), sizes)


def drawn(protocol: Protocol, material: Material, orders: Sequence[Sequence[View]]) -> pl.DataFrame:
    scores = scored(protocol, material, *(ranking(order) for order in orders)).scores
    numbers = pl.col("value", "numerator")
    return scores.group_by(KEY).agg(numbers.mean(), error=pl.col("value").std() / pl.col("value").count().sqrt())


@pytest.mark.parametrize(("protocol", "n_first"), [(CONTEXTS, 5), (PUBLISHED, 4)], ids=["docs", "official"])
def test_coverage_in_closed_form_is_the_mean_of_every_order(protocol: Protocol, n_first: int) -> None:
    # Everything that has a closed form, cut off early enough for a small pool.
    sets = [(f"{of}_coverage", (1, 2, 4)) for of in ("file", "symbol", "span")]
    areas = [(f"{of}_auc", (0,)) for of in ("file", "symbol", "span", "line")]
    protocol = replace(protocol, metrics=(*sets, *areas))
    every = list(permutations(WINDOWS))
    both = closed(protocol, MIXED, WINDOWS, n_first).join(drawn(protocol, MIXED, every), on=KEY, suffix="_drawn")
    assert both.height == 3 * 3 + 4
    for ours, theirs in (("value", "value_drawn"), ("numerator", "numerator_drawn")):
        assert both.select((pl.col(ours) - pl.col(theirs)).abs().max()).item() < 1e-12
    # The published rules leave out the orders that begin with what no budget pays for.
    left_out = drawn(protocol, MIXED, [order for order in every if order[0] == WINDOWS[3]])
    assert left_out["value"].null_count() == (0 if protocol.name == CONTEXTS.name else left_out.height)


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


@pytest.mark.parametrize("protocol", [CONTEXTS, PUBLISHED], ids=lambda protocol: protocol.name)
def test_a_rule_is_part_of_the_seal_and_a_title_is_not(protocol: Protocol) -> None:
    other = OFFICIAL_CONTEXTS if protocol is CONTEXTS else DOCS_CONTEXTS
    assert protocol.context is not None
    changed = dataclasses.replace(protocol.context, symbols=other.symbols)
    assert protocol_hash(dataclasses.replace(protocol, context=changed)) != protocol_hash(protocol)
    assert protocol_hash(dataclasses.replace(protocol, title="Another")) == protocol_hash(protocol)


def test_the_fixture_gives_both_rankings_and_agents_numbers_and_gaps() -> None:
    scores = under(DOCS_CONTEXTS).scores
    for (_,), of_run in scores.group_by("run_id"):
        values = of_run["value"]
        assert 0 < values.null_count() < len(values)
        assert values.n_unique() > 10
