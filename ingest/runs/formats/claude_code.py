"""Claude Code's records: a session's JSON Lines, or what `claude -p` prints as JSON.

Read after sessions of versions 1.0.56 to 2.1.138 and the tools' reference (code.claude.com/docs/en/tools-reference):
`Read` takes `file_path`, `offset` (a line, from 1) and `limit`, and numbers what it gives; `Grep` lists files unless
`output_mode` is `content`; `Glob` lists files; `Bash` takes `command`. What a subagent does is recorded among the
session's rows (`isSidechain`), or in a file of its own: `<session>/subagents/agent-<id>.jsonl`, before version 2.1
`agent-<id>.jsonl` beside the session.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ingest.runs.importer import Importer
from ingest.runs.trajectories.json_values import (
    JsonObject,
    at,
    content_of,
    line_of,
    object_of,
    objects_of,
    parsed_object,
    text_of,
)
from ingest.runs.trajectories.sessions import Session, patch_path, sessions_in, told_by
from ingest.runs.trajectories.tool_calls import ToolCall
from ingest.runs.trajectories.trajectory import Trajectory
from ingest.runs.trajectories.trajectory_file import DamagedError, TrajectoryFile
from ingest.runs.trajectories.usage import (
    SYNTHETIC,
    Tokens,
    Usage,
    count_at,
    dollars_at,
    most_frequent,
    seconds_between,
    stamps_of,
    summed,
)

_SHOWN = ("file", "edited_text_file", "selected_lines_in_ide", "nested_memory", "compact_file_reference")
"""Attachments that show something of files without a call of the agent's; they are no steps."""
_TASKS = ("task", "agent")
_AGENT = re.compile(r"\bagentId: ([A-Za-z0-9_-]+)")
_HOLDERS = ("events", "response", "session", "messages")
_OF_SUBAGENT = re.compile(r"(?:^|/)agent-(?P<id>[^/]*)\.jsonl(?:\.gz|\.zst)?$")
_SPOKEN = ("user", "assistant")
_KEYS = ("sessionId", "session_id", "uuid", "parentUuid")


def recognise(head: bytes, name: str) -> bool:
    """Events of a user or assistant with the session's id, as rows, as a list, or held by objects with an instance.

    What a subagent's own file (`agent-….jsonl`) beside a session records is part of it and no trajectory by itself; one
    in a folder `subagents` is, where its session was not given with it.
    """
    is_beside = _OF_SUBAGENT.search(name) is not None and "subagents/" not in name
    if is_beside or b'"type"' not in head:
        return False
    return any(told_by(head, _HOLDERS, _is_event))


def companions(path: str) -> Sequence[str]:
    """The patch beside a session's file, which records none, and what lies in the folder called like the session."""
    return [patch_path(path), _folder_of(path)]


def trajectories(file: TrajectoryFile) -> Iterator[Trajectory]:
    """The session of a file, or those of the objects that hold one each.

    A step is a call that showed something: `Read` the lines its result numbers, `Grep` the lines or files it lists,
    `Bash` what its command prints of files. Calls of subagents count as the session's own, those of a file of its own
    where the call stands that began it. A call without a result showed nothing.
    """
    folder = _folder_of(file.path)
    below = [file.all[path] for path in sorted(file.all) if path.startswith(f"{folder}subagents/")]
    subagents = {found["id"]: other for other in below if (found := _OF_SUBAGENT.search(other.path))}
    for session, events in sessions_in(file, _HOLDERS):
        reading = _Reading(session, file, subagents)
        reading.add(events)
        session.usage = _usage(reading.events)
        for path in sorted({other.path for other in subagents.values()} - session.opened):
            session.unread[f"file {path.rpartition('/')[2]}"] += 1
        yield session.trajectory()


def _is_event(row: JsonObject) -> bool:
    kind = row.get("type")
    if kind == "system":
        return row.get("subtype") == "init" and "session_id" in row
    return kind in _SPOKEN and isinstance(row.get("message"), dict) and any(key in row for key in _KEYS)


