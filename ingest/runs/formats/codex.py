"""Codex's records: a rollout's JSON Lines, or what `codex exec --json` prints.

Read after rollouts of September 2025 to version 0.144. A row is `timestamp`, `type`, `payload`; in September 2025 it
was the item itself, after a first row without a type. A shell call's `command` is a list of words (`shell`), or a text
(`shell_command`, `exec_command`), its `workdir` the folder. From version 0.14x on, `exec` runs a script that calls the
tools. What `codex exec --json` prints is built from its description (github.com/openai/codex, pull request 4177), and
from what others recorded of its older form, whose rows are `id` and `msg`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ingest.runs.calls.scripts import script_calls
from ingest.runs.calls.tools import ToolCall
from ingest.runs.session_importer import session_importer
from ingest.runs.trajectories.codex_outputs import CALLS, OUTPUTS, Given, given_by_call
from ingest.runs.trajectories.sessions import Change, Event, Note, Session
from ingest.runs.trajectories.usage import Tokens, Usage, most_frequent, seconds_of, summed
from ingest.runs.values import JsonObject, at, content_of, object_of, objects_of, parsed_object, text_of

_ROLLOUT = ("session_meta", "response_item", "turn_context", "event_msg", "compacted")
_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_PRINTED = re.compile(r"(?:thread|turn)\.[a-z]+|item\.(?:started|updated|completed)")
_NO_FILES = (
    "message", "reasoning", "agent_message", "assistant_message", "error", "todo_list", "web_search", "web_search_call",
    "image_generation_call", "ghost_snapshot", "compaction", "compaction_summary", "tool_search_call",
    "tool_search_output", *OUTPUTS,
)  # fmt: skip
"""Items that show nothing of files."""

_FOLDER = re.compile(r"<cwd>([^<\n]+)</cwd>|^(?:- )?Current working directory: (.+)$", re.MULTILINE)


def _is_event(row: JsonObject) -> bool:
    kind = text_of(row, "type")
    if kind in _ROLLOUT:
        return isinstance(row.get("payload"), dict)
    if kind in CALLS:
        return "call_id" in row
    if row.get("record_type") == "state" or ("id" in row and "type" in object_of(row, "msg")):
        return True
    return _PRINTED.fullmatch(kind) is not None and ("item" in row or kind.startswith(("thread.", "turn.")))


def _told(session: Session, events: Sequence[JsonObject], n_told: list[int], folder: str = "") -> Iterator[Event]:
    """What a rollout tells; `n_told` counts the answers of all rollouts of a session, one told after its calls."""
    items = [_item(event) for event in events]
    given_by_id, totals = given_by_call(items), set[Tokens]()
    is_rooted = bool(folder)
    for event, item in zip(events, items, strict=True):
        if (total := _total(event)) is not None and total not in totals:
            totals.add(total)
            n_told[0] += 1
        moved = text_of(event, "payload", "cwd") if event.get("type") in ("session_meta", "turn_context") else ""
        moved = text_of(event, "workdir") if "sandbox" in event else moved
        kind, content = text_of(item, "type"), content_of(item)
        if (
            kind == "message"
            and item.get("role") != "assistant"
            and not is_rooted
            and (told := _FOLDER.search(content))
        ):
            # In September 2025 no row but the first message said it.
            moved = (told[1] or told[2]).strip()
        if moved:
            folder, is_rooted = moved, True
            yield Note("root", moved)
        if kind in CALLS:
            given = given_by_id.get(text_of(item, "call_id"))
            for call in _calls(kind, item, given):
                yield replace(call, folder=folder, turn=n_told[0] + 1, is_answered=given is not None)
            if text_of(item, "name") == "spawn_agent" and given is not None:
                yield from _told_by_subagents(session, given.text or "", n_told, folder)
        elif kind == "message":
            yield Note("said" if item.get("role") == "assistant" else "asked", content)
        elif kind in ("agent_message", "assistant_message"):
            yield Note("said", text_of(item, "text"))
        elif kind == "command_execution":
            failed = item.get("exit_code") not in (None, 0) or item.get("status") in ("failed", "declined")
            arguments = {"command": item.get("command")}
            yield ToolCall("shell", arguments, text_of(item, "aggregated_output"), failed, folder, turn=n_told[0] + 1)
        elif kind in ("file_change", "patch_apply_end"):
            if item.get("success") is not False and item.get("status") != "failed":
                paths = object_of(item, "changes") or [change.get("path") for change in objects_of(item, "changes")]
                yield Change(kind, [path for path in paths if isinstance(path, str)])
        elif kind == "mcp_tool_call":
            yield Note("unread", f"tool {text_of(item, 'server')}.{text_of(item, 'tool')}")
        elif kind and kind not in _NO_FILES:
            yield Note("unread", f"item {kind}")


def _told_by_subagents(session: Session, output: str, n_told: list[int], folder: str) -> Iterator[Event]:
    """What the subagents did that a call began: it gives their ids, with which the names of their files end."""
    for name in _ID.findall(output):
        ends = re.compile(rf"{name}\.jsonl(?:\.gz|\.zst)?$")
        paths = [path for path in sorted(session.file.all) if ends.search(path)]
        if not paths:
            yield Note("unread", "subagent whose file is not there")
        for path in paths:
            told = _told(session, session.rows_of(session.file.all[path]), n_told, folder)
            # What a subagent says is no answer of the session.
            yield from (event for event in told if not (isinstance(event, Note) and event.kind == "said"))


def _usage(session: Session) -> Usage:
    """Of a session's rollout and those of its subagents: each tells what was used until then, again and again."""
    events = [event for rollout in session.parts for event in rollout]
    totals = [[total for event in rollout if (total := _total(event)) is not None] for rollout in session.parts]
    usage = Usage(
        model=most_frequent(text_of(event, "payload", "model") for event in events),
        seconds=seconds_of(events),
        n_turns=sum(len(dict.fromkeys(rollout)) for rollout in totals) or None,
    )
    return usage.with_tokens(summed(rollout[-1] for rollout in totals if rollout))


