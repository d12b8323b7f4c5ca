"""OpenCode's records: what `opencode export` wrote, or what `opencode run --format json` printed.

Read after an export of version 1.17 and the tools' source (github.com/sst/opencode, packages/opencode/src/tool). A
message is `info` and `parts`; a part of type `tool` has the tool's name and a `state`: status, input, output, metadata.
`read` numbers the lines it gives, `12: text`, before version 1.2 `00012| text`, and lists a folder without numbers;
`grep` lists `Line 12: text` below each file. Rows of `run` hold one part each. A task of another agent is a session of
its own, which an export does not hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ingest.runs.session_importer import session_importer
from ingest.runs.trajectories.json_values import JsonObject, at, first_text, object_of, objects_of, text_of
from ingest.runs.trajectories.sessions import Session
from ingest.runs.trajectories.tool_calls import ToolCall, numbered_from, reading_of_call
from ingest.runs.trajectories.trajectory import ParsedCall
from ingest.runs.trajectories.usage import (
    Tokens,
    Usage,
    count_at,
    dollars_at,
    most_frequent,
    seconds_between,
    stamps_of,
    summed,
)

_ENDED = ("completed", "error")
_NUMBER = re.compile(r"^ *([0-9]+)(?:: |:$|\| |\|$)", re.MULTILINE)
_LISTED = re.compile(r"^(\S.*):$", re.MULTILINE)
_LINE = re.compile(r"^\s+Line ([0-9]+):", re.MULTILINE)


def _is_event(row: JsonObject) -> bool:
    """A message of `info` and `parts`, an export, or a row of a session that holds a part."""
    is_message = isinstance(row.get("parts"), list) and "role" in object_of(row, "info")
    is_export = text_of(row, "info", "id").startswith("ses_") and isinstance(row.get("messages"), list)
    return is_message or is_export or ("sessionID" in row and "type" in object_of(row, "part"))


def _calls(session: Session, events: Sequence[JsonObject]) -> Iterator[tuple[ToolCall, ParsedCall | None]]:
    folder, n_ended = "", 0
    for event in events:
        folder = text_of(event, "info", "path", "cwd") or folder
        # A message is an answer; rows of `run` tell the end of one.
        n_ended += text_of(event, "info", "role") == "assistant" or text_of(event, "part", "type") == "step-finish"
        # Outside a repository the root is that of the disk.
        session.root = session.root or text_of(event, "info", "path", "root").rstrip("/") or folder
        is_said = "part" in event or text_of(event, "info", "role") == "assistant"
        for part in objects_of(event, "parts") or [object_of(event, "part")]:
            if part.get("type") == "text":
                (session.said.append if is_said else session.add_asked)(text_of(part, "text"))
            elif part.get("type") == "tool" and session.is_new(text_of(part, "callID")):
                yield _read(session, part, folder, n_ended + ("part" in event))


def _read(session: Session, part: JsonObject, folder: str, turn: int) -> tuple[ToolCall, ParsedCall | None]:
    state = object_of(part, "state")
    call = ToolCall(text_of(part, "tool"), object_of(state, "input"), folder=folder, turn=turn)
    if state.get("status") not in _ENDED:
        return call, None
    code = object_of(state, "metadata").get("exit")
    failed = state.get("status") == "error" or code not in (None, 0)
    call = replace(call, output=first_text(state, ("output", "error")), failed=failed)
    if call.tool == "task":
        session.unread["subagent whose file is not there"] += 1
    if call.tool == "read":
        lines = numbered_from(call.output or "", _NUMBER)
        return call, reading_of_call(replace(call, lines=lines)) if lines else ParsedCall(reads=True, folder=folder)
    if call.tool == "grep":
        listed = _LINE.sub(r"\1:", _LISTED.sub(r"File: \1", call.output or ""))
        return call, reading_of_call(replace(call, output=listed))
    return call, reading_of_call(call)


def _usage(events: Sequence[JsonObject]) -> Usage:
    """Of every message of the assistant, or of every step that `run` printed the end of."""
    answers = [info for event in events if text_of(info := object_of(event, "info"), "role") == "assistant"]
    steps = [part for event in events if text_of(part := object_of(event, "part"), "type") == "step-finish"]
    spent = [dollars for part in answers or steps if (dollars := dollars_at(part, "cost")) is not None]
    times = [moment for part in answers for moment in object_of(part, "time").values()]
    created = [at(event, "info", "time", "created") for event in events]
    usage = Usage(
        model=most_frequent(text_of(part, "modelID") for part in answers),
        usd=sum(spent) if spent else None,
        seconds=seconds_between([*times, *created] if answers else stamps_of(events), "milliseconds"),
        n_turns=len(answers or steps) or None,
    )
    return usage.with_tokens(
        summed(_tokens(object_of(part, "tokens")) for part in answers or steps if "tokens" in part)
    )


def _tokens(given: JsonObject) -> Tokens:
    n_input, output, reasoning = (count_at(given, name) or 0 for name in ("input", "output", "reasoning"))
    return Tokens(n_input, count_at(given, "cache", "read"), count_at(given, "cache", "write"), output + reasoning)


OPENCODE = session_importer(
    "opencode",
    "OpenCode sessions",
    "What opencode export wrote, or opencode run --format json printed",
    example='{"info": {"id": "ses_…", "directory": "/testbed"}, "messages": []}',
    marks=(b'"parts"', b'"part"', b'"ses_'),
    holders=("events", "messages"),
    is_event=_is_event,
    calls=_calls,
    usage=_usage,
)
