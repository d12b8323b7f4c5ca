"""Recorded files of Agentless and SWE-agent, read as the README beside them says."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.contents.patches import edited_lines
from ingest.runs.find_trajectories import discover
from ingest.runs.input_file import InputFile
from ingest.runs.registry import importer_for
from ingest.runs.trajectories.trajectory import Trajectory
from lake.rejects import Rejects

pytestmark = pytest.mark.shared

Ranges = list[tuple[str, int | None, int | None]]


def read(file: Path) -> list[Trajectory]:
    """What a file that is given alone holds, with what lies beside it."""
    given = InputFile.at(file)
    found = discover(given, "auto", Rejects())
    assert found.importer is importer_for(given, "auto")
    (opened,) = found.files
    return list(found.importer.trajectories(opened))


def sizes(one: Trajectory) -> tuple[int, int, int]:
    """Distinct files, symbols and rows of lines."""
    views = one.final or ()
    symbols = {(view.path, view.symbol) for view in views if view.symbol}
    lines = {(view.path, view.start, view.end) for view in views if view.start}
    return len({view.path for view in views}), len(symbols), len(lines)


def ranges(one: Trajectory) -> Ranges:
    return [(view.path, view.start, view.end) for step in one.steps for view in step]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("v1.5-edit_location_samples-loc_outputs", [(3, 4, 1), (3, 4, 9), (4, 6, 7), (3, 9, 16)]),
        ("v1.5-loc_merged_0-0_outputs", [(3, 3, 1), (3, 3, 5), (4, 6, 3)]),
        ("v1.5-related_elements-loc_outputs", [(3, 2, 0), (3, 3, 0), (4, 5, 0)]),
        ("v1.5-combined_locs", [(n, 0, 0) for n in (3, 4, 3, 4, 3, 3, 6)]),
        ("v0.1-filtered_loc", [(5, 15, 4), (2, 7, 9), (3, 8, 6), (5, 4, 3)]),
    ],
)
def test_agentless_locations(shared: Path, name: str, wanted: list[tuple[int, int, int]]) -> None:
    found = read(shared / "agent-formats" / "agentless" / f"{name}.jsonl")
    assert [sizes(one) for one in found] == wanted
    assert [one.notes for one in found] == [()] * len(wanted)
    assert [one.steps for one in found] == [(one.final,) for one in found]


def test_agentless_lines_of_one_instance(shared: Path) -> None:
    (_, wcs, _) = read(shared / "agent-formats" / "agentless" / "v1.5-loc_merged_0-0_outputs.jsonl")
    lines = [(view.start, view.end) for view in wcs.final or () if view.start]
    assert sorted(lines) == [(line, line) for line in (1245, 1246, 1258, 1259, 1352)]
    (_, _, pytest_, _) = read(shared / "agent-formats" / "agentless" / "v0.1-filtered_loc.jsonl")
    assert {(668, 668), (670, 670), (745, 745), (670, 671)} < {(view.start, view.end) for view in pytest_.final or ()}


def test_agentless_patches_lie_beside_the_locations(shared: Path) -> None:
    found = read(shared / "agent-formats" / "agentless" / "v0.1-filtered_loc.jsonl")
    changed = [{line.path for line in edited_lines(one.patch or "", "docs").lines} for one in found]
    assert changed == [
        {"sympy/printing/pycode.py"},
        {"django/contrib/syndication/views.py"},
        {"src/_pytest/assertion/rewrite.py"},
        {"sympy/physics/units/unitsystem.py"},
    ]


def test_swe_agent_windows_and_the_edits_that_show_some(shared: Path) -> None:
    folder = shared / "agent-formats" / "swe-agent"
    (old,) = read(folder / "v0-pydicom__pydicom-1458.traj")
    file = "pydicom/pixel_data_handlers/numpy_handler.py"
    assert ranges(old) == [(file, *lines) for lines in ((273, 372), (282, 300), (281, 300), (281, 300), (237, 336))]
    (new,) = read(folder / "v1-marshmallow-code__marshmallow-1867.traj")
    fields = "src/marshmallow/fields.py"
    assert ranges(new) == [("setup.py", 1, 94), (fields, 1457, 1556), (fields, 1458, 1557)]
    changed = [{line.path for line in edited_lines(one.patch or "", "docs").lines} for one in (old, new)]
    assert changed == [{file}, {fields}]


def test_swe_agent_checkpoints(shared: Path) -> None:
    folder = shared / "agent-formats" / "swe-agent" / "contextbench"
    (one,) = read(folder / "pallets__flask-5014.checkpoints.jsonl")
    source, test = "src/flask/blueprints.py", "tests/test_blueprints.py"
    with_range = [(source, 160, 210), (source, 206, 250), (source, 172, 200), (test, 240, 300), (source, 169, 206)]
    with_range += [(test, 1049, 1049), (test, 1, 200), (test, 240, 260)]
    assert [lines for lines in ranges(one) if lines[2]] == with_range
    assert sorted(lines for lines in ranges(one) if not lines[2]) == [(source, 1, None)] * 3 + [(test, 1, None)] * 2
    assert one.patch is None
    assert one.published is not None
    assert [(view.start, view.end) for (view,) in one.published.steps] == [
        (start, end) for _, start, end in with_range if start != 1049
    ]
    (traj,) = read(folder / "pallets__flask-5014.traj")
    assert (traj.steps, traj.final, traj.patch) == ((), None, None)
