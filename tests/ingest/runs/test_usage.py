import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ingest.commands import app
from ingest.runs.request import ImportJob
from ingest.runs.usage import TokenCounts, seconds_between
from ingest.runs.values import object_at
from lake.errors import Exit, GoldspanError
from lake.store import Lake
from tests.ingest.runs.agents import CATS, ORBITS, ROCKETS, UPSTREAM, imported, jsonl, laid_out, lake, zipped
from tests.ingest.runs.formats.recorded_sessions import gave, rows, said_by_claude, used
from tests.once import linked
from tests.tiny import Said, command, put

__all__ = ["lake"]


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


@pytest.mark.parametrize(
    ("stamps", "seconds"),
    [
        (["2026-01-01T00:00:05Z", "2026-01-01T00:00:02", "soon"], 3.0),
        ([1_780_680_347.5, 1_780_680_349], 1.5),
        ([1_767_036_059_338, None, 1_767_036_060_838], 1.5),
        ([1_780_680_347, 10**400, float("nan"), float("inf"), 0, True], None),
    ],
)  # fmt: skip
def test_times_are_in_seconds_or_milliseconds(stamps: list[object], seconds: float | None) -> None:
    assert seconds_between(stamps) == seconds


def session(read: str, *, tokens: int, line: int = 1) -> bytes:
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
    files = {
        f"{ROCKETS}.jsonl": session("src/engine.py", tokens=100),
        f"{CATS}.jsonl": session("lib/cat.js", tokens=300),
    }
    return laid_out(lake.root.parent / "sessions", files)


def run(lake: Lake, file: Path, *arguments: object) -> Said:
    options = ("--benchmark", "contextbench", "--system", "agent", "--lake", lake.root)
    return command("ingest", "run", file, *options, *arguments)


PRICES = b"date: 2026-11-01\nmodels:\n  claude-x: {input: 3, cached: .3, output: 15}\n  claude: {input: 1, output: 1}\n"


def test_an_agents_usage_goes_from_its_file_to_the_table(lake: Lake, sessions: Path) -> None:
    run(lake, sessions).done()
    rows = lake.read("usage").sort("item_id")
    assert rows.select("item_id", "n_input", "n_cached", "n_output", "seconds", "n_turns", "n_calls", "usd").rows() == [
        (ROCKETS, 100, 1000, 100, 5.0, 1, 1, None), (CATS, 300, 3000, 300, 5.0, 1, 1, None),
    ]  # fmt: skip


