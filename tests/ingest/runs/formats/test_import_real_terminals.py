"""ATIF trials and mini-swe-agent's trajectories as they were recorded: what the data's README says each file shows."""

from __future__ import annotations

from pathlib import Path

from ingest.runs.formats import atif, mini_swe_agent
from ingest.runs.trajectories.trajectory import Trajectory
from tests.ingest.runs.formats.recorded_sessions import opened

Lines = tuple[str, int | None, int | None]

ASSETS: list[Lines] = [
    *(("pyteal/ast/asset_test.py", start, end) for start, end in (
        (1, 30), (31, 60), (61, 100), (101, 150), (151, 200), (201, 250), (251, 300), (301, 350),
    )),
    *(("pyteal/ast/asset.py", start, end) for start, end in ((1, 50), (51, 100), (101, 150))),
]  # fmt: skip


def trial(shared: Path, path: str) -> Trajectory:
    file = opened(shared / "agent-formats/atif", path)
    assert atif.recognise(file.head(), file.path)
    (found,) = atif.trajectories(file)
    assert (found.notes, found.failed, found.patch, file.damages) == ((), "", None, [])
    return found


def firsts(found: Trajectory) -> list[Lines]:
    """The first view of every step."""
    return [(step[0].path, step[0].start, step[0].end) for step in found.steps]


def test_atif_of_mini_swe_agent_shows_what_its_numbered_outputs_show(shared: Path) -> None:
    found = trial(shared, "028_algorand__pyteal__step145__t__gD6nDGp/agent/trajectory.json")
    assert found.item == "028_algorand__pyteal__step145__test_asset_param_default_frozen_invalid"
    assert firsts(found) == ASSETS
    assert found.edited == ("pyteal/ast/asset.py",)
    assert len(found.events) == 17


def test_atif_of_terminus_shows_files_in_the_folder_that_its_terminal_went_to(shared: Path) -> None:
    found = trial(shared, "122_enthought__traits__step280____3M8gNiB/agent/trajectory.json")
    assert found.item == "122_enthought__traits__step280__clone_traits"
    path = "traits/has_traits.py"
    assert firsts(found) == [
        (path, 1, None), (path, None, None), (path, 1, None), (path, None, None), (path, 1, 10), (path, 65, 75),
        (path, 81, 91),
    ]  # fmt: skip
    assert found.edited == (path,)
    assert (len(found.events), sum(event.reads for event in found.events)) == (43, 12)


def test_atif_of_terminus_without_a_result_is_named_by_its_folder(shared: Path) -> None:
    found = trial(shared, "011_atlassian-api__atlassian-pyt__xznBdt8/agent/trajectory.json")
    assert found.item == "011_atlassian-api__atlassian-pyt"
    assert firsts(found) == [("atlassian/tempo/cloud/__init__.py", 1, None)]
    assert (found.edited, len(found.events), dict(found.unread)) == ((), 4, {})


def test_atif_of_terminus_shows_what_each_of_several_calls_of_a_step_printed(shared: Path) -> None:
    found = trial(shared, "et-f1aae6e1__DV9sYso/agent/trajectory.json")
    assert found.item == "et-f1aae6e1"
    raw, processed = "cloud_costs/raw/weekly_costs_dump.json", "cloud_costs/processed"
    assert firsts(found)[:6] == [
        (raw, 1, 1), ("/tmp/converted.json", 1, 3), (raw, 1, None), (raw, 1, None),
        (f"{processed}/normalized_data.json", 1, None), (f"{processed}/batch_id.txt", 1, None),
    ]  # fmt: skip
    # Of the 38 that read, one finds no file.
    assert (len(found.events), sum(event.reads for event in found.events), len(found.steps)) == (97, 38, 37)


def test_atif_of_navigator_pairs_results_with_calls_by_their_order(shared: Path) -> None:
    found = trial(shared, "computer-use-oncall-debug__kFdZhTa/agent/trajectory.json")
    assert firsts(found) == [("incident_report.txt", 1, None)] * 10
    assert found.edited == ("incident_report.txt",)
    assert len(found.events) == 54
    assert found.unread["tool computer_screenshot"] == 15


def test_atif_of_serf_shows_nothing_and_counts_its_own_tools(shared: Path) -> None:
    found = trial(shared, "serf-v1.7-trajectory.json")
    assert (found.steps, found.edited, len(found.events)) == ((), (), 6)
    assert found.unread == {"tool use_skill": 1, "tool task_list": 3, "tool communicate": 1}


def test_mini_swe_agent_1_14_shows_what_its_commands_printed_and_the_published_reading_is_beside(shared: Path) -> None:
    file = opened(shared / "agent-formats/mini-swe-agent", "v1.14-mini-swe-agent.trajectory.json")
    assert mini_swe_agent.recognise(file.head(), file.path)
    assert not atif.recognise(file.head(), file.path)
    (found,) = mini_swe_agent.trajectories(file)
    assert firsts(found) == ASSETS
    assert (found.edited, found.patch) == (("pyteal/ast/asset.py",), "")
    assert found.published is not None
    # It takes commands that were refused, and knows of no agent that names its context.
    assert [(step[0].start, step[0].end) for step in found.published.steps][:2] == [(1, 20), (1, 30)]
    assert (len(found.published.steps), found.published.final) == (12, None)
