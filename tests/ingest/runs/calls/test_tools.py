import pytest

from ingest.runs.calls.tools import ToolCall, parse_call
from ingest.runs.formats.codex import script_calls
from ingest.runs.formats.mini_swe_agent import views_of_command
from ingest.runs.trajectory import FileSpan, in_repository, spans_named
from ingest.runs.values import JsonRecord


@pytest.mark.parametrize(
    "lines",
    [
        {"start_line": 3, "end_line": 9}, {"startLine": 3, "endLine": "9"}, {"line_start": 3, "line_end": 9},
        {"start_line_one_indexed": 3, "end_line_one_indexed_inclusive": 9}, {"view_range": [3, 9]},
        {"offset": 3, "limit": 7},
    ],
)  # fmt: skip
def test_a_reading_tool_shows_the_lines_it_is_asked_for(lines: dict[str, object]) -> None:
    assert parse_call(ToolCall("read_file", {"path": "a.py", **lines})).views == (FileSpan("a.py", 3, 9),)


@pytest.mark.parametrize(
    "saved",
    [
        "Output too large to read at once (39 KB). Saved to: /o.txt\nConsider rg.\n\nPreview (first 500 chars):\nx\ny",
        "<persisted-output>\nOutput too large (36KB). Full output saved to: /o.txt\n\nPreview (first 2KB):\nx\ny\n...\n"
        "</persisted-output>",
    ],
)
def test_of_an_output_that_was_saved_its_beginning_is_seen(saved: str) -> None:
    for command, views in {
        "cat a.py": [FileSpan("a.py", 1, 2)],
        "sed -n 5,5p a.py; cat b.py; cat c.py": [FileSpan("a.py", 5, 5), FileSpan("b.py", 1, 1)],
        "sed 5d a.py": [FileSpan("a.py")],
    }.items():
        assert list(parse_call(ToolCall("bash", {"command": command}, saved)).views) == views, command


@pytest.mark.parametrize(
    ("arguments", "output", "views"),
    [
        ({"offset": 5}, "x\n\n[3 more lines in file. Use offset=6 to continue.]", [FileSpan("a.py", 5, 5)]),
        ({"head": 5}, "x", [FileSpan("a.py", 1, 5)]), ({"tail": 5}, "x", [FileSpan("a.py")]),
    ],
)  # fmt: skip
def test_only_shown_lines_are_seen(arguments: dict[str, object], output: str, views: list[FileSpan]) -> None:
    call = ToolCall("mcp__filesystem__read_text_file", {"path": "a.py", **arguments}, output)
    assert list(parse_call(call).views) == views


@pytest.mark.parametrize("name", ["ReadFile", "text_editor", "developer__text_editor", "str_replace_based_edit_tool"])
def test_a_reading_tool_is_known_by_any_of_its_names(name: str) -> None:
    given = {"command": "view", "path": "a.py"}
    assert parse_call(ToolCall(name, given, "     3\tx\n     4\ty")).views[0].path == "a.py"


def test_a_window_of_a_file_shows_its_lines() -> None:
    output = "[File: lib/a.py (10 lines total)]\r\n(2 more lines above)\n3:x\r\n4:y\n(Open file: /r/lib/a.py)\nbash-$"
    assert parse_call(ToolCall("open", {"path": "lib/a.py"}, output)).views == (FileSpan("lib/a.py", 3, 4),)


@pytest.mark.parametrize("name", ["apply_patch", "read_bash", "CronCreate", "write_to_file", "list_mcp_resources"])
def test_a_tool_that_shows_nothing_of_files_is_no_unknown_one(name: str) -> None:
    call = parse_call(ToolCall(name, {"path": "a.py"}, "a.py:3:x"))
    assert (call.views, call.unread) == ((), ())


@pytest.mark.parametrize(
    ("script", "calls"),
    [
        (
            "tools.run({cmd: 'it\\'s\\n\\u00e9', \"n\": 3, b: ['x', null]});",
            [{"cmd": "it's\n\u00e9", "n": None, "b": ["x", None]}],
        ),
        ("const p = 'a.py', cmd = `cat '${p}'`; await tools.run({cmd});", [{"cmd": "cat 'a.py'"}]),
        ("tools.run({cmd: 'head -' + '3 ' + ('a' + '.py')})", [{"cmd": "head -3 a.py"}]),
        ("tools.run(`*** Begin`)", [{"input": "*** Begin"}]),
        ("tools.run({cmd: `cat ${unknown}`, n: f()})", [{"cmd": None, "n": None}]),
        ("fs.map(f => tools.run({cmd: f}))", [{"cmd": None}]),
        ("text(1); other.run({cmd: 'x'})", []),
        ("tools.run(", []),
    ],
)
def test_arguments_are_what_the_script_says(script: str, calls: list[object]) -> None:
    assert script_calls(script) == [("run", given) for given in calls]


