"""Gemini CLI's records of 2026: a session's file, or what `--output-format stream-json` prints."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ingest.runs.calls.tools import ToolCall
from ingest.runs.sessions import Answer, Event, Note, Session, session_importer
from ingest.runs.trajectory import FileSpan, ParsedCall, joined_path
from ingest.runs.usage import AgentUsage, TokenCounts
from ingest.runs.values import JsonRecord, at, content_of, line_of, list_at, object_at, objects_at, str_at

_SHOWN = re.compile(
    r"(?i)\s*(?:IMPORTANT: [^\n]*\s+Status: |\[File content [^\n:]*: )?"
    r"(?:showing|read) lines ([0-9]+)-([0-9]+) of [0-9]+"
)
_FILE = re.compile(r"^(?:--- (?!End of content)(\S.*?) ---|- `([^`\n]+)`)$", re.MULTILINE)
_RAN = re.compile(
    r"(?ms)^(?:Stdout|Output): (?P<output>.*?)(?:\nStderr: (?P<errors>.*?))?"
    r"(?=\n(?:Error|Exit Code|Signal|Background PIDs|Process Group PGID): |\Z)"
)
_CODE = re.compile(r"^(?:Exit Code: |Command (?:exited with code|failed with exit code):? )(-?[0-9]+)", re.MULTILINE)

TOOLS = ("read_file", "read_many_files", "search_file_content", "grep_search", "run_shell_command")
"""The tools that show files."""


def _is_event(row: JsonRecord) -> bool:
    kind, keys = row.get("type"), row.keys()
    is_message = kind == "gemini" and "id" in keys and not keys.isdisjoint({"content", "toolCalls"})
    is_start = keys >= {"projectHash", "sessionId"} or (kind == "init" and keys >= {"session_id", "model"})
    return is_message or is_start or (kind in ("tool_use", "tool_result") and "tool_id" in keys)


def _events_of(session: Session) -> Iterator[Event]:
    yield from _events_in(session, session.parts[0])
    ends = [row for rows in session.parts for row in rows if row.get("type") == "result"]
    usage = AgentUsage(exit_status=str_at(ends[-1], "status") if ends else "")
    stats = ({**object_at(end, "stats"), "total": at(end, "stats", "total_tokens")} for end in ends)
    yield usage.with_tokens(TokenCounts.of(each, includes_cached=True) for each in stats)


def _every_message(rows: Sequence[JsonRecord]) -> list[JsonRecord]:
    return [message for row in rows for message in (row, *objects_at(row, "$set", "messages"))]


def _messages(rows: Sequence[JsonRecord]) -> list[JsonRecord]:
    """The newest version of each message: in newer sessions, a changed one is written again."""
    return list({str_at(message, "id") or str(n): message for n, message in enumerate(_every_message(rows))}.values())


def _events_in(session: Session, rows: Sequence[JsonRecord]) -> Iterator[Event]:
    """The events in a file, with those of its subagents."""
    results = {str_at(row, "tool_id"): row for row in rows if row.get("type") == "tool_result"}
    calls = [call for message in _every_message(rows) for call in objects_at(message, "toolCalls")]
    # The first version of a call's result counts: later it is removed, to save context.
    gave = {str_at(call, "id"): call for call in reversed(calls) if call.get("result")}
    for message in _messages(rows):
        kind, role = message.get("type"), message.get("role")
        yield Note("model", str_at(message, "model"))
        if kind == "gemini" and "tokens" in message:
            yield Answer(tokens=TokenCounts.of(message.get("tokens"), includes_cached=True))
        if kind == "gemini" or (kind == "message" and role == "assistant"):
            yield Note("answer", content_of(message))
        elif kind == "user" or (kind == "message" and role == "user"):
            yield Note("prompt", content_of(message))
        elif kind == "tool_use":
            call_id = str_at(message, "tool_id")
            call = ToolCall(str_at(message, "tool_name"), object_at(message, "parameters"), call_id=call_id)
            result = results.get(call_id, {})
            ended = with_output(call, str_at(result, "output"), failed=result.get("status") != "success")
            yield ended if result else replace(call, is_answered=False)
        for row in objects_at(message, "toolCalls") if kind == "gemini" else ():
            call_id, agent = str_at(row, "id"), str_at(row, "agentId")
            call = ToolCall(str_at(row, "name"), object_at(row, "args"), call_id=call_id)
            if agent:
                yield replace(call, parsed=ParsedCall())
                # The subagent's file is named after its id, in a folder next to the session.
                path = next((path for path in sorted(session.file.all) if path.endswith(f"/{agent}.jsonl")), "")
                yield from session.events_in(session.file.all.get(path), lambda rows: _events_in(session, rows))
            else:
                yield _recorded(call, gave.get(call_id, row))


def _recorded(call: ToolCall, row: JsonRecord) -> ToolCall:
    """A call with the result in its row."""
    every = objects_at(row, "result")
    # In newer sessions, each of several simultaneous calls may have the results of all.
    parts = [part for part in every if str_at(part, "functionResponse", "id") == str_at(row, "id")] or every
    if not parts and row.get("status") != "success":
        return replace(call, is_answered=False)
    answers = list(map(of_google, parts))
    texts = (str_at(answer, "content") or str_at(answer, "text") for answer in answers)
    failed = row.get("status") in ("error", "cancelled") or any(answer.get("is_error") is True for answer in answers)
    return with_output(call, "\n".join(filter(None, texts)), failed=failed)


def with_output(call: ToolCall, output: str, *, failed: bool) -> ToolCall:
    """A call with its output, read as Gemini CLI's tools write it, and whether it failed."""
    is_masked = output.startswith("<tool_output_masked")  # It was removed later, to save context.
    if is_masked and call.tool != "read_file":
        return replace(call, is_answered=False)
    call = replace(call, output=None if is_masked else output, failed=failed)
    if call.tool == "read_file":
        # The lines that the output reports, else those requested.
        if shown := _SHOWN.match(call.output or ""):
            return replace(call, lines=(line_of(shown[1]) or 1, line_of(shown[2])))
        numbers = {key: line_of(value) for key, value in call.arguments.items()}
        start, limit = numbers.get("start_line") or (numbers.get("offset") or 0) + 1, numbers.get("limit")
        return replace(call, lines=(start, numbers.get("end_line") or (None if limit is None else start + limit - 1)))
    if call.tool == "read_many_files":
        # The files named before their text or in a stream's summary, else those requested by name.
        paths = [heading[1] or heading[2] for heading in _FILE.finditer(call.output or "")]
        given = (path for key in ("paths", "include") for path in map(str, list_at(call.arguments, key)))
        paths = paths or [path for path in given if not re.search(r"[*?{\[]|/$", path)]
        views = tuple(FileSpan(joined_path("", path), 1) for path in dict.fromkeys(paths))
        return replace(call, parsed=ParsedCall(() if call.failed else views, reads=True))
    if not call.is_shell:
        return call
    output, ran = call.output or "", _RAN.search(call.output or "")
    code = _CODE.search(output[ran.end() :] if ran else output)
    texts = [text for text in (ran["output"], ran["errors"]) if text and text != "(empty)"] if ran else [output]
    return replace(call, output="\n".join(texts), failed=call.failed or (code is not None and code[1] != "0"))


def of_google(part: JsonRecord) -> JsonRecord:
    """A part of a message in Google's form, in Anthropic's."""
    if call := object_at(part, "functionCall"):
        return {"type": "tool_use", "id": call.get("id"), "name": call.get("name"), "input": call.get("args")}
    if answer := object_at(part, "functionResponse"):
        response = object_at(answer, "response")
        text, failed = str_at(response, "output") or str_at(response, "error"), "error" in response
        return {"type": "tool_result", "tool_use_id": answer.get("id"), "content": text, "is_error": failed}
    return {} if part.get("thought") is True else part


GEMINI_CLI = session_importer(
    "gemini-cli", "Gemini CLI sessions", "A session's .json or .jsonl, or the output of --output-format stream-json",
    aliases=("gemini",), holders=("events", "messages"), is_event=_is_event, events_of=_events_of,
    is_part=lambda row, _: row.get("kind") == "subagent",
    example='{"type": "init", "session_id": "…", "model": "gemini-3-pro"}',
)  # fmt: skip
