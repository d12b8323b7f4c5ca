"""Gemini CLI's records: a session's file (`chats/session-….json`), or what `--output-format stream-json` prints.

Read after a session of March 2026, a stream of January 2026 and the tools' reference
(github.com/google-gemini/gemini-cli, docs/tools): `read_file` takes `offset` (lines before the first, from 0) and
`limit`, or `start_line` and `end_line`, and says which lines it shows where these are not all; `read_many_files` puts
each file's name before it; `search_file_content` lists lines of files named from the folder that was searched. A stream
leaves out what a reading tool gave. Newer sessions are JSON Lines, a message written again where it has changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ingest.runs.session_importer import session_importer
from ingest.runs.trajectories.json_values import (
    JsonObject,
    content_of,
    first_text,
    line_of,
    list_of,
    object_of,
    objects_of,
    text_of,
)
from ingest.runs.trajectories.sessions import Session
from ingest.runs.trajectories.shell_paths import joined
from ingest.runs.trajectories.tool_calls import ToolCall, reading_of_call
from ingest.runs.trajectories.trajectory import FileSpan, ParsedCall, renamed
from ingest.runs.trajectories.usage import Tokens, Usage, count_at, most_frequent, seconds_between, stamps_of, summed

_SEARCHES = ("search_file_content", "grep_search")
_SHOWN = re.compile(
    r"\s*(?:IMPORTANT: [^\n]*\s+Status: |\[File content [^\n:]*: )?(?:showing|read) lines ([0-9]+)-([0-9]+) of [0-9]+",
    re.IGNORECASE,
)
_FILE = re.compile(r"^(?:--- (?!End of content)(\S.*?) ---|- `([^`\n]+)`)$", re.MULTILINE)
_RAN = re.compile(
    r"^(?:Stdout|Output): (?P<output>.*?)(?:\nStderr: (?P<errors>.*?))?"
    r"(?=\n(?:Error|Exit Code|Signal|Background PIDs|Process Group PGID): |\Z)",
    re.MULTILINE | re.DOTALL,
)
_CODE = re.compile(r"^(?:Exit Code: |Command (?:exited with code|failed with exit code):? )(-?[0-9]+)", re.MULTILINE)
_NOTHING = "(empty)"


def _is_event(row: JsonObject) -> bool:
    """A message of type `gemini`, a session of a `projectHash`, or a row of a stream."""
    kind = row.get("type")
    if "projectHash" in row and "sessionId" in row:
        return True
    if kind == "gemini":
        return "id" in row and ("content" in row or "toolCalls" in row)
    if kind == "init":
        return "session_id" in row and "model" in row
    return kind in ("tool_use", "tool_result") and "tool_id" in row


def _calls(session: Session, events: Sequence[JsonObject]) -> Iterator[tuple[ToolCall, ParsedCall | None]]:
    results = {text_of(event, "tool_id"): event for event in events if event.get("type") == "tool_result"}
    events = [one for event in events for one in (event, *objects_of(event, "$set", "messages"))]
    latest = {text_of(event, "id") or str(n): event for n, event in enumerate(events)}
    is_delta, turn = False, 0
    for event in latest.values():
        kind = event.get("type")
        turn += kind == "gemini" and "tokens" in event
        is_said = kind == "message" and event.get("role") == "assistant"
        if kind == "user" or (kind == "message" and event.get("role") == "user"):
            session.add_asked(content_of(event))
        if is_said and is_delta and session.said:
            session.said[-1] += content_of(event)
        elif is_said or kind == "gemini":
            session.said.append(content_of(event))
        is_delta = is_said and event.get("delta") is True
        if kind == "tool_use" and session.is_new(text_of(event, "tool_id")):
            call = ToolCall(text_of(event, "tool_name"), object_of(event, "parameters"))
            yield _read(call, _streamed(results.get(text_of(event, "tool_id"))))
        for one in objects_of(event, "toolCalls") if kind == "gemini" else ():
            if session.is_new(text_of(one, "id")):
                yield _read(ToolCall(text_of(one, "name"), object_of(one, "args"), turn=turn), _recorded(one))


def _usage(events: Sequence[JsonObject]) -> Usage:
    """Of every message, or of every turn of a stream; either's input includes what was cached."""
    events = [message for event in events for message in (event, *objects_of(event, "$set", "messages"))]
    latest = {text_of(event, "id") or str(n): event for n, event in enumerate(events)}.values()
    answers = [event for event in latest if event.get("type") == "gemini" and "tokens" in event]
    ends = [event for event in latest if event.get("type") == "result"]
    usage = Usage(
        model=most_frequent(text_of(event, "model") for event in latest),
        seconds=seconds_between(stamps_of(latest)),
        n_turns=len(answers) or None,
        exit_status=text_of(ends[-1], "status") or None if ends else None,
    )
    of_answers = (_tokens(object_of(event, "tokens"), ("input", "output", "total")) for event in answers)
    of_stream = ("input_tokens", "output_tokens", "total_tokens")
    of_turns = (_tokens(object_of(event, "stats"), of_stream) for event in ends)
    return usage.with_tokens(summed([*of_answers, *of_turns]))


