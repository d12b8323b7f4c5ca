"""What agents used: read from their files, priced by a list, with the outcomes that are given, up to the board."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ingest.runs.find_trajectories import discover
from ingest.runs.trajectories.usage import Tokens, Usage
from ingest.sources.input_file import InputFile
from lake.errors import Exit
from lake.rejects import Rejects
from lake.store import Lake
from tests.ingest.runs.agents import CATS, ITEMS, ORBITS, ROCKETS, UPSTREAM, issues_once, jsonl, laid_out, lake, unified
from tests.tiny import Said, command, put

__all__ = ["issues_once", "lake"]

NOVA, LLAMA = "bedrock/us.amazon.nova-premier-v1:0", "meta-llama/llama-4-maverick"

# What each recorded file says, taken from it by hand: model, tokens (input, cached, written to a cache, output), US
# dollars, seconds, turns, calls, how it ended.
RECORDED: dict[str, list[Usage]] = {
    "agentless/v0.1-filtered_loc.jsonl": [
        Usage(n_input=20877, n_output=418), Usage(n_input=9253, n_output=376),
        Usage(n_input=19995, n_output=276), Usage(n_input=8865, n_output=227),
    ],
    "agentless/v1.5-combined_locs.jsonl": [Usage()] * 7,
    "atif/011_atlassian-api__atlassian-pyt__xznBdt8/agent/trajectory.json": [
        Usage(NOVA, 15882, 0, None, 4993, 0.1021175, 364.117, 4, 4)
    ],
    "atif/028_algorand__pyteal__step145__t__gD6nDGp/agent/trajectory.json": [
        Usage(NOVA, 158676, None, None, 3184, 0.43649, 297.945, 17, 17)
    ],
    "atif/122_enthought__traits__step280____3M8gNiB/agent/trajectory.json": [
        Usage(NOVA, 299195, 0, None, 5877, 0.82145, 590.434, 29, 43)
    ],
    "atif/et-f1aae6e1__DV9sYso/agent/trajectory.json": [
        Usage("openrouter/nousresearch/hermes-4-70b", 314235, 0, None, 8217, 0.04413735, 339.857, 30, 97)
    ],
    "atif/serf-v1.7-trajectory.json": [Usage("claude-sonnet-4-6", 15, 125263, None, 1572, None, 29.0, 7, 6)],
    "claude-code/v1.0.56/12a546d1-83a7-49a6-abba-5400db340b43.jsonl": [
        Usage("claude-opus-4-20250514", 206, 1167066, 29126, 6064, None, 65947.887, 36, 35)
    ],
    "claude-code/v2.0.42/7acd37a8-2745-4b58-a8a9-46164b22ad9e.jsonl": [
        Usage("claude-sonnet-4-5-20250929", 1804, 1502915, 182937, 20797, None, 1731.153, 36, 71)
    ],
    # With its subagent, whose model answered more often than the session's own.
    "claude-code/v2.1.17/29ccd257-68b1-427f-ae5f-6524b7cb6f20.jsonl": [
        Usage("claude-opus-4-5-20251101", 4468, 272977, 50764, 20, None, 79.196, 12, 25)
    ],
    "codex/2025-09-rows-without-payload.jsonl": [Usage(n_calls=58)],
    "codex/v0.142-shell_command-windows.jsonl": [Usage("gpt-5", 74842, 134144, None, 4948, None, 120.02, 12, 11)],
    "codex/v0.144-exec-scripts.jsonl": [Usage("gpt-5.6-sol", 38183, 717243, None, 9291, None, 438.441, 1, 4)],
    "copilot-cli/traceforge-events.jsonl": [
        Usage("claude-opus-4.8", 211, 394185, 13600, 1770, None, 64.012, 6, 9, "routine")
    ],
    "gemini-cli/session-2026-03-24-checkpoint.json": [
        Usage("gemini-3-flash-preview", 15619, 23737, None, 1275, None, 161.58, 5, 6)
    ],
    # Two turns, hours apart, of which the first alone tells its tokens.
    "gemini-cli/stream-json-2026-01-30.jsonl": [
        Usage("gemini-3-pro-preview", 772262, 1379815, None, 12071, None, 57177.798, None, 68, "success")
    ],
    "mini-swe-agent/v1.14-mini-swe-agent.trajectory.json": [
        Usage(NOVA, 158676, 0, 0, 3184, 0.43649, None, 17, 18, "Submitted")
    ],
    "opencode/2026-07-export.json": [
        Usage("claude-sonnet-5", 38, 1555785, 503963, 71366, 2.2848005, 90376.612, 21, 25)
    ],
    "openhands/2024-resolver-output.jsonl": [Usage(usd=0.070713, n_calls=3), Usage(usd=1.152933, n_calls=21)],
    "openhands/mopenhands-2026-output.jsonl": [
        Usage("gpt-5-2025-08-07", 118211, 67712, None, 8259, 0.5808695, 826.219, 12, 12)
    ],
    "openhands/sdk-1.27-events.jsonl": [Usage(seconds=25.836, n_calls=11)],
    # The model has no price, and so a cost of 0.
    "openhands/v0.3x-multi_swe_bench-output.jsonl": [
        Usage(LLAMA, 565158, 0, 0, 2558, None, 88.241, 23, 21),
        Usage(LLAMA, 410169, 0, 0, 5156, None, 114.481, 33, 32),
        Usage(LLAMA, 938015, 0, 0, 5627, None, 449.887, 49, 48),
    ],
    # The .traj beside is of another attempt.
    "swe-agent/contextbench/pallets__flask-5014.checkpoints.jsonl": [Usage(n_calls=20)],
    "swe-agent/contextbench/pallets__flask-5014.traj": [
        Usage("openai/gpt-5", 5648, None, None, 357, 0.03140625, None, 4, 4)
    ],
    "swe-agent/v0-pydicom__pydicom-1458.traj": [
        Usage(None, 122612, None, None, 1369, 1.26719, None, 12, 12, "submitted")
    ],
    "swe-agent/v1-marshmallow-code__marshmallow-1867.traj": [
        Usage("replay", n_turns=13, n_calls=13, exit_status="submitted")
    ],
}  # fmt: skip


@pytest.mark.shared
@pytest.mark.parametrize("name", RECORDED)
def test_recorded_files_used_what_they_say(shared: Path, name: str) -> None:
    found = discover(InputFile.at(shared / "agent-formats" / name), "auto", Rejects())
    used = [one.usage for file in found.files for one in found.importer.trajectories(file)]
    assert [_near(one) for one in used] == [_near(one) for one in RECORDED[name]]


@pytest.mark.shared
@pytest.mark.parametrize("name", RECORDED)
def test_steps_of_recorded_files_stand_at_a_turn_and_a_call_in_their_order(shared: Path, name: str) -> None:
    found = discover(InputFile.at(shared / "agent-formats" / name), "auto", Rejects())
    for file in found.files:
        for one in found.importer.trajectories(file):
            turns, calls = [turn for turn, _ in one.shown_at], [call for _, call in one.shown_at]
            assert len(one.shown_at) in (0, len(one.steps))
            assert calls == sorted(calls)
            assert turns == sorted(turns)
            assert max(turns, default=0) <= (one.usage.n_turns or 0)
            assert max(calls, default=0) <= (one.usage.n_calls or 0)


def _near(usage: Usage) -> dict[str, object]:
    return {name: round(value, 6) if isinstance(value, float) else value for name, value in vars(usage).items()}


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        # Anthropic's input has neither what was read from a cache nor what was written to one.
        ({"input_tokens": 4, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 200, "output_tokens": 9},
         Tokens(4, 200, 30, 9)),
        # OpenAI's prompt has what was read, and litellm's both.
        ({"prompt_tokens": 100, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 60}},
         Tokens(40, 60, None, 9)),
        ({"prompt_tokens": 100, "completion_tokens": 9, "cache_read_tokens": 60, "cache_write_tokens": 30},
         Tokens(10, 60, 30, 9)),
        ({"input_tokens": 100, "cached_input_tokens": 60, "output_tokens": 9, "reasoning_output_tokens": 5},
         Tokens(40, 60, None, 9)),
        ({"prompt_tokens": 100, "completion_tokens": 9}, Tokens(100, None, None, 9)),
        ({"prompt_tokens": "many"}, None),
        ({"input_tokens": -1}, None),
        ([], None),
    ],
)  # fmt: skip
def test_tokens_are_counted_one_way(given: object, wanted: Tokens | None) -> None:
    assert Tokens.of(given) == wanted


def session(read: str, *, tokens: int, line: int = 1) -> bytes:
    """A session of Claude Code's that reads a line of a file."""
    event = {"sessionId": "s", "cwd": "/testbed"}
    used = {"input_tokens": tokens, "cache_read_input_tokens": 10 * tokens, "output_tokens": tokens}
    call = {"type": "tool_use", "id": "c", "name": "Read", "input": {"file_path": f"/testbed/{read}"}}
    answer = {"id": "m", "model": "claude-x-20260101", "usage": used, "content": [call]}
    result = {"type": "tool_result", "tool_use_id": "c", "content": f"{line:6}\timport math"}
    return jsonl(
        {**event, "type": "user", "timestamp": "2026-01-01T00:00:00Z", "message": {"content": "Mend it."}},
        {**event, "type": "assistant", "timestamp": "2026-01-01T00:00:02Z", "message": answer},
        {**event, "type": "user", "timestamp": "2026-01-01T00:00:05Z", "message": {"content": [result]}},
    )


