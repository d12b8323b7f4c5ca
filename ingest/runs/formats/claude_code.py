"""Claude Code's records of versions 1.0.56 to 2.1.138 (a session's JSON Lines, or what `claude -p` prints as JSON).

And Qwen Code's, based on versions 0.10 to 0.24: such rows with messages in Google's form and Gemini CLI's tools.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from ingest.runs.calls.tools import ToolCall
from ingest.runs.formats import gemini_cli
from ingest.runs.importer import TrajectoryFile, patch_path
from ingest.runs.sessions import Answer, Event, Note, Session, session_importer
from ingest.runs.usage import SYNTHETIC, AgentUsage, TokenCounts, dollars_at, seconds_of
from ingest.runs.values import JsonRecord, content_of, count_at, line_of, object_at, objects_at, parsed_object, str_at
from ingest.sources.tree import UnreadableFileError

_SHOWN = ("file", "edited_text_file", "selected_lines_in_ide", "nested_memory", "compact_file_reference")
"""Attachments that show parts of files without a call by the agent; they are not steps."""
_FAILED = re.compile(r"\AExit code [0-9]+(?:\n|\Z)")  # the first row of a failed command's output
_NOTES = re.compile(
    r"(?:\A|\n\n)\[(?:(?:stdout|stderr)\]\n|(?:exit_code|interrupted|is_image|metadata)\] |error\] tool reported)"
)
"""The text that Harbor appends to an output: the output again, and other data of the session about it."""
_OF_SUBAGENT = re.compile(r"(?:^|/)agent-(?P<id>[^/]*)\.jsonl(?:\.gz|\.zst)?$")


def _is_event(row: JsonRecord) -> bool:
    # What Cursor CLI prints begins alike; what Qwen Code prints is the same, with the tools of Gemini CLI.
    if row.get("type") == "system":
        return row.get("subtype") == "init" and {"session_id", "tools"} <= row.keys()
    is_message = row.get("type") in ("user", "assistant") and "content" in object_at(row, "message")
    return is_message and not row.keys().isdisjoint(("sessionId", "uuid", "parentUuid", "parent_tool_use_id"))


class _Record:
    """The events of a session's rows: `subagents` (id → file), `recorded` (ids of those in its rows)."""

    def __init__(self, session: Session, rows: Sequence[JsonRecord]) -> None:
        self.session, self.rows = session, rows
        folder = f"{patch_path(session.file.path).removesuffix('.patch')}/subagents/"
        below = [file for path, file in sorted(session.file.all.items()) if path.startswith(folder)]
        self.subagents = {name["id"]: file for file in below if (name := _OF_SUBAGENT.search(file.path))}
        self.recorded: set[str] = set()

    def __iter__(self) -> Iterator[Event]:
        yield from self.events_of(self.rows)
        for path in sorted({file.path for file in self.subagents.values()} - self.session.opened):
            yield Note("unread", f"file {path.rpartition('/')[2]}")

    def events_of(self, events: Sequence[JsonRecord]) -> Iterator[Event]:
        """The events in some rows, with those of the subagents that their calls started."""
        # A row that reports a subagent's progress stands for the subagent's message in it.
        events = [*map(_unwrapped, events)]
        results = {str_at(part, "tool_use_id"): (event, part) for event in events for part in _results(event)}
        self.recorded |= {str_at(event, "agentId") for event in events if event.get("isSidechain") is True}
        self.recorded |= {str_at(event, "parent_tool_use_id") for event in events}
        has_moved = False
        for event in events:
            kind, message = event.get("type"), object_at(event, "message")
            is_own = event.get("isSidechain") is not True and not event.get("parent_tool_use_id")
            yield Note("folder", str_at(event, "cwd"))
            yield Note("model", str_at(message, "model") if is_own else "")
            if (attached := str_at(event, "attachment", "type")) in _SHOWN:
                yield Note("unread", f"attachment {attached}")
            if kind == "result":
                yield Note("answer", str_at(event, "result"))
                yield totals(event, seconds_of(events))
            elif kind in ("user", "assistant") and is_own:
                yield Note("prompt" if kind == "user" else "answer", content_of(message))
            if count_at(message, "usage", "output_tokens") is not None and str_at(message, "model") != SYNTHETIC:
                yield Answer(str_at(message, "id"), str_at(message, "model"), TokenCounts.of(message.get("usage")))
            for part in objects_at(message, "content") if kind == "assistant" else ():
                if part.get("type") == "tool_use":
                    given, call_id = parsed_object(part.get("input")), str_at(part, "id")
                    # What is printed names the folder once; a `cd` of the session itself lasts, unless it was undone.
                    now = None if has_moved and is_own and not event.get("cwd") else ""
                    call = ToolCall(str_at(part, "name"), given, folder=now, call_id=call_id)
                    result_row, result = results.get(call_id, ({}, {}))
                    yield from self._called(call, result_row, result)
                    if is_own and call.is_shell:
                        has_moved = "Shell cwd was reset to " not in content_of(result)

    def _called(self, call: ToolCall, event: JsonRecord, result: JsonRecord) -> Iterator[Event]:
        """A call with its result in a later row, and the events of the subagents that it started."""
        text, failed = content_of(result), result.get("is_error") is True
        text = _FAILED.sub("", text) if failed else text
        beside = event.get("toolUseResult", event.get("tool_use_result")) if len(_results(event)) == 1 else None
        start, n = line_of(beside, "file", "startLine"), line_of(beside, "file", "numLines") or 0
        lines = (start, start + n - 1) if start is not None and n > 0 and not failed else None
        answered = replace(call, output=text, failed=failed, lines=lines, is_answered=bool(result))
        is_of_gemini = bool(result) and call.tool in gemini_cli.TOOLS
        yield gemini_cli.with_output(call, text, failed=failed) if is_of_gemini else answered
        begun: list[TrajectoryFile | None] = []
        if call.tool in ("task", "agent"):
            match = re.search(r"\bagentId: ([A-Za-z0-9_-]+)", text)
            # Before version 2.1 the id was in the row itself, as it still is in all rows of a subagent.
            of_row = "" if event.get("isSidechain") is True else str_at(event, "agentId")
            name = str_at(beside, "agentId") or of_row or (match[1] if match else "")
            # The subagent's file: by the id in the result, else by the task that it was given.
            task = str_at(call.arguments, "prompt")
            by_task = (file for file in self.subagents.values() if task and not name and _task_of(file) == task)
            by_name = self.subagents.get(name) or self.session.file.beside(f"agent-{name}.jsonl")
            begun.append(by_name if name else next(by_task, None))
            if begun == [None] and name and self.recorded.isdisjoint((name, call.call_id)):
                yield Note("unread", "subagent whose file is missing")
        if workflow := str_at(beside, "transcriptDir").rstrip("/").rpartition("/")[2]:
            begun += (file for file in self.subagents.values() if f"/{workflow}/" in file.path)
        for file in filter(None, begun):
            yield from self.session.events_in(file, self.events_of)


