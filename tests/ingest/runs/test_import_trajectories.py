"""A trajectory becomes a run: steps, final context and patch as they were given, paths found in the tree."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from ingest.runs.read_trajectories import Ids
from ingest.runs.trajectories.trajectory import Trajectory
from ingest.runs.trajectories.trajectory_file import TrajectoryFile
from lake.errors import Exit
from lake.store import Lake
from tests.ingest.runs.agents import (
    CATS,
    ITEMS,
    ORBITS,
    ROCKETS,
    UPSTREAM,
    counts,
    hits,
    imported,
    issues_once,
    jsonl,
    lake,
    of_item,
    refused,
    rejected,
    spans,
    unified,
)
from tests.tiny import put

__all__ = ["issues_once", "lake"]

ALL = [unified(item) for item in ITEMS]


def test_a_step_and_the_final_context_are_kept_apart(lake: Lake) -> None:
    imported(lake, jsonl(*ALL))
    columns = ("part", "step", "rank", "path", "line_start", "line_end")
    assert hits(lake, *columns) == [
        ("step", 1, 1, "src/engine.py", None, None),
        ("step", 1, 2, "src/engine.py", 0, 5),
    ]
    assert hits(lake, *columns, part="final") == [
        ("final", 0, 1, "src/engine.py", None, None),
        ("final", 0, 2, "src/engine.py", 2, 5),
    ]


def test_a_run_item_says_how_much_was_returned(lake: Lake) -> None:
    row = unified(
        pred_spans={
            "src/engine.py": [{"start": 4, "end": 5}, {"start": 5, "end": 9}],
            "no.py": [{"start": 1, "end": 2}],
        }
    )
    imported(lake, jsonl(row))
    # `defburn(fuel):` and `returnmath.sqrt(fuel)`: line 5 counts once, and there are no lines after it.
    assert of_item(lake, "status", "n_steps", "n_returned", "n_nws", "has_patch") == ("done", 1, 4, 14 + 21, True)


def test_the_lines_a_patch_edits_are_stored_under_both_readings(lake: Lake) -> None:
    imported(lake, jsonl(*ALL))
    edits = lake.read("edits").filter(pl.col("item_id") == ROCKETS)
    assert edits.select("reading", "path", "line", "kind").rows() == [
        ("docs", "src/engine.py", 4, "deleted"),
        ("official", "src/engine.py", 4, "deleted"),
    ]


@pytest.mark.parametrize(
    ("given", "path"),
    [
        *((given, "src/engine.py") for given in ("src/engine.py", "/testbed/src/engine.py", "./src/engine.py",
          "C:\\rockets\\src\\engine.py", "src//./engine.py", "a/b/src/engine.py")),
        ("lib/engine.py", "engine.py"), ("README.md", "README.md"),
        *((given, None) for given in ("src", "src/engine.py/", "../src/engine.py", "src/../src/engine.py", "..",
          "/etc/passwd", "engine.py\0", "lib/cat.js", "SRC/ORBIT.PY")),
    ],
)  # fmt: skip
def test_a_path_means_the_file_that_is_left_after_the_fewest_folders(lake: Lake, given: str, path: str | None) -> None:
    result = imported(lake, jsonl(unified(pred_steps=[{"files": [given]}])))
    assert hits(lake, "path_given", "path") == [(given, path)]
    assert counts(result)["n_unresolved"] == (path is None)


def test_ranges_stay_as_they_were_given_and_are_counted(lake: Lake) -> None:
    pairs = [(5, 3), (0, 2), (-4, -1), (4, 99), (2, 2)]
    steps = [step for pair in pairs for step in spans(**{"src/engine.py": pair})]
    result = imported(lake, jsonl(unified(pred_steps=steps)))
    assert hits(lake, "line_start", "line_end") == [(start - 1, end) for start, end in pairs]
    assert (counts(result)["n_reversed"], counts(result)["n_beyond"]) == (3, 1)
    assert (
        "ranges kept as they were given: 1 run past the end of their file, 3 are reversed or start before line 1"
        in (result.outcome("x", "").warnings)
    )


def test_a_symbol_is_a_row_of_its_own(lake: Lake) -> None:
    imported(lake, jsonl(unified(pred_symbols={"src/engine.py": ["burn", "Engine.burn"]})))
    assert hits(lake, "rank", "path", "symbol", "line_start", part="final")[2:] == [
        (3, "src/engine.py", "burn", None),
        (4, "src/engine.py", "Engine.burn", None),
    ]


def test_an_agent_that_was_asked_all_failed_of_an_item_without_a_trajectory(lake: Lake) -> None:
    result = imported(lake, jsonl(unified()), asked_all=True)
    assert of_item(lake, "status", "error", "has_patch", item=CATS) == ("missing", "no trajectory in given.jsonl", None)
    assert (counts(result)["n_missing"], result.outcome("x", "").code) == (2, Exit.INCOMPLETE)
    assert lake.read("runs")["status"].item() == "complete"


def test_no_final_context_is_a_status_of_its_own(lake: Lake) -> None:
    result = imported(lake, jsonl(unified(pred_files=[], pred_spans={})))
    assert of_item(lake, "status", "error", "n_steps", "has_patch") == (
        "no-context", "the trajectory gives no final context", 1, True,
    )  # fmt: skip
    assert (counts(result)["n_no_context"], result.outcome("x", "").failed) == (1, 1)
    assert hits(lake, "step") == [(1,), (1,)]


def test_a_patch_that_is_none_is_reported(lake: Lake) -> None:
    result = imported(lake, jsonl(unified(model_patch="@@ -1,5 +1,5 @@\n-x\n")))
    assert counts(result)["n_faulty_patches"] == 1
    assert rejected(lake)[0][:2] == ("given.jsonl, line 1", f"item {ROCKETS}")


def test_two_trajectories_of_one_item_are_refused_and_both_named(lake: Lake) -> None:
    error = refused(lake, jsonl(unified(), unified(UPSTREAM[ROCKETS])))
    assert error.what == "1 item has more than one trajectory"
    assert error.examples == (f"item {ROCKETS}: given.jsonl, line 1 and given.jsonl, line 2",)


def test_the_folder_that_an_agent_began_in_tells_the_item(lake: Lake) -> None:
    event = {"sessionId": "s", "cwd": f"/home/me/tasks/{CATS}/repository"}
    call = {"type": "tool_use", "id": "c", "name": "Read", "input": {"file_path": f"{event['cwd']}/lib/cat.js"}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": "     1\tconst purr = 1"}
    rows = [{**event, "type": "assistant", "message": {"content": [call]}},
            {**event, "type": "user", "message": {"content": [result]}}]  # fmt: skip
    imported(lake, jsonl(*rows), name="2c966364-9096-4b02.jsonl")
    seen = lake.read("hits").filter(pl.col("line_start").is_not_null(), part="final")
    assert seen.select("item_id", "path", "line_start", "line_end").rows() == [(CATS, "lib/cat.js", 0, 1)]


def test_a_question_that_several_items_ask_tells_none() -> None:
    questions = {ROCKETS: "The engine stops\nwhen it burns.", ORBITS: "The engine stops when it burns. Twice a day.",
                 CATS: "purr"}  # fmt: skip
    ids = Ids({item: item for item in ITEMS}, lambda: questions)
    alone = Trajectory((), None)
    file = TrajectoryFile("session.jsonl", put, {})  # type: ignore[arg-type]  # nothing is read of it
    asked = {"": ["purr, purr"], ROCKETS: ["Mend: the engine stops", "The engine  stops when it\n burns. Once."],
             ORBITS: ["The engine stops when it burns. Twice a day."]}  # fmt: skip
    for item, texts in asked.items():
        assert ids.of_trajectory(replace(alone, prompts=tuple(texts)), file) == (item or "session.jsonl")
    twice = Ids(ids.known, lambda: {ROCKETS: questions[ROCKETS], ORBITS: questions[ROCKETS]})
    assert twice.of_trajectory(replace(alone, prompts=(questions[ROCKETS],)), file) == "session.jsonl"