@pytest.mark.slow
def test_usage_is_in_table_and_page(sample_contextbench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Of the thirty items of the sample every second is read.
    monkeypatch.setattr("evaluate.statistics.repairs.FEWEST_ITEMS", 6)
    lake, site = Lake(linked(sample_contextbench / "lake", tmp_path / "lake")), tmp_path / "site"
    gold = lake.read("gold_spans", benchmark="contextbench").unique("item_id").sort("item_id")
    places = gold.select("item_id", "path", "line_start").rows()
    # Every second item is read as it should be, and resolved.
    read = [(item, (path, line + 1) if n % 2 else ("README.md", 1)) for n, (item, path, line) in enumerate(places)]
    files = {f"{item}.jsonl": session(path, tokens=100, line=line) for item, (path, line) in read}
    resolved = put(tmp_path / "resolved.txt", "\n".join(item for item, *_ in places[1::2]).encode())
    result = run(lake, laid_out(tmp_path / "sessions", files), "--asked-all", "--resolved", resolved)
    assert result.code in (Exit.DONE, Exit.INCOMPLETE), result.err
    assert command("evaluate", "--systems", "agent", "--lake", lake.root).code in (Exit.DONE, Exit.INCOMPLETE)
    shown = command("evaluate", "table", "contextbench", "--costs", "--lake", lake.root).out.splitlines()
    (line,) = (line for line in shown if line.startswith("agent\tclaude-x"))
    cells = ("agent", "claude-x-20260101", "1,200", "–", "5", "1", "1", "1.0/1.0/1.0 (15/30)", "1", "15/30")
    assert line.split("\t") == [*cells]
    assert sum(line.startswith("# agent: ") and "of the gold" in line for line in shown) == 2
    command("report", "--published", "none", "--lake", lake.root, "--site", site).done()
    page = (site / "contextbench-all.html").read_text(encoding="utf-8")
    assert '<td class="name">claude-x-20260101</td><td>1,200</td><td>–</td><td>5.0</td>' in page
    assert "<td>1.0 <small>in 15 of 30</small></td><td>15/30</td>" in page
    assert "agent: context predicts repair. Where it resolved the item" in page


def test_a_price_list_and_outcomes_are_given_with_a_run(lake: Lake, sessions: Path) -> None:
    prices = put(lake.root.parent / "prices.yaml", PRICES)
    report = {"resolved_ids": [UPSTREAM[ROCKETS]], "unresolved_ids": [CATS], "submitted_ids": [CATS, ORBITS]}
    resolved = put(lake.root.parent / "report.json", json.dumps(report).encode())
    result = run(lake, sessions, "--prices", prices, "--resolved", resolved)
    result.done("2 items priced by prices.yaml, 2026-11-01", "2 items with an outcome in report.json: 1 resolved")
    rows = lake.read("usage").sort("item_id").select("item_id", "usd", "prices", "resolved")
    assert rows.rows() == [
        (ROCKETS, pytest.approx((100 * 3 + 1000 * 0.3 + 100 * 15) / 1e6), "prices.yaml, 2026-11-01", True),
        (CATS, pytest.approx((300 * 3 + 3000 * 0.3 + 300 * 15) / 1e6), "prices.yaml, 2026-11-01", False),
    ]
    # Given anew they replace what was there, under the same run.
    run_id = lake.read("runs")["run_id"].item()
    ids = put(lake.root.parent / "resolved.txt", f"{CATS}\n".encode())
    run(lake, sessions, "--resolved", ids).done()
    rows = lake.read("usage").sort("item_id").select("run_id", "usd", "resolved")
    assert rows.rows() == [(run_id, None, False), (run_id, None, True)]


@pytest.mark.parametrize(
    ("flag", "content", "what"),
    [
        ("--prices", b"date: 2026-11-01\nmodels: {m: {input: 3}}\n", "models.m.output: is missing"),
        ("--prices", b"date: 2026-11-01\nmodels: {m: {input: -3, output: 1}}\n", "models.m.input"),
        ("--prices", b"date: soon\nmodels: {m: {input: 3, output: 1}}\n", "date: input should be a valid date"),
        ("--prices", None, "No such file or directory"),
        ("--resolved", b"{}", "does not say which items are resolved"),
        ("--resolved", b"[1, 2]", "does not say which items are resolved"),
        ("--resolved", b'{"resolved_ids": ', "does not say which items are resolved"),
        ("--resolved", b"\xff\xfe", "resolved.json has no item of contextbench"),
        ("--resolved", None, "No such file"),
        ("--resolved", b"date: 2026-11-01", "resolved.json has no item of contextbench"),
        ("--resolved", b'{"resolved_ids": ["nobody__x-1"]}', "resolved.json has no item of contextbench"),
    ],
)
def test_bad_prices_and_outcomes(lake: Lake, sessions: Path, flag: str, content: bytes | None, what: str) -> None:
    file = lake.root.parent / ("prices.yaml" if flag == "--prices" else "resolved.json")
    if content is not None:
        put(file, content)
    result = run(lake, sessions, flag, file)
    assert (result.code in (Exit.INVALID, Exit.MISSING), what in result.err) == (True, True), result.err
    assert lake.read("runs").is_empty()


def test_prices_are_of_agents(lake: Lake) -> None:
    ranking = put(lake.root.parent / "run.tsv", f"item_id\tdocument\tscore\n{ROCKETS}\tsrc/engine.py\t1\n".encode())
    result = run(lake, ranking, "--prices", put(lake.root.parent / "prices.yaml", PRICES))
    result.refused(Exit.USAGE, "--prices and --resolved apply to trajectories")


RUN = CliRunner()


def calls(n_read: int, n_refused: int) -> bytes:
    """A session of so many reads that show something, so many that do not, and two calls of a tool nobody knows."""
    events = []
    for number in range(n_read + n_refused):
        events += [
            used("Read", f"c{number}", file_path="/testbed/src/engine.py"),
            gave("1\tx\n2\ty", f"c{number}", error=number >= n_read),
        ]
    events += [used("mcp__look", "x1"), gave("?", "x1"), used("mcp__look", "x2"), gave("?", "x2")]
    return rows(*events, said_by_claude("done"))


def notes(result: ImportJob) -> list[str]:
    return result.outcome("here", "").warnings


def test_what_was_not_read_is_in_the_last_block_by_name_and_stored_with_the_run(lake: Lake) -> None:
    entries = {f"{ROCKETS}.jsonl": calls(2, 0), "notes/a.txt": b"x", "notes/b.txt": b"x", "result.bin": b"x"}
    data = zipped(entries)
    result = imported(lake, data, name="a.zip")
    assert "not read: file *.txt (2), tool mcp__look (2), file *.bin (1)" in notes(result)
    (unread,) = lake.read("runs").filter(run_id=result.run_id)["unread"].to_list()
    assert {entry["name"]: entry["n"] for entry in unread} == {"file *.txt": 2, "file *.bin": 1, "tool mcp__look": 2}
    again = imported(lake, data, name="a.zip")
    assert again.is_current
    assert notes(again) == notes(result)


@pytest.mark.parametrize(("n_read", "n_refused", "is_warned"), [(2, 3, True), (3, 3, False), (1, 0, False)])
def test_few_views_of_many_calls_are_a_warning(lake: Lake, n_read: int, n_refused: int, is_warned: bool) -> None:
    result = imported(lake, calls(n_read, n_refused), name=f"{ROCKETS}.jsonl")
    warned = [note for note in notes(result) if note.startswith("warning: ")]
    assert bool(warned) == is_warned
    assert (result.counts["n_showing"], result.counts["n_reading"]) == (n_read, n_read + n_refused)
    assert not is_warned or f"only {n_read} of {n_read + n_refused} calls" in warned[0]


def test_show_prints_every_call_with_its_step_and_what_was_not_understood(tmp_path: Path) -> None:
    file = put(tmp_path / "a.jsonl", calls(2, 1))
    lines = RUN.invoke(app, ["show", str(file)], catch_exceptions=False).stdout.splitlines()
    assert lines[0] == "a.jsonl: claude-code, 2 steps, no patch"
    assert [line.split()[0] for line in lines[1:]].count("-") == 3
    assert lines[1].startswith("    step 1  Read(file_path=")
    assert lines[2].strip() == "src/engine.py#L1-L2"
    assert sum("showed no file: it failed" in line for line in lines) == 1
    assert sum("not understood: tool mcp__look" in line for line in lines) == 2
    assert lines[-1] == "  not read: tool mcp__look (2)"
    assert "  final context: everything the steps showed" in lines


def test_show_says_the_turn_and_the_tool_call_of_each_step(tmp_path: Path) -> None:
    # One answer of two rows looks for nothing and reads once; the next reads once more.
    events = [
        used("TodoWrite", "c0"), used("Read", "c1", file_path="/testbed/a.py"),
        gave("done", "c0"), gave("1\tx", "c1"),
        used("Read", "c2", file_path="/testbed/b.py"), gave("1\ty", "c2"),
    ]  # fmt: skip
    for event, answer in ((events[0], "m1"), (events[1], "m1"), (events[4], "m2")):
        event["message"] = {**object_at(event, "message"), "id": answer, "usage": {"output_tokens": 5}}
    file = put(tmp_path / "a.jsonl", rows(*events))
    lines = RUN.invoke(app, ["show", str(file)], catch_exceptions=False).stdout.splitlines()
    told = [line.rpartition("  (")[2] for line in lines if line.strip().startswith("step")]
    assert told == ["turn 1, tool call 2)", "turn 2, tool call 3)"]


def test_show_prints_no_escape_sequence_of_a_file(tmp_path: Path) -> None:
    file = put(tmp_path / "a.jsonl", rows(used("mcp\x1b[2J", "c1"), gave("x", "c1")))
    shown = RUN.invoke(app, ["show", str(file)], catch_exceptions=False).stdout
    assert "\x1b" not in shown
    assert "mcp\\u{1B}[2J" in shown


def test_show_is_of_agents_files_alone(tmp_path: Path) -> None:
    file = put(tmp_path / "a.trec", b"q 0 a.py 1 1.0 x\n")
    with pytest.raises(GoldspanError, match="contains a ranking, not trajectories"):
        RUN.invoke(app, ["show", str(file)], catch_exceptions=False)


LOG = b"--- BEGIN CONTEXT ---\nFile: src/engine.py\nLine number range: 1 - 2\nContent:\nx\n--- END CONTEXT ---\n"


@pytest.mark.parametrize("name", [f"{ROCKETS}.log", "a.zip"])
def test_a_format_of_which_no_real_file_was_seen_says_so(lake: Lake, name: str) -> None:
    result = imported(lake, zipped({f"{ROCKETS}.log": LOG}) if name == "a.zip" else LOG, name=name)
    assert (result.counts["n_done"], "experimental: no real file" in notes(result)[0]) == (1, True)
