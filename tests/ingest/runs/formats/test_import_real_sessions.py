"""Sessions as Claude Code, Codex and OpenHands recorded them: what the data's README says each file shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ingest.runs.calls.parsed import FileSpan
from ingest.runs.formats import claude_code, codex, openhands
from ingest.runs.trajectories.trajectory import Trajectory
from ingest.runs.trajectories.trajectory_file import TrajectoryFile
from tests.ingest.runs.formats.recorded_sessions import opened

Lines = tuple[str, int | None, int | None]
Recognise = Callable[[bytes, str], bool]


def read(module: object, file: TrajectoryFile) -> list[Trajectory]:
    """The trajectories of a file that its own format recognises and that damages nothing."""
    recognise: Recognise = module.recognise  # type: ignore[attr-defined]  # a module
    trajectories: Callable[[TrajectoryFile], Iterator[Trajectory]] = module.trajectories  # type: ignore[attr-defined]  # a module
    assert recognise(file.head(), file.path)
    found = list(trajectories(file))
    assert not file.damages
    assert not any(one.failed for one in found)
    return found


def lines(view: FileSpan) -> Lines:
    return view.path, view.start, view.end


def firsts(found: Trajectory) -> list[Lines]:
    """The first view of every step."""
    return [lines(step[0]) for step in found.steps]


# Claude Code


def claude(shared: Path, name: str) -> Trajectory:
    folder, _, path = name.partition("/")
    (found,) = read(claude_code, opened(shared / "agent-formats/claude-code" / folder, path))
    return found


def test_claude_code_1_0_56_shows_reads_and_the_searches_that_hit(shared: Path) -> None:
    found = claude(shared, "v1.0.56/12a546d1-83a7-49a6-abba-5400db340b43.jsonl")
    html, models, timeline = (
        "claude_code_log/html_generator.py", "claude_code_log/models.py", "test/test_timeline_browser.py",
    )  # fmt: skip
    components = "claude_code_log/templates/components/timeline.html"
    assert firsts(found) == [
        (timeline, 1, 50), (timeline, 150, 249), (timeline, 280, 379), ("claude_code_log/formatters.py", 1, 100),
        (html, 249, 253), (html, 330, 399), (models, 193, 193), (models, 185, 209), (html, 370, 399),
        (components, 30, 34), (components, 50, 74), (timeline, 442, 472), (html, 195, 200), (html, 240, 259),
        (html, 200, 239), ("test/test_data/system_model_change.jsonl", 1, 2), (models, 220, 227), (html, 206, 211),
    ]  # fmt: skip
    assert [len(step) for step in found.steps if len(step) > 1][:1] == [4]
    assert found.edited == (html,)


def test_claude_code_2_0_42_shows_a_search_that_lists_files_without_their_lines(shared: Path) -> None:
    found = claude(shared, "v2.0.42/7acd37a8-2745-4b58-a8a9-46164b22ad9e.jsonl")
    assert firsts(found) == [
        ("README.md", 1, 218), ("index.html", 1, 303), ("config.ru", 1, 3), ("js/lib/recorder.js", 1, 88),
        ("js/recordLive.js", 1, 125), ("app/js/audioLayerControl.js", 1, 100), ("js/sequencer.js", 1, 56),
        ("app/js/editorapp.js", 1, 14), ("js/drone.js", 1, 20), ("js/drone.js", 1, 129), ("CLAUDE.md", None, None),
        ("app/js/filedropbox.js", 3, 3), ("js/lib/recorder.js", 76, 76), ("app/js/filedropbox.js", 1, 76),
        ("app/js/binarytoolkit.js", 1, 194),
    ]  # fmt: skip
    assert [lines(view)[1:] for view in found.steps[10]] == [(None, None)] * 5
    assert len(found.edited) == 11
    assert found.edited[:5] == ("CLAUDE.md", "package.json", ".gitignore", "js/recordLive.js", "js/drone.js")


def subagent_steps() -> list[Lines]:
    below = "/workspace/claude-code-log"
    source = f"{below}/claude_code_log"
    return [
        (f"{below}/README.md", 1, 252), (f"{below}/CLAUDE.md", 1, 100), (f"{below}/pyproject.toml", 1, 123),
        (f"{source}/models.py", 1, 100), (f"{source}/cli.py", 1, 80), (f"{source}/converter.py", 1, 150),
        (f"{source}/renderer.py", 1, 100), (f"{source}/html/renderer.py", 1, 60), (f"{source}/cache.py", 1, 100),
        (f"{below}/dev-docs/rendering-architecture.md", 1, 347), (f"{below}/CONTRIBUTING.md", 1, 80),
        (f"{source}/migrations/001_initial_schema.sql", 1, 50), (f"{source}/tui.py", 1, 80),
    ]  # fmt: skip


def test_claude_code_2_1_17_reads_a_subagents_file_where_its_call_stands(shared: Path) -> None:
    session = "29ccd257-68b1-427f-ae5f-6524b7cb6f20"
    found = claude(shared, f"v2.1.17/{session}.jsonl")
    assert firsts(found) == subagent_steps()
    assert (found.edited, found.notes) == ((), ())
    alone = opened(shared / "agent-formats/claude-code/v2.1.17", f"{session}/subagents/agent-a2271d1.jsonl")
    (by_itself,) = claude_code.CLAUDE_CODE.trajectories(alone)
    assert firsts(by_itself) == subagent_steps()


def test_claude_code_2_1_42_passes_over_rows_of_other_types(shared: Path) -> None:
    found = claude(shared, "v2.1.42/03eb5929-52b3-4b13-ada3-b93ae35806b8.jsonl")
    assert firsts(found) == [("work-and-dev-docs.md", 1, 9)]
    assert (found.edited, found.notes) == ((), ())


def test_claude_code_2_1_shows_nothing_of_calls_that_were_denied(shared: Path) -> None:
    found = claude(shared, "v2.1-denied/2c966364-9096-4b02-af27-b861b7c31da5.jsonl")
    assert (found.steps, found.final, found.edited) == ((), None, ())


# Codex


def codex_of(shared: Path, name: str) -> Trajectory:
    (found,) = read(codex, opened(shared / "agent-formats/codex", name))
    return found


def test_codex_of_september_2025_has_rows_without_a_payload(shared: Path) -> None:
    found = codex_of(shared, "2025-09-rows-without-payload.jsonl")
    rendered, log = "render_jsonl.py", "rollout-2025-09-08T20-55-49-f6f5ea21-be92-4d49-a250-a5840ce1baa9.jsonl"
    assert firsts(found) == [
        (rendered, 1, 200), (log, 1, 120), ("output.html", 1, 80), ("output.html", 61, 62), ("example.jsonl", 1, 60),
        ("output.html", 97, 97), (rendered, 140, 260), (rendered, 260, 460), (rendered, 160, 220),
        ("output.html", 36, 36), ("output.html", 1150, 1170), ("output.html", 91, 91), ("index.html", 1, 80),
        ("plan.jsonl", 1, 200),
        ("plan.jsonl", 6, 6), ("plan.jsonl", 8, 8), ("plan.jsonl", 9, 9),
        ("plan.html", 64, 65), (rendered, 1, 220), (rendered, 220, 520), (rendered, 520, 980), ("plan.html", 132, 132),
        ("plan.html", 3658, 3685), ("plan.html", 69, 69), ("plan.html", 3666, 3692),
    ]  # fmt: skip
    assert ("plan.html", 1, 140) in map(lines, found.steps[17])
    assert found.edited == (rendered, "requirements.txt", "README.md")


def test_codex_0_116_reads_what_stands_after_the_head_of_an_output(shared: Path) -> None:
    found = codex_of(shared, "v0.116-exec_command-apply_patch.jsonl")
    specification = "specs/HYPERWEAVE_MASTER_PRD_v4.md"
    assert len(found.steps) == 73
    assert firsts(found)[:5] == [
        (specification, 1, 1), (specification, 1, 250), (specification, 251, 500), (specification, 501, 750),
        (specification, 751, 1000),
    ]  # fmt: skip
    assert all(len(step) == 1 for step in found.steps)
    assert len(found.edited) == 22
    assert found.edited[:2] == ("pyproject.toml", "justfile")


def test_codex_0_128_shows_nothing_of_files_that_are_not_there(shared: Path) -> None:
    found = codex_of(shared, "v0.128-exec_command.jsonl")
    assert firsts(found) == [("README.md", 1, 260)]
    assert found.edited == ()


def test_of_codex_on_windows_all_but_powershell_is_read(shared: Path) -> None:
    found = codex_of(shared, "v0.142-shell_command-windows.jsonl")
    assert firsts(found) == [
        ("API_REFERENCE.md", 76, 76), ("app/service.py", 32, 32),
    ]  # fmt: skip
    assert found.unread["command of PowerShell"] == 3
    assert len(found.steps[0]) == 52
    assert list(map(lines, found.steps[1])) == [
        ("app/service.py", 32, 32), ("app/main.py", 51, 52), ("app/main.py", 60, 60),
    ]  # fmt: skip
    assert found.edited == ("app/service.py", "app/main.py")


def test_codex_0_144_calls_its_tools_from_scripts(shared: Path) -> None:
    found = codex_of(shared, "v0.144-exec-scripts.jsonl")
    ((path, start, end),) = firsts(found)
    assert (path.rpartition("/")[2], start, end) == ("SKILL.md", 1, 320)
    assert path.startswith("/")
    assert found.edited == ()


# OpenHands


def openhands_of(shared: Path, name: str) -> list[Trajectory]:
    return read(openhands, opened(shared / "agent-formats/openhands", name))


def test_openhands_of_april_2025_shows_the_lines_that_a_read_numbers(shared: Path) -> None:
    first, second, third = openhands_of(shared, "v0.3x-multi_swe_bench-output.jsonl")
    parser, cli, commands = "src/libponyc/ast/parser.c", "packages/cli/cli.pony", "packages/cli/command_parser.pony"
    match, makefile = "src/libponyc/expr/match.c", "Makefile"
    assert first.item == "ponylang__ponyc-4595"
    assert firsts(first) == [
        (parser, 1, 627), (parser, 29, 29), (parser, 1, 627), (parser, 666, 666), (parser, 1, 627),
        (parser, 650, 700), (parser, 650, 655), (parser, 690, 697),
    ]  # fmt: skip
    assert second.item == "ponylang__ponyc-4593"
    assert firsts(second) == [
        (cli, 1, None), (cli, 1, None), (cli, 100, 122), (cli, 1, 122), (commands, None, None), (commands, 1, None),
        (commands, 100, 110), (commands, 100, 102), (commands, 101, 102),
    ]  # fmt: skip
    assert third.item == "ponylang__ponyc-4588"
    assert firsts(third) == [
        (match, 1, 582), (match, 6, 6), (match, 282, 449), (match, 312, 317), (match, 314, 317), (match, 315, 317),
        (match, 315, 318), (makefile, 190, 195), (makefile, 1, 50), (makefile, 78, 78), (makefile, 77, 78),
    ]  # fmt: skip
    assert list(map(lines, third.steps[1])) == [(match, 6, 6), (match, 521, 521)]
    for found, path in ((first, parser), (second, commands), (third, match)):
        assert patched(found) == [path]
        assert path in found.edited
    assert {view.path for view in third.final or ()} == {match, makefile}


def test_openhands_of_2026_shows_the_lines_that_a_clipped_read_numbers(shared: Path) -> None:
    (found,) = openhands_of(shared, "mopenhands-2026-output.jsonl")
    java = "core/src/main/java/com/alibaba/fastjson2/JSON.java"
    assert found.item == "alibaba__fastjson2-2775"
    assert firsts(found) == [(java, 1, 393), (java, 337, 337), (java, 940, 1320), ("/home/run.sh", 1, 200)]
    assert list(map(lines, found.steps[1]))[:2] == [(java, 337, 337), (java, 368, 368)]
    assert list(map(lines, found.steps[3])) == [
        ("/home/run.sh", 1, 200), ("/home/test-run.sh", 1, 200), ("/home/fix-run.sh", 1, 200),
    ]  # fmt: skip
    assert patched(found) == [java]


def test_openhands_of_2024_keeps_its_resolvers_rows_by_issue(shared: Path) -> None:
    first, second = openhands_of(shared, "2024-resolver-output.jsonl")
    css, app, viewer = "src/App.css", "src/App.tsx", "src/PullRequestViewer.tsx"
    assert firsts(first) == [("LICENSE", 1, None)]
    assert firsts(second) == [(css, 1, 42), (app, 1, 14), (viewer, 1, 100), (viewer, 1, 100), (css, 1, 79)]
    assert (first.item, second.item) == ("neubig__pr-viewer-5", "neubig__pr-viewer-1")
    assert patched(first) == ["LICENSE"]
    assert patched(second) == [css, viewer]
    assert second.edited == (css, viewer)


@pytest.mark.parametrize("name", ["sdk-1.27-events.jsonl", "sdk-1.27-output.DERIVED.jsonl"])
def test_openhands_sdk_runs_its_commands_in_one_folder(shared: Path, name: str) -> None:
    (found,) = openhands_of(shared, name)
    assert firsts(found) == [
        ("app/service.py", 1, 200), ("app/repository.py", 1, 240), ("app/main.py", 1, 240), ("app/models.py", 1, 240),
        ("tests/test_api.py", 1, 300), ("tests/test_version.py", 1, 200),
    ]  # fmt: skip
    assert (not found.patch, found.edited) == (True, ())


def patched(found: Trajectory) -> list[str]:
    """The files of a patch."""
    rows = (row.rstrip("\r") for row in (found.patch or "").split("\n"))
    return [row.removeprefix("diff --git a/").partition(" b/")[0] for row in rows if row.startswith("diff --git ")]
