"""OpenCode's records: what `opencode export` wrote, or what `opencode run --format json` printed.

Based on an export of version 1.17 and the tools' source (github.com/sst/opencode, packages/opencode/src/tool). A
message is `info` and `parts`; a part of type `tool` has the tool's name and a `state`: status, input, output, metadata.
`read` numbers the lines in its output, `12: text`, before version 1.2 `00012| text`, and lists a folder without
numbers; `grep` lists `Line 12: text` below each file. Rows of `run` hold one part each. A task of another agent is a
session of its own, which an export does not contain.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from ingest.runs.calls.tools import ToolCall, numbered_from
from ingest.runs.sessions import Answer, Event, Note, Session, session_importer
from ingest.runs.usage import AgentUsage, TokenCounts, dollars_at, seconds_between
from ingest.runs.values import JsonRecord, count_at, first_text, object_at, objects_at, str_at

_NUMBER = re.compile(r"^ *([0-9]+)(?:: |:$|\| |\|$)", re.MULTILINE)
_LINE = re.compile(r"^\s+Line ([0-9]+):", re.MULTILINE)


def _is_event(row: JsonRecord) -> bool:
    is_message = isinstance(row.get("parts"), list) and "role" in object_at(row, "info")
    is_export = str_at(row, "info", "id").startswith("ses_") and isinstance(row.get("messages"), list)
    return is_message or is_export or ("sessionID" in row and "type" in object_at(row, "part"))


def _events_of(session: Session) -> Iterator[Event]:
    for event in session.parts[0]:
        info, kind = object_at(event, "info"), str_at(event, "part", "type")
        # Outside a repository the root is `/`.
        yield Note("root", str_at(info, "path", "root").rstrip("/"))
        yield Note("folder", str_at(info, "path", "cwd"))
        is_answer = info.get("role") == "assistant"
        # In an export a message is an answer; in `run`, a row marks the end of an answer.
        if is_answer or kind == "step-finish":
            spent = info if is_answer else object_at(event, "part")
            yield Answer("", str_at(info, "modelID"), _tokens(spent), dollars_at(spent, "cost"))
        for part in objects_at(event, "parts") or [object_at(event, "part")]:
            if part.get("type") == "text":
                yield Note("answer" if "part" in event or is_answer else "prompt", str_at(part, "text"))
            elif part.get("type") == "tool":
                call = _call(part)
                yield replace(call, turn=len(session.turns) + 1) if "part" in event else call
                if call.tool == "task" and call.is_answered:
                    yield Note("unread", "subagent whose file is missing")
    times = [moment for event in session.parts[0] for moment in object_at(event, "info", "time").values()]
    yield AgentUsage(seconds=seconds_between(times))


def _call(part: JsonRecord) -> ToolCall:
    state, name = object_at(part, "state"), str_at(part, "tool")
    output = first_text(state, ("output", "error"))
    failed = state.get("status") == "error" or object_at(state, "metadata").get("exit") not in (None, 0)
    call = ToolCall(name, object_at(state, "input"), call_id=str_at(part, "callID"))
    is_ended = state.get("status") in ("completed", "error")
    return with_output(call, output, failed=failed) if is_ended else replace(call, is_answered=False)


def with_output(call: ToolCall, output: str, *, failed: bool) -> ToolCall:
    """A call with its output, read as OpenCode's tools write it, and whether it failed."""
    lines = numbered_from(output, _NUMBER) if call.tool == "read" else None
    if call.tool == "grep":
        output = _LINE.sub(r"\1:", re.sub(r"^(\S.*):$", r"File: \1", output, flags=re.MULTILINE))
    return replace(call, output=output, failed=failed or (call.tool == "read" and lines is None), lines=lines)


def _tokens(part: JsonRecord) -> TokenCounts:
    n_input, output, reasoning = (count_at(part, "tokens", name) or 0 for name in ("input", "output", "reasoning"))
    cached, written = (count_at(part, "tokens", "cache", name) for name in ("read", "write"))
    return TokenCounts(n_input, cached, written, output + reasoning)


OPENCODE = session_importer(
    "opencode", "OpenCode sessions", "The output of opencode export or opencode run --format json",
    holders=("messages", "events"), is_event=_is_event, events_of=_events_of,
    example='{"info": {"id": "ses_…", "directory": "/testbed"}, "messages": []}',
)  # fmt: skip