@pytest.fixture
def sessions(lake: Lake) -> Path:
    """Sessions of two of the three issues."""
    files = {
        f"{ROCKETS}.jsonl": session("src/engine.py", tokens=100),
        f"{CATS}.jsonl": session("lib/cat.js", tokens=300),
    }
    return laid_out(lake.root.parent / "sessions", files)


def run(lake: Lake, file: Path, *arguments: object) -> Said:
    named = ("--benchmark", "contextbench", "--system", "agent", "--lake", lake.root)
    return command("ingest", "run", file, *named, *arguments)


PRICES = (
    b"date: 2026-11-01\nmodels:\n  claude-x: {input: 3.0, cached: 0.3, output: 15.0}\n  claude: {input: 1, output: 1}\n"
)


def test_an_agents_usage_goes_from_its_file_to_the_table(lake: Lake, sessions: Path) -> None:
    said = run(lake, sessions)
    assert said.code == Exit.DONE, said.err
    rows = lake.read("usage").sort("item_id")
    assert rows.select("item_id", "n_input", "n_cached", "n_output", "seconds", "n_turns", "n_calls", "usd").rows() == [
        (ROCKETS, 100, 1000, 100, 5.0, 1, 1, None), (CATS, 300, 3000, 300, 5.0, 1, 1, None),
    ]  # fmt: skip


