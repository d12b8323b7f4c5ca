"""Aider's chat history (of version 0.86): the files that were added to the chat, which its model sees whole."""

import re
from collections.abc import Iterator

from ingest.runs.calls.tools import ToolCall
from ingest.runs.importer import Importer, TrajectoryFile, patch_path
from ingest.runs.sessions import Event, Note, Session
from ingest.runs.trajectory import FileSpan, ParsedCall, Trajectory
from ingest.runs.usage import AgentUsage

_STARTS = re.compile(rb"(?:\xef\xbb\xbf)?\s*# aider chat started at ")
_ADDED = re.compile(
    r"^> (?:Added (.+?) to (?:the chat|read-only files)\b|(.+?) *\n> Add file to the chat\? .*: [YyAa])", re.MULTILINE
)
_TYPED = re.compile(r"(?:^#### .*\n?)+", re.MULTILINE)  # what the user typed; what Aider reports begins with `>`
_MODEL = re.compile(r"^> (?:Main m|M)odel: (\S+)", re.MULTILINE)
_COST = re.compile(r"^> .*\bCost: \$([0-9]{1,9}(?:\.[0-9]{1,9})?) message", re.MULTILINE)


def trajectories(file: TrajectoryFile) -> Iterator[Trajectory]:
    """The one trajectory of a history, with a step for each file that was added, by the user or as an answer asked."""
    text, (patch, notes) = file.text(), file.patch_beside()
    costs, models = list(map(float, _COST.findall(text))), _MODEL.findall(text)
    events: list[Event] = [Note("prompt", typed.replace("#### ", "")) for typed in _TYPED.findall(text)]
    for path in map("".join, _ADDED.findall(text)):
        events.append(ToolCall("add", {"path": path}, parsed=ParsedCall((FileSpan(path, 1),), reads=True)))
    usage = AgentUsage(next(iter(models), None), usd=sum(costs) or None, n_turns=len(costs) or None)
    yield Session(file, patch=patch, notes=notes).trajectory([*events, usage])


AIDER = Importer(
    name="aider", title="Aider chat histories", kind="trajectory",
    meaning="One .aider.chat.history.md per instance, in a folder named like it: the files added to the chat.",
    recognise=lambda head, _: _STARTS.match(head) is not None, trajectories=trajectories,
    companions=lambda path: [patch_path(path)],  # a history does not record the patch
    example="# aider chat started at 2026-01-01 12:00:00",
)  # fmt: skip
