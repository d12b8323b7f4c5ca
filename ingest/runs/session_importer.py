"""The importer of a format whose files hold an agent's session each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ingest.runs.importer import Importer
from ingest.runs.trajectories.json_values import JsonObject, objects_in
from ingest.runs.trajectories.sessions import Session, patch_path, sessions_in, told_by
from ingest.runs.trajectories.tool_calls import ToolCall
from ingest.runs.trajectories.trajectory import ParsedCall, Trajectory
from ingest.runs.trajectories.trajectory_file import TrajectoryFile
from ingest.runs.trajectories.usage import Usage


def session_importer(
    name: str,
    title: str,
    files: str,
    *,
    example: str,
    marks: Sequence[bytes],
    holders: Sequence[str],
    is_event: Callable[[JsonObject], bool],
    calls: Callable[[Session, Sequence[JsonObject]], Iterator[tuple[ToolCall, ParsedCall | None]]],
    usage: Callable[[Sequence[JsonObject]], Usage],
    is_part: Callable[[JsonObject], bool] = lambda row: False,
    aliases: tuple[str, ...] = (),
) -> Importer:
    """The importer of files that hold a session each, or objects that hold one each; the patch lies beside them.

    A step is a call that showed something; a call without a result showed nothing.

    One of the marks stands in every beginning, `is_event` knows an event that only this format has, and `is_part` the
    first row of a file that is part of another session. `calls` gives None for what a call without a result showed,
    `usage` what a session took.
    """

    def recognise(head: bytes, _: str) -> bool:
        if not any(mark in head for mark in marks) or any(map(is_part, objects_in(head)[:1])):
            return False
        return any(told_by(head, holders, is_event))

    def trajectories(file: TrajectoryFile) -> Iterator[Trajectory]:
        for session, events in sessions_in(file, holders):
            session.add_all(list(calls(session, events)))
            session.usage = usage(events)
            yield session.trajectory()

    return Importer(
        name=name,
        title=title,
        meaning=f"{files}, called like the instance or in its folder, a .patch beside it; or objects with instance_id, "
        f"model_patch and {holders[-1]}.",
        recognise=recognise,
        trajectories=trajectories,
        companions=lambda path: [patch_path(path)],
        kind="trajectory",
        example=example,
        aliases=aliases,
    )