def _unwrapped(event: JsonRecord) -> JsonRecord:
    progress, message = object_at(event, "data"), object_at(event, "data", "message")
    own = {**message, "isSidechain": True, "agentId": progress.get("agentId"), "cwd": event.get("cwd")}
    return own if message and progress.get("type") == "agent_progress" else event


def with_output(call: ToolCall, output: str, *, failed: bool) -> ToolCall:
    """A call with its output, without what Harbor appends to it, and whether it failed."""
    notes, failed = _NOTES.search(output), failed or output.endswith("[error] tool reported failure")
    text = output[: notes.start()] if notes else output
    return replace(call, output=_FAILED.sub("", text) if failed else text, failed=failed)


def _results(event: JsonRecord) -> list[JsonRecord]:
    return [part for part in objects_at(event, "message", "content") if part.get("type") == "tool_result"]


def _task_of(file: TrajectoryFile) -> str:
    with suppress(UnreadableFileError):
        return next((content_of(row.get("message")) for _, row in replace(file, damages=[]).objects()), "")
    return ""


def totals(end: JsonRecord, seconds: float | None = None) -> AgentUsage:
    """The usage in the row that ends what `claude -p` or Cursor CLI prints."""
    by_model = [TokenCounts.of(model) for model in object_at(end, "modelUsage").values()]
    seconds, n_turns = seconds or (count_at(end, "duration_ms") or 0) / 1000 or None, count_at(end, "num_turns")
    usd, status = dollars_at(end, "total_cost_usd"), str_at(end, "subtype")
    usage = AgentUsage(usd=usd, seconds=seconds, n_turns=n_turns, exit_status=status)
    return usage.with_tokens(by_model or [TokenCounts.of(end.get("usage"))])


def _row_of_claude(row: JsonRecord) -> JsonRecord:
    parts = [gemini_cli.of_google(part) for part in objects_at(row, "message", "parts")]
    if str_at(row, "toolCallResult", "status") in ("error", "cancelled"):
        parts = [{**part, "is_error": True} for part in parts]
    usage = {"output_tokens": 0, **object_at(row, "usageMetadata")} if row.get("type") == "assistant" else None
    return {**row, "message": {"id": row.get("uuid"), "model": row.get("model"), "content": parts, "usage": usage}}


CLAUDE_CODE = session_importer(
    "claude-code", "Claude Code sessions", "A session's .jsonl", aliases=("claude",),
    holders=("events", "response", "session", "messages"), is_event=_is_event,
    events_of=lambda session: _Record(session, session.parts[0]),
    # A subagent's file next to its session; one in a folder `subagents` is read only if its session is not there.
    is_part=lambda _, name: _OF_SUBAGENT.search(name) is not None and "subagents/" not in name,
    companions=lambda path: [patch_path(path), f"{patch_path(path).removesuffix('.patch')}/"],
    example='{"type": "assistant", "sessionId": "…", "cwd": "/testbed", "message": {"content": []}}',
)  # fmt: skip
QWEN_CODE = session_importer(
    "qwen-code", "Qwen Code sessions", "A session's .jsonl",
    aliases=("qwen",), holders=("events",),
    events_of=lambda session: _Record(session, list(map(_row_of_claude, session.parts[0]))),
    is_event=lambda row: "sessionId" in row and str_at(row, "message", "role") in ("user", "model")
        and bool(objects_at(row, "message", "parts")),
    example='{"type": "assistant", "sessionId": "…", "message": {"role": "model", "parts": [{"text": "…"}]}}',
)  # fmt: skip
