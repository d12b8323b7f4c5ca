"""Sessions as Gemini CLI, OpenCode and Copilot CLI recorded them: what the data's README says each file shows."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from ingest.runs.formats import copilot_cli, gemini_cli, opencode
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
    (found,) = importers()[name.partition("/")[0]].trajectories(file)
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


def test_an_export_of_opencode(shared: Path) -> None:
    found = read(opencode, shared, "opencode/2026-07-export.json")
    contracts, api = "src/Pfm.Categorization.Contracts", "src/Pfm.Categorization.WebApi"
    *shown, (_, *searched) = [step[0] if len(step) == 1 else step for step in steps(found)]
    assert shown == [
        ("docs/HANDOFF.md", 1, 204), ("docs/one-page-alta-gestao-categorizacao-pfm.md", 1, 39),
        ("docs/rfc-v1-mcc-first-multifonte-personalizacao.md", 1, 580),
        ("docs/spec-pfm-v2-completo-pbis-card-ready.md", 1, 500),
        (f"{contracts}/CanonicalCardTransactionEvent.cs", 1, 181), (f"{contracts}/SchemaConstants.cs", 1, 22),
        (f"{contracts}/PfmCategories.cs", 1, 44), (f"{contracts}/CanonicalJson.cs", 1, 34),
        (f"{contracts}/SnakeCaseLowerNamingPolicy.cs", 1, 40), ("README.md", 1, 178),
        ("src/Pfm.WebApi/Program.cs", 1, 34), ("src/Pfm.WebApi/Controllers/HomeController.cs", 1, 32),
        ("src/Pfm.WebApi/Dockerfile", 1, 23), [("PfmCategorization.sln", 1, None), ("model.sql", 1, 40)],
        ("docker-compose.yml", 1, 16),
        [(f"{api}/{name}", 1, None) for name in (
            "Pfm.Categorization.WebApi.csproj", "Program.cs", "Dockerfile", "appsettings.json",
        )],
        (f"{api}/Controllers/HomeController.cs", 1, 32), (f"{api}/WeatherForecast.cs", 1, 12),
    ]  # fmt: skip
    assert (f"{api}/Dockerfile", 10, 11) in searched
    assert (found.edited, found.unread) == ((), {"subagent whose file is not there": 1})


def test_the_events_of_copilot_cli(shared: Path) -> None:
    found = read(copilot_cli, shared, "copilot-cli/traceforge-events.jsonl")
    assert steps(found) == whole("app/main.py", "app/service.py", "app/repository.py")
    assert (found.edited, dict(found.unread)) == (("app/service.py", "app/main.py"), {})
