"""What an agent's tool event says was seen of files: reading tools, searches, shell commands.

Which argument says what is taken from the tools' own descriptions, as each importer names them. A tool is known by its
name, whichever agent called it, so one table serves every record of tool events.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ingest.runs.trajectories.json_values import line_of, list_of, text_of
from ingest.runs.trajectories.shell_files import PATCHERS, joined
from ingest.runs.trajectories.shell_output import views_in
from ingest.runs.trajectories.shell_views import reading_of_command
from ingest.runs.trajectories.tool_calls import Reading, ToolCall
from ingest.runs.trajectories.trajectory import View
from ingest.runs.trajectories.trajectory_file import JsonObject

READERS = ("read", "read_file", "view", "view_file", "open_file", "notebookread")
EDITORS = ("str_replace_editor", "str_replace_based_edit_tool", "file_editor", "planning_file_editor")
"""They read when their `command` is `view`."""
SEARCHES = ("grep", "grep_search", "grep_files", "search_file_content", "search_files", "ripgrep")
SHELLS = (
    "bash", "shell", "shell_command", "container.exec", "exec_command", "local_shell", "execute_bash",
    "execute_command", "run", "run_command", "run_shell_command", "run_terminal_cmd", "bash_command", "terminal",
    "terminal_run_command", "developer__shell", "powershell",
)  # fmt: skip
CHANGES = (
    "write", "write_file", "create_file", "edit", "edit_file", "multiedit", "notebookedit", "replace",
)  # fmt: skip
SHOW_NOTHING = (
    # Listings name files and show nothing of them.
    "glob", "ls", "list_dir", "list_directory", "list_files", "find_files", "file_search",
    "bashoutput", "killshell", "killbash", "write_stdin", "kill_shell", "taskoutput", "taskstop", "task", "agent",
    "taskcreate", "taskupdate", "tasklist", "taskget", "todowrite", "todoread", "task_tracker", "update_plan",
    "enterplanmode", "exitplanmode", "askuserquestion", "request_user_input", "skill", "slashcommand", "toolsearch",
    "structuredoutput", "webfetch", "web_fetch", "websearch", "web_search", "google_web_search", "save_memory",
    "view_image", "workflow", "spawn_agent", "send_input", "close_agent", "wait", "think", "finish",
    "mark_task_complete", "send_message",
)  # fmt: skip

_PATHS = ("file_path", "path", "absolute_path", "notebook_path", "filename", "target_file")
_COMMANDS = ("command", "cmd", "keystrokes")
_FOLDERS = ("workdir", "working_directory", "cwd", "dir_path")
_NUMBERED = re.compile(r"^\s*(?:L(?P<codex>[0-9]+): |(?P<line>[0-9]+)(?:→|\t))", re.MULTILINE)
_REFUSED = re.compile(
    r"\s*(?:<tool_use_error>|\[?error\]?\s*:|error (?:reading|executing|running)|file (?:does not exist|not found)"
    r"|file content \([^)]*\) exceeds )",
    re.IGNORECASE,
)
_LISTING = "Here's the files and directories"
_NO_HITS = re.compile(r"\s*no (?:matches|files|results) found", re.IGNORECASE)
_NOTHING_NEW = re.compile(r"\s*(?:<system-reminder>|File unchanged since last read|\Z)")
_CLIPPED = re.compile(r"<response clipped>|<NOTE>")
_ONE_FILE = re.compile(r"[0-9]+[:-]")


def reading_of_call(call: ToolCall) -> Reading:
    """What a call showed of files.

    A reading tool shows the lines that its output numbers, else those it was asked for, else the whole file. A search
    shows the lines that its output lists; files that it lists without lines are named alone. A listing of files shows
    none of them. What failed shows nothing. A tool that is not known shows nothing and is told. What changes files
    shows nothing, and names them.
    """
    name = call.name.lower().replace("-", "_")
    if name in SHOW_NOTHING:
        return Reading(folder=call.folder)
    if name in SHELLS:
        return _commanded(call)
    path = next((path for key in _PATHS if (path := text_of(call.arguments.get(key)))), "")
    is_refused = call.failed or _REFUSED.match(call.output or "") is not None
    if name in CHANGES or (name in EDITORS and text_of(call.arguments.get("command")) != "view"):
        return Reading(folder=call.folder, edited=(joined(call.folder, path),) * (path != "" and not is_refused))
    if name in PATCHERS:
        words = [PATCHERS[0], *filter(None, map(text_of, call.arguments.values()))]
        return reading_of_command(words, call.output, failed=is_refused, folder=call.folder)
    if name not in (*READERS, *EDITORS, *SEARCHES):
        return Reading(folder=call.folder, unread=(f"tool {call.name or 'without a name'}",))
    views: list[View] = []
    if not is_refused:
        views = _searched(path, call.output or "") if name in SEARCHES else _read(path, call)
    below = (replace(view, path=joined(call.folder, view.path)) for view in views)
    return Reading(tuple(dict.fromkeys(below)), reads=True, folder=call.folder)


def shows_nothing(tool: str) -> bool:
    """Whether a tool is known to show nothing of files."""
    return tool.lower().replace("-", "_") in (*SHOW_NOTHING, *CHANGES, *PATCHERS)


def _searched(path: str, output: str) -> list[View]:
    if _NO_HITS.match(output):
        return []
    is_file = "." in path.rpartition("/")[2].lstrip(".") or _ONE_FILE.match(output) is not None
    return views_in(output, path if is_file else "")


def _read(path: str, call: ToolCall) -> list[View]:
    if not path:
        return []
    if call.output is not None:
        if call.output.startswith(_LISTING) or (call.lines is None and _NOTHING_NEW.match(call.output)):
            return []
        if lines := call.lines or _numbered(call.output):
            return [View(path, lines[0], _last(call, lines[1]))]
    return [View(path, *_asked(call.arguments))]


def _last(call: ToolCall, shown: int) -> int | None:
    """The last line that was shown: an editor numbers one line more than the file, or the range, has."""
    if call.name.lower() not in EDITORS or _CLIPPED.search(call.output or ""):
        return shown
    _, end = _asked(call.arguments)
    if end is not None:
        return min(shown, end)
    return shown if call.arguments.get("view_range") else None


def _numbered(text: str) -> tuple[int, int] | None:
    """The first and last number of lines that are numbered without a gap; other numbers are the file's own."""
    found = [line_of(one["codex"] or one["line"]) for one in _NUMBERED.finditer(text)]
    lines = [line for line in found if line is not None]
    return (lines[0], lines[-1]) if lines and lines == list(range(lines[0], lines[0] + len(lines))) else None


