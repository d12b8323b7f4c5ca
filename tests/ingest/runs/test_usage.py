"""What agents used: read from their files, priced by a list, with the outcomes that are given, up to the board."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ingest.runs.trajectories.usage import TokenCounts
from lake.errors import Exit
from lake.store import Lake
from tests.ingest.runs.agents import CATS, ORBITS, ROCKETS, UPSTREAM, issues_once, jsonl, laid_out, lake
from tests.once import linked
from tests.tiny import Said, command, put

__all__ = ["issues_once", "lake"]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        # Anthropic's input has neither what was read from a cache nor what was written to one.
        ({"input_tokens": 4, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 200, "output_tokens": 9},
         TokenCounts(4, 200, 30, 9)),
        # OpenAI's prompt has what was read, and litellm's both.
        ({"prompt_tokens": 100, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 60}},
         TokenCounts(40, 60, None, 9)),
        ({"prompt_tokens": 100, "completion_tokens": 9, "cache_read_tokens": 60, "cache_write_tokens": 30},
         TokenCounts(10, 60, 30, 9)),
        ({"input_tokens": 100, "cached_input_tokens": 60, "output_tokens": 9, "reasoning_output_tokens": 5},
         TokenCounts(40, 60, None, 9)),
        ({"prompt_tokens": 100, "completion_tokens": 9}, TokenCounts(100, None, None, 9)),
        ({"prompt_tokens": "many"}, None),
        ({"input_tokens": -1}, None),
        ([], None),
    ],
)  # fmt: skip
def test_tokens_are_counted_one_way(given: object, wanted: TokenCounts | None) -> None:
    assert TokenCounts.of(given) == wanted


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
def test_it_goes_on_to_the_table_and_the_page(
    sample_contextbench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of the thirty items of the sample every second is read.
    monkeypatch.setattr("lake.usage.FEWEST_ITEMS", 6)
    lake, site = Lake(linked(sample_contextbench / "lake", tmp_path / "lake")), tmp_path / "site"
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
    cells = ("agent", "claude-x-20260101", "1,200", "–", "5", "1", "1", "1.0/1.0/1.0 (15/30)", "1", "15/30")
    assert line.split("\t") == [*cells]
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
