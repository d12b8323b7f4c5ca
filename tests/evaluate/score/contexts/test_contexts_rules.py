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
    world,
)

A = "class_definition", "A", "A"
F = "function_definition", "f", "A.f"
G = "function_definition", "g", "A.g"


def both(material: Material, one: Answer, metric: str) -> tuple[float | None, float | None]:
    return numbers(CONTEXTS, material, one)[metric], numbers(PUBLISHED, material, one)[metric]


def test_symbols_of_one_qualified_name_are_one_and_nodes_are_two() -> None:
    twice = [("a.py", 0, 27, *F), ("a.py", 27, 54, *F), ("a.py", 60, 90, *G)]
    material = world(definitions=twice, gold=[("a.py", 1, 6)])
    seen = answer([View("a.py", 1, 2)])
    assert of(CONTEXTS, material, seen, "symbol_coverage") == (1.0, 1.0, 1.0)
    # Twice A.f; the published spans end inclusively and so touch what begins right behind them? No: 54 < 60.
    assert of(PUBLISHED, material, seen, "symbol_coverage") == (0.5, 1.0, 2.0)


def test_named_symbols_are_added_or_stand_in_place_of_those_that_spans_overlap() -> None:
    material = world(definitions=[("a.py", 0, 18, *F), ("a.py", 45, 80, *G)], gold=[("a.py", 1, 2)])
    seen = answer([View("a.py", 1, 2), View("a.py", symbol="A.g")])
    assert of(CONTEXTS, material, seen, "symbol_precision") == (0.5, 1.0, 2.0)
    assert of(PUBLISHED, material, seen, "symbol_precision") == (0.0, 0.0, 1.0)


def test_empty_gold_at_a_granularity_has_no_value_or_is_covered() -> None:
    material = world(gold=[("a.py", 1, 2)])
    seen = answer([View("a.py", 1, 2)], steps=[[View("a.py", 1, 2)]])
    assert both(material, seen, "symbol_coverage") == (None, 1.0)
    assert both(material, seen, "symbol_auc") == (None, 1.0)
    assert numbers(CONTEXTS, material, seen)["symbol_f1"] is None


def test_without_any_gold_lines_no_step_covers_them_as_published() -> None:
    seen = answer([View("a.py", 1, 2)], steps=[[View("a.py", 1, 2)]])
    found = numbers(PUBLISHED, world(gold=[]), seen)
    assert (found["line_coverage"], found["line_auc"], found["span_auc"]) == (1.0, 0.0, 1.0)


def test_an_empty_prediction_is_worth_nothing_or_precise() -> None:
    material = world(definitions=[("a.py", 18, 45, *F)])
    seen = answer([View("b.py")])
    assert both(material, seen, "line_precision") == (0.0, 1.0)
    assert both(material, seen, "symbol_precision") == (0.0, 1.0)
    assert both(material, seen, "line_coverage") == (0.0, 0.0)
    assert numbers(CONTEXTS, material, seen)["line_f1"] == 0.0


def test_unresolved_files_count_among_the_predicted_or_not_at_all() -> None:
    seen = answer([View("a.py"), View("nowhere.py"), View("elsewhere.py"), View("nowhere.py")])
    assert of(CONTEXTS, world(), seen, "file_precision") == (1 / 3, 1.0, 3.0)
    assert of(PUBLISHED, world(), seen, "file_precision") == (1.0, 1.0, 1.0)


def test_the_files_of_spans_are_predicted_files_or_not() -> None:
    seen = answer([View("a.py", 1, 2)])
    assert both(world(), seen, "file_coverage") == (1.0, 0.0)


def test_a_view_of_a_whole_file_is_a_span_over_it_or_names_a_file() -> None:
    seen = answer([View("a.py", 1)])
    assert both(world(), seen, "line_coverage") == (1.0, 0.0)
    assert both(world(), seen, "file_coverage") == (1.0, 1.0)
    assert of(CONTEXTS, world(), seen, "span_precision") == (27 / 90, 27.0, 90.0)


def test_an_item_without_a_context_scores_nothing_or_is_left_out() -> None:
    seen = answer([View("nowhere.py", 1, 5)], steps=[[View("a.py", 3, 5)]], status="no-context")
    found = numbers(CONTEXTS, world(), seen)
    assert (found["line_f1"], found["file_coverage"], found["line_auc"], found["n_steps"]) == (0.0, 0.0, 1.0, 1.0)
    assert set(numbers(PUBLISHED, world(), seen).values()) == {None}


def test_an_item_that_a_run_passed_over_scores_nothing_or_is_left_out() -> None:
    found = numbers(CONTEXTS, world(), None)
    assert (found["line_f1"], found["line_auc"], found["line_redundancy"], found["n_steps"]) == (0.0, 0.0, None, None)
    assert set(numbers(PUBLISHED, world(), None).values()) == {None}


def test_a_context_of_named_symbols_alone_is_none_as_published() -> None:
    material = world(definitions=[("a.py", 18, 45, *F)])
    seen = answer([View("a.py", symbol="A.f")])
    assert both(material, seen, "symbol_coverage") == (1.0, None)


def test_without_steps_nothing_is_covered_on_the_way_or_the_final_context_is_the_step() -> None:
    seen = answer([View("a.py", 3, 4), View("a.py")])
    assert both(world(), seen, "line_auc") == (0.0, 2 / 3)
    assert both(world(), seen, "line_redundancy") == (None, 0.0)
    assert both(world(), seen, "n_steps") == (0.0, 1.0)


