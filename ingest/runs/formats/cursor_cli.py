"""What Cursor CLI prints as `stream-json` (cursor.com/docs/cli/reference/output-format), in 2025 and 2026."""

from collections.abc import Iterator
from dataclasses import replace

from ingest.runs.calls.outputs import joined_lines
from ingest.runs.calls.tools import ToolCall
from ingest.runs.formats.claude_code import totals
from ingest.runs.sessions import Answer, Event, Note, Session, session_importer
from ingest.runs.trajectory import FileSpan, ParsedCall, joined_path
from ingest.runs.values import JsonRecord, content_of, line_of, list_at, object_at, objects_at, parsed_object, str_at


def _events_of(session: Session) -> Iterator[Event]:
    (events,) = session.parts
    done = {str_at(event, "call_id"): event for event in events if event.get("subtype") == "completed"}
    for event in events:
        kind, message = event.get("type"), object_at(event, "message")
        yield Note("model", str_at(event, "model"))
        yield Note("folder", str_at(event, "cwd"))
        if kind in ("user", "assistant"):
            yield Note("prompt" if kind == "user" else "answer", content_of(message))
        answer, call_id = str_at(event, "model_call_id"), str_at(event, "call_id")
        if kind == "tool_call" and (call_id or event.get("subtype") == "completed"):
            if answer:
                yield Answer(answer)
            end = done.get(call_id)
            call = _call(object_at(event, "tool_call"), end if call_id else event)
            yield replace(call, call_id=call_id, is_answered=end is not None)
            if call.tool == "task" and event is end:
                yield Note("unread", "subagent whose file is missing")
        if kind == "result":
            yield totals(event)


def _call(given: JsonRecord, done: JsonRecord | None) -> ToolCall:
    """A row's call, with the result in the row of its end."""
    key = next((name for name in given if name.endswith("ToolCall")), next(iter(given), ""))
    name, inner = key.removesuffix("ToolCall"), object_at(given, key)
    call = ToolCall(str_at(inner, "name") or name, object_at(inner, "args") or parsed_object(inner, "arguments"))
    result = object_at(done, "tool_call", key).get("result")
    if isinstance(result, str):
        return replace(call, output=result)
    details = next((value for value in object_at(result).values() if isinstance(value, dict)), {})
    failed = "success" not in object_at(result)
    outputs = [str_at(details, name) for name in ("interleavedOutput", "content", "output")]
    # Of a command that was refused there is neither.
    printed = "\n".join(filter(None, (str_at(details, "stdout"), str_at(details, "stderr"))))
    call = replace(call, output=next(filter(None, outputs), printed), failed=failed)
    if call.tool != "read" or failed:
        return replace(call, parsed=_hits(details)) if "workspaceResults" in details else call
    start, end = (line_of(details, "readRange", name) for name in ("startLine", "endLine"))
    if start is None and call.output:
        # An `offset` below 0 counts from the end.
        start, n_lines = line_of(call.arguments, "offset") or 1, line_of(details, "totalLines") or 0
        start = start if start > 0 else max(n_lines + start + 1, 1)
        end = start + len(call.output.split("\n")) - call.output.endswith("\n") - 1
    return replace(call, lines=None if start is None else (start, end))


def _hits(details: JsonRecord) -> ParsedCall:
    lines, files = list[tuple[str, int | None]](), list[FileSpan]()
    for root, result in object_at(details, "workspaceResults").items():
        for part in (object_at(result, key) for key in ("content", "output", "files")):
            for file in objects_at(part, "matches"):
                path = joined_path(root, str_at(file, "file"))
                lines += ((path, line_of(match, "lineNumber")) for match in objects_at(file, "matches"))
            files += (FileSpan(joined_path(root, str(path))) for path in list_at(part, "files"))
    return ParsedCall((*joined_lines(lines), *files), reads=True)


CURSOR_CLI = session_importer(
    "cursor-cli", "Cursor CLI sessions", "The output of --output-format stream-json", aliases=("cursor",),
    holders=("events",), events_of=_events_of,
    is_event=lambda row: (row.get("type") == "tool_call" and isinstance(row.get("tool_call"), dict))
        or (row.keys() >= {"apiKeySource", "session_id", "model"} and "tools" not in row),
    example='{"type": "tool_call", "subtype": "started", "call_id": "…", "tool_call": {"readToolCall": {"args": {}}}}',
)  # fmt: skip
