"""An agent's session: from what its record tells, call by call, to its trajectory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from ingest.runs.calls.parsed import ParsedCall, renamed, union
from ingest.runs.calls.tools import ToolCall, parse_call
from ingest.runs.trajectories.records import answer_in, in_repository, pairs_of
from ingest.runs.trajectories.trajectory import Trajectory, Unread
from ingest.runs.trajectories.trajectory_file import DamagedError, TrajectoryFile
from ingest.runs.trajectories.usage import Usage
from ingest.runs.values import JsonObject, first_text

_MAX_PATHS, _MAX_ASKED = 1_000, 5


@dataclass(frozen=True)
class Note:
    """Something that a record tells between its calls.

    Attributes:
        kind: `root`: the folder it began in, which is dropped from the paths below it; the first counts. `asked`: what
            the agent was asked, of which the first few tell the item. `said`: what it said. `unread`: what was met and
            not understood, as in :class:`Unread`.
    """

    kind: Literal["root", "asked", "said", "unread"]
    text: str


@dataclass(frozen=True)
class Change:
    """Files that are recorded as changed, apart from the call that changed them."""

    call: str
    paths: Iterable[str]


Event = ToolCall | Note | Change


@dataclass
class Session:
    """The record of a session.

    Attributes:
        item: The item it is of; empty where only the file's path may say.
        notes: What could not be read.
        parts: Its rows, then those of every file that belongs to it, as they are opened.
        opened: The paths of these files.
    """

    file: TrajectoryFile
    item: str = ""
    patch: str | None = None
    position: str = ""
    notes: list[str] = field(default_factory=list)
    parts: list[Sequence[JsonObject]] = field(default_factory=list)
    opened: set[str] = field(default_factory=set)

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
        self.parts.append(rows)
        return rows

    def trajectory(self, told: Iterable[Event], usage: Callable[[Session], Usage]) -> Trajectory:
        """The session: its steps are the calls that showed something.

        The final context is what the last `<PATCH_CONTEXT>` that the agent said names; without one it is the union of
        the steps. A call that the record repeats, by its id, counts once. `usage` is asked for when all is told.
        """
        calls, notes, folder = list[ParsedCall](), list[Note](), ""
        n_calls, ids = 0, set[str]()
        for event in told:
            if isinstance(event, Note):
                notes.append(event)
            elif isinstance(event, Change):
                calls.append(ParsedCall(call=event.call, edited=tuple(event.paths)))
            elif event.call_id not in ids:
                ids |= {event.call_id} - {""}
                n_calls += 1
                parsed = parse_call(replace(event, folder=folder) if event.folder is None else event)
                folder = parsed.folder or folder
                calls.append(replace(parsed, call=str(event), shown_at=(event.turn, n_calls)))
        by_kind = {kind: [note.text for note in notes if note.kind == kind] for kind in ("root", "asked", "said")}
        root = next(filter(None, by_kind["root"]), "") or _root_of(calls)
        calls = [_below(call, root) for call in calls]
        used = replace(usage(self), n_calls=n_calls)
        showing = [call for call in calls if call.views]
        steps = tuple(call.views for call in showing)
        answer = answer_in(by_kind["said"])
        final = union(steps) if answer is None else renamed(pairs_of(answer), in_repository)
        unread = Unread(name for call in calls for name in call.unread)
        unread.update(note.text for note in notes if note.kind == "unread")
        asked = tuple(text for text in by_kind["asked"] if text.strip())[:_MAX_ASKED]
        # An answer that was cut off asked for calls, and is not among those that were counted.
        shown_at = tuple((min(call.shown_at[0], used.n_turns or 0), call.shown_at[1]) for call in showing)
        return Trajectory(
            steps, final or None, self.item, self.patch, self.position, tuple(self.notes), events=tuple(calls),
            unread=unread, usage=used, root=root, asked=asked, shown_at=shown_at,
        )  # fmt: skip


def _below(call: ParsedCall, root: str) -> ParsedCall:
    """A call with its paths below the folder that the session began in, without that folder itself."""
    root = root.rstrip("/\\")
    in_windows = root[1:3] in (":\\", ":/") and root[:1].isalpha()
    root = root.replace("\\", "/") if in_windows else root

    def below(path: str) -> str:
        if in_windows:
            path = path.replace("\\", "/")
            # Git's shell writes the drive as a folder.
            path = f"{root[:2]}{path[2:]}" if path.lower().startswith(f"/{root[0].lower()}/") else path
        return f"{path}/".removeprefix(f"{root}/").rstrip("/") if root else path

    edited = tuple(dict.fromkeys(filter(None, map(below, call.edited))))
    return replace(call, views=renamed(call.views, below), edited=edited)


def _root_of(calls: Sequence[ParsedCall]) -> str:
    """The folder that paths are named with and without; empty where none is."""
    paths = list(dict.fromkeys(view.path for call in calls for view in call.views))[:_MAX_PATHS]
    plain = [path for path in paths if not path.startswith(("/", "~", ".."))]
    pairs = ((whole, path) for whole in paths if whole.startswith("/") for path in plain)
    return next((whole.removesuffix(f"/{path}") for whole, path in pairs if whole.endswith(f"/{path}")), "")


def paired(call_ids: Sequence[str], results: Sequence[JsonObject], keys: Sequence[str]) -> list[list[JsonObject]]:
    """The results of each call: by their ids, the rest by order where they are as many, else each has all of the rest.

    One result for several calls is so the result of each of them. A call may have none. `keys` is where a result says
    which call it is of.
    """
    by_id: dict[str, list[JsonObject]] = {}
    for result in results:
        by_id.setdefault(first_text(result, keys), []).append(result)
    own = [by_id.get(call_id, []) if call_id else [] for call_id in call_ids]
    rest = [result for result in results if first_text(result, keys) not in {*call_ids} - {""}]
    without = [index for index, results_of in enumerate(own) if not results_of]
    for number, index in enumerate(without):
        own[index] = [rest[number]] if len(rest) == len(without) else list(rest)
    return own