def _total(event: JsonObject) -> Tokens | None:
    """What was used in all until an event that tells it."""
    payload = object_of(event, "payload") or object_of(event, "msg")
    if event.get("type") == "turn.completed":
        return Tokens.of(event.get("usage"))
    return (
        Tokens.of(at(payload, "info", "total_token_usage") or payload) if payload.get("type") == "token_count" else None
    )


def _item(event: JsonObject) -> JsonObject:
    """What happened: a rollout's item, or a finished one of those that are printed; empty for other events."""
    kind, payload, message = text_of(event, "type"), object_of(event, "payload"), object_of(event, "msg")
    if kind == "response_item":
        return payload
    if kind == "event_msg":
        return payload if payload.get("type") == "patch_apply_end" else {}
    if kind == "item.completed":
        return object_of(event, "item")
    # As it was printed until September 2025.
    match text_of(message, "type"):
        case "exec_command_begin":
            action = {"command": message.get("command"), "workdir": message.get("cwd")}
            return {"type": "local_shell_call", "call_id": message.get("call_id"), "action": action}
        case "exec_command_end":
            output = {**message, "output": text_of(message, "stdout") + text_of(message, "stderr")}
            return {"type": OUTPUTS[0], "call_id": message.get("call_id"), "output": output}
        case "agent_message":
            return {"type": "agent_message", "text": message.get("message")}
        case "patch_apply_begin":
            # It names the files; whether they were changed is told by an end that does not.
            return {"type": "file_change", "changes": message.get("changes")}
    return event if kind in ("message", *CALLS, *OUTPUTS) else {}


def _calls(kind: str, item: JsonObject, given: Given | None) -> Iterator[ToolCall]:
    """The calls that an item stands for, each with what it gave: its own text where there are as many, else all."""
    name, value = text_of(item, "name").removeprefix("functions."), item.get("arguments", item.get("input"))
    arguments = parsed_object(value) or ({"input": value} if isinstance(value, str) else {})
    calls = [ToolCall(name, arguments)]
    if kind == "local_shell_call":
        calls = [ToolCall("local_shell", object_of(item, "action"))]
    elif name == "exec" and isinstance(value, str):
        calls = [ToolCall(*call) for call in script_calls(value)] or calls
    elif name.endswith("parallel") and "tool_uses" in arguments:
        used = [
            (text_of(use, "recipient_name"), object_of(use, "parameters")) for use in objects_of(arguments, "tool_uses")
        ]
        calls = [ToolCall(name.rpartition(".")[2], parameters) for name, parameters in used]
    texts = [text for text in given.texts or () if text.strip()] if given is not None else []
    n_showing = sum(not call.shows_nothing for call in calls)
    own = iter(texts if len(calls) > 1 and len(texts) == n_showing else ())
    for number, call in enumerate(calls):
        call = replace(call, call_id=text_of(item, "call_id") and f"{text_of(item, 'call_id')} {number}")
        if given is None:
            yield call
        else:
            output = given.text if call.shows_nothing else next(own, given.text)
            yield replace(call, output=output, failed=given.failed)


CODEX = session_importer(
    "codex",
    "Codex rollouts",
    "A rollout's .jsonl, or what codex exec --json printed",
    example='{"timestamp": "…", "type": "session_meta", "payload": {"id": "…", "cwd": "/testbed"}}',
    marks=(b'"type"', b'"record_type"'),
    holders=("events", "rollout", "session"),
    is_event=_is_event,
    told=lambda session: _told(session, session.parts[0], [0]),
    usage=_usage,
    # What a subagent's own rollout records is part of another session and no trajectory by itself.
    is_part=lambda row, _: "subagent" in object_of(row, "payload", "source"),
)
