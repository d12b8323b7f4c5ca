"""Copilot CLI's records of version 1.0.65: a session's `events.jsonl`, or what `--output-format json` printed."""

import re
from collections.abc import Iterator
from dataclasses import replace

from ingest.runs.calls.tools import ToolCall, numbered_from
from ingest.runs.sessions import Answer, Event, Note, Session, session_importer
from ingest.runs.usage import AgentUsage, TokenCounts
from ingest.runs.values import JsonRecord, content_of, count_at, line_of, list_at, object_at, parsed_object, str_at

_START, _COMPLETE, _MESSAGE = "tool.execution_start", "tool.execution_complete", "assistant.message"
_TURN = "assistant.turn_start"
_COUNTS = ("inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens")
_NUMBER = re.compile(r"^ *([0-9]+)\.(?: |$)", re.MULTILINE)  # in September 2026, a view numbers nothing
_GOES_ON = re.compile(r"\n?\n?\[Output truncated\. Use view_range=\[([0-9]+),[^\n]*\s*\Z")
_CODE = re.compile(r"\n?<[^<>\n]* with exit code (-?[0-9]+)>\s*\Z")


def _is_event(row: JsonRecord) -> bool:
    kind, data = str_at(row, "type"), object_at(row, "data")
    if kind == "session.start":
        return "copilotVersion" in data or "copilot" in str_at(data, "producer")
    keys = {_START: {"toolCallId", "toolName"}, _COMPLETE: {"toolCallId"}, _MESSAGE: {"content"}, _TURN: {"turnId"}}
    return kind in keys and keys[kind] <= data.keys()


def _events_of(session: Session) -> Iterator[Event]:
    events = session.parts[0]
    ended = (object_at(event, "data") for event in events if event.get("type") == _COMPLETE)
    results = {str_at(data, "toolCallId"): data for data in ended}
    for event in events:
        data, kind = object_at(event, "data"), event.get("type")
        if folder := str_at(data, "context", "cwd"):
            yield Note("root", str_at(data, "context", "gitRoot"))
            yield Note("folder", folder)
        yield Note("model", str_at(data, "newModel") or str_at(data, "model"))
        if kind == _TURN:
            yield Answer()
        elif kind == "user.message":
            yield Note("prompt", content_of(data))
        elif kind == _MESSAGE and not str_at(data, "parentToolCallId"):
            yield Note("answer", content_of(data))
        elif kind == _START:
            given = data.get("arguments")
            arguments = parsed_object(given) or ({"input": given} if isinstance(given, str) else {})
            call_id = str_at(data, "toolCallId")
            call = ToolCall(str_at(data, "toolName"), arguments, call_id=call_id)
            yield with_result(call, results[call_id]) if call_id in results else replace(call, is_answered=False)
        elif kind == "session.shutdown":
            given = (object_at(model, "usage") for model in object_at(data, "modelMetrics").values())
            by_model = ({name: count_at(spent, name) or 0 for name in _COUNTS} for spent in given)
            usage = AgentUsage(str_at(data, "currentModel"), exit_status=str_at(data, "shutdownType"))
            yield usage.with_tokens(TokenCounts.of(spent, includes_cached=True) for spent in by_model)


def with_result(call: ToolCall, result: JsonRecord) -> ToolCall:
    """A call with its tool's result: the output, whether it failed, and the lines that a `view` shows."""
    keys = (("result", "content"), ("error", "message"), ("result",), ("error",))
    output = next((text for key in keys if (text := str_at(result, *key))), "")
    if result.get("success") is True and "result" not in result:
        return call  # its output is not recorded
    code = _CODE.search(output) if call.is_shell else None
    failed = result.get("success") is False or (code is not None and code[1] != "0")
    output = output[: code.start()] if code else output
    if call.tool != "view":
        return replace(call, output=output, failed=failed)
    lines = None if failed else _lines_of(call, output, str_at(result, "toolTelemetry", "properties", "viewType"))
    return replace(call, output=output, failed=lines is None, lines=lines)


def _lines_of(call: ToolCall, output: str, kind: str) -> tuple[int, int | None] | None:
    """The lines of a file that a view shows; None for a folder, and for a file that is too large to be shown."""
    start, end = (*map(line_of, list_at(call.arguments, "view_range")), None, None)[:2]
    text, *cut = _GOES_ON.split(output)
    lines, numbers = numbered_from(text, _NUMBER), _NUMBER.findall(text)
    if lines is None or not _NUMBER.match(text):
        name = str_at(call.arguments, "path").replace("\\", "/").rpartition("/")[2]
        if text.startswith("File too large ") or not (kind == "file" if kind else "." in name.lstrip(".")):
            return None
        lines, numbers = (start or 1, (start or 1) + text.rstrip("\n").count("\n")), []
    # A long output is cut in the middle, or at the end.
    last = lines[1] if cut or (numbers and numbers[-1] != str(lines[1])) else None
    return lines[0], last if end is None or end < lines[0] else min(lines[1], end)


COPILOT_CLI = session_importer(
    "copilot-cli", "Copilot CLI sessions", "A session's events.jsonl, or the output of --output-format json",
    aliases=("copilot",), holders=("events",), is_event=_is_event, events_of=_events_of,
    example='{"type": "session.start", "data": {"copilotVersion": "1.0.65", "context": {"cwd": "/testbed"}}}',
)  # fmt: skip
