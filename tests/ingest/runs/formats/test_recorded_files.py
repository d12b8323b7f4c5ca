"""Files that agents recorded: what is read of each is what was checked against the files by hand.

`python -m tests.ingest.runs.formats.test_recorded_files` prints what `recorded_files.json` beside it holds.
"""

import json
import sys
from pathlib import Path

import pytest

from ingest.rejects import Rejects
from ingest.runs.find_trajectories import importer_for, trajectory_files
from ingest.runs.trajectory import Trajectory, Views
from ingest.sources.input_file import InputFile
from tests.conftest import SHARED

pytestmark = pytest.mark.shared

KEPT = Path(__file__).with_name("recorded_files.json")
RECORDED: dict[str, object] = json.loads(KEPT.read_text()) if KEPT.is_file() else {}


def test_there_is_something_to_compare_with() -> None:
    assert len(RECORDED) == 36


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_file_is_read_as_it_was_checked(shared: Path, name: str) -> None:
    trajectories = read(shared / "agent-formats" / name)
    assert [as_text(trajectory) for trajectory in trajectories] == RECORDED[name]
    for trajectory in trajectories:
        # Steps stand at a turn and a call in their order.
        assert len(trajectory.shown_at) in (0, len(trajectory.steps))
        most = (trajectory.usage.n_turns or 0, trajectory.usage.n_calls or 0)
        for places, last in zip(zip(*trajectory.shown_at, strict=True), most, strict=False):
            assert list(places) == sorted(places)
            assert places[-1] <= last


def read(file: Path) -> list[Trajectory]:
    """What a file that is given alone holds, with what lies beside it."""
    given = InputFile.at(file)
    files = trajectory_files(given, "auto", Rejects())
    assert files.importer is importer_for(given, "auto")
    (opened,) = files.files
    trajectories = list(files.importer.trajectories(opened))
    assert not opened.damages
    return trajectories


def as_text(trajectory: Trajectory, *, in_short: bool = True) -> dict[str, object]:
    """A trajectory as text; in short of every step the first place, with how many others it has."""

    def places(views: Views) -> str:
        return f"{views[0]} and {len(views) - 1}" if in_short and views[1:] else ", ".join(map(str, views))

    published = trajectory.published
    return {
        "item": trajectory.item,
        "steps": [places(step) for step in trajectory.steps],
        "final": places(trajectory.final or ()),
        "published": None if published is None else [places(step) for step in published.steps],
        "usage": {name: value for name, value in vars(trajectory.usage).items() if value is not None},
        "patch": None if trajectory.patch is None else len(trajectory.patch),
        "unread": dict(sorted(trajectory.unread.items())),
        "notes": [*trajectory.notes, trajectory.failed],
    }


if __name__ == "__main__":
    folder = SHARED / "agent-formats"
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix in (".json", ".jsonl", ".traj"))
    beside = ("result.json", "v0.1-filtered_repair.jsonl")
    every = {path.relative_to(folder).as_posix(): path for path in files if path.name not in beside}
    kept = {name: [as_text(trajectory) for trajectory in read(path)] for name, path in every.items()}
    sys.stdout.write(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
