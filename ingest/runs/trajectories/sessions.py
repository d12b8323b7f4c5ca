"""An agent's session, gathered call by call, and what lies beside its record: patches, results of trials."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from posixpath import dirname, join, normpath

from ingest.runs.trajectories.context_blocks import answer_in, in_repository, pairs_of
from ingest.runs.trajectories.json_values import (
    JsonObject,
    first_text,
    list_of,
    object_of,
    objects_in,
    objects_of,
    text_of,
)
from ingest.runs.trajectories.tool_calls import ToolCall, reading_of_call
from ingest.runs.trajectories.trajectory import ParsedCall, Trajectory, Unread, renamed, union
from ingest.runs.trajectories.trajectory_file import DamagedError, TrajectoryFile
from ingest.runs.trajectories.usage import Usage

IDS = ("instance_id", "original_inst_id", "item_id")
_PATCHES = ("model_patch", "git_patch", "patch")
_RESULTS = ("../result.json", "result.json")
_TRIAL = re.compile(r"(?P<item>.{1,32})__(?=[a-z]*[A-Z0-9])[A-Za-z0-9]{7}")
"""A folder of Harbor's: the first 32 characters of a task's name, and seven more."""
_MAX_PATHS, _MAX_ASKED = 1_000, 5


@dataclass
class Session:
    """What is gathered of a session while its events are gone through.

    Attributes:
        item: The item it is of; empty where only the file's path may say.
        patch: The change that was made, where it is recorded.
        position: Where in the file it stands.
        notes: What could not be read.
        root: The folder it began in, which is dropped from the paths below it; empty where it is not known.
        said: What the agent said, in order.
        asked: What it was asked, the first few texts.
        events: Its calls, also those that showed nothing.
        unread: What was met and not read beside them.
        calls: The ids of the calls that were read: a record may repeat them.
        opened: The paths of the files that belong to it and were read.
        n_calls: How many tool calls were added.
        turn: Which of the models' answers is gone through, from 1; 0 where that is not known.
        usage: What it took, but for its calls.
    """

    item: str = ""
    patch: str | None = None
    position: str = ""
    notes: list[str] = field(default_factory=list)
    root: str = ""
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    events: list[ParsedCall] = field(default_factory=list)
    unread: Unread = field(default_factory=Unread)
    calls: set[str] = field(default_factory=set)
    opened: set[str] = field(default_factory=set)
    n_calls: int = 0
    turn: int = 0
    usage: Usage = field(default_factory=Usage)

    def add(self, call: ToolCall, reading: ParsedCall | None = None) -> ParsedCall:
        """Add a call with what it showed: what was understood of it, where a format has tools of its own."""
        reading = reading_of_call(call) if reading is None else reading
        self.n_calls += 1
        views = renamed(reading.views, self._below)
        edited = tuple(dict.fromkeys(filter(None, map(self._below, reading.edited))))
        shown_at = (call.turn or self.turn, self.n_calls)
        self.events.append(replace(reading, call=str(call), views=views, edited=edited, shown_at=shown_at))
        return reading

    def add_all(self, calls: Sequence[tuple[ToolCall, ParsedCall | None]]) -> None:
        """Add all calls of a session whose root they may tell: by a path that is named with it, and without."""
        paths = (view.path for _, reading in calls if reading is not None for view in reading.views)
        self.root = self.root or _root_of(list(dict.fromkeys(paths))[:_MAX_PATHS])
        for call, reading in calls:
            if reading is None:
                self.add_unanswered(call)
            else:
                self.add(call, reading)

    def add_asked(self, text: str) -> None:
        """Add what the agent was asked; of a long session the first texts tell which item it is of."""
        self.asked += [text] * (bool(text.strip()) and len(self.asked) < _MAX_ASKED)

    def add_unanswered(self, call: ToolCall) -> None:
        """Add a call that has no result in a record that has those of the others: nothing was shown."""
        self.n_calls += 1
        self.events.append(ParsedCall(call=str(call), unread=("call without a result",)))

    def add_changes(self, call: str, paths: Iterable[str]) -> None:
        """Add what is recorded of files that were changed, apart from the call that changed them."""
        self.events.append(ParsedCall(call=call, edited=tuple(filter(None, map(self._below, paths)))))

    def is_new(self, call_id: str) -> bool:
        """Whether a call was not read before; one without an id never was."""
        known = call_id in self.calls
        self.calls |= {call_id} - {""}
        return not known

    def rows_of(self, file: TrajectoryFile) -> list[JsonObject]:
        """The rows of a file that belongs to the session, once; what of it is lost is noted."""
        rows: list[JsonObject] = []
        if file.path in self.opened:
            return rows
        self.opened.add(file.path)
        try:
            rows += (row for _, row in file.objects())
        except DamagedError as error:
            self.notes.append(f"{file.path} is lost: {error.reason}")
        self.notes += [f"{file.path}, {damage.position} is lost: {damage.reason}" for damage in file.damages]
        file.damages.clear()
        return rows

    def trajectory(self) -> Trajectory:
        """The session: its steps are the calls that showed something.

        The final context is what the last `<PATCH_CONTEXT>` that the agent said names; without one it is the union of
        the steps.
        """
        showing = [event for event in self.events if event.views]
        steps = tuple(event.views for event in showing)
        # An answer that was cut off asked for calls, and is not among those that were counted.
        last = self.usage.n_turns or 0
        shown_at = tuple((min(event.shown_at[0], last), event.shown_at[1]) for event in showing)
        answer = answer_in(self.said)
        final = union(steps) if answer is None else renamed(pairs_of(answer), in_repository)
        unread = self.unread + Unread(name for event in self.events for name in event.unread)
        return Trajectory(
            steps, final or None, self.item, self.patch, self.position, tuple(self.notes),
            events=tuple(self.events), unread=unread, usage=replace(self.usage, n_calls=self.n_calls),
            root=self.root, asked=tuple(self.asked), shown_at=shown_at,
        )  # fmt: skip

    def _below(self, path: str) -> str:
        """A path below the folder that the session began in, empty for the folder itself."""
        root = self.root.rstrip("/\\")
        if root[1:3] in (":\\", ":/") and root[:1].isalpha():
            root, path = root.replace("\\", "/"), path.replace("\\", "/")
            # Git's shell writes the drive as a folder.
            path = f"{root[:2]}{path[2:]}" if path.lower().startswith(f"/{root[0].lower()}/") else path
        return f"{path}/".removeprefix(f"{root}/").rstrip("/") if root else path


def _root_of(paths: Sequence[str]) -> str:
    plain = [path for path in paths if not path.startswith(("/", "~", ".."))]
    absolute = (path for path in paths if path.startswith("/"))
    return next((one.removesuffix(f"/{path}") for one in absolute for path in plain if one.endswith(f"/{path}")), "")


def told_by(head: bytes, holders: Sequence[str], is_event: Callable[[JsonObject], bool]) -> Iterator[JsonObject]:
    """The objects a file begins with that are events of a session, or hold them under one of some keys."""
    for row in objects_in(head):
        held = (event for key in holders for event in objects_of(row, key)[:50])
        if is_event(row) or any(map(is_event, held)):
            yield row


def sessions_in(file: TrajectoryFile, holders: Sequence[str]) -> Iterator[tuple[Session, list[JsonObject]]]:
    """The sessions of a file with their events: the one whose events are its rows, or one per object that holds some.

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
        yield Session(item_of(row), patch, position, notes + lost), events
    if rows:
        file.fail_if_damaged()
        patch, notes = patch_beside(file)
        yield Session(patch=patch, notes=notes), rows


