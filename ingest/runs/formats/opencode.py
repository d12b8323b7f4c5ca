"""OpenCode's records of version 1.17: what `opencode export` wrote, or what `opencode run --format json` printed."""

import re
from collections.abc import Iterator
from dataclasses import replace

from ingest.runs.calls.tools import ToolCall, numbered_from
from ingest.runs.sessions import Answer, Event, Note, Session, session_importer
from ingest.runs.usage import AgentUsage, TokenCounts, dollars_at, seconds_between
from ingest.runs.values import JsonRecord, count_at, first_text, object_at, objects_at, str_at

_NUMBER = re.compile(r"^ *([0-9]+)(?:: |:$|\| |\|$)", re.MULTILINE)  # before version 1.2 `00012| text`
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
            counts = object_at(spent, "tokens")
            n_input, output, thoughts = (count_at(counts, name) or 0 for name in ("input", "output", "reasoning"))
            cached, written = (count_at(counts, "cache", name) for name in ("read", "write"))
            tokens = TokenCounts(n_input, cached, written, output + thoughts)
            yield Answer("", str_at(info, "modelID"), tokens, dollars_at(spent, "cost"))
        for part in objects_at(event, "parts") or [object_at(event, "part")]:
            if part.get("type") == "text":
                yield Note("answer" if "part" in event or is_answer else "prompt", str_at(part, "text"))
            elif part.get("type") == "tool":
                state, call_id = object_at(part, "state"), str_at(part, "callID")
                turn = len(session.turns) + 1 if "part" in event else 0
                call = ToolCall(str_at(part, "tool"), object_at(state, "input"), turn=turn, call_id=call_id)
                failed = state.get("status") == "error" or object_at(state, "metadata").get("exit") not in (None, 0)
                ended = with_output(call, first_text(state, ("output", "error")), failed=failed)
                is_ended = state.get("status") in ("completed", "error")
                yield ended if is_ended else replace(call, is_answered=False)
                if call.tool == "task" and is_ended:
                    # Another agent's task is a session of its own.
                    yield Note("unread", "subagent whose file is missing")
    times = [moment for event in session.parts[0] for moment in object_at(event, "info", "time").values()]
    yield AgentUsage(seconds=seconds_between(times))


def with_output(call: ToolCall, output: str, *, failed: bool) -> ToolCall:
    """A call with its output, read as OpenCode's tools write it, and whether it failed."""
    lines = numbered_from(output, _NUMBER) if call.tool == "read" else None
    if call.tool == "grep":
        output = _LINE.sub(r"\1:", re.sub(r"^(\S.*):$", r"File: \1", output, flags=re.MULTILINE))
    return replace(call, output=output, failed=failed or (call.tool == "read" and lines is None), lines=lines)


OPENCODE = session_importer(
    "opencode", "OpenCode sessions", "The output of opencode export or opencode run --format json",
    holders=("messages", "events"), is_event=_is_event, events_of=_events_of,
    example='{"info": {"id": "ses_…", "directory": "/testbed"}, "messages": []}',
)  # fmt: skip