@dataclass
class _Reading:
    """A session while its events are gone through."""

    session: Session
    file: TrajectoryFile
    subagents: Mapping[str, TrajectoryFile]
    recorded: set[str] = field(default_factory=set)
    turns: dict[str, int] = field(default_factory=dict)
    events: list[JsonObject] = field(default_factory=list)

    def add(self, events: Sequence[JsonObject]) -> None:
        """Add the calls of some events in their order."""
        self.events += events
        answers = {call: answer for event in events for call, answer in _answers(event)}
        self.recorded |= {text_of(event, "agentId") for event in events if event.get("isSidechain") is True}
        folder = ""
        for event in events:
            folder = text_of(event, "cwd") or folder
            self.session.root = self.session.root or folder
            attached = text_of(event, "attachment", "type")
            if attached in _SHOWN:
                self.session.unread[f"attachment {attached}"] += 1
            if event.get("type") == "result":
                self.session.said.append(text_of(event, "result"))
            if event.get("type") == "user" and event.get("isSidechain") is not True:
                self.session.add_asked(content_of(event.get("message")))
            if event.get("type") != "assistant":
                continue
            if (key := _answer_key(event, len(self.turns))) is not None:
                self.session.turn = self.turns.setdefault(key, len(self.turns) + 1)
            if event.get("isSidechain") is not True:
                self.session.said.append(content_of(event.get("message")))
            for part in objects_of(event, "message", "content"):
                if part.get("type") == "tool_use" and self.session.is_new(text_of(part, "id")):
                    self._add_call(part, answers.get(text_of(part, "id")), folder)

    def _add_call(self, part: JsonObject, answer: _Answer | None, folder: str) -> None:
        call = ToolCall(text_of(part, "name"), parsed_object(part.get("input")), folder=folder)
        if answer is None:
            self.session.add_unanswered(call)
        else:
            self.session.add(replace(call, output=answer.output, failed=answer.failed, lines=answer.lines))
        begun: list[TrajectoryFile | None] = []
        if call.tool in _TASKS:
            name = answer.agent if answer is not None else ""
            begun.append(self._subagent(call, name))
            if begun == [None] and name and name not in self.recorded:
                self.session.unread["subagent whose file is not there"] += 1
        if answer is not None and answer.folder:
            begun += (file for file in self.subagents.values() if f"/{answer.folder}/" in file.path)
        for file in filter(None, begun):
            self.add(self.session.rows_of(file))

    def _subagent(self, call: ToolCall, name: str) -> TrajectoryFile | None:
        """The file of the subagent that a call began: by the id its result says, else by the task it was given."""
        if name:
            return self.subagents.get(name) or self.file.beside(f"agent-{name}.jsonl")
        task = text_of(call.arguments, "prompt")
        return next((file for file in self.subagents.values() if task and _task_of(file) == task), None)


def _usage(events: Sequence[JsonObject]) -> Usage:
    """As a result tells it, else of every answer: an answer has a row for each of its parts, the last with most."""
    answers: dict[str, JsonObject] = {}
    for event in events:
        if (key := _answer_key(event, len(answers))) is not None:
            message = object_of(event, "message")
            written, seen = (count_at(one, "usage", "output_tokens") or 0 for one in (message, answers.get(key)))
            answers[key] = message if written >= seen else answers[key]
    ends = [event for event in events if event.get("type") == "result"]
    end = ends[-1] if ends else {}
    names = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "outputTokens")
    by_model = [object_of(one) for one in object_of(end, "modelUsage").values()]
    tokens = summed(Tokens(*(count_at(one, name) or 0 for name in names)) for one in by_model)
    tokens = tokens or Tokens.of(end.get("usage")) or summed(Tokens.of(one.get("usage")) for one in answers.values())
    models = [text_of(event, "message", "model") for event in events if event.get("isSidechain") is not True]
    milliseconds = count_at(end, "duration_ms")
    return Usage(
        model=most_frequent(models) or most_frequent(text_of(one, "model") for one in answers.values()),
        usd=dollars_at(end, "total_cost_usd"),
        seconds=seconds_between(stamps_of(events)) or (milliseconds / 1000 if milliseconds else None),
        n_turns=len(answers) or count_at(end, "num_turns"),
        exit_status=text_of(end, "subtype") or None,
    ).with_tokens(tokens)


def _answer_key(event: JsonObject, n_before: int) -> str | None:
    """What an answer of a model goes by, of which the row is a part; None for a row of none."""
    message = object_of(event, "message")
    if count_at(message, "usage", "output_tokens") is None or text_of(message, "model") == SYNTHETIC:
        return None
    return text_of(message, "id") or f"answer {n_before + 1}"


def _folder_of(path: str) -> str:
    """The folder called like a session, which holds what its subagents did."""
    return f"{patch_path(path).removesuffix('.patch')}/"


def _task_of(file: TrajectoryFile) -> str:
    """What a subagent was told first, which is its task."""
    try:
        return next((content_of(row.get("message")) for _, row in replace(file, damages=[]).objects()), "")
    except DamagedError:
        return ""


@dataclass(frozen=True)
class _Answer:
    """What a call gave, and the id of the subagent that it began, or the folder of those of a workflow."""

    output: str
    failed: bool
    lines: tuple[int, int] | None
    agent: str
    folder: str


def _answers(event: JsonObject) -> Iterator[tuple[str, _Answer]]:
    parts = [part for part in objects_of(event, "message", "content") if part.get("type") == "tool_result"]
    for part in parts:
        beside = event.get("toolUseResult", event.get("tool_use_result")) if len(parts) == 1 else None
        failed = part.get("is_error") is True
        text = content_of(part)
        named = _AGENT.search(text)
        # Before version 2.1 the id stood in the row itself, as it still does in every row of a subagent's own.
        of_row = "" if event.get("isSidechain") is True else text_of(event, "agentId")
        agent = text_of(beside, "agentId") or of_row or (named[1] if named else "")
        folder = text_of(beside, "transcriptDir").rstrip("/").rpartition("/")[2]
        start, n = line_of(at(beside, "file", "startLine")), line_of(at(beside, "file", "numLines")) or 0
        lines = (start, start + n - 1) if start is not None and n > 0 and not failed else None
        yield text_of(part, "tool_use_id"), _Answer(text, failed, lines, agent, folder)


CLAUDE_CODE = Importer(
    name="claude-code",
    title="Claude Code sessions",
    meaning="A session's .jsonl called like the instance or in its folder, a .patch beside it; or objects with "
    "instance_id, model_patch and events.",
    recognise=recognise,
    trajectories=trajectories,
    companions=companions,
    kind="trajectory",
    example='{"type": "assistant", "sessionId": "…", "cwd": "/testbed", "message": {"content": []}}',
    aliases=("claude",),
)
