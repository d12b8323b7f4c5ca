"""An agent's session: the rows of its record, and from what they tell, call by call, its trajectory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, NamedTuple

from ingest.runs.calls.tools import ToolCall, parse_call
from ingest.runs.importer import DamagedFileError, Importer, TrajectoryFile, item_of, patch_path, recorded_patch
from ingest.runs.trajectory import ParsedCall, Trajectory, Unread, answer_in, inside, renamed, spans_named, union
from ingest.runs.usage import AgentUsage
from ingest.runs.values import JsonRecord, first_text, objects_at, objects_in

_MAX_PATHS, _MAX_PROMPTS, _MAX_HELD = 1_000, 5, 50
_MAX_DEPTH = 50  # files of subagents within one another


class Note(NamedTuple):
    """Something that a record tells between its calls.

    `root`: the folder it began in, which is dropped from the paths below it; the first counts. `prompt`: what the agent
    was asked, of which the first few tell the item. `answer`: what it said. `unread`: what was met and not understood.
    """

    kind: Literal["root", "prompt", "answer", "unread"]
    text: str


Event = ToolCall | Note | AgentUsage


@dataclass
class Session:
    """The record of a session: `parts` are its rows, then those of every file that belongs to it, as it is `opened`.

    `depth` is in how many files of subagents, within one another, it is being read.
    """

    file: TrajectoryFile
    item: str = ""
    patch: str | None = None
    position: str = ""
    notes: list[str] = field(default_factory=list)
    parts: list[Sequence[JsonRecord]] = field(default_factory=list)
    opened: set[str] = field(default_factory=set)
    depth: int = 0

    def rows_of(self, file: TrajectoryFile) -> list[JsonRecord]:
        """The rows of a file that belongs to the session, once; what of it is lost is noted."""
        rows: list[JsonRecord] = []
        if file.path in self.opened:
            return rows
        self.opened.add(file.path)
        try:
            rows += (row for _, row in file.objects())
        except DamagedFileError as error:
            self.notes.append(f"{file.path} is lost: {error.reason}")
        self.notes += [f"{file.path}, {damage.position} is lost: {damage.reason}" for damage in file.damages]
        file.damages.clear()
        self.parts.append(rows)
        return rows

    def events_in(
        self, file: TrajectoryFile | None, read: Callable[[list[JsonRecord]], Iterable[Event]]
    ) -> Iterator[Event]:
        """What a subagent's file tells, but for its answers, which are none of the session; none far down in others."""
        if file is None or self.depth == _MAX_DEPTH:
            yield Note("unread", f"file {file.path.rpartition('/')[2]}" if file else "subagent whose file is not there")
            return
        self.depth += 1
        for event in read(self.rows_of(file)):
            if not (isinstance(event, Note) and event.kind == "answer"):
                yield event
        self.depth -= 1

    def trajectory(self, events: Iterable[Event]) -> Trajectory:
        """The session: its steps are the calls that showed something, its end what it last named, else all of them."""
        calls, ids, usage, folder = list[ParsedCall](), set[str](), AgentUsage(), ""
        notes: dict[str, list[str]] = {"root": [], "prompt": [], "answer": [], "unread": []}
        for event in events:
            if isinstance(event, Note):
                notes[event.kind].append(event.text)
            elif isinstance(event, AgentUsage):
                usage = event
            elif event.call_id not in ids:
                ids |= {event.call_id} - {""}
                parsed = parse_call(replace(event, folder=folder) if event.folder is None else event)
                folder = parsed.folder or folder
                calls.append(replace(parsed, call=str(event), shown_at=(event.turn, len(calls) + 1)))
        paths = list(dict.fromkeys(view.path for call in calls for view in call.views))[:_MAX_PATHS]
        plain = [path for path in paths if not path.startswith(("/", "~", ".."))]
        # Where none is told, it is the folder that a path is named with, and without.
        pairs = ((whole, f"/{path}") for whole in paths if whole.startswith("/") for path in plain)
        roots = (whole.removesuffix(path) for whole, path in pairs if whole.endswith(path))
        root = next(filter(None, notes["root"]), "") or next(roots, "")
        below = _below(root.rstrip("/\\"))
        calls = [replace(call, views=renamed(call.views, below)) for call in calls]
        showing = [call for call in calls if call.views]
        steps = tuple(call.views for call in showing)
        answer = answer_in(notes["answer"])
        final = union(steps) if answer is None else inside(spans_named(answer))
        # An answer that was cut off asked for calls, and is not among those that were counted.
        shown_at = tuple((min(call.shown_at[0], usage.n_turns or 0), call.shown_at[1]) for call in showing)
        return Trajectory(
            steps, final or None, self.item, self.patch, self.position, tuple(self.notes), calls=tuple(calls),
            unread=Unread([*(name for call in calls for name in call.unread), *notes["unread"]]),
            usage=replace(usage, n_calls=len(calls)), root=root,
            prompts=tuple(text for text in notes["prompt"] if text.strip())[:_MAX_PROMPTS], shown_at=shown_at,
            read_with=frozenset(self.opened),
        )  # fmt: skip


