from pathlib import Path

from ingest.runs.find_trajectories import trajectory_files
from ingest.runs.formats.agentless import trajectories
from ingest.runs.trajectory import FileSpan
from ingest.sources.input_file import InputFile
from lake.rejects import Rejects
from tests.ingest.runs.formats.recorded_sessions import one, opened, read, rows
from tests.tiny import put

MERGED = {
    "instance_id": "acme__rockets-1",
    "found_files": ["src/a.py", "src/b.py"],
    "found_related_locs": {"src/a.py": ["function: Engine.burn\nclass: Engine", "variable: FUEL"], "src/b.py": [""]},
    "found_edit_locs": {"src/a.py": ["function: Engine.burn\nline: 12\nlines: 20-18"], "src/b.py": ["line: 3"]},
}
RUN = {
    "1_model_selected_files": ["x.py"],
    "3_final_combined_files": ["src/a.py"],
    "4_related_elements": {"src/a.py": ["class: Engine"]},
    "5_sampled_edit_locs_and_patches": [
        {"edit_locs": {"src/a.py": ["function: Engine.burn"]}, "patch": "p"},
        {"edit_locs": {"src/a.py": ["function: Engine.burn\nline: 12"]}},
        {"edit_locs": {"src/a.py": ["line: 99"]}},
    ],
    "6_final_selected_patch": "diff --git a/src/a.py b/src/a.py",
}


def test_files_elements_and_edit_locations_are_one_step(tmp_path: Path) -> None:
    found = one(trajectories, tmp_path, rows(MERGED))
    symbols = (FileSpan("src/a.py", symbol=name) for name in ("Engine.burn", "Engine", "FUEL"))
    lines = (FileSpan("src/a.py", 12, 12), FileSpan("src/a.py", 18, 20), FileSpan("src/b.py", 3, 3))
    step = (FileSpan("src/a.py"), FileSpan("src/b.py"), *symbols, *lines)
    assert (found.item, found.steps, found.final, found.patch) == ("acme__rockets-1", (step,), step, None)


def test_of_a_whole_run_the_first_sample_with_lines_counts(tmp_path: Path) -> None:
    found = one(trajectories, tmp_path, rows(RUN), "acme__rockets-1_traj.json")
    assert found.item == "acme__rockets-1"
    assert found.final == (FileSpan("src/a.py"), FileSpan("src/a.py", symbol="Engine"), FileSpan("src/a.py", 12, 12))
    assert found.patch == "diff --git a/src/a.py b/src/a.py"


def test_patches_are_of_the_same_instance_in_a_file_beside_or_above(tmp_path: Path) -> None:
    locations = rows({"instance_id": "x", "found_files": ["a.py"]}, {"instance_id": "y", "found_files": ["b.py"]})
    beside = rows({"instance_id": "x", "model_patch": "first"}, {"instance_id": "y", "model_patch": ""})
    above = rows({"instance_id": "x", "model_patch": "second"}, {"instance_id": "y", "model_patch": "third"})
    files = {"run/base_loc.jsonl": locations, "run/base_repair.jsonl": beside, "all_preds.jsonl": above}
    file = opened(tmp_path, "run/base_loc.jsonl", files)
    assert [one.patch for one in trajectories(file)] == ["first", "third"]


def test_of_a_whole_runs_folder_the_last_stage_counts(tmp_path: Path) -> None:
    found, related = {"instance_id": "x", "found_files": ["a.py"]}, {"a.py": ["class: A"]}
    folder = tmp_path / "results"
    for path, row in {
        "file_level/loc_outputs": found,
        "file_level_combined/combined_locs": found,
        "related_elements/loc_outputs": {**found, "found_related_locs": related},
        "edit_location_samples/loc_outputs": {
            **found,
            "found_edit_locs": [{"a.py": ["line: 1"]}, {"a.py": ["line: 9"]}],
        },
        "edit_location_individual/loc_merged_0-0_outputs": {**found, "found_edit_locs": {"a.py": ["line: 1"]}},
        "edit_location_individual/loc_merged_1-1_outputs": {**found, "found_edit_locs": {"a.py": ["line: 9"]}},
        "repair_sample_1/output": {"instance_id": "x", "raw_output": ["…"], "try_count": [1]},
        "all_preds": {"instance_id": "x", "model_patch": "diff"},
    }.items():
        put(folder / f"swe-bench-lite/{path}.jsonl", rows(row))
    (file,) = trajectory_files(InputFile.at(folder), "auto", Rejects()).files
    assert file.path == "swe-bench-lite/edit_location_samples/loc_outputs.jsonl"
    (read_,) = trajectories(file)
    assert (read_.final, read_.patch) == ((FileSpan("a.py"), FileSpan("a.py", 1, 1), FileSpan("a.py", 9, 9)), "diff")


def test_lists_beside_the_files_are_read_as_agentless_had_them_before_1_5(tmp_path: Path) -> None:
    old = {
        "instance_id": "x",
        "found_files": ["a.py", "b.py", "c.py"],
        "found_related_locs": [["class: A"], ["function: f\nclass: "]],
        "found_edit_locs": [[["line: 3"], [""]], [["line: 4-6"], ["line: 9 (new code)\nline: (somewhere)"]]],
    }
    merged = {**old, "found_edit_locs": ["line: 3", "line: 9"]}
    first, second = read(trajectories, tmp_path, rows(old, merged))
    named = tuple(FileSpan(path) for path in ("a.py", "b.py", "c.py"))
    symbols = (FileSpan("a.py", symbol="A"), FileSpan("b.py", symbol="f"))
    assert first.final == (*named, *symbols, FileSpan("a.py", 3, 3), FileSpan("a.py", 4, 6), FileSpan("b.py", 9, 9))
    assert second.final == (*named, *symbols, FileSpan("a.py", 3, 3), FileSpan("b.py", 9, 9))


def test_the_published_reading_of_a_whole_run_knows_strict_rows_alone(tmp_path: Path) -> None:
    locations = {"a.py": ["line: 3\nline: 4 (here)\nlines: 8-6\nline: 9-10"]}
    samples = [{"edit_locs": locations}]
    run = {"instance_id": "x", "3_final_combined_files": ["a.py"], "5_sampled_edit_locs_and_patches": samples}
    found = one(trajectories, tmp_path, rows(run))
    assert found.final == (FileSpan("a.py"), *(FileSpan("a.py", a, b) for a, b in ((3, 3), (4, 4), (6, 8), (9, 10))))
    assert found.published is not None
    assert found.published.final == (FileSpan("a.py"), FileSpan("a.py", 3, 3), FileSpan("a.py", 6, 8))
