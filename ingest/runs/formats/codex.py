"""Codex's records: a rollout's JSON Lines, or what `codex exec --json` prints.

Read after rollouts of September 2025 to version 0.144. A row is `timestamp`, `type`, `payload`; in September 2025 it
was the item itself, after a first row without a type. A shell call's `command` is a list of words (`shell`), or a text
(`shell_command`, `exec_command`), its `workdir` the folder. From version 0.14x on, `exec` runs a script that calls the
tools. What a call gave is a text, a text of `{"output", "metadata": {"exit_code"}}`, or a list of texts; newer texts
have a head that ends in `Output:`. What still runs when a call returns is told by the later calls that name its
session. What `codex exec --json` prints is built from its description (github.com/openai/codex, pull request 4177), and
from what others recorded of its older form, whose rows are `id` and `msg`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ingest.runs.importer import Importer
from ingest.runs.trajectories.codex_outputs import CALLS, OUTPUTS, Given, given_by_call
from ingest.runs.trajectories.exec_scripts import script_calls
from ingest.runs.trajectories.json_values import (
    JsonObject,
    at,
    content_of,
    object_of,
    objects_of,
    parsed_object,
    text_of,
)
from ingest.runs.trajectories.sessions import Session, patch_path, sessions_in, told_by
from ingest.runs.trajectories.tool_calls import ToolCall
from ingest.runs.trajectories.trajectory import Trajectory
from ingest.runs.trajectories.trajectory_file import TrajectoryFile
from ingest.runs.trajectories.usage import Tokens, Usage, most_frequent, seconds_between, stamps_of, summed

_HOLDERS = ("events", "rollout", "session")
_ROLLOUT = ("session_meta", "response_item", "turn_context", "event_msg", "compacted")
_SPAWNS = "spawn_agent"
_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_PRINTED = re.compile(r"(?:thread|turn)\.[a-z]+|item\.(?:started|updated|completed)")
_NO_FILES = (
    "message", "reasoning", "agent_message", "assistant_message", "error", "todo_list", "web_search", "web_search_call",
    "image_generation_call", "ghost_snapshot", "compaction", "compaction_summary", "tool_search_call",
    "tool_search_output",
)  # fmt: skip
"""Items that show nothing of files."""

_FOLDER = re.compile(r"<cwd>([^<\n]+)</cwd>|^(?:- )?Current working directory: (.+)$", re.MULTILINE)


def recognise(head: bytes, name: str) -> bool:
    """Rows of a rollout, events as `codex exec --json` prints them, or objects that hold such of an instance.

    What a subagent's own rollout records is part of another session and no trajectory by itself.
    """
    if b'"type"' not in head and b'"record_type"' not in head:
        return False
    found = next(told_by(head, _HOLDERS, _is_event), None)
    return found is not None and "subagent" not in object_of(found, "payload", "source")


def companions(path: str) -> Sequence[str]:
    """The patch beside a session's file, which records none as a diff."""
    return [patch_path(path)]


def trajectories(file: TrajectoryFile) -> Iterator[Trajectory]:
    """The session of a file, or those of the objects that hold one each.

    A step is a call that showed something, mostly what a shell command prints of files. A call without a result showed
    nothing. Calls of a subagent, whose rollout lies beside, count where the call stands that began it.
    """
    for session, events in sessions_in(file, _HOLDERS):
        rollout = _Rollout(session, file)
        rollout.add(events)
        session.usage = _usage(rollout.files)
        yield session.trajectory()


def _is_event(row: JsonObject) -> bool:
    kind = text_of(row, "type")
    if kind in _ROLLOUT:
        return isinstance(row.get("payload"), dict)
    if kind in CALLS:
        return "call_id" in row
    if row.get("record_type") == "state" or ("id" in row and "type" in object_of(row, "msg")):
        return True
    return _PRINTED.fullmatch(kind) is not None and ("item" in row or kind.startswith(("thread.", "turn.")))


