"""OpenHands' records, of the resolver of 2024 to the SDK's 1.27: `output.jsonl`, or the events of a conversation."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise

from ingest.runs.calls.outputs import windows_in
from ingest.runs.calls.tools import ToolCall
from ingest.runs.formats.mini_swe_agent import views_of_command
from ingest.runs.importer import item_of, patch_path
from ingest.runs.sessions import Event, Note, Session, session_importer
from ingest.runs.trajectory import FileSpan, ParsedCall, Trajectory, Views, renamed, union
from ingest.runs.usage import AgentUsage, TokenCounts, dollars_at, most_frequent, seconds_of
from ingest.runs.values import JsonRecord, content_of, line_of, list_at, object_at, parsed_object, str_at

_ACTIONS = ("run", "read", "write", "edit", "run_ipython")  # that are calls of tools
_NO_FILES = (
    "message", "system", "think", "finish", "reject", "recall", "browse", "browse_interactive", "null", "delegate",
    "change_agent_state", "condensation", "condensation_request", "task_tracking", "pause", "resume", "stop",
    "loop_recovery",
)  # fmt: skip
"""Actions that show nothing of files."""
_RESULTS = ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation")
_ONE_EVENT = re.compile(r"^((?:.*/)?)event-0+(?:-[^/]*)?\.json$")
_SUCCESS = (None, 0, -1)  # exit codes; -1 means that the command was still running
_PROMPT = re.compile(r"(?:\A|\n)\(?[\w.-]+@[\w.-]+:(?P<folder>/[^\n#$]*?) ?[#$]\)? ?\Z")
_FUNCTIONS = re.compile(
    r"\b(?:(?P<opens>open_file|goto_line|scroll_(?:up|down))|(?P<searches>search_(?:file|dir))"
    r"|find_file|edit_file(?:_by_\w+)?|insert_content_at_line|append_file|create_file)\s*\("
)
_HIT = re.compile(
    r"(?m)^(?:\[Found [0-9]+ matches for .* in (?P<searched>\S+)\]"
    r"|(?:Line (?P<line>[0-9]+)|(?P<path>\S.*?) \(Line (?P<of_path>[0-9]+)\)): )"
)
_CELLS_FOLDER = re.compile(r"\[Jupyter current working directory: (?P<folder>[^\]\n]+)\]")


def _is_event(row: JsonRecord) -> bool:
    if row.get("kind") in ("SystemPromptEvent", "MessageEvent", "ActionEvent", "ObservationEvent"):
        return "source" in row
    is_action = isinstance(row.get("action"), str) and isinstance(row.get("args"), dict)
    return is_action or (isinstance(row.get("observation"), str) and "cause" in row)


def _item(row: JsonRecord) -> str:
    issue = object_at(row, "issue")
    owner, repository, number = str_at(issue, "owner"), str_at(issue, "repo"), issue.get("number")
    return item_of(row) or (f"{owner}__{repository}-{number}" if owner and repository and number else "")


def _events_of(session: Session) -> Iterator[Event]:
    events, folders = session.parts[0], _ONE_EVENT.findall(session.file.path)
    if folders and not session.row:
        # A conversation with one file per event.
        name, files = re.compile(rf"{re.escape(folders[0])}event-[^/]*\.json"), session.file.all
        events = [row for path in sorted(files) if name.fullmatch(path) for row in files[path].rows()]
    session.item = session.item or item_of(next(iter(events), {}))
    session.published = _published_context(events) if session.row else None
    yield _usage(session.row, events)
    results = dict[object, JsonRecord]()
    for before, event in pairwise([{}, *events]):
        # An observation that names no cause belongs to the action before it.
        keys = [_key(event["cause"]) if "cause" in event else id(before)] if "observation" in event else []
        keys += [str_at(event, key) for key in ("tool_call_id", "action_id") if event.get("kind") in _RESULTS]
        results |= dict.fromkeys(filter(None, keys), event)
    folder, turn, answers, is_first = "", 0, set[str](), True
    for event in events:
        action, is_sdk = str_at(event, "action"), event.get("kind") == "ActionEvent"
        # A model's answer is a call, a message, a thought, or the end.
        is_answer = event.get("source") == "agent" and action not in ("", "system")
        if is_sdk or action in _ACTIONS or is_answer:
            answer = str_at(event, "tool_call_metadata", "model_response", "id") or str_at(event, "llm_response_id")
            turn += not answer or answer not in answers
            answers.add(answer)
        if not is_sdk and action not in _ACTIONS:
            # A message; the first one is the task.
            arguments, message = object_at(event, "args") or event, content_of(event.get("llm_message"))
            text = str_at(arguments, "content") if action == "message" else message
            if event.get("source") == "user":
                yield Note("prompt", text)
            if uploaded := re.search(r"<uploaded_files>\s*(/[^\s<]+)\s*</uploaded_files>", text):
                yield Note("root", uploaded[1])
            if "observation" not in event and "kind" not in event and action not in _NO_FILES:
                yield Note("unread", f"action {action[:80] or 'without a name'}")
            continue
        keys = [_key(event.get("id")), str_at(event, "tool_call_id") if is_sdk else id(event)]
        call, left_in = _call(event, next((results[key] for key in keys if key in results), None))
        if is_first and re.search(r"\b(?:cd|pushd)\s", str_at(call.arguments, "command")) is None:
            # The first command's folder is taken for the repository, unless the command changed folders itself.
            yield Note("root", left_in)
        is_first = False
        call = replace(call, folder=folder or None, turn=turn)
        yield replace(call, parsed=_parse_cell(call)) if call.name == "run_ipython" else call
        folder = left_in


def _usage(row: JsonRecord, events: Sequence[JsonRecord]) -> AgentUsage:
    sums = [object_at(row, "metrics"), *(object_at(event, "llm_metrics") for event in reversed(events))]
    dollars = (amount for total in sums if (amount := dollars_at(total, "accumulated_cost")) is not None)
    totals = filter(None, (TokenCounts.of(total.get("accumulated_token_usage")) for total in sums))
    responses = [object_at(event, "tool_call_metadata", "model_response") for event in events]
    answers = {str_at(answer, "id"): answer for answer in responses if "usage" in answer}.values()
    model = most_frequent(str_at(answer, "model") for answer in answers)
    model = model or str_at(row, "metadata", "llm_config", "model")
    n_turns = len(list_at(row, "metrics", "token_usages")) or len(answers) or None
    tokens = [*islice(totals, 1)] or (TokenCounts.of(answer.get("usage")) for answer in answers)
    return AgentUsage(model, usd=next(dollars, None), seconds=seconds_of(events), n_turns=n_turns).with_tokens(tokens)


def _key(value: object) -> str:
    return str(value) if type(value) in (int, str) else ""


def _call(event: JsonRecord, result: JsonRecord | None) -> tuple[ToolCall, str]:
    """An action as a call, and the folder in which it left the terminal; one of the SDK is itself an object."""
    action, arguments = str_at(event, "action"), object_at(event, "args") or event
    if action == "read":
        # Lines from 0, -1 for the file's end; the whole file if none are given.
        start, end = line_of(arguments.get("start")) or 0, line_of(arguments.get("end"))
        lines = None if start == 0 and end in (None, -1) else [start + 1, -1 if end is None else end]
        view_range = list_at(arguments, "view_range") or lines
        arguments = {"command": "view", "path": arguments.get("path"), "view_range": view_range}
    elif not action:
        arguments = object_at(event, "action") or parsed_object(event, "tool_call", "arguments")
    call = ToolCall(action.replace("read", "str_replace_editor") or str_at(event, "tool_name"), arguments)
    if result is None:
        return call, ""
    observation = object_at(result, "observation")
    about = observation or object_at(result, "extras")
    exit_code = object_at(about, "metadata").get("exit_code", about.get("exit_code", result.get("exit_code")))
    failed = str_at(result, "observation") == "error" or result.get("kind", _RESULTS[0]) != _RESULTS[0]
    failed = failed or observation.get("is_error") is True or line_of(exit_code) not in _SUCCESS
    output = str_at(result, "content") or content_of(observation) or str_at(observation, "output")
    prompt = _PROMPT.search(output[-500:]) or _CELLS_FOLDER.search(output[-500:])
    left_in = str_at(about, "metadata", "working_dir") or (prompt["folder"].strip() if prompt else "")
    return replace(call, output=_PROMPT.sub("", output), failed=failed), left_in


def _parse_cell(call: ToolCall) -> ParsedCall:
    """The spans that a notebook cell showed by OpenHands' own functions: windows of files, or the lines of hits."""
    functions = list(_FUNCTIONS.finditer(str_at(call.arguments, "code")))
    if not functions:
        return ParsedCall(unread=("action run_ipython",))
    opens, searches = (any(function[kind] for function in functions) for kind in ("opens", "searches"))
    windows = windows_in(call.output or "", edits=False) if opens else ()
    searched, spans = "", [window for window in windows if window.start is not None]
    for hit in _HIT.finditer(call.output or "") if searches else ():
        searched = hit["searched"] or searched
        path, line = hit["path"] or searched, line_of(hit["line"] or hit["of_path"])
        spans += [FileSpan(path, line, line)] if path and line is not None else []
    return ParsedCall(tuple(dict.fromkeys(spans)), opens or searches)


