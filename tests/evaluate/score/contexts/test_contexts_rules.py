from collections.abc import Mapping

import polars as pl
import pytest

from evaluate.score.contexts.material import Material
from tests.evaluate.score.contexts.contexts_world import (
    CONTEXTS,
    PUBLISHED,
    TEN_LINES,
    Answer,
    View,
    answer,
    numbers,
    of,
    ranking,
    scored,
    world,
)

F = "function_definition", "f", "A.f"
G = "function_definition", "g", "A.g"
FIRST = View("a.py", 1, 2)
IN_TWO, AFTER = answer([FIRST]), answer([FIRST], steps=[[FIRST]])
EDITED = world(gold=[("a.py", 3, 6)], gold_edits=[("a.py", 3), ("b.py", 1)])

Numbers = tuple[float | None, float | None, float | None]
NONE, NOTHING, UNASKED = (None, None, None), (0, 0, 0), (1, 0, 0)

RULES: Mapping[str, tuple[Material, Answer, Mapping[str, tuple[Numbers, Numbers]]]] = {
    # Twice A.f, which as published are two: its second ends before G begins, whose end is a byte later there.
    "symbols of one qualified name are one, and nodes are two": (
        world(definitions=[("a.py", 0, 27, *F), ("a.py", 27, 54, *F), ("a.py", 60, 90, *G)], gold=[("a.py", 1, 6)]),
        IN_TWO, {"symbol_coverage": ((1, 1, 1), (0.5, 1, 2))},
    ),
    "named symbols are added, or stand in place of those that spans overlap": (
        world(definitions=[("a.py", 0, 18, *F), ("a.py", 45, 80, *G)], gold=[("a.py", 1, 2)]),
        answer([FIRST, View("a.py", symbol="A.g")]), {"symbol_precision": ((0.5, 1, 2), (0, 0, 1))},
    ),
    "empty gold at a granularity has no value, or is covered": (
        world(gold=[("a.py", 1, 2)]), AFTER,
        {"symbol_coverage": (NONE, UNASKED), "symbol_auc": (NONE, (1, None, None))},
    ),
    "without any gold lines no step covers them as published": (
        world(gold=[]), AFTER,
        {"line_coverage": (NONE, UNASKED), "line_auc": (NONE, (0, None, None)), "span_auc": (NONE, (1, None, None))},
    ),
    "an empty prediction is worth nothing, or precise": (
        world(definitions=[("a.py", 18, 45, *F)]), answer([View("b.py")]),
        {"line_precision": (NOTHING, UNASKED), "symbol_precision": (NOTHING, UNASKED),
         "line_coverage": ((0, 0, 3), (0, 0, 3))},
    ),
    "unresolved files count among the predicted, or not at all": (
        world(), answer([View("a.py"), View("nowhere.py"), View("elsewhere.py"), View("nowhere.py")]),
        {"file_precision": ((1 / 3, 1, 3), (1, 1, 1))},
    ),
    "the files of spans are predicted files, or not": (
        world(), IN_TWO, {"file_coverage": ((1, 1, 1), (0, 0, 1))},
    ),
    "a view of a whole file is a span over it, or names a file": (
        world(), answer([View("a.py", 1)]),
        {"line_coverage": ((1, 3, 3), (0, 0, 3)), "file_coverage": ((1, 1, 1), (1, 1, 1)),
         "span_precision": ((27 / 90, 27, 90), UNASKED)},
    ),
    "a context of named symbols alone is none as published": (
        world(definitions=[("a.py", 18, 45, *F)]), answer([View("a.py", symbol="A.f")]),
        {"symbol_coverage": ((1, 1, 1), NONE)},
    ),
    "without steps nothing is covered on the way, or the final context is the step": (
        world(), answer([View("a.py", 3, 4), View("a.py")]),
        {"line_auc": ((0, None, None), (2 / 3, None, None)), "line_redundancy": (NONE, (0, 0, 2)),
         "n_steps": ((0, 0, 1), (1, 1, 1))},
    ),
    "lines beyond the file are cut off, or counted": (
        world(), answer([View("a.py", 5, 30)]), {"line_precision": ((1 / 6, 1, 6), (1 / 26, 1, 26))},
    ),
    "bytes end where the file does in both": (
        world(), answer([View("a.py", 10, 30)]), {"span_precision": ((0, 0, 9), (0, 0, 9))},
    ),
    "but for a line behind its last newline": (
        world(), answer([View("a.py", 11, 11)]), {"span_precision": (NOTHING, (0, 0, 1))},
    ),
    "a line at 0 is cut to the first, or dropped": (
        world(), answer([View("a.py", 0, 4)]),
        {"line_precision": ((0.5, 2, 4), UNASKED), "span_precision": ((0.5, 18, 36), (0.5, 18, 36))},
    ),
    "a reversed range holds nothing, or less than nothing": (
        world(), answer([View("a.py", 9, 5), View("a.py", 1, 4)]),
        {"line_precision": ((0.5, 2, 4), (2, 2, 1)), "span_precision": ((0.5, 18, 36), (0.5, 18, 36))},
    ),
    # F ends before byte 18, where line 3 begins; G begins behind its last byte and is not met.
    "a definition that ends where a span begins is overlapped as published": (
        world(definitions=[("a.py", 0, 18, *F), ("a.py", 27, 50, *G)], gold=[("a.py", 3, 3)]),
        answer([View("a.py", 3, 3)]), {"symbol_coverage": (NONE, (1, 1, 1))},
    ),
    # `.eslintrc.js` as the published code has it: the dot is gone.
    "gold that is in no repository never matches as published": (
        world(gold=[("eslintrc.js", 1, 10), ("a.py", 1, 10)]),
        answer([View("a.py", 1, 10), View("a.py"), View("eslintrc.js", 1, 10), View("eslintrc.js")]),
        {"line_coverage": ((1, 10, 10), (0.5, 10, 20)), "file_coverage": ((0.5, 1, 2), (0.5, 1, 2)),
         "span_coverage": ((1, 90, 90), (1, 90, 90))},
    ),
    # Recall is hits over predicted lines as well as published, while the sum goes over the gold context's size.
    "edits are held against the gold patch, or the gold context": (
        EDITED, answer([FIRST], patch=[("a.py", 3), ("a.py", 4), ("b.py", 9)]),
        {"editloc_coverage": ((0.5, 1, 2), (2 / 3, 2, 4)), "editloc_precision": ((1 / 3, 1, 3), (2 / 3, 2, 3))},
    ),
    "without a patch a system that edits scores nothing": (
        EDITED, answer([FIRST], patch=[]),
        {"editloc_coverage": ((0, 0, 2), (0, 0, 4)), "editloc_precision": (NOTHING, NOTHING)},
    ),
    "editing is not applicable to what never edits, or it is lent the gold patch": (
        EDITED, IN_TWO, {"editloc_precision": (NONE, (0.5, 1, 2))},
    ),
    "editing is not applicable where nobody has a patch": (
        world(has_gold_patch=False), IN_TWO, {"editloc_precision": (NONE, NONE)},
    ),
    "an empty file has one byte as published": (
        world({"a.py": TEN_LINES, "empty.py": ""}, gold=[("empty.py", 1, 1), ("a.py", 1, 1)]),
        answer([View("empty.py", 1, 1), View("empty.py")]), {"span_coverage": ((0, 0, 9), (0.1, 1, 10))},
    ),
    "the last line without an end is as long as it is, and has none behind it": (
        world({"a.py": "one\ntwo"}, gold=[("a.py", 2, 3)]), answer([View("a.py", 1, 5)]),
        {"span_coverage": ((1, 3, 3), (1, 3, 3))},
    ),
}  # fmt: skip
"""What the documented rules make of an answer, or the published ones: value, numerator and denominator of metrics."""