@dataclass
class _Rollout:
    """A rollout while its items are gone through."""

    session: Session
    file: TrajectoryFile
    given: dict[str, Given] = field(default_factory=dict)
    folder: str = ""
    files: list[Sequence[JsonObject]] = field(default_factory=list)
    n_told: int = 0

    def add(self, events: Sequence[JsonObject]) -> None:
        """Add some events in their order."""
        self.files.append(events)
        items = [_item(event) for event in events]
        self.given |= given_by_call(items)
        told = set[Tokens]()
        for event, item in zip(events, items, strict=True):
            # What an answer took is told after the calls that it asked for.
            if (tokens := _told(event)) is not None and tokens not in told:
                told.add(tokens)
                self.n_told += 1
            self.session.turn = self.n_told + 1
            if event.get("type") in ("session_meta", "turn_context"):
                self._go_to(text_of(event, "payload", "cwd"))
            elif "sandbox" in event:
                self._go_to(text_of(event, "workdir"))
            kind = text_of(item, "type")
            if kind not in CALLS:
                self._add(kind, item)
            elif self.session.is_new(text_of(item, "call_id")):
                self._add_call(kind, item)

    def _go_to(self, folder: str) -> None:
        self.folder = folder or self.folder
        self.session.root = self.session.root or folder

    def _add(self, kind: str, item: JsonObject) -> None:
        """Add an item that is no call with a result of its own."""
        if kind == "message" and item.get("role") == "assistant":
            self.session.said.append(content_of(item))
        elif kind == "message":
            self.session.add_asked(content_of(item))
            # In September 2025 no row but the first message said it.
            if not self.session.root and (found := _FOLDER.search(content_of(item))):
                self._go_to((found[1] or found[2]).strip())
        elif kind in ("agent_message", "assistant_message"):
            self.session.said.append(text_of(item, "text"))
        elif kind == "command_execution":
            failed = item.get("exit_code") not in (None, 0) or item.get("status") in ("failed", "declined")
            output = text_of(item, "aggregated_output")
            self.session.add(ToolCall("shell", {"command": item.get("command")}, output, failed, self.folder))
        elif kind in ("file_change", "patch_apply_end"):
            if item.get("success") is not False and item.get("status") != "failed":
                named = object_of(item, "changes") or [one.get("path") for one in objects_of(item, "changes")]
                self.session.add_changes(kind, [path for path in named if isinstance(path, str)])
        elif kind == "mcp_tool_call":
            self.session.unread[f"tool {text_of(item, 'server')}.{text_of(item, 'tool')}"] += 1
        elif kind and kind not in (*_NO_FILES, *OUTPUTS):
            self.session.unread[f"item {kind}"] += 1

    def _add_call(self, kind: str, item: JsonObject) -> None:
        given = self.given.get(text_of(item, "call_id"))
        for call in _calls(kind, item, given):
            if given is None:
                self.session.add_unanswered(call)
            else:
                self.session.add(replace(call, folder=self.folder))
        if text_of(item, "name") == _SPAWNS and given is not None:
            self._add_subagents(given.text or "")

    def _add_subagents(self, output: str) -> None:
        """Add what the subagents did that a call began: it gives their ids, with which the names of their files end."""
        for name in _ID.findall(output):
            ends = re.compile(rf"{name}\.jsonl(?:\.gz|\.zst)?$")
            paths = [path for path in sorted(self.file.all) if ends.search(path)]
            if not paths:
                self.session.unread["subagent whose file is not there"] += 1
            for path in paths:
                folder, n_said = self.folder, len(self.session.said)
                self.add(self.session.rows_of(self.file.all[path]))
                self.folder = folder
                # What a subagent says is no answer of the session.
                del self.session.said[n_said:]


