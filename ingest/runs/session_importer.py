"""The importer of a format whose files hold an agent's session each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ingest.runs.importer import Importer
from ingest.runs.trajectories.json_values import JsonObject, objects_in
from ingest.runs.trajectories.sessions import Session, patch_path, sessions_in, told_by
from ingest.runs.trajectories.tool_calls import ToolCall
from ingest.runs.trajectories.trajectory import Reading, Trajectory
from ingest.runs.trajectories.trajectory_file import TrajectoryFile


def session_importer(
    name: str,
    title: str,
    files: str,
    *,
    example: str,
    marks: Sequence[bytes],
    holders: Sequence[str],
    is_event: Callable[[JsonObject], bool],
    calls: Callable[[Session, Sequence[JsonObject]], Iterator[tuple[ToolCall, Reading | None]]],
    is_part: Callable[[JsonObject], bool] = lambda row: False,
    aliases: tuple[str, ...] = (),
) -> Importer:
    """The importer of files that hold a session each, or objects that hold one each; the patch lies beside them.

    A step is a call that showed something; a call without a result showed nothing.

    Args:
        name: What `--format` calls it.
        title: A few words.
        files: What its files are.
        example: How such a file begins.
        marks: One of them stands in every file's beginning.
        holders: The keys that hold a session's events beside its `instance_id`.
        is_event: Whether an object is an event that only this format has.
        calls: The calls of some events in their order with what they showed, None for those without a result.
        is_part: Whether the file that begins with an object is part of another session, so no trajectory by itself.
        aliases: Other names.
    """

    def recognise(head: bytes, _: str) -> bool:
        if not any(mark in head for mark in marks) or any(map(is_part, objects_in(head)[:1])):
            return False
        return any(told_by(head, holders, is_event))

    def trajectories(file: TrajectoryFile) -> Iterator[Trajectory]:
        for session, events in sessions_in(file, holders):
            session.add_all(list(calls(session, events)))
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