@pytest.mark.parametrize("rule", RULES)
def test_each_protocol_goes_by_its_own_rules(rule: str) -> None:
    material, given, wanted = RULES[rule]
    scores = {metric: tuple(of(rules, material, given, metric) for rules in (CONTEXTS, PUBLISHED)) for metric in wanted}
    assert scores == wanted


def test_an_item_without_a_context_scores_nothing_or_is_left_out() -> None:
    seen = answer([View("nowhere.py", 1, 5)], steps=[[View("a.py", 3, 5)]], status="no-context")
    values = numbers(CONTEXTS, world(), seen)
    assert (values["line_f1"], values["file_coverage"], values["line_auc"], values["n_steps"]) == (0.0, 0.0, 1.0, 1.0)
    assert set(numbers(PUBLISHED, world(), seen).values()) == {None}


def test_an_item_that_a_run_passed_over_scores_nothing_or_is_left_out() -> None:
    values = numbers(CONTEXTS, world(), None)
    names = ("line_f1", "line_auc", "line_redundancy", "n_steps")
    assert [values[name] for name in names] == [0.0, 0.0, None, None]
    assert set(numbers(PUBLISHED, world(), None).values()) == {None}


LONG = "".join(f"{'x' * 99}\n" for _ in range(400))
"""400 lines of 99 characters: 80 of them are paid for by 8,000, 20 by 2,000."""


def long(gold: tuple[int, int] = (1, 100)) -> Material:
    return world({"a.py": LONG, "b.py": LONG}, [("a.py", *gold)])


