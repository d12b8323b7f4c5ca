"""Qwen Code's sessions (`~/.qwen/projects/<project>/chats/<session>.jsonl`), based on versions 0.10 to 0.24.

Its tools are those of Gemini CLI, from which it was forked; what it prints is read as Claude Code's.
"""

from collections.abc import Iterator
from dataclasses import replace

from ingest.runs.calls.tools import ToolCall
from ingest.runs.formats.gemini_cli import tokens_of, with_output
from ingest.runs.sessions import Answer, Event, Note, Session, session_importer
from ingest.runs.values import JsonRecord, first_text, object_at, objects_at, str_at

_COUNTS = ("promptTokenCount", "cachedContentTokenCount", "candidatesTokenCount", "totalTokenCount")


def _is_event(row: JsonRecord) -> bool:
    return "sessionId" in row and str_at(row, "message", "role") in ("user", "model") and bool(_parts(row))


def _events_of(session: Session) -> Iterator[Event]:
    (rows,) = session.parts
    responses = [(object_at(part, "functionResponse"), row) for row in rows for part in _parts(row)]
    results = {str_at(response, "id"): (response, row) for response, row in responses if response}
    for row in rows:
        kind = row.get("type")
        yield Note("folder", str_at(row, "cwd"))
        if kind == "assistant":
            yield Answer(str_at(row, "uuid"), str_at(row, "model"), tokens_of(row.get("usageMetadata"), _COUNTS))
        text = "\n".join(str_at(part, "text") for part in _parts(row) if part.get("thought") is not True)
        # A subagent's rows are among the others.
        if kind in ("user", "assistant") and row.get("isSidechain") is not True:
            yield Note("prompt" if kind == "user" else "answer", text)
        for given in filter(None, (object_at(part, "functionCall") for part in _parts(row))):
            call_id = str_at(given, "id")
            call = ToolCall(str_at(given, "name"), object_at(given, "args"), call_id=call_id)
            response, end = results.get(call_id, ({}, {}))
            answer = object_at(response, "response")
            failed = "error" in answer or str_at(end, "toolCallResult", "status") in ("error", "cancelled")
            ended = with_output(call, first_text(answer, ("output", "error")), failed=failed)
            yield ended if response else replace(call, is_answered=False)


def _parts(row: JsonRecord) -> list[JsonRecord]:
    return objects_at(row, "message", "parts")


QWEN_CODE = session_importer(
    "qwen-code", "Qwen Code sessions", "A session's .jsonl",
    aliases=("qwen",), holders=("events",), is_event=_is_event, events_of=_events_of,
    example='{"type": "assistant", "sessionId": "…", "message": {"role": "model", "parts": [{"text": "…"}]}}',
)  # fmt: skip
