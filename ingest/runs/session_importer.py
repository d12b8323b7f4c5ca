"""The importer of a format whose files hold an agent's session each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ingest.runs.importer import Importer
from ingest.runs.trajectories.items_and_patches import patch_path
from ingest.runs.trajectories.sessions import Event, Session, sessions_in
from ingest.runs.trajectories.trajectory import Trajectory
from ingest.runs.trajectories.trajectory_file import TrajectoryFile
from ingest.runs.trajectories.usage import Usage
from ingest.runs.values import JsonObject, objects_in, objects_of

_MAX_HELD = 50


def session_importer(
    name: str,
    title: str,
    files: str,
    *,
    example: str,
    marks: Sequence[bytes],
    holders: Sequence[str],
    is_event: Callable[[JsonObject], bool],
    told: Callable[[Session], Iterator[Event]],
    usage: Callable[[Session], Usage],
    is_part: Callable[[JsonObject, str], bool] = lambda row, name: False,
    companions: Callable[[str], Sequence[str]] = lambda path: [patch_path(path)],
    aliases: tuple[str, ...] = (),
) -> Importer:
    """The importer of files that hold a session each, or objects that hold one each; the patch lies beside them.

    Args:
        name: What the format is called.
        title: A few words.
        files: Which files these are.
        example: How one begins.
        marks: One of them stands in every beginning.
        holders: The keys under which an object may hold events.
        is_event: Knows an event that only this format has.
        told: What a session's record tells, in its order: its calls, and what is said between.
        usage: What it took, asked for when all is told.
        is_part: Knows a file that is part of another session, by its first event of this format and its name.
        companions: As :class:`Importer` has them.
        aliases: Other names.
    """

    def recognise(head: bytes, name: str) -> bool:
        if not any(mark in head for mark in marks):
            return False
        for row in objects_in(head):
            held = (event for key in holders for event in objects_of(row, key)[:_MAX_HELD])
            if is_event(row) or any(map(is_event, held)):
                return not is_part(row, name)
        return False

    def trajectories(file: TrajectoryFile) -> Iterator[Trajectory]:
        for session in sessions_in(file, holders):
            yield session.trajectory(told(session), usage)

    return Importer(
        name=name,
        title=title,
        meaning=f"{files}, called like the instance or in its folder, a .patch beside it; or objects with instance_id, "
        f"model_patch and {holders[0]}.",
        recognise=recognise,
        trajectories=trajectories,
        companions=companions,
        kind="trajectory",
        example=example,
        aliases=aliases,
    )
