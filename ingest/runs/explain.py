"""What was understood of agents' files, as text for a person: call by call, with what was not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ingest.runs.find_trajectories import TrajectoryFiles, kinds_of_files
from ingest.runs.importer import DamagedFileError, TrajectoryFile
from ingest.runs.ranking_rows import printable
from ingest.runs.trajectory import FileSpan, ParsedCall, Trajectory, Unread, union
from lake.errors import Exit, GoldspanError
from lake.text import counted


def shown_trajectories(files: TrajectoryFiles) -> Iterator[str]:
    """The lines that say what some files hold; a `GoldspanError` where their format holds no trajectories."""
    if files.importer.kind != "trajectory":
        message = f"the file holds a {files.importer.kind}, no trajectories"
        raise GoldspanError(message, hint="`python -m ingest check` tries an import of it.", code=Exit.USAGE)
    for file in files.files:
        for line in _file(file, files):
            yield printable(line)
    if files.skipped:
        yield f"not read: {Unread(kinds_of_files(files.skipped)).summary()}"


def _file(file: TrajectoryFile, files: TrajectoryFiles) -> Iterator[str]:
    try:
        for trajectory in files.importer.trajectories(file):
            where = f"{file.path}, {trajectory.position}" if trajectory.position else file.path
            patch = trajectory.patch and f"a patch of {counted(trajectory.patch.count(chr(10)), 'line')}"
            item = f"item {trajectory.item}, " if trajectory.item else ""
            failed = f"; failed: {trajectory.failed}" if trajectory.failed else ""
            steps = counted(len(trajectory.steps), "step")
            yield f"{where}: {files.importer.name}, {item}{steps}, {patch or 'no patch'}{failed}"
            yield from _calls(trajectory)
            yield from _end(trajectory)
    except DamagedFileError as error:
        yield f"{file.path}: damaged: {error.reason}"
    for damage in file.damages:
        yield f"{file.path}, {damage.position}: damaged: {damage.reason}"


def _calls(trajectory: Trajectory) -> Iterator[str]:
    step = 0
    shown_at = iter(trajectory.shown_at)
    for event in trajectory.calls or map(ParsedCall, trajectory.steps):
        is_step = bool(event.views) or not trajectory.calls
        step += is_step
        turn, call = next(shown_at, (0, 0)) if is_step else (0, 0)
        whence = f"  (turn {turn}, tool call {call})" if turn else ""
        yield f"  {f'step {step}' if is_step else '-':>8}  {event.call}{whence}".rstrip()
        yield from _views(event.views)
        yield from (f"            not understood: {name}" for name in event.unread)
        if event.reads and not event.views:
            yield "            was to show a file: it failed, found nothing, or its output is not understood"


def _end(trajectory: Trajectory) -> Iterator[str]:
    is_union = trajectory.final is not None and trajectory.final == union(trajectory.steps)
    yield f"  final context: {'all that the steps showed' if is_union else '' if trajectory.final else 'none'}".rstrip()
    yield from _views(() if is_union else trajectory.final or ())
    if trajectory.published is not None:
        n = counted(len(trajectory.published.steps), "step")
        none = "" if trajectory.published.final else " none"
        yield f"  ContextBench's published converter reads {n}; its final context:{none}"
        yield from _views(trajectory.published.final or ())
    used = [f"{name} {value}" for name, value in vars(trajectory.usage).items() if value is not None]
    yield from [f"  usage: {', '.join(used)}"] * bool(used)
    yield from (f"  noted: {note}" for note in trajectory.notes)
    if trajectory.unread:
        yield f"  not read: {Unread(trajectory.unread).summary()}"


def _views(views: Iterable[FileSpan]) -> Iterator[str]:
    for view in views:
        lines = "" if view.start is None else f"#L{view.start}-{'' if view.end is None else f'L{view.end}'}"
        yield f"            {view.path}{lines}{f' {view.symbol}' if view.symbol else ''}"