def _tokens(given: JsonObject, names: tuple[str, str, str]) -> Tokens:
    prompt, output, total = (count_at(given, name) or 0 for name in names)
    # Thoughts are in the total alone.
    return Tokens.of_prompt(prompt, count_at(given, "cached"), None, max(output, total - prompt))


def _streamed(result: JsonObject | None) -> tuple[str, bool] | None:
    """What a stream says that a call gave, and whether it failed; None where it has no result."""
    return None if result is None else (text_of(result, "output"), result.get("status") != "success")


def _recorded(call: JsonObject) -> tuple[str, bool] | None:
    """What a session says that a call gave, and whether it failed; None where it has no result."""
    parts = objects_of(call, "result")
    responses = [object_of(part, "functionResponse", "response") for part in parts]
    texts = [*(first_text(one, ("output", "error")) for one in responses), *(text_of(part, "text") for part in parts)]
    if not parts and call.get("status") != "success":
        return None
    failed = call.get("status") in ("error", "cancelled") or any("error" in one for one in responses)
    return "\n".join(filter(None, texts)), failed


def _read(call: ToolCall, given: tuple[str, bool] | None) -> tuple[ToolCall, ParsedCall | None]:
    if given is None:
        return call, None
    call = replace(call, output=given[0], failed=given[1])
    if call.tool == "read_file":
        return call, reading_of_call(replace(call, lines=_lines(call)))
    if call.tool == "read_many_files":
        return call, ParsedCall(() if call.failed else _files(call), reads=True)
    if call.tool in _SEARCHES:
        return call, _searched(call)
    return call, reading_of_call(_ended(call) if call.is_shell else call)


def _lines(call: ToolCall) -> tuple[int, int | None]:
    """The lines that a reading tool says it shows, else those it was asked for."""
    if found := _SHOWN.match(call.output or ""):
        return line_of(found[1]) or 1, line_of(found[2])
    given = {key: line_of(value) for key, value in call.arguments.items()}
    start, limit = given.get("start_line") or (given.get("offset") or 0) + 1, given.get("limit")
    return start, given.get("end_line") or (None if limit is None else start + limit - 1)


def _files(call: ToolCall) -> tuple[FileSpan, ...]:
    """The files that are named before their text, or in the summary of a stream; else those asked for by name."""
    named = [found[1] or found[2] for found in _FILE.finditer(call.output or "")]
    asked = (path for key in ("paths", "include") for path in map(str, list_of(call.arguments, key)))
    paths = named or [path for path in asked if not re.search(r"[*?{\[]|/$", path)]
    return tuple(FileSpan(joined("", path), 1) for path in dict.fromkeys(paths))


def _searched(call: ToolCall) -> ParsedCall:
    """What a search listed: its files are named from the folder that was searched."""
    base = first_text(call.arguments, ("dir_path", "path")).rstrip("/")
    reading = reading_of_call(replace(call, arguments={}))

    def below(path: str) -> str:
        is_whole = not base or f"{path}/".startswith(f"{base}/")
        return path if is_whole else base if path == base.rpartition("/")[2] else joined(base, path)

    return replace(reading, views=renamed(reading.views, below))


def _ended(call: ToolCall) -> ToolCall:
    """A shell's call with what it printed alone, and whether its code says that it failed."""
    output, ran = call.output or "", _RAN.search(call.output or "")
    code = _CODE.search(output[ran.end() :] if ran else output)
    texts = [text for text in (ran["output"], ran["errors"]) if text and text != _NOTHING] if ran else [output]
    return replace(call, output="\n".join(texts), failed=call.failed or (code is not None and code[1] != "0"))


GEMINI_CLI = session_importer(
    "gemini-cli",
    "Gemini CLI sessions",
    "A session's .json or .jsonl, or what --output-format stream-json printed",
    example='{"type": "init", "session_id": "…", "model": "gemini-3-pro"}',
    marks=(b'"gemini"', b'"projectHash"', b'"tool_id"', b'"init"'),
    holders=("messages", "events"),
    is_event=_is_event,
    calls=_calls,
    usage=_usage,
    is_part=lambda row: row.get("kind") == "subagent",
    aliases=("gemini",),
)
