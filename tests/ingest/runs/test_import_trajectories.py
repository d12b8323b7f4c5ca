from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from ingest.runs.find_trajectories import Ids
from ingest.runs.importer import TrajectoryFile
from ingest.runs.trajectory import Trajectory
from ingest.sources.tree import Entry
from lake.errors import Exit
from lake.store import Lake
from tests.ingest.runs.agents import (
    CATS,
    ITEMS,
    ORBITS,
    ROCKETS,
    UPSTREAM,
    hits,
    imported,
    issues,
    jsonl,
    lake,
    of_item,
    refused,
    rejected,
    spans,
    unified,
    zipped,
)
from tests.ingest.runs.formats import recorded_sessions
from tests.tiny import Said, command, put, stored

__all__ = ["lake"]

ALL = [unified(item) for item in ITEMS]


def test_a_step_and_the_final_context_are_kept_apart(lake: Lake) -> None:
    imported(lake, jsonl(*ALL))
    columns = ("part", "step", "rank", "path", "line_start", "line_end")
    assert hits(lake, *columns) == [("step", 1, 1, "src/engine.py", None, None), ("step", 1, 2, "src/engine.py", 0, 5)]
    assert hits(lake, *columns, part="final") == [
        ("final", 0, 1, "src/engine.py", None, None),
        ("final", 0, 2, "src/engine.py", 2, 5),
    ]


def test_a_run_item_says_how_much_was_returned(lake: Lake) -> None:
    spans = [{"start": 4, "end": 5}, {"start": 5, "end": 9}]
    imported(lake, jsonl(unified(pred_spans={"src/engine.py": spans, "no.py": [{"start": 1, "end": 2}]})))
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
    assert result.counts["n_unresolved"] == (path is None)


def test_ranges_stay_as_they_were_given_and_are_counted(lake: Lake) -> None:
    pairs = [(5, 3), (0, 2), (-4, -1), (4, 99), (2, 2)]
    steps = [step for pair in pairs for step in spans(**{"src/engine.py": pair})]
    result = imported(lake, jsonl(unified(pred_steps=steps)))
    assert hits(lake, "line_start", "line_end") == [(start - 1, end) for start, end in pairs]
    assert (result.counts["n_reversed"], result.counts["n_beyond"]) == (3, 1)
    assert result.outcome("x", "").warnings[-2:] == [
        "kept as given: 1 range past the end of the file", "kept as given: 3 ranges reversed or before line 1",
    ]  # fmt: skip


def test_a_symbol_is_a_row_of_its_own(lake: Lake) -> None:
    imported(lake, jsonl(unified(pred_symbols={"src/engine.py": ["burn", "Engine.burn"]})))
    assert hits(lake, "rank", "path", "symbol", "line_start", part="final")[2:] == [
        (3, "src/engine.py", "burn", None),
        (4, "src/engine.py", "Engine.burn", None),
    ]


def test_an_agent_that_was_asked_all_failed_of_an_item_without_a_trajectory(lake: Lake) -> None:
    result = imported(lake, jsonl(unified()), asked_all=True)
    assert of_item(lake, "status", "error", "has_patch", item=CATS) == ("missing", "no trajectory in given.jsonl", None)
    assert (result.counts["n_missing"], result.outcome("x", "").code) == (2, Exit.INCOMPLETE)
    assert lake.read("runs")["status"].item() == "complete"


def test_no_final_context_is_a_status_of_its_own(lake: Lake) -> None:
    result = imported(lake, jsonl(unified(pred_files=[], pred_spans={})))
    assert of_item(lake, "status", "error", "n_steps", "has_patch") == (
        "no-context", "the trajectory gives no final context", 1, True,
    )  # fmt: skip
    assert (result.counts["n_no_context"], result.outcome("x", "").failed) == (1, 1)
    assert hits(lake, "step") == [(1,), (1,)]


def test_a_patch_that_is_none_is_reported(lake: Lake) -> None:
    result = imported(lake, jsonl(unified(model_patch="@@ -1,5 +1,5 @@\n-x\n")))
    assert result.counts["n_faulty_patches"] == 1
    assert rejected(lake)[0][:2] == ("given.jsonl, line 1", f"item {ROCKETS}")


def test_two_trajectories_of_one_item_are_refused_and_both_named(lake: Lake) -> None:
    error = refused(lake, jsonl(unified(), unified(UPSTREAM[ROCKETS])))
    assert error.what == "more than one trajectory of an item"
    assert error.examples == tuple(f"given.jsonl, line {n}: item {ROCKETS}" for n in (1, 2))


def test_the_folder_that_an_agent_began_in_tells_the_item(lake: Lake) -> None:
    at = {"cwd": f"/home/me/tasks/{CATS}/repository"}
    call = recorded_sessions.used("Read", file_path=f"{at['cwd']}/lib/cat.js")
    rows = [call | at, recorded_sessions.gave("     1\tconst purr = 1") | at]
    imported(lake, jsonl(*rows), name="2c966364-9096-4b02.jsonl")
    seen = lake.read("hits").filter(pl.col("line_start").is_not_null(), part="final")
    assert seen.select("item_id", "path", "line_start", "line_end").rows() == [(CATS, "lib/cat.js", 0, 1)]


