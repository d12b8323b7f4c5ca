"""Calls of agents' tools, recognised by the tool's name whichever agent made them, and the spans that they showed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from ingest.runs.calls.outputs import first_lines, listed_spans, numbers_in, windows_in
from ingest.runs.calls.shell import parse_shell_call
from ingest.runs.trajectory import NO_RESULT, FileSpan, ParsedCall, gone_to, joined_path, renamed
from ingest.runs.values import JsonRecord, first_text, line_of, list_at, object_at, str_at

_READERS = (
    "read", "read_file", "readfile", "view", "view_file", "open_file", "notebookread", "read_files",
    "read_many_files", "read_multiple_files", "read_text_file",
)  # fmt: skip
_EDITORS = ("str_replace_editor", "str_replace_based_edit_tool", "file_editor", "planning_file_editor", "text_editor")
"""Tools that read a file if their `command` is `view`."""
WINDOWED = ("open", "goto", "scroll_up", "scroll_down", "set_cursors")
"""SWE-agent's tools that show a window of a file, `[File: …]`."""
_SEARCHES = ("grep", "grep_search", "grep_files", "search_file_content", "search_files", "ripgrep", "rg")
_SHELLS = (
    "bash", "shell", "shell_command", "container.exec", "exec_command", "local_shell", "execute_bash",
    "execute_command", "execute", "exec", "run", "run_command", "run_shell_command", "run_terminal_cmd", "bash_command",
    "terminal", "terminal_run_command", "powershell", "run_in_terminal",
)  # fmt: skip
_SHOW_NOTHING = (
    # Changes of files are in the patch.
    "write", "write_file", "create", "create_file", "edit", "edit_file", "multiedit", "notebookedit", "replace",
    "apply_patch", "applypatch",
    # Listings name files but show nothing in them.
    "glob", "ls", "list", "list_dir", "list_directory", "list_files", "find_files", "file_search",
    "bashoutput", "killshell", "killbash", "write_stdin", "kill_shell", "taskoutput", "taskstop", "task", "agent",
    "taskcreate", "taskupdate", "tasklist", "taskget", "todowrite", "todoread", "task_tracker", "update_plan",
    "enterplanmode", "exitplanmode", "askuserquestion", "request_user_input", "skill", "slashcommand", "toolsearch",
    "structuredoutput", "webfetch", "web_fetch", "websearch", "web_search", "google_web_search", "save_memory",
    "view_image", "workflow", "spawn_agent", "send_input", "close_agent", "wait", "think", "finish",
    "mark_task_complete", "send_message", "activate_skill", "ask_user", "write_todos", "enter_plan_mode",
    "exit_plan_mode", "plan_enter", "plan_exit", "update_topic", "complete_task", "get_internal_docs", "question",
    "batch", "codesearch", "invalid", "report_intent", "update_todo", "store_memory", "sql", "task_complete",
    "stop_bash", "stop_powershell", "list_bash", "list_powershell", "list_agents", "read_bash", "write_bash",
    "read_powershell", "write_powershell", "read_agent", "wait_agent", "resume_agent", "get_memory", "propose_work",
    "fetch_copilot_cli_documentation", "list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource",
    "listmcpresourcestool", "readmcpresourcetool", "croncreate", "crondelete", "cronlist", "enterworktree",
    "exitworktree", "sendmessage", "monitor", "artifact", "remotetrigger", "delete_file", "write_to_file",
    "replace_in_file", "apply_diff", "insert_content", "attempt_completion", "ask_followup_question", "new_task",
    "switch_mode", "patch", "interrupt_agent", "followup_task", "web_search_call", "teamcreate", "teamdelete",
    "writefile", "strreplacefile", "settodolist", "todo_write", "todo_read", "delete", "updatetodos", "readtodos",
    "readlints", "createplan", "switchmode", "askquestion", "fetch", "use_subagents", "plan_mode_respond",
    "act_mode_respond", "update_todo_list", "exitspecmode", "fetchurl", "replace_string_in_file", "create_directory",
    "multi_replace_string_in_file", "insert_edit_into_file", "manage_todo_list", "get_errors", "get_terminal_output",
)  # fmt: skip
_PATHS = (
    "file_path", "filePath", "path", "absolute_path", "notebook_path", "filename", "target_file", "AbsolutePath",
)  # fmt: skip
_MANY, _SPANS = ("paths", "files", "file_paths"), ("view_range", "read_range", "line_range", "lines", "range")
_COMMANDS = ("command", "cmd", "keystrokes", "CommandLine")
_FOLDERS = ("workdir", "working_directory", "workingDirectory", "cwd", "Cwd", "dir_path", "directory")
_RANGES = (
    ("start_line", "end_line"), ("startLine", "endLine"), ("line_start", "line_end"),
    ("start_line_one_indexed", "end_line_one_indexed_inclusive"), ("StartLine", "EndLine"),
)  # fmt: skip
_NUMBERED = re.compile(r"^\s*(L)?([0-9]+)(?(1): |(?:→|\t))", re.MULTILINE)
_BARRED = re.compile(r"\s*([0-9]+)(?: ?\||: |:$)")
_AROUND = re.compile(r"\s*(?:[<\[(#`]|\Z)")  # rows around a text of which all lines are numbered in this way
_REFUSED = re.compile(
    r"(?i)\s*(?:<tool_use_error>|\[?error\]?\s*:|error (?:reading|executing|running)|file (?:does not exist|not found)"
    r"|file content \([^)]*\) exceeds |the path \S+ (?:does not exist|is not an absolute path)|invalid `view_range`)"
)
_NEVER_RUN = re.compile(
    r"\s*(?:<tool_use_error>|The user doesn't want to |Permission to use |Tool permission request failed|"
    r"exec command rejected|aborted by user)"
)
"""The beginning of the text that replaces the output of a shell call that was denied or cancelled as a whole."""
_GOES_ON = re.compile(r"\[[^\n]*\bUse offset=([0-9]+) to continue\.\]\s*\Z")
_SAVED = re.compile(
    r"(?:<persisted-output>\s*)?Output too large [^\n]{0,200}\b[Ss]aved to: [^\n]*\n(?:[^\n]*\n){0,20}?"
    r"Preview \(first [^)\n]*\):\n"
)
"""The text before the preview of an output that was too large to show and is saved in a file."""
_NO_HITS = re.compile(r"\s*(?:\(?no |(?:found )?0 |nothing )", re.IGNORECASE)
_NO_LINES = re.compile(
    r"\s*(?:<system-reminder>|File unchanged since last read|Wasted call\b|Here's the files and directories|\Z)"
)


