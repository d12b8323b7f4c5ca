"""Qwen Code's sessions (`~/.qwen/projects/<project>/chats/<session>.jsonl`), based on versions 0.10 to 0.24.

Rows are like Claude Code's, with messages in Google's form; its tools are those of Gemini CLI, its origin.
"""

from collections.abc import Iterable

from ingest.runs.formats import claude_code
from ingest.runs.formats.gemini_cli import of_google, tokens_of
from ingest.runs.sessions import Event, Session, session_importer
from ingest.runs.values import JsonRecord, objects_at, str_at

_COUNTS = ("promptTokenCount", "cachedContentTokenCount", "candidatesTokenCount", "totalTokenCount")


def _events_of(session: Session) -> Iterable[Event]:
    session.parts[:] = [[_row_of_claude(row) for row in session.parts[0]]]
    return claude_code.Record(session)


def _row_of_claude(row: JsonRecord) -> JsonRecord:
    parts = [of_google(part) for part in objects_at(row, "message", "parts")]
    if str_at(row, "toolCallResult", "status") in ("error", "cancelled"):
        parts = [{**part, "is_error": True} for part in parts]
    tokens = tokens_of(row.get("usageMetadata"), _COUNTS) if row.get("type") == "assistant" else None
    usage = tokens and {
        "input_tokens": tokens.n_input, "cache_read_input_tokens": tokens.n_cached, "output_tokens": tokens.n_output
    }  # fmt: skip
    return {**row, "message": {"id": row.get("uuid"), "model": row.get("model"), "content": parts, "usage": usage}}


QWEN_CODE = session_importer(
    "qwen-code", "Qwen Code sessions", "A session's .jsonl",
    aliases=("qwen",), holders=("events",), events_of=_events_of,
    is_event=lambda row: "sessionId" in row and str_at(row, "message", "role") in ("user", "model")
        and bool(objects_at(row, "message", "parts")),
    example='{"type": "assistant", "sessionId": "…", "message": {"role": "model", "parts": [{"text": "…"}]}}',
)  # fmt: skip