def _published_context(events: Iterable[JsonRecord]) -> Trajectory | None:
    """A step per `read` or `run` that names a file, and finally all their lines; None if there is no action."""
    actions, steps = [event for event in events if isinstance(event.get("args"), dict)], list[Views]()
    for event in actions:
        views: list[FileSpan] = []
        if event.get("action") == "run":
            views = views_of_command(str_at(event, "args", "command"))
        elif event.get("action") == "read":
            # Without a `view_range`, just the file is named.
            start, end = (*map(line_of, list_at(event, "args", "view_range")), 0, 0)[:2]
            lines = (start, end) if start and end and start > 0 and end > 0 else (None, None)
            views = [FileSpan(str_at(event, "args", "path"), *lines)]
        quoted = renamed(views, lambda path: path.strip().strip("'\"").removeprefix("/workspace/"))
        steps.append(renamed(quoted, lambda path: path.lstrip("/").removeprefix("./")))
    # Files without lines are listed first, in order, then the lines of each file.
    final = sorted(union(steps), key=lambda view: (view.path, view.start, view.end or 0) if view.start else ("", 0, 0))
    return Trajectory(tuple(filter(None, steps)), tuple(final) or None) if actions else None


OPENHANDS = session_importer(
    "openhands", "OpenHands outputs", "The events of a conversation",
    holders=("history",), is_event=_is_event, item_of=_item, events_of=_events_of,
    is_holder=lambda row: ("history" in row or "git_patch" in object_at(row, "test_result")) and bool(_item(row))
        and row.keys().isdisjoint(("traj_data", "pred_steps")),
    # The first event's file stands for the folder of all events.
    companions=lambda path: [patch_path(path), *_ONE_EVENT.findall(path)],
    example='{"instance_id": "acme__rockets-1", "test_result": {"git_patch": "diff --git …"}, "history": []}',
)  # fmt: skip
