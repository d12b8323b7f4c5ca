"""Sessions as Gemini CLI, OpenCode and Copilot CLI recorded them: what the data's README says each file shows."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from ingest.runs.formats import gemini_cli
from ingest.runs.registry import importers
from ingest.runs.trajectories.trajectory import Trajectory
from tests.ingest.runs.formats.recorded_sessions import opened

Lines = tuple[str, int | None, int | None]


def read(module: ModuleType, shared: Path, name: str) -> Trajectory:
    """The one trajectory of a file that its own format alone recognises."""
    file = opened(shared / "agent-formats" / name.partition("/")[0], name.partition("/")[2])
    assert [one for one in importers().values() if one.recognise(file.head(), file.path)] == [
        one for one in vars(module).values() if one in importers().values()
    ]
    trajectories: list[Trajectory] = list(module.trajectories(file))
    (found,) = trajectories
    assert (file.damages, found.notes, found.failed) == ([], (), "")
    return found


def steps(found: Trajectory) -> list[list[Lines]]:
    return [[(view.path, view.start, view.end) for view in step] for step in found.steps]


def whole(*paths: str) -> list[list[Lines]]:
    """Steps that showed a whole file each."""
    return [[(path, 1, None)] for path in paths]


def test_a_session_of_gemini_cli(shared: Path) -> None:
    found = read(gemini_cli, shared, "gemini-cli/session-2026-03-24-checkpoint.json")
    assert steps(found) == whole(
        "README.md", "hello.py", "multi.py", "coalescing.md", ".entire/settings.json", ".gemini/settings.json"
    )
    assert (found.edited, dict(found.unread)) == ((), {})


def test_a_stream_of_gemini_cli(shared: Path) -> None:
    found = read(gemini_cli, shared, "gemini-cli/stream-json-2026-01-30.jsonl")
    skill = ".gemini/skills/figma-to-code/SKILL.md"
    assert steps(found) == whole(
        skill, "src/index.css", "package.json", skill, "figma-to-code/manifest.json", "package.json",
        "src/components/layout/Header.tsx", "src/components/layout/Footer.tsx",
    )  # fmt: skip
    assert "index.html" in found.edited
    assert len(found.edited) == 14
    assert found.unread["call without a result"] == 1