def test_a_question_that_several_items_ask_tells_none() -> None:
    questions = {ROCKETS: "The engine stops\nwhen it burns.", ORBITS: "The engine stops when it burns. Twice a day.",
                 CATS: "purr"}  # fmt: skip
    ids = Ids({item: item for item in ITEMS}, lambda: questions)
    alone = Trajectory((), None)
    file = TrajectoryFile(Entry("session.jsonl", open))  # type: ignore[arg-type]  # nothing is read of it
    prompts = {"": ["purr, purr"], ROCKETS: ["Mend: the engine stops", "The engine  stops when it\n burns. Once."],
             ORBITS: ["The engine stops when it burns. Twice a day."]}  # fmt: skip
    for item, texts in prompts.items():
        assert ids.of_trajectory(replace(alone, prompts=tuple(texts)), file) == (item or "session.jsonl")
    twice = Ids(ids.known, lambda: {ROCKETS: questions[ROCKETS], ORBITS: questions[ROCKETS]})
    assert twice.of_trajectory(replace(alone, prompts=(questions[ROCKETS],)), file) == "session.jsonl"


THREE = jsonl(*ALL)


def run(lake: Lake, file: Path, *arguments: object, verb: str = "run", benchmark: str = "contextbench") -> Said:
    options = ("--benchmark", benchmark, "--system", "agent", "--lake", lake.root)
    return command("ingest", verb, file, *options, *arguments)


@pytest.mark.parametrize("verb", ["run", "check"])
def test_a_whole_import_ends_in_0(lake: Lake, verb: str) -> None:
    result = run(lake, put(lake.root.parent / "a.zip", zipped({"all.jsonl": THREE})), verb=verb).done()
    lines = result.err.splitlines()
    assert lines[0] == "a.zip: ContextBench's unified predictions for contextbench/issue"
    assert lines[1].startswith("ingest: 3 of 3 items")
    assert ("; parts: " in lines[1]) == (verb == "run")
    assert lines[3] == "  trajectories: 3, with 3 steps and 6 spans"


@pytest.mark.parametrize(
    ("arguments", "code", "what"),
    [
        (("--task", "contextbench/isue"), Exit.USAGE, "a trajectory does not answer contextbench/isue"),
        (("--format", "mini-swe-agnt"), Exit.USAGE, "Did you mean 'mini-swe-agent'"),
        (("--format", "mini-swe-agent"), Exit.INVALID, "no item of the file is in"),
        (("--chunker", "whole-file"), Exit.USAGE, "chunker"),
        (("--system", " "), Exit.USAGE, "the system name ' ' must have 1 to 120 printable"),
    ],
)
def test_a_wrong_argument_is_told_in_a_few_lines(lake: Lake, arguments: tuple[str, str], code: Exit, what: str) -> None:
    before = stored(lake.root)
    file = put(lake.root.parent / "a.jsonl", jsonl({**unified("x"), "messages": []}))
    run(lake, file, *arguments).refused(code, what)
    assert stored(lake.root) == before


def test_a_benchmark_that_asks_no_agents_takes_no_trajectories(lake_folder: Path) -> None:
    file = put(lake_folder.parent / "a.jsonl", THREE)
    result = run(Lake(lake_folder), file, benchmark="repoeval")
    result.refused(Exit.USAGE, "a trajectory does not answer repoeval")
    result = run(Lake(lake_folder), file, "--task", "repoeval/prompt", benchmark="repoeval")
    result.refused(Exit.USAGE, "a trajectory does not answer repoeval/prompt")


def test_trajectories_of_items_that_cannot_be_scored_are_left_out_and_counted(tmp_path: Path) -> None:
    lake = issues(tmp_path / "lake", unscorable=[CATS])
    result = imported(lake, THREE)
    assert (result.n_items, result.counts["n_done"], result.counts["n_unscorable"]) == (2, 2, 1)
    assert CATS not in lake.read("hits")["item_id"]
    assert "left out: 1 answer to items that cannot be scored in this lake" in result.outcome("", "").warnings


def test_an_item_of_two_subsets_is_answered_in_both(lake: Lake) -> None:
    items = lake.read("items", benchmark="contextbench").with_columns(subset=pl.lit("verified"))
    lake.write("items", items, part="verified", fingerprint="1", benchmark="contextbench")
    imported(lake, jsonl(unified(UPSTREAM[CATS])))
    rows = lake.read("run_items").filter(pl.col("item_id") == CATS, pl.col("status") == "done")
    assert rows.height == 2


def test_files_that_came_later_make_it_another_import(lake: Lake) -> None:
    imported(lake, jsonl(unified(pred_files=["lib/dog.js"])))
    assert hits(lake, "path", part="final")[0] == (None,)
    files = lake.read("files").filter(pl.col("path") == "README.md").with_columns(path=pl.lit("lib/dog.js"))
    files = files.drop("benchmark", "kind")
    lake.write("files", files, part="more", fingerprint="2", benchmark="contextbench", kind="rest")
    assert not imported(lake, jsonl(unified(pred_files=["lib/dog.js"]))).is_current
    assert hits(lake, "path", part="final")[0] == ("lib/dog.js",)


def test_nothing_is_left_of_an_import_that_ends_midway(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    imported(lake, jsonl(unified()))
    before = stored(lake.root)

    def stop(*arguments: object, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ingest.runs.importing._row", stop)
    with pytest.raises(KeyboardInterrupt):
        imported(lake, THREE, name="other.jsonl", system="another")
    assert stored(lake.root, "runs") == {name: data for name, data in before.items() if name.startswith("runs/")}
