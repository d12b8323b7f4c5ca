import polars as pl

from evaluate.score.contexts.material import Material
from tests.evaluate.score.contexts.contexts_world import (
    CONTEXTS,
    PUBLISHED,
    View,
    answer,
    numbers,
    of,
    ranking,
    scored,
    world,
)

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
    found = numbers(PUBLISHED, long(), ranking([View("b.py", 1, 10), View("a.py", 1, 50)]))
    assert (found["file_coverage"], found["file_precision"], found["file_auc"]) == (1.0, 0.5, 19 / 20)
    # Of an agent they are what was named as a file.
    agent = numbers(PUBLISHED, long(), answer([View("a.py", 1, 50)]))
    assert (agent["file_coverage"], agent["file_precision"]) == (0.0, 1.0)


def test_budgets_cut_agents_and_rankings_alike_in_the_order_given() -> None:
    views = [View("b.py", 1, 10), View("a.py", 41, 60), View("a.py", 1, 50)]
    agent, ranked = (numbers(CONTEXTS, long(), one) for one in (answer(views), ranking(views)))
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
    found = numbers(CONTEXTS, long(), ranked)
    assert [found[f"file_coverage@{k}"] for k in (5, 10, 20)] == [0.0, 1.0, 1.0]
    assert [found[f"span_f1@{k}"] for k in (5, 10)] == [0.0, 2 * 10 / (100 + 15)]
    agent = numbers(CONTEXTS, long(), answer([View("a.py", 1, 10)]))
    assert {agent[f"{of}_coverage@{k}"] for of in ("file", "symbol", "span") for k in (5, 10, 20)} == {None}


def test_a_rankings_steps_are_its_first_20_results_and_the_last_state_stands() -> None:
    found = numbers(CONTEXTS, long(), ranking([View("b.py", 1, 10), View("a.py", 1, 50)]))
    assert (found["n_steps"], found["line_auc"], found["line_redundancy"]) == (20.0, 0.5 * 19 / 20, 0.0)
    further = ranking([View("b.py", 1, 1)] * 20 + [View("a.py", 1, 100)])
    assert numbers(CONTEXTS, long(), further)["line_auc"] == 0.0
    steps = scored(CONTEXTS, long(), further).steps.filter(granularity="line")
    assert (steps["step"].to_list(), set(steps["n_cumulative"])) == (list(range(1, 21)), {1})


def test_an_oracles_order_for_lines_is_what_budgets_cut() -> None:
    seen = ranking([View("b.py", 1, 100), View("a.py", 1, 20)], lines=[View("a.py", 1, 20)])
    found = numbers(CONTEXTS, long(), seen)
    assert (found["line_precision"], found["line_coverage@2000"]) == (1.0, 0.2)
    assert found["file_coverage@5"] == 1.0
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
        for number, one in enumerate(answers):
            alone = scored(protocol, long(), one).scores.drop("run_id")
            assert together.filter(pl.col("run_id") == str(number)).drop("run_id").equals(alone)
