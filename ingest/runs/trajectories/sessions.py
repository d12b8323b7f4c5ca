"""Records of an agent's session, event by event, and the trajectory they make up."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ingest.runs.trajectories.context_blocks import in_repository, pairs_of
from ingest.runs.trajectories.json_values import list_of, text_of
from ingest.runs.trajectories.tool_calls import Reading, ToolCall, is_of_windows, shown
from ingest.runs.trajectories.tool_events import reading_of_call
from ingest.runs.trajectories.trajectory import Event, Trajectory, Unread, View, renamed
from ingest.runs.trajectories.trajectory_file import DamagedError, JsonObject, TrajectoryFile

IDS = ("instance_id", "original_inst_id", "item_id")
_PATCHES = ("model_patch", "git_patch", "patch")
_FINAL = re.compile(r"<PATCH_CONTEXT>(.*?)</PATCH_CONTEXT>", re.DOTALL)


@dataclass
class Session:
    """What is gathered of a session while its events are gone through.

    Attributes:
        root: The folder it began in, which is dropped from the paths below it; empty where it is not known.
        said: What the agent said, in order.
        notes: What could not be read.
        events: Its calls, also those that showed nothing.
        unread: What was met and not read beside them.
    """

    root: str = ""
    said: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    unread: Unread = field(default_factory=Unread)

    @property
    def steps(self) -> list[tuple[View, ...]]:
        """What was seen, one for every call that showed something."""
        return [event.views for event in self.events if event.views]

    def add(self, call: ToolCall, reading: Reading | None = None) -> Reading:
        """Add a call with what it showed: what was understood of it, where a format has tools of its own."""
        reading = reading_of_call(call) if reading is None else reading
        views = renamed(reading.views, self._below)
        edited = tuple(dict.fromkeys(filter(None, map(self._below, reading.edited))))
        self.events.append(Event(shown(call), views, reading.reads, reading.unread, edited))
        return reading

    def add_changes(self, call: str, paths: Sequence[str]) -> None:
        """Add what is recorded of files that were changed, apart from the call that changed them."""
        self.events.append(Event(call, edited=tuple(filter(None, map(self._below, paths)))))

    def add_unanswered(self, call: ToolCall) -> None:
        """Add a call that has no result in a record that has those of the others: nothing was shown."""
        self.events.append(Event(shown(call), unread=("call without a result",)))

    def trajectory(self, item: str = "", patch: str | None = None, position: str = "") -> Trajectory:
        """The session as a trajectory.

        The final context is what the last `<PATCH_CONTEXT>` that the agent said names; without one it is the union of
        the steps.
        """
        answers = [block for text in self.said for block in _FINAL.findall(text)]
        final = renamed(pairs_of(answers[-1]), in_repository) if answers else union(self.steps)
        return Trajectory(
            item, tuple(self.steps), final or None, patch, position, tuple(self.notes),
            events=tuple(self.events), unread=self.all_unread(),
        )  # fmt: skip

    def all_unread(self) -> Unread:
        """What was met and not read, of the calls and beside them."""
        unread = Unread(name for event in self.events for name in event.unread)
        unread.update(self.unread)
        return unread

    def _below(self, path: str) -> str:
        """A path below the folder that the session began in, empty for the folder itself."""
        root = self.root.rstrip("/\\")
        if is_of_windows(root):
            root, path = root.replace("\\", "/"), path.replace("\\", "/")
            # Git's shell writes the drive as a folder.
            path = f"{root[:2]}{path[2:]}" if path.lower().startswith(f"/{root[0].lower()}/") else path
        return f"{path}/".removeprefix(f"{root}/").rstrip("/") if root else path


@dataclass(frozen=True)
class Recording:
    """The events of one session.

    Attributes:
        item: The item it is of; empty where only the file's path may say.
        events: In their order.
        patch: The change that was made, where it is recorded.
        position: Where in the file it stands.
        notes: What of it could not be read.
    """

    item: str
    events: Sequence[JsonObject]
    patch: str | None
    position: str
    notes: Sequence[str] = ()


def union(steps: Sequence[Sequence[View]]) -> tuple[View, ...]:
    """Every view of some steps once, in the order they were seen."""
    return tuple(dict.fromkeys(view for step in steps for view in step))


def recordings(file: TrajectoryFile, holders: Sequence[str]) -> Iterator[Recording]:
    """The sessions of a file: the one whose events are its rows, or one per object that holds the events of one.

    Args:
        file: JSON Lines, a JSON list, or one object.
        holders: The keys that hold a session's events beside its `instance_id`.

    Raises:
        DamagedError: Rows of the one session cannot be read: events that are lost are steps that are lost.
    """
    events: list[JsonObject] = []
    for position, row in file.objects():
        holder = next((key for key in holders if isinstance(row.get(key), list)), "")
        if not holder:
            events.append(row)
            continue
        held = list_of(row[holder])
        kept = [event for event in held if isinstance(event, dict)]
        n_odd = len(held) - len(kept)
        notes = [f"{n_odd:,} events that are no objects"] if n_odd else []
        yield Recording(item_of(row), kept, patch_of(row), position, notes)
    if events:
        file.fail_if_damaged()
        patch, notes = patch_beside(file)
        yield Recording("", events, patch, "", notes)


def events_of(file: TrajectoryFile, notes: list[str]) -> list[JsonObject]:
    """The events of a file that belongs to a session; what of it is lost is told in notes."""
    events: list[JsonObject] = []
    try:
        events += (event for _, event in file.objects())
    except DamagedError as error:
        notes.append(f"{file.path} is lost: {error.reason}")
    notes += [f"{file.path}, {damage.position} is lost: {damage.reason}" for damage in file.damages]
    file.damages.clear()
    return events


def item_of(row: JsonObject) -> str:
    """The item that an object says it is of, empty where it does not."""
    return next((text for key in IDS if (text := text_of(row.get(key)))), "")


def patch_of(row: JsonObject) -> str | None:
    """The patch that an object holds, under any name it goes by."""
    return next((patch for key in _PATCHES if isinstance(patch := row.get(key), str)), None)


def patch_path(path: str) -> str:
    """Where the patch of a session lies that has none in its record: `<name>.patch` beside `<name>.jsonl`."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{name.removesuffix('.gz').removesuffix('.zst').rpartition('.')[0] or name}.patch"


def patch_beside(file: TrajectoryFile) -> tuple[str | None, list[str]]:
    """The patch that lies beside a session's record, None where there is none, and a note when it cannot be read."""
    name = patch_path(file.path).rpartition("/")[2]
    other = file.beside(name)
    try:
        return other.text() if other is not None else None, []
    except DamagedError as error:
        return None, [f"the patch is lost: {name}: {error.reason}"]


def is_held(row: JsonObject, holders: Sequence[str], is_event: Callable[[JsonObject], bool]) -> bool:
    """Whether an object holds a session's events under one of some keys."""
    held = (event for key in holders for event in list_of(row.get(key))[:50])
    return any(isinstance(event, dict) and is_event(event) for event in held)