@pytest.mark.slow
def test_it_goes_on_to_the_table_and_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Of the thirty items of the sample every second is read.
    monkeypatch.setattr("lake.usage.FEWEST_ITEMS", 6)
    lake, site = Lake(tmp_path / "lake"), tmp_path / "site"
    made = command("ingest", "contextbench", "--chunkers", "whole-file", "--lake", lake.root)
    assert made.code in (Exit.DONE, Exit.INCOMPLETE), made.err
    gold = lake.read("gold_spans", benchmark="contextbench").unique("item_id").sort("item_id")
    places = gold.select("item_id", "path", "line_start").rows()
    # Every second item is read as it should be, and resolved.
    read = [(item, (path, line + 1) if n % 2 else ("README.md", 1)) for n, (item, path, line) in enumerate(places)]
    files = {f"{item}.jsonl": session(path, tokens=100, line=line) for item, (path, line) in read}
    resolved = put(tmp_path / "resolved.txt", "\n".join(item for item, *_ in places[1::2]).encode())
    said = run(lake, laid_out(tmp_path / "sessions", files), "--asked-all", "--resolved", resolved)
    assert said.code in (Exit.DONE, Exit.INCOMPLETE), said.err
    assert command("evaluate", "--systems", "agent", "--lake", lake.root).code in (Exit.DONE, Exit.INCOMPLETE)
    shown = command("evaluate", "table", "contextbench", "--costs", "--lake", lake.root).out.splitlines()
    (line,) = (line for line in shown if line.startswith("agent\tclaude-x"))
    assert line.split("\t") == [
        "agent",
        "claude-x-20260101",
        "1,200",
        "–",
        "5",
        "1",
        "1",
        "1.0/1.0/1.0 (15/30)",
        "1",
        "15/30",
    ]
    assert sum(line.startswith("# agent: ") and "of the gold" in line for line in shown) == 2
    done = command("report", "--published", "none", "--lake", lake.root, "--site", site)
    assert done.code == Exit.DONE, done.err
    page = (site / "contextbench-all.html").read_text(encoding="utf-8")
    assert '<td class="name">claude-x-20260101</td><td>1,200</td><td>–</td><td>5.0</td>' in page
    assert "<td>1.0 <small>in 15 of 30</small></td><td>15/30</td>" in page
    assert "agent: context predicts repair. Where it resolved the item" in page