def test_lines_beyond_the_file_are_cut_off_or_counted() -> None:
    seen = answer([View("a.py", 5, 30)])
    assert of(CONTEXTS, world(), seen, "line_precision") == (1 / 6, 1.0, 6.0)
    assert of(PUBLISHED, world(), seen, "line_precision") == (1 / 26, 1.0, 26.0)


def test_bytes_end_where_the_file_does_in_both_but_for_a_line_behind_its_last_newline() -> None:
    seen = answer([View("a.py", 10, 30)])
    assert of(CONTEXTS, world(), seen, "span_precision")[2] == 9.0
    assert of(PUBLISHED, world(), seen, "span_precision")[2] == 9.0
    behind = answer([View("a.py", 11, 11)])
    assert of(CONTEXTS, world(), behind, "span_precision")[2] == 0.0
    assert of(PUBLISHED, world(), behind, "span_precision")[2] == 1.0


def test_a_line_at_0_is_cut_to_the_first_or_dropped() -> None:
    seen = answer([View("a.py", 0, 4)])
    assert of(CONTEXTS, world(), seen, "line_precision")[2] == 4.0
    assert of(PUBLISHED, world(), seen, "line_precision")[2] == 0.0
    assert of(PUBLISHED, world(), seen, "span_precision")[2] == 36.0


def test_a_reversed_range_holds_nothing_or_less_than_nothing() -> None:
    seen = answer([View("a.py", 9, 5), View("a.py", 1, 4)])
    assert of(CONTEXTS, world(), seen, "line_precision") == (0.5, 2.0, 4.0)
    assert of(PUBLISHED, world(), seen, "line_precision") == (2.0, 2.0, 1.0)
    assert of(PUBLISHED, world(), seen, "span_precision")[2] == 36.0


def test_a_definition_that_ends_where_a_span_begins_is_overlapped_as_published() -> None:
    material = world(definitions=[("a.py", 0, 18, *F), ("a.py", 27, 50, *G)], gold=[("a.py", 3, 3)])
    assert of(CONTEXTS, material, answer([View("a.py", 3, 3)]), "symbol_coverage") == (None, None, None)
    # F ends before byte 18, where line 3 begins; G begins behind its last byte and is not met.
    assert of(PUBLISHED, material, answer([View("a.py", 3, 3)]), "symbol_coverage") == (1.0, 1.0, 1.0)


def test_gold_that_is_in_no_repository_never_matches_as_published() -> None:
    # `.eslintrc.js` as the published code has it: the dot is gone.
    material = world(gold=[("eslintrc.js", 1, 10), ("a.py", 1, 10)])
    seen = answer([View("a.py", 1, 10), View("a.py"), View("eslintrc.js", 1, 10), View("eslintrc.js")])
    assert of(PUBLISHED, material, seen, "line_coverage") == (0.5, 10.0, 20.0)
    assert of(PUBLISHED, material, seen, "file_coverage") == (0.5, 1.0, 2.0)
    assert of(PUBLISHED, material, seen, "span_coverage") == (1.0, 90.0, 90.0)


def test_edits_are_held_against_the_gold_patch_or_the_gold_context() -> None:
    material = world(gold=[("a.py", 3, 6)], gold_edits=[("a.py", 3), ("b.py", 1)])
    seen = answer([View("a.py", 1, 2)], patch=[("a.py", 3), ("a.py", 4), ("b.py", 9)])
    assert of(CONTEXTS, material, seen, "editloc_coverage") == (0.5, 1.0, 2.0)
    assert of(CONTEXTS, material, seen, "editloc_precision") == (1 / 3, 1.0, 3.0)
    # Recall is hits over predicted lines as well, while the sum goes over the gold context's size.
    assert of(PUBLISHED, material, seen, "editloc_coverage") == (2 / 3, 2.0, 4.0)
    assert of(PUBLISHED, material, seen, "editloc_precision") == (2 / 3, 2.0, 3.0)


def test_without_a_patch_a_system_that_edits_scores_nothing_or_is_lent_the_gold_patch() -> None:
    material = world(gold=[("a.py", 3, 6)], gold_edits=[("a.py", 3), ("b.py", 1)])
    without = answer([View("a.py", 1, 2)], patch=[])
    assert of(CONTEXTS, material, without, "editloc_coverage") == (0.0, 0.0, 2.0)
    assert of(PUBLISHED, material, without, "editloc_precision") == (0.0, 0.0, 0.0)
    never = answer([View("a.py", 1, 2)])
    assert of(PUBLISHED, material, never, "editloc_precision") == (0.5, 1.0, 2.0)


def test_editing_is_not_applicable_to_what_never_edits_or_where_nobody_has_a_patch() -> None:
    never = answer([View("a.py", 1, 2)])
    assert of(CONTEXTS, world(gold_edits=[("a.py", 3)]), never, "editloc_f1") == (None, None, None)
    assert of(PUBLISHED, world(has_gold_patch=False), never, "editloc_precision") == (None, None, None)


def test_an_empty_file_has_one_byte_as_published() -> None:
    material = world({"a.py": TEN_LINES, "empty.py": ""}, gold=[("empty.py", 1, 1), ("a.py", 1, 1)])
    seen = answer([View("empty.py", 1, 1), View("empty.py")])
    assert of(PUBLISHED, material, seen, "span_coverage") == (0.1, 1.0, 10.0)
    assert of(CONTEXTS, material, seen, "span_coverage") == (0.0, 0.0, 9.0)


def test_the_last_line_without_an_end_is_as_long_as_it_is_and_has_none_behind_it() -> None:
    material = world({"a.py": "one\ntwo"}, gold=[("a.py", 2, 3)])
    for protocol in (CONTEXTS, PUBLISHED):
        assert of(protocol, material, answer([View("a.py", 1, 5)]), "span_coverage") == (1.0, 3.0, 3.0)