@dataclass(frozen=True)
class ToolCall:
    """One call of a tool, with its result."""

    name: str
    arguments: JsonRecord
    output: str | None = None  # None if it is not recorded: the call counts as showing what it asked for
    failed: bool = False
    folder: str | None = ""  # of relative paths: empty if not recorded, None for where the call before it ended
    lines: tuple[int, int | None] | None = None  # the first and last that it reports to show; None: the file's last
    turn: int = 0  # the model's answer that made the call, from 1; 0 if unknown
    is_answered: bool = True  # False if it has no result but other calls in the record do
    parsed: ParsedCall | None = None  # what it showed, if only one agent has the tool
    call_id: str = ""  # its id in the record, which may be repeated

    @property
    def tool(self) -> str:
        """The tool's name without its server's, in lower case and with `_` for `-`, as tools are recognised by it."""
        return self.name.lower().replace("-", "_").rpartition("__")[2]

    @property
    def is_shell(self) -> bool:
        """Whether the tool runs shell commands."""
        return self.tool in _SHELLS

    @property
    def shows_nothing(self) -> bool:
        """Whether it calls a known tool that shows nothing of files."""
        if self.tool in _EDITORS:
            return str_at(self.arguments, "command") != "view"
        return self.tool in _SHOW_NOTHING

    @property
    def command(self) -> str | list[str]:
        """The command line that a shell tool was given, or the words of one command."""
        given = (self.arguments.get(key) for key in _COMMANDS)
        command = next((value for value in given if isinstance(value, str | list)), "")
        return command if isinstance(command, str) else [str_at(word) for word in command]

    def __str__(self) -> str:
        text = f"{self.name}({', '.join(f'{key}={value!r}' for key, value in self.arguments.items())})"
        return text if len(text) <= 200 else f"{text[:200]}…"


