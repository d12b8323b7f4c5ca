import subprocess
from pathlib import Path

import pytest

from tests.once import linked
from tests.tiny import command

AGENT = r"""
# Reads the first two Python files of each task that `ls` gives, and leaves a session as Claude Code does.
json() { sed 's/\\/\\\\/g; s/"/\\"/g; s/\t/\\t/g' | awk '{ printf "%s\\n", $0 }'; }
mkdir sessions
for task in tasks/*; do
    repository=$(realpath "$task/repository")
    event() { printf '{"type": "%s", "sessionId": "s", "cwd": "%s", "message": {"role": "%s", "content": [%s]}}\n' \
        "$1" "$repository" "$1" "$2"; }
    {
        event user "$(printf '{"type": "text", "text": "%s"}' "$(json < "$task/prompt.md")")"
        for file in $(find "$repository" -name '*.py' | sort | head -2); do
            event assistant '{"type": "tool_use", "id": "'$file'", "name": "Read", "input": {"file_path": "'$file'"}}'
            event user '{"type": "tool_result", "tool_use_id": "'$file'", "content": "'"$(cat -n "$file" | json)"'"}'
        done
    } > "sessions/$(basename "$task").jsonl"
done
"""


def ran(*arguments: object) -> str:
    result = command(*map(str, arguments)).done()
    return result.out + result.err


def test_commands_lead_from_tasks_to_a_leaderboard(
    sample_contextbench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    linked(sample_contextbench / "lake", tmp_path / "lake")
    lake, python = ("--lake", "lake"), ("--items", "language=python")
    handed_out = ran("ingest", "tasks", "contextbench", "-o", "tasks", *python, *lake)
    subprocess.run(["sh", "-c", AGENT], check=True)
    imported = ran("ingest", "run", "sessions", "--benchmark", "contextbench", "--system", "reader", *python, *lake)
    evaluated = ran("evaluate", "contextbench", "--systems", "reader,whole-file+random", *lake)
    n = len([*Path("tasks").iterdir()])
    assert f"tasks: {n} items of contextbench" in handed_out
    assert f"ingest: {n} of {n} items" in imported
    assert f"trajectories: {n}, with {2 * n} steps and {4 * n} spans" in imported
    assert f"reader  0.000 (0.000 to 0.522)  {n} of 30 items  partial" in evaluated
    assert "reader (partial)" in ran("evaluate", "table", "contextbench", *lake)
