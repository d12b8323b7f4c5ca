"""SWE-agent's `.traj`, and the `.checkpoints.jsonl` that ContextBench's runs of it write next to it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import compress

from ingest.runs.calls.outputs import windows_in
from ingest.runs.calls.shell import parse_shell_call
from ingest.runs.calls.tools import WINDOWED, ToolCall
from ingest.runs.importer import Importer, TrajectoryFile, first_object
from ingest.runs.sessions import Event, Note, Session
from ingest.runs.trajectory import FileSpan, ParsedCall, Trajectory, Views, inside, joined_path, spans_named
from ingest.runs.usage import AgentUsage, TokenCounts, dollars_at
from ingest.runs.values import JsonRecord, count_at, line_of, list_at, object_at, objects_at, parsed_object, str_at

_CHECKPOINTS, _TRAJ = ".checkpoints.jsonl", ".traj"
_ROWS_NAME = re.compile(r"\.checkpoints\.jsonl(?:\.gz|\.zst)?$")
_PUBLISHED = re.compile(r"str_replace_editor view\s+(\S+)(?:\s+--view_range\s+([0-9]+)\s+([0-9]+))?")
_EDITOR = re.compile(
    r"\s*(?:cd\s+\S+\s*&&\s*)?str_replace_editor\s+(?P<command>\w+)\s+(?P<quote>['\"]?)(?P<path>(?(quote)[^\n]+?|\S+))(?P=quote)(?!\S)"
    r"(?:\s+--view_range\s+(?P<first>-?[0-9]+)\s+(?P<last>-?[0-9]+))?"
)
_HITS = re.compile(r"Found [0-9]+ matches for .* in (?P<path>\S+):\r?\n(?=Line [0-9]+:)")
_HIT = re.compile(r"^Line ([0-9]+):", re.MULTILINE)
_LISTED = re.compile(r"^(\S+) \([0-9]+ matches\)\r?$", re.MULTILINE)
_WINDOWED = (*WINDOWED, "search_file", "search_dir")


def recognise(head: bytes, name: str) -> bool:
    """Whether a `.traj` begins with its trajectory, or a file named as checkpoints has actions and observations."""
    row = first_object(head)
    if next(iter(row), "") in ("trajectory", "environment"):
        return isinstance(row.get("trajectory"), list)
    return _ROWS_NAME.search(name) is not None and {"action", "observation"} <= row.keys()


def trajectories(file: TrajectoryFile) -> Iterator[Trajectory]:
    """The one trajectory of a file; the published converter reads only views with a range, and none of a `.traj`."""
    session, rows, path = Session(file), file.rows(), file.path.removesuffix(_CHECKPOINTS) + _TRAJ
    traj = next(iter(rows), {})
    if "trajectory" in traj:
        rows = objects_at(traj, "trajectory")
        published = Trajectory((), _published_final(str_at(traj, "info", "patch_context")))
    else:
        published = _published(rows)
        traj = next(iter(session.rows_of(file.all[path]) if path in file.all else ()), {})
    patch, usage = object_at(traj, "info").get("submission"), _usage(rows, traj)
    session.patch = patch if isinstance(patch, str) else None
    # If the model was asked again, it is not recorded which answer a row belongs to.
    own = session.trajectory([*_events_of(rows, has_turns=usage.n_turns == len(rows)), usage])
    kept = list(map(inside, own.steps))
    steps, shown_at = tuple(filter(None, kept)), tuple(compress(own.shown_at, kept))
    # The final context is in the last row with a `patch_context`, or in `info`, else it is the last step.
    answers = _answers([object_at(traj, "info"), *rows])
    final = inside(spans_named(answers[-1])) if answers else steps[-1] if steps else ()
    yield replace(own, steps=steps, shown_at=shown_at, final=final or None).beside(published)


def _events_of(rows: Sequence[JsonRecord], *, has_turns: bool) -> Iterator[Event]:
    created, before = set[str](), ""
    for number, row in enumerate(rows, start=1):
        action, state = str_at(row, "action"), row.get("state")
        stated = str_at(parsed_object(state), "working_dir")
        # Before version 1.0 the state, a text, is that before the action; since then it is that after it.
        folder = stated if isinstance(state, str) else before
        # The folder in which a command line began, by removing its own `cd` from the folder in which it ended.
        folder = folder or stated.removesuffix(f"/{parse_shell_call(action).folder}")
        before = stated or before
        yield Note("root", folder)
        yield replace(call_of(action, str_at(row, "observation"), folder, created), turn=number if has_turns else 0)


def _usage(rows: Sequence[JsonRecord], traj: JsonRecord) -> AgentUsage:
    if len(list_at(traj, "trajectory")) != len(rows):
        return AgentUsage()
    spent, status = object_at(traj, "info", "model_stats"), str_at(traj, "info", "exit_status")
    model = str_at(parsed_object(traj.get("replay_config")), "agent", "model", "name")
    usd, n_turns = dollars_at(spent, "instance_cost"), count_at(spent, "api_calls")
    return AgentUsage(model, usd=usd, n_turns=n_turns, exit_status=status).with_tokens([TokenCounts.of(spent)])


def call_of(action: str, observation: str, folder: str, created: set[str]) -> ToolCall:
    """An action as a tool call; the path of a file that the agent creates, which shows nothing, joins `created`."""
    name = action.strip().partition("\n")[0].partition(" ")[0]
    call = ToolCall(name, {"command": action}, observation, folder=folder)
    if editor := _EDITOR.match(action):
        lines = [line_of(line) for line in (editor["first"], editor["last"]) if line]
        # Anything but a range after a viewed path is an argument that the tool does not accept.
        is_odd = editor["command"] == "view" and not observation and action[editor.end() :].strip() != ""
        arguments = {"command": editor["command"], "path": editor["path"], **({"view_range": lines} if lines else {})}
        failed = is_odd or re.match(r"usage: |[\w.]+: error: ", observation) is not None
        return ToolCall("str_replace_editor", arguments, observation or None, failed, folder)
    if (mapped := re.match(r"\s*filemap\s+(?P<path>\S+)", action)) and re.match(r"\s*[0-9]+[ \t]", observation):
        # The file without the bodies of its functions, as the editor shows a large one.
        return replace(call, parsed=ParsedCall((FileSpan(joined_path(folder, mapped["path"]), 1),), reads=True))
    if name not in (*_WINDOWED, "edit", "insert", "create"):
        is_own = name in ("find_file", "submit", "str_replace_editor", "exit", "exit_cost", "skip")
        return replace(call, parsed=ParsedCall() if is_own else parse_shell_call(action, observation, folder=folder))
    view, path = _window(observation, folder)
    if name == "search_dir":
        view = tuple(FileSpan(joined_path(folder, path)) for path in _LISTED.findall(observation))
    created |= {path} if name == "create" and path else set()
    return replace(call, parsed=ParsedCall(() if path in created else view, name in _WINDOWED))


def _window(observation: str, folder: str) -> tuple[Views, str]:
    """The window that an observation shows (a refused edit shows two), or the lines of hits; and the file's path."""
    if hits := _HITS.match(observation):
        path = joined_path(folder, hits["path"])
        return tuple(FileSpan(path, line, line) for line in map(line_of, _HIT.findall(observation)) if line), path
    windows = list(windows_in(observation))
    if not windows:
        return (), ""
    path = joined_path(folder, windows[-1].path)
    starts = [window.start for window in windows if window.path == windows[-1].path and window.start is not None]
    return ((FileSpan(path, min(starts), windows[-1].end),) if windows[-1].end is not None else ()), path