def parse_call(call: ToolCall) -> ParsedCall:
    """The spans that a call showed.

    A reading tool shows the lines that its output numbers, else those requested, else the whole file; a search the
    lines and files that its output lists. Others show nothing; an unknown tool is added to `unread`.
    """
    folder = call.folder or ""
    if not call.is_answered:
        return ParsedCall(folder=folder, unread=(NO_RESULT,))
    if call.parsed is not None or call.shows_nothing:
        return call.parsed or ParsedCall(folder=folder)
    path, output, unread = first_text(call.arguments, _PATHS), call.output or "", ""
    if saved := _SAVED.match(output):
        preview = output[saved.end() :].rstrip().removesuffix("</persisted-output>").rstrip().removesuffix("\n...")
        parsed = parse_call(replace(call, output=preview))
        return replace(parsed, views=tuple(first_lines(parsed.views, preview.count("\n") + 1)[0]))
    if call.is_shell:
        inner = first_text(call.arguments, _FOLDERS)
        folder = gone_to(folder, inner) if inner else folder
        if not call.command and output.strip():
            return ParsedCall(folder=folder, unread=(f"tool {call.name} without a known command",))
        parsed = parse_shell_call(call.command, call.output, failed=call.failed, folder=folder)
        was_run = not (call.failed and _NEVER_RUN.match(output))
        return parsed if was_run else ParsedCall(reads=parsed.reads, folder=call.folder or "")
    if call.tool in WINDOWED and (windows := [window for window in windows_in(output) if window.start is not None]):
        return ParsedCall(renamed(windows, partial(joined_path, folder)), reads=True, folder=folder)
    if call.tool not in (*_READERS, *_EDITORS, *_SEARCHES):
        return ParsedCall(folder=folder, unread=(f"tool {call.name or 'without a name'}",))
    spans = []
    if call.failed or _REFUSED.match(output):
        pass
    elif call.tool not in _SEARCHES:
        spans = _read(path, call) if path else []
        for entry in [] if path else [entry for key in _MANY for entry in list_at(call.arguments, key)]:
            inner = entry if isinstance(entry, str) else first_text(entry, _PATHS)
            requests: list[JsonRecord] = [{"lines": lines} for lines in list_at(entry, "line_ranges")]
            spans += (FileSpan(inner, *_asked(request)) for request in requests or [object_at(entry)] if inner)
        unread = "" if spans or path or not output.strip() else f"tool {call.name} without a path"
    elif call.output is None:
        unread = NO_RESULT
    elif not _NO_HITS.match(output):
        is_file = "." in path.rpartition("/")[2].lstrip(".") or re.match(r"[0-9]+[:-]", output) is not None
        spans = listed_spans(output, path if is_file else "")
        unread = "" if spans or not output.strip() else f"output of {call.name}"
    base = path or str_at(call.arguments, "dir_path") if call.tool in _SEARCHES else ""
    shown = tuple(dict.fromkeys(renamed(spans, partial(_listed_path, folder, base))))
    return ParsedCall(shown, reads=True, folder=folder, unread=(unread,) if unread else ())


def _listed_path(folder: str, base: str, path: str) -> str:
    """A path that a search of `base` listed: it begins in the working folder, or in the searched one or its parents."""
    root, whole = joined_path(folder, base), joined_path(folder, path)
    if not base or f"{whole}/".startswith(f"{root.rstrip('/')}/"):
        return whole
    parts = path.split("/")
    ends = (n for n in range(len(parts), 0, -1) if f"/{root}".endswith(f"/{'/'.join(parts[:n])}"))
    return joined_path(root, "/".join(parts[next(ends, 0) :]))


def _read(path: str, call: ToolCall) -> list[FileSpan]:
    output = call.output
    if output is not None and call.lines is None and _NO_LINES.match(output):
        return []
    start, end = _asked(call.arguments)
    numbers = numbers_in(output or "", _NUMBERED)
    if not numbers:
        rows = [_BARRED.match(row) for row in (output or "").split("\n") if not _AROUND.match(row)]
        numbers = [line_of(row[1]) or 0 for row in rows if row] if all(rows) else []
    if call.lines is None and (goes_on := _GOES_ON.search(output or "")):
        end = (line_of(goes_on[1]) or 1) - 1
    # Numbers with gaps are part of the file's own text.
    is_whole = bool(numbers) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    lines = call.lines or ((numbers[0], numbers[-1]) if is_whole else None)
    if output is not None and lines:
        asked_end, (start, end) = end, lines
        # An editor numbers one line more than the file, or the requested range, has.
        if end is not None and call.tool in _EDITORS and not re.search(r"<response clipped>|<NOTE>", output):
            end = min(end, asked_end) if asked_end is not None else end if call.arguments.get("view_range") else None
    return [FileSpan(path, start, end)]


def numbered_from(text: str, mark: re.Pattern[str]) -> tuple[int, int] | None:
    """The first and last of the consecutive line numbers that `mark` finds in a text; None if it finds none."""
    lines = numbers_in(text, mark)
    n = next((n for n, line in enumerate(lines) if line != lines[0] + n), len(lines))
    return (lines[0], lines[n - 1]) if lines else None


def _asked(arguments: JsonRecord) -> tuple[int | None, int | None]:
    """The first and last line that a call requests; no first line if it is counted from the file's end."""
    keys = (key for key in _RANGES if any(name in arguments for name in key))
    given: Sequence[object] = [arguments.get(name) for name in next(keys, ())]
    for name in _SPANS:
        text = str_at(arguments, name)
        given = given or list_at(arguments, name) or re.findall(r"(?<![0-9])-?[0-9]+", text)
    start, end = (*map(line_of, given), None, None)[:2]
    if start is not None or end is not None:
        return 1 if start is None else start, None if end == -1 else end
    offset, limit = (line_of(arguments, name) for name in ("offset", "head" if "head" in arguments else "limit"))
    if "tail" in arguments or (offset or 0) < 0:
        return None, None
    start = max(offset or 1, 1)
    return start, None if limit is None else start + limit - 1
