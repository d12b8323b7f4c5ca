"""The importer of a format whose files hold an agent's session each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ingest.runs.importer import Importer
from ingest.runs.trajectories.records import item_of, patch_beside, patch_of, patch_path
from ingest.runs.trajectories.sessions import Event, Session
from ingest.runs.trajectories.trajectory import Trajectory
from ingest.runs.trajectories.trajectory_file import TrajectoryFile
from ingest.runs.trajectories.usage import Usage
from ingest.runs.values import JsonObject, list_of, objects_in, objects_of

_MAX_HELD = 50


def _sessions_in(file: TrajectoryFile, holders: Sequence[str]) -> Iterator[Session]:
    """The sessions of a file, their events as first part: the one of its rows, or one per object that holds some.

    The patch of a session that names no item, so is known by the file's path, lies beside it.
    """
    rows: list[JsonObject] = []
    for position, row in file.objects():
        holder = next((key for key in holders if isinstance(row.get(key), list)), None)
        if holder is None:
            rows.append(row)
            continue
        events: list[JsonObject] = [event for event in list_of(row, holder) if isinstance(event, dict)]
        n_odd = len(list_of(row, holder)) - len(events)
        notes = [f"{n_odd:,} events that are no objects"] if n_odd else []
        is_named = item_of(row) or patch_of(row) is not None
        patch, lost = (patch_of(row), []) if is_named else patch_beside(file)
        yield Session(file, item_of(row), patch, position, notes + lost, [events])
    if rows:
        file.fail_if_damaged()
        patch, notes = patch_beside(file)
        yield Session(file, patch=patch, notes=notes, parts=[rows])


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

    One of `marks` stands in every beginning; `holders` are the keys under which an object may hold events; `is_event`
    knows an event that only this format has; `told` is what a record tells, in its order: its calls, and what is said
    between; `is_part` knows a file that is part of another session, by its first event of this format and its name.
    """

    def recognise(head: bytes, name: str) -> bool:
        for row in objects_in(head) if any(mark in head for mark in marks) else ():
            held = (event for key in holders for event in objects_of(row, key)[:_MAX_HELD])
            if is_event(row) or any(map(is_event, held)):
                return not is_part(row, name)
        return False

    def trajectories(file: TrajectoryFile) -> Iterator[Trajectory]:
        return (session.trajectory(told(session), usage) for session in _sessions_in(file, holders))

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