def _usage(files: Sequence[Sequence[JsonObject]]) -> Usage:
    """Of a session's rollout and those of its subagents: each tells what was used until then, again and again."""
    events = [event for rollout in files for event in rollout]
    by_event = [[_told(event) for event in rollout] for rollout in files]
    totals = [[total for total in rollout if total is not None] for rollout in by_event]
    usage = Usage(
        model=most_frequent(text_of(event, "payload", "model") for event in events),
        seconds=seconds_between(stamps_of(events)),
        n_turns=sum(len(dict.fromkeys(rollout)) for rollout in totals) or None,
    )
    return usage.with_tokens(summed(rollout[-1] for rollout in totals if rollout))


def _told(event: JsonObject) -> Tokens | None:
    """What was used in all until an event that tells it."""
    payload = object_of(event, "payload") or object_of(event, "msg")
    if event.get("type") == "turn.completed":
        return Tokens.of(event.get("usage"))
    return (
        Tokens.of(at(payload, "info", "total_token_usage") or payload) if payload.get("type") == "token_count" else None
    )


def _item(event: JsonObject) -> JsonObject:
    """What happened: a rollout's item, or a finished one of those that are printed; empty for other events."""
    kind, payload = text_of(event, "type"), object_of(event, "payload")
    if kind == "response_item":
        return payload
    if kind == "event_msg":
        return payload if payload.get("type") == "patch_apply_end" else {}
    if kind == "item.completed":
        return object_of(event, "item")
    if message := object_of(event, "msg"):
        return _item_of_message(message)
    return event if kind in ("message", *CALLS, *OUTPUTS) else {}


def _item_of_message(message: JsonObject) -> JsonObject:
    """What happened, as it was printed until September 2025."""
    kind, call_id = text_of(message, "type"), message.get("call_id")
    if kind == "exec_command_begin":
        action = {"command": message.get("command"), "workdir": message.get("cwd")}
        return {"type": "local_shell_call", "call_id": call_id, "action": action}
    if kind == "exec_command_end":
        output = text_of(message, "stdout") + text_of(message, "stderr")
        return {"type": OUTPUTS[0], "call_id": call_id, "output": {**message, "output": output}}
    if kind == "agent_message":
        return {"type": kind, "text": message.get("message")}
    # It names the files; whether they were changed is told by an end that does not.
    return {"type": "file_change", "changes": message.get("changes")} if kind == "patch_apply_begin" else {}


def _calls(kind: str, item: JsonObject, given: Given | None) -> list[ToolCall]:
    """The calls that an item stands for, each with what it gave: its own text where there are as many, else all."""
    name, value = text_of(item, "name").removeprefix("functions."), item.get("arguments", item.get("input"))
    arguments = parsed_object(value) or ({"input": value} if isinstance(value, str) else {})
    calls = [ToolCall(name, arguments)]
    if kind == "local_shell_call":
        calls = [ToolCall("local_shell", object_of(item, "action"))]
    elif name == "exec" and isinstance(value, str):
        calls = [ToolCall(*one) for one in script_calls(value) or ()] or calls
    elif name.endswith("parallel") and "tool_uses" in arguments:
        used = objects_of(arguments, "tool_uses")
        names = [text_of(one, "recipient_name").rpartition(".")[2] for one in used]
        calls = [ToolCall(name, object_of(one, "parameters")) for name, one in zip(names, used, strict=True)]
    if given is None:
        return calls
    texts = [text for text in given.texts or () if text.strip()]
    n_showing = sum(not call.shows_nothing for call in calls)
    own = iter(texts if len(calls) > 1 and len(texts) == n_showing else ())
    outputs = (given.text if call.shows_nothing else next(own, given.text) for call in calls)
    return [replace(call, output=text, failed=given.failed) for call, text in zip(calls, outputs, strict=True)]


CODEX = Importer(
    name="codex",
    title="Codex rollouts",
    meaning="A rollout's .jsonl, or what codex exec --json printed, called like the instance or in its folder, a "
    ".patch beside it; or objects with instance_id, model_patch and events.",
    recognise=recognise,
    trajectories=trajectories,
    companions=companions,
    kind="trajectory",
    example='{"timestamp": "…", "type": "session_meta", "payload": {"id": "…", "cwd": "/testbed"}}',
)