def _below(root: str) -> Callable[[str], str]:
    """Names paths from the folder that a session began in, and that folder itself not at all."""
    in_windows = root[1:3] in (":\\", ":/") and root[:1].isalpha()
    root = root.replace("\\", "/") if in_windows else root

    def below(path: str) -> str:
        if in_windows:
            path = path.replace("\\", "/")
            # Git's shell writes the drive as a folder.
            path = f"{root[:2]}{path[2:]}" if path.lower().startswith(f"/{root[0].lower()}/") else path
        return f"{path}/".removeprefix(f"{root}/").rstrip("/") if root else path

    return below


def paired(call_ids: Sequence[str], results: Sequence[JsonRecord], keys: Sequence[str]) -> list[list[JsonRecord]]:
    """The results of each call by their ids, the rest by order where they are as many, else all of it each."""
    by_id: dict[str, list[JsonRecord]] = {}
    for result in results:
        by_id.setdefault(first_text(result, keys), []).append(result)
    own = [by_id.get(call_id, []) if call_id else [] for call_id in call_ids]
    rest = [result for result in results if first_text(result, keys) not in {*call_ids} - {""}]
    without = [index for index, results_of in enumerate(own) if not results_of]
    for number, index in enumerate(without):
        own[index] = [rest[number]] if len(rest) == len(without) else list(rest)
    return own


def _trajectories(
    holders: Sequence[str], events_of: Callable[[Session], Iterator[Event]], file: TrajectoryFile
) -> Iterator[Trajectory]:
    # The one of its rows, or one per object that holds some. Where it names no item, so is known by the file's path,
    # its patch lies beside it.
    rows: list[JsonRecord] = []
    for position, row in file.objects():
        given = next((value for key in holders if isinstance(value := row.get(key), list)), None)
        if given is None:
            rows.append(row)
            continue
        events: list[JsonRecord] = [event for event in given if isinstance(event, dict)]
        patch, notes = recorded_patch(row), list[str]()
        if not item_of(row) and patch is None:
            patch, notes = file.patch_beside()
        if n_odd := len(given) - len(events):
            notes.insert(0, f"{n_odd:,} events that are no objects")
        session = Session(file, item_of(row), patch, position, notes, [events])
        yield session.trajectory(events_of(session))
    if rows:
        file.fail_if_damaged()
        patch, notes = file.patch_beside()
        session = Session(file, patch=patch, notes=notes, parts=[rows])
        yield session.trajectory(events_of(session))


def session_importer(
    name: str, title: str, files: str, *, example: str, marks: Sequence[bytes], holders: Sequence[str],
    is_event: Callable[[JsonRecord], bool], events_of: Callable[[Session], Iterator[Event]],
    is_part: Callable[[JsonRecord, str], bool] = lambda row, name: False,
    companions: Callable[[str], Sequence[str]] = lambda path: [patch_path(path)], aliases: tuple[str, ...] = (),
) -> Importer:  # fmt: skip
    """The importer of files that hold a session each, or objects that hold one each; the patch lies beside them.

    One of `marks` stands in every beginning; `holders` are the keys under which an object may hold events; `is_event`
    knows an event that only this format has; `events_of` is what a record tells, in its order: its calls, what is said
    between, and last what was used; `is_part` knows a file that is part of another session, by its first event of this
    format and its name.
    """

    def recognise(head: bytes, path: str) -> bool:
        for row in objects_in(head) if any(mark in head for mark in marks) else ():
            events = (event for key in holders for event in objects_at(row, key)[:_MAX_HELD])
            if is_event(row) or any(map(is_event, events)):
                return not is_part(row, path)
        return False

    return Importer(
        name, title,
        f"{files}, called like the instance or in its folder, a .patch beside it; or objects with instance_id, "
        f"model_patch and {holders[0]}.",
        recognise, trajectories=partial(_trajectories, holders, events_of), companions=companions, kind="trajectory",
        example=example, aliases=aliases,
    )  # fmt: skip