@pytest.mark.parametrize(
    "output", ["File unchanged since last read.", "Wasted call — file unchanged since your last Read."]
)
def test_a_file_that_is_not_shown_again_is_not_seen(output: str) -> None:
    assert parse_call(ToolCall("Read", {"file_path": "a.py"}, output)).views == ()


@pytest.mark.parametrize("n_frames", range(4))
def test_scripts_nested_too_deep_are_no_scripts(n_frames: int) -> None:
    # Where the stack ends, in the parser or in Python, depends on where it begins.
    def calls_below(script: str, n: int) -> list[tuple[str, JsonRecord]]:
        return calls_below(script, n - 1) if n else script_calls(script)

    assert not calls_below("tools.a(" * 5_000 + ")" * 5_000, n_frames)
    assert not calls_below("f(" * 3_000 + "tools.a({})" + ")" * 3_000, n_frames)
    assert not calls_below("tools.a({x: " + "'a' + " * 3_000 + "'b'})", n_frames)


@pytest.mark.parametrize(
    "output",
    [
        "<tool_use_error>Cancelled: parallel tool call Bash(ls) errored</tool_use_error>",
        "The user doesn't want to proceed with this tool use. The tool use was rejected",
        "Permission to use Bash with command cat a.py has been denied.",
        "Tool permission request failed: ZodError: []",
    ],
)
def test_commands_that_were_never_run_show_nothing_and_go_nowhere(output: str) -> None:
    call = ToolCall("Bash", {"command": "cd lib; cat a.py; cat b.py"}, output, failed=True, folder="/repo")
    assert (parse_call(call).views, parse_call(call).folder) == ((), "/repo")


def test_several_lines_may_follow_one_file_and_reversed_ones_are_swapped() -> None:
    text = "File: a.py\nLines: 9-3\nLines: 5 - 6\n\nFile: b.py\nFile: c.py\r\n  Lines: 1-1 (a)\r\nLines: x-y\nLines: 4"
    assert spans_named(text) == [FileSpan("a.py", 3, 9), FileSpan("a.py", 5, 6), FileSpan("c.py", 1, 1)]


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("/testbed/a.py", "a.py"), ("./a.py", "a.py"), ("/a/b.py", "a/b.py"), ("'a.py'", "a.py"),
        ("/home/rockets/src/a.py", "src/a.py"), ("/home/other/src/a.py", "other/src/a.py"), ("/home/rockets/", ""),
        ("/home/fix.patch", ""), ("../a.py", "../a.py"), ("a/./b.py", "a/./b.py"),
    ],
)  # fmt: skip
def test_a_path_loses_where_the_repository_lay(given: str, path: str) -> None:
    assert in_repository(given, "rockets") == path


@pytest.mark.parametrize(
    ("command", "views"),
    [
        ("nl -ba /testbed/a.py | sed -n '3,9p'", [FileSpan("/testbed/a.py", 3, 9)]),
        (
            "cd x && sed -n 3,9p a.py || head -n 5 b.go; cat c.rs",
            [FileSpan("a.py", 3, 9), FileSpan("b.go", 1, 5), FileSpan("c.rs")],
        ),
        ("grep -rn 'def f' a.py b.py", [FileSpan("a.py")]),
        ("grep -n x src", []),
        ("cat a.py | head -n 5", [FileSpan("a.py")]),
        ("cat notes.txt; cat 'a.py'", [FileSpan("a.py")]),
        ("cat a.py && cat a.py", [FileSpan("a.py")]),
        ("sed -i s/x/y/ a.py && cat a.py", []),
        ("cat > a.py", []),
        ("cat a.py; rm -r b", []),
        ("git add a.py; cat a.py", []),
        ("", []),
    ],
)
def test_a_command_shows_the_files_it_reads(command: str, views: list[FileSpan]) -> None:
    assert views_of_command(command) == views