def _published(rows: Sequence[JsonRecord]) -> Trajectory:
    views = filter(None, (_PUBLISHED.search(str_at(row, "action")) for row in rows))
    lines = ((view[1], line_of(view[2]), line_of(view[3])) for view in views)
    given = (inside([FileSpan(path, start, end)]) for path, start, end in lines if start and end)
    steps, answers = tuple(filter(None, given)), _answers(rows)
    return Trajectory(steps, _published_final(answers[-1]) if answers else steps[-1] if steps else None)


def _published_final(answer: str) -> Views | None:
    # Every file is also listed without lines.
    files = [row.removeprefix("File:").strip() for row in map(str.strip, answer.split("\n")) if row.startswith("File:")]
    return (*inside(map(FileSpan, dict.fromkeys(files))), *inside(spans_named(answer))) or None


def _answers(rows: Sequence[JsonRecord]) -> list[str]:
    return [text for row in rows if (text := str_at(row, "patch_context").strip())]


SWE_AGENT = Importer(
    name="swe-agent", title="SWE-agent trajectories", kind="trajectory", aliases=("sweagent",),
    meaning="One .traj per instance, or a .checkpoints.jsonl with its .traj, named like the instance.",
    recognise=recognise, trajectories=trajectories,
    # The `.traj` next to checkpoints has the patch.
    companions=lambda path: [path.removesuffix(_CHECKPOINTS) + _TRAJ] if path.endswith(_CHECKPOINTS) else (),
    example='{"trajectory": [{"action": "str_replace_editor view a.py --view_range 1 9", "observation": "…"}]}',
)  # fmt: skip