def test_a_price_list_and_outcomes_are_given_with_a_run(lake: Lake, sessions: Path) -> None:
    prices = put(lake.root.parent / "prices.yaml", PRICES)
    report = {"resolved_ids": [UPSTREAM[ROCKETS]], "unresolved_ids": [CATS], "submitted_ids": [CATS, ORBITS]}
    resolved = put(lake.root.parent / "report.json", json.dumps(report).encode())
    said = run(lake, sessions, "--prices", prices, "--resolved", resolved)
    assert said.code == Exit.DONE, said.err
    assert "2 items priced by prices.yaml, 2026-11-01" in said.err
    assert "outcome of 2 items known by report.json: 1 resolved" in said.err
    rows = lake.read("usage").sort("item_id").select("item_id", "usd", "prices", "resolved")
    assert rows.rows() == [
        (ROCKETS, pytest.approx((100 * 3 + 1000 * 0.3 + 100 * 15) / 1e6), "prices.yaml, 2026-11-01", True),
        (CATS, pytest.approx((300 * 3 + 3000 * 0.3 + 300 * 15) / 1e6), "prices.yaml, 2026-11-01", False),
    ]
    # Given anew they replace what was there, under the same run.
    run_id = lake.read("runs")["run_id"].item()
    ids = put(lake.root.parent / "resolved.txt", f"{CATS}\n".encode())
    assert run(lake, sessions, "--resolved", ids).code == Exit.DONE
    rows = lake.read("usage").sort("item_id").select("run_id", "usd", "resolved")
    assert rows.rows() == [(run_id, None, False), (run_id, None, True)]


@pytest.mark.parametrize(
    ("flag", "content", "what"),
    [
        ("--prices", b"date: 2026-11-01\nmodels: {m: {input: 3}}\n", "models.m.output: is missing"),
        ("--prices", b"date: 2026-11-01\nmodels: {m: {input: -3, output: 1}}\n", "models.m.input"),
        ("--prices", b"date: soon\nmodels: {m: {input: 3, output: 1}}\n", "date: input should be a valid date"),
        ("--prices", None, "does not exist"),
        ("--resolved", b"{}", "names no item as resolved or not"),
        ("--resolved", b"[1, 2]", "names no item as resolved or not"),
        ("--resolved", b'{"resolved_ids": ', "names no item as resolved or not"),
        ("--resolved", b"\xff\xfe", "cannot be read"),
        ("--resolved", None, "cannot be read"),
    ],
)
def test_what_is_no_price_list_and_no_outcome_is_refused(
    lake: Lake, sessions: Path, flag: str, content: bytes | None, what: str
) -> None:
    file = lake.root.parent / ("prices.yaml" if flag == "--prices" else "resolved.json")
    if content is not None:
        put(file, content)
    said = run(lake, sessions, flag, file)
    assert (said.code in (Exit.INVALID, Exit.MISSING), what in said.err) == (True, True), said.err
    assert lake.read("runs").is_empty()


def test_prices_are_of_agents(lake: Lake) -> None:
    ranking = put(lake.root.parent / "run.tsv", f"item_id\tdocument\tscore\n{ROCKETS}\tsrc/engine.py\t1\n".encode())
    said = run(lake, ranking, "--prices", put(lake.root.parent / "prices.yaml", PRICES))
    assert (said.code, "--prices and --resolved are of agents" in said.err) == (Exit.USAGE, True)


def test_what_no_file_says_has_no_row(lake: Lake) -> None:
    given = put(lake.root.parent / "given.jsonl", jsonl(*(unified(item) for item in ITEMS)))
    assert run(lake, given).code == Exit.DONE
    assert lake.read("usage").is_empty()