@pytest.mark.parametrize(
    ("begins", "repeats"), [("", "nl "), ("", "grep "), ("", "sed -n 1,2p "), ("cat ", "a"), ("nl a", " |")]
)
def test_a_command_made_to_break_a_pattern_is_soon_read(begins: str, repeats: str) -> None:
    assert views_of_command(begins + repeats * (10**6 // len(repeats))) == []


@pytest.mark.parametrize(
    ("arguments", "output", "views"),
    [
        ({"path": "a.py", "line_range": "5-9"}, "x", [FileSpan("a.py", 5, 9)]),
        ({"path": "a.py", "lines": [5, 9]}, "x", [FileSpan("a.py", 5, 9)]),
        ({"path": "a.py", "view_range": "[5, -1]"}, "x", [FileSpan("a.py", 5, None)]),
        ({"path": "a.py", "offset": 0, "limit": 9}, "x", [FileSpan("a.py", 1, 9)]),
        ({"path": "a.py", "offset": -9, "limit": 9}, "x", [FileSpan("a.py")]),
        ({"AbsolutePath": "a.py", "StartLine": 5, "EndLine": 9}, "x", [FileSpan("a.py", 5, 9)]),
        ({"paths": ["a.py", "b.py"]}, "x", [FileSpan("a.py", 1), FileSpan("b.py", 1)]),
        ({"files": [{"path": "a.py", "line_ranges": [[1, 5], "8-9"]}]}, "x",
         [FileSpan("a.py", 1, 5), FileSpan("a.py", 8, 9)]),
        ({"path": "a.py"}, "<file>\n   5|x\n   6|y\n</file>", [FileSpan("a.py", 5, 6)]),
        ({"path": "a.py"}, "5 | x\n6 | y", [FileSpan("a.py", 5, 6)]),
        ({"path": "a.py"}, "5: x\n6: y", [FileSpan("a.py", 5, 6)]),
        ({"path": "a.py"}, "x\n5 | x\n6 | y", [FileSpan("a.py", 1, None)]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["read_file", "mcp__filesystem__read_file"])
def test_lines_of_a_reading_call(name: str, arguments: dict[str, object], output: str, views: list[FileSpan]) -> None:
    assert list(parse_call(ToolCall(name, arguments, output)).views) == views


VIEW = {"command": "view", "path": "/a.py", "view_range": [70, 90]}


@pytest.mark.parametrize(
    ("name", "arguments", "output", "unread"),
    [
        ("read_file", {"args": {"file": "a.py"}}, "x", ("tool read_file without a path",)),
        ("bash", {"code": "cat a.py"}, "x", ("tool bash without a known command",)),
        ("grep", {"pattern": "x"}, '<match path="a.py" line=12>', ("output of grep",)),
        ("grep", {"pattern": "x"}, "No matches found.", ()), ("grep", {"pattern": "x"}, "Found 0 matches", ()),
        ("bash", {}, "", ()),
        ("str_replace_editor", VIEW, "The path /a.py does not exist. Please provide a valid path.", ()),
        ("str_replace_editor", VIEW, "Invalid `view_range`: [70, 90]. Its first element `70` should be …", ()),
    ],
)  # fmt: skip
def test_unknown_calls_count(name: str, arguments: dict[str, object], output: str, unread: tuple[str, ...]) -> None:
    parsed = parse_call(ToolCall(name, arguments, output))
    assert (parsed.views, parsed.unread) == ((), unread)


@pytest.mark.parametrize(
    ("folder", "base", "listed", "path"),
    [
        # From the working folder on, from the searched folder on, and with its parents.
        ("/testbed", "/testbed/src", "src/a.py", "/testbed/src/a.py"), ("", "src", "src/a.py", "src/a.py"),
        ("/testbed", "/testbed/src", "a.py", "/testbed/src/a.py"), ("", "./src/", "x/a.py", "src/x/a.py"),
        ("", "/testbed/lib/src", "lib/src/a.py", "/testbed/lib/src/a.py"), ("", "/testbed", "/b/a.py", "/b/a.py"),
        ("/testbed/src", "/testbed", "a.py", "/testbed/src/a.py"), ("", "src/a.py", "a.py", "src/a.py"),
        ("", ".", "./src/a.py", "src/a.py"), ("", "", "src/a.py", "src/a.py"),
    ],
)  # fmt: skip
def test_a_search_lists_files_below_what_it_searched(folder: str, base: str, listed: str, path: str) -> None:
    call = ToolCall("grep", {"pattern": "x", "path": base}, f"{listed}:12:x", folder=folder)
    assert parse_call(call).views == (FileSpan(path, 12, 12),)