def item_of(row: JsonObject) -> str:
    """The item that an object says it is of, empty where it does not."""
    return first_text(row, IDS)


def patch_of(row: JsonObject) -> str | None:
    """The patch that an object holds, under any name it goes by."""
    return next((patch for key in _PATCHES if isinstance(patch := row.get(key), str)), None)


def patch_path(path: str) -> str:
    """Where the patch of a session lies that has none in its record: `<name>.patch` beside `<name>.jsonl`."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{name.removesuffix('.gz').removesuffix('.zst').rpartition('.')[0] or name}.patch"


def patch_beside(file: TrajectoryFile) -> tuple[str | None, list[str]]:
    """The patch that lies beside a session's record, None where there is none, and a note when it cannot be read."""
    other = file.all.get(patch_path(file.path))
    try:
        return other.text() if other is not None else None, []
    except DamagedError as error:
        return None, [f"the patch is lost: {patch_path(file.path).rpartition('/')[2]}: {error.reason}"]


def trial_results(path: str) -> list[str]:
    """Where the result of a trajectory's trial of Harbor's may lie: beside it, or beside the folder it lies in."""
    return [normpath(join(dirname(path), name)) for name in _RESULTS]


def result_of_trial(file: TrajectoryFile) -> JsonObject:
    """The result of a trajectory's trial of Harbor's; an empty object where there is none that names a task."""
    for path in trial_results(file.path):
        try:
            result = object_of(file.all[path].json()) if path in file.all else {}
        except DamagedError:
            result = {}
        if text_of(result, "task_name"):
            return result
    return {}


def item_of_trial(file: TrajectoryFile) -> str:
    """The item of a trial: as its result names the task, else what its folder is called after, which may be cut off."""
    if task := text_of(result_of_trial(file), "task_name"):
        return task
    found = (_TRIAL.fullmatch(part) for part in reversed(file.path.split("/")[:-1]))
    return next((one["item"] for one in found if one), "")