def test_a_rankings_final_context_is_cut_at_8000_characters_at_a_lines_end() -> None:
    seen = ranking([View("a.py", 1, 30), View("a.py", 20, 60), View("b.py", 1, 50)])
    assert of(CONTEXTS, long(), seen, "line_precision") == (60 / 80, 60.0, 80.0)
    assert of(PUBLISHED, long(), seen, "line_precision") == (60 / 80, 60.0, 80.0)
    assert of(CONTEXTS, long(), seen, "span_precision") == (60 / 80, 6_000.0, 8_000.0)


def test_the_results_of_a_ranking_are_files_to_the_published_rules_as_well() -> None:
    values = numbers(PUBLISHED, long(), ranking([View("b.py", 1, 10), View("a.py", 1, 50)]))
    assert (values["file_coverage"], values["file_precision"], values["file_auc"]) == (1.0, 0.5, 19 / 20)
    # Of an agent they are what was named as a file.
    agent = numbers(PUBLISHED, long(), answer([View("a.py", 1, 50)]))
    assert (agent["file_coverage"], agent["file_precision"]) == (0.0, 1.0)


def test_budgets_cut_agents_and_rankings_alike_in_the_order_given() -> None:
    views = [View("b.py", 1, 10), View("a.py", 41, 60), View("a.py", 1, 50)]
    agent, ranked = (numbers(CONTEXTS, long(), given) for given in (answer(views), ranking(views)))
    for name in ("line_coverage", "line_precision", "line_f1"):
        for budget in (2_000, 8_000, 32_000):
            assert agent[f"{name}@{budget}"] == ranked[f"{name}@{budget}"]
    assert agent["line_coverage@2000"] == 0.1
    assert agent["line_precision@2000"] == 0.5
    assert agent["line_coverage@8000"] == agent["line_coverage"] == 0.6


def test_blank_lines_cost_nothing_and_the_first_line_too_dear_ends_the_walk() -> None:
    text = "x" * 1_999 + "\n\n" + "yy\n" + "z\n"
    material = world({"a.py": text}, [("a.py", 1, 4)])
    seen = answer([View("a.py", 1, 2), View("a.py", 3, 4)])
    # Line 3 would be one character too many; line 4 would fit, but the walk has ended.
    assert numbers(CONTEXTS, material, seen)["line_coverage@2000"] == 0.5


def test_depths_look_at_the_first_results_and_an_agent_has_none() -> None:
    ranked = ranking([View("b.py", number, number) for number in range(1, 6)] + [View("a.py", 1, 10)])
    values = numbers(CONTEXTS, long(), ranked)
    assert [values[f"file_coverage@{k}"] for k in (5, 10, 20)] == [0.0, 1.0, 1.0]
    assert [values[f"span_f1@{k}"] for k in (5, 10)] == [0.0, 2 * 10 / (100 + 15)]
    agent = numbers(CONTEXTS, long(), answer([View("a.py", 1, 10)]))
    assert {agent[f"{of}_coverage@{k}"] for of in ("file", "symbol", "span") for k in (5, 10, 20)} == {None}


def test_a_rankings_steps_are_its_first_20_results_and_the_last_state_stands() -> None:
    values = numbers(CONTEXTS, long(), ranking([View("b.py", 1, 10), View("a.py", 1, 50)]))
    assert (values["n_steps"], values["line_auc"], values["line_redundancy"]) == (20.0, 0.5 * 19 / 20, 0.0)
    further = ranking([View("b.py", 1, 1)] * 20 + [View("a.py", 1, 100)])
    assert numbers(CONTEXTS, long(), further)["line_auc"] == 0.0
    steps = scored(CONTEXTS, long(), further).steps.filter(granularity="line")
    assert (steps["step"].to_list(), set(steps["n_cumulative"])) == (list(range(1, 21)), {1})


def test_an_oracles_order_for_lines_is_what_budgets_cut() -> None:
    seen = ranking([View("b.py", 1, 100), View("a.py", 1, 20)], lines=[View("a.py", 1, 20)])
    values = numbers(CONTEXTS, long(), seen)
    assert (values["line_precision"], values["line_coverage@2000"]) == (1.0, 0.2)
    assert values["file_coverage@5"] == 1.0
    steps = scored(CONTEXTS, long(), seen).steps.filter(granularity="line")
    assert steps["n_cumulative"].to_list()[:2] == [100, 120]


def test_runs_scored_together_have_the_scores_they_have_alone() -> None:
    answers = [
        answer([View("a.py", 1, 30)], steps=[[View("a.py", 5, 9)], [View("b.py", 1, 2)]], patch=[("a.py", 3)]),
        None,
        ranking([View("b.py", 1, 10), View("a.py", 1, 50)]),
        answer([View("nowhere.py", 1, 3)]),
    ]
    for protocol in (CONTEXTS, PUBLISHED):
        together = scored(protocol, long(), *answers).scores
        for number, given in enumerate(answers):
            alone = scored(protocol, long(), given).scores.drop("run_id")
            assert together.filter(pl.col("run_id") == str(number)).drop("run_id").equals(alone)
