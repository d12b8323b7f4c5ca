import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from lake.errors import Exit
from lake.store import Lake
from tests.ingest.runs.imports import ITEMS, imported, refused
from tests.tiny import ENGINE, TASKS, Row, build, ingested, task

NO_COMPLETION = "line 2: no text in `choices`, or no path or line in `metadata`"


def metadata_of(row: Row) -> Row:
    metadata = row["metadata"]
    assert isinstance(metadata, dict)
    return metadata


def predictions(rows: Sequence[Row] = TASKS, **metadata: object) -> bytes:
    lines = [
        {"prompt": row["prompt"], "choices": [{"text": f"answer {n}"}, {"text": "another"}],
         "metadata": {**metadata_of(row), **metadata}}
        for n, row in enumerate(rows)
    ]  # fmt: skip
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def changed(n: int, **other: object) -> bytes:
    """All predictions, the `n`-th of them changed at its top level."""
    lines = [json.loads(line) for line in predictions().splitlines()]
    lines[n] |= other
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def test_the_first_choice_fills_the_hole_of_its_path_and_line(lake: Lake) -> None:
    result = imported(lake, predictions())
    rows = lake.read("run_items").sort("item_id").select("item_id", "status", "completion").rows()
    # Tasks are numbered per repository, so 0, 2 and 3 of the file are those of the first.
    answers = [f"answer {n}" for n in (0, 2, 3, 1, 4)]
    assert rows == [(item, "done", answer) for item, answer in zip(ITEMS, answers, strict=True)]
    run = lake.read("runs").row(0, named=True)
    assert (run["task"], run["status"], run["origin"]) == ("repoeval/completion", "complete", "imported")
    assert result.run_id.startswith("repoeval.completion--mine--")
    assert lake.parts("hits") == []


def test_one_task_id_for_all_a_path_as_a_python_repr_and_line_no_are_read(lake: Lake) -> None:
    rows: list[Row] = []
    for row in TASKS:
        metadata = {**metadata_of(row), "fpath_tuple": repr(metadata_of(row)["fpath_tuple"])}
        metadata["line_no"] = metadata.pop("lineno")
        rows.append({**row, "metadata": metadata})
    assert imported(lake, predictions(rows, task_id="x/idx")).counts["n_done"] == 5


def test_a_hole_without_completion_is_missing_where_all_were_asked(lake: Lake) -> None:
    assert imported(lake, predictions(TASKS[1:])).n_items == lake.read("run_items").height == 4
    result = imported(lake, predictions(TASKS[1:]), asked_all=True)
    assert (result.counts["n_missing"], result.outcome("x", "").code) == (1, Exit.INCOMPLETE)
    first = lake.read("run_items").sort("item_id").row(0, named=True)
    assert (first["status"], first["error"], first["completion"]) == ("missing", "no completion in given.txt", None)


def test_a_hole_filled_twice_is_refused_by_its_lines(lake: Lake) -> None:
    error = refused(lake, predictions([*TASKS, TASKS[0]]))
    assert error.what == "two completions for one place: 2 lines"
    assert error.examples[1] == "line 6: acme_rockets/rockets/engine.py, line 8 from 0"


def test_a_hole_that_no_item_has_is_refused_or_left_out(lake: Lake) -> None:
    other: Row = {**TASKS[0], "metadata": {**metadata_of(TASKS[0]), "lineno": 3}}
    data = predictions([*TASKS, other])
    assert refused(lake, data).examples == ("line 6: 'acme_rockets/rockets/engine.py#L4'",)
    assert imported(lake, data, skip_unknown=True).counts["n_unknown"] == 1


@pytest.fixture
def both(tmp_path: Path) -> Lake:
    """Two contexts of the same five holes: in the longer one, the third prompt starts earlier."""
    longer: Row = {"prompt": TASKS[2]["prompt"], "metadata": {**metadata_of(TASKS[2]), "context_start_lineno": 3}}
    source = build(build(tmp_path / "source"), [*TASKS[:2], longer, *TASKS[3:]], context="4k")
    ingested(tmp_path / "lake", source, subsets=["function-2k", "function-4k"])
    return Lake(tmp_path / "lake")


def test_the_context_is_the_one_whose_prompts_start_alike(both: Lake) -> None:
    assert imported(both, predictions()).n_items == 5
    assert [part.name for part in both.parts("run_items")] == ["function-2k"]
    longer: Row = {**TASKS[2], "metadata": {**metadata_of(TASKS[2]), "context_start_lineno": 3}}
    imported(both, predictions([*TASKS[:2], longer, *TASKS[3:]]), system="other")
    assert sorted(part.name for part in both.parts("run_items")) == ["function-2k", "function-4k"]


def test_where_nothing_tells_the_context_it_is_refused(both: Lake) -> None:
    error = refused(both, predictions(TASKS[:2]))
    assert error.what == "a row that answers several items: 2 lines"


SAME_HOLE: Sequence[Row] = (
    TASKS[0],
    task("acme_rockets", "rockets/engine.py", ENGINE, 0, 8, 4),
    task("acme_rockets", "rockets/engine.py", ENGINE, 6, 8, 2),
    TASKS[4],
)
"""Three tasks in one hole, and one elsewhere."""


def test_tasks_in_one_hole_are_answered_each_by_the_completion_of_its_own(tmp_path: Path) -> None:
    ingested(tmp_path / "lake", build(tmp_path / "source", SAME_HOLE))
    lake = Lake(tmp_path / "lake")
    assert imported(lake, predictions([*reversed(SAME_HOLE)])).counts["n_done"] == len(SAME_HOLE)
    completions = lake.read("run_items").sort("item_id")["completion"].to_list()
    assert completions == ["answer 3", "answer 2", "answer 1", "answer 0"]
    bare = [{"choices": [{"text": "x"}], "metadata": {**metadata_of(SAME_HOLE[0]), "ground_truth": None}}]
    del bare[0]["metadata"]["context_start_lineno"]  # type: ignore[attr-defined] # it is a dictionary
    error = refused(lake, json.dumps(bare[0]).encode())
    assert error.what == "a row that answers several items: 1 line"
    assert "function-2k/acme_rockets/0 or function-2k/acme_rockets/1" in error.examples[0]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        *((change, NO_COMPLETION) for change in (
            {"metadata": []}, {"choices": []}, {"choices": ["x"]}, {"choices": [{"text": 3}]},
            {"metadata": {"lineno": 1}}, {"metadata": {"fpath_tuple": "[" * 999}},
            *({"metadata": {"fpath_tuple": ["a", "b"], "lineno": line}} for line in (-1, 10**30, True)))),
        ({"choices": [{"text": "\ud800"}]}, "'\\ud800' contains half a surrogate pair, which is no text"),
    ],
)  # fmt: skip
def test_a_row_of_another_shape_is_refused_by_its_line(lake: Lake, change: Row, why: str) -> None:
    assert refused(lake, changed(1, **change)).what == why