def _asked(arguments: JsonObject) -> tuple[int, int | None]:
    """The lines a tool was asked for: a range, or the line to begin with and how many."""
    given = [line_of(line) for line in list_of(arguments.get("view_range"))]
    if not given:
        given = [line_of(arguments.get(key)) for key in ("start_line", "end_line")]
    start, end = (*given, None, None)[:2]
    if start is not None or end is not None:
        return 1 if start is None else start, None if end == -1 else end
    offset, limit = line_of(arguments.get("offset")), line_of(arguments.get("limit"))
    start = 1 if offset is None else offset
    return start, None if limit is None else start + limit - 1


def is_shell(call: ToolCall) -> bool:
    """Whether a tool runs commands of a shell."""
    return call.name.lower().replace("-", "_") in SHELLS


def typed_in(call: ToolCall) -> str:
    """The command line that a shell's tool was given."""
    command = _command(call)
    return command if isinstance(command, str) else " ".join(command)


def _command(call: ToolCall) -> str | Sequence[str]:
    command = next((value for key in _COMMANDS if isinstance(value := call.arguments.get(key), str | list)), "")
    return command if isinstance(command, str) else [text_of(word) for word in command]


def _commanded(call: ToolCall) -> Reading:
    folder = next((text for key in _FOLDERS if (text := text_of(call.arguments.get(key)))), "")
    folder = joined(call.folder, folder) if folder else call.folder
    return reading_of_command(_command(call), call.output, failed=call.failed, folder=folder)
