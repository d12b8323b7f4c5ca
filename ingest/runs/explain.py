"""What was understood of agents' files, as text for a person: call by call, with what was not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ingest.runs.calls.parsed import FileSpan, ParsedCall, union
from ingest.runs.find_trajectories import TrajectoryFiles, called
from ingest.runs.trajectories.trajectory import Trajectory, Unread
from ingest.runs.trajectories.trajectory_file import DamagedError, TrajectoryFile
from lake.errors import Exit, GoldspanError
from lake.text import counted


def shown_trajectories(found: TrajectoryFiles) -> Iterator[str]:
    """The lines that say what some files hold.

    Raises:
        GoldspanError: They are of a format that holds no trajectories.
    """
    if found.importer.kind != "trajectory":
        message = f"the file holds a {found.importer.kind}, no trajectories"
        raise GoldspanError(message, hint="`python -m ingest check` tries an import of it.", code=Exit.USAGE)
    for file in found.files:
        for line in _file(file, found):
            # An escape sequence in a file is no command to the terminal.
            yield "".join(one if one.isprintable() else ascii(one)[1:-1] for one in line)
    if found.skipped:
        yield f"not read: {Unread(called(found.skipped)).summary()}"


def _file(file: TrajectoryFile, found: TrajectoryFiles) -> Iterator[str]:
    try:
        for one in found.importer.trajectories(file):
            yield f"{file.path}{f', {one.position}' if one.position else ''}: {_head(one, found.importer.name)}"
            yield from _calls(one)
            yield from _end(one)
    except DamagedError as error:
        yield f"{file.path}: damaged: {error.reason}"
    for damage in file.damages:
        yield f"{file.path}, {damage.position}: damaged: {damage.reason}"


def _head(one: Trajectory, name: str) -> str:
    patch = f"a patch of {counted(one.patch.count(chr(10)), 'line')}" if one.patch else "no patch"
    item = f"item {one.item}, " if one.item else ""
    return f"{name}, {item}{counted(len(one.steps), 'step')}, {patch}{f'; failed: {one.failed}' if one.failed else ''}"


def _calls(one: Trajectory) -> Iterator[str]:
    """Every call, those that showed something with the number of their step; of a format without calls its steps."""
    step = 0
    shown_at = iter(one.shown_at)
    for event in one.events or map(ParsedCall, one.steps):
        is_step = bool(event.views) or not one.events
        step += is_step
        turn, call = next(shown_at, (0, 0)) if is_step else (0, 0)
        told = f"  (turn {turn}, tool call {call})" if turn else ""
        yield f"  {f'step {step}' if is_step else '-':>8}  {event.call}{told}".rstrip()
        yield from _views(event.views)
        yield from (f"            changed {path}" for path in event.edited)
        yield from (f"            not understood: {name}" for name in event.unread)
        if event.reads and not event.views:
            yield "            was to show a file: it failed, found nothing, or its output is not understood"


def _end(one: Trajectory) -> Iterator[str]:
    is_union = one.final is not None and one.final == union(one.steps)
    yield f"  final context: {'all that the steps showed' if is_union else '' if one.final else 'none'}".rstrip()
    yield from _views(() if is_union else one.final or ())
    if one.published is not None:
        n = counted(len(one.published.steps), "step")
        none = "" if one.published.final else " none"
        yield f"  ContextBench's published converter reads {n}; its final context:{none}"
        yield from _views(one.published.final or ())
    used = [f"{name} {value}" for name, value in vars(one.usage).items() if value is not None]
    yield from [f"  usage: {', '.join(used)}"] * bool(used)
    yield from (f"  noted: {note}" for note in one.notes)
    if one.unread:
        yield f"  not read: {Unread(one.unread).summary()}"


def _views(views: Iterable[FileSpan]) -> Iterator[str]:
    for view in views:
        lines = "" if view.start is None else f"#L{view.start}-{'' if view.end is None else f'L{view.end}'}"
        yield f"            {view.path}{lines}{f' {view.symbol}' if view.symbol else ''}"
