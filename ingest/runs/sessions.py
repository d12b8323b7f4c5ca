"""An agent's recorded session: its rows, the events that a format reads from them, and the resulting trajectory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, NamedTuple

from ingest.runs.calls.tools import ToolCall, parse_call
from ingest.runs.importer import Importer, TrajectoryFile, item_of, patch_path, recorded_patch
from ingest.runs.trajectory import ParsedCall, Trajectory, Unread, answer_in, inside, renamed, spans_named, union
from ingest.runs.usage import AgentUsage
from ingest.runs.values import JsonRecord, first_text, held_list, objects_in
from ingest.sources.tree import UnreadableFileError

_MAX_PATHS, _MAX_PROMPTS, _MAX_HELD = 1_000, 5, 50
_MAX_DEPTH = 50  # levels of subagents' files that are read


class Note(NamedTuple):
    """Information in a record other than tool calls.

    `root`: the folder the session began in, to which paths are made relative; the first counts. `prompt`: a text that
    the agent was asked; the first few identify the item. `answer`: a text by it. `unread`: anything not understood.
    """

    kind: Literal["root", "prompt", "answer", "unread"]
    text: str


Event = ToolCall | Note | AgentUsage


@dataclass
class Session:
    """The record of a session: `parts` are its rows, then those of each file that belongs to it (paths in `opened`)."""

    file: TrajectoryFile
    item: str = ""
    patch: str | None = None
    position: str = ""
    notes: list[str] = field(default_factory=list)
    parts: list[Sequence[JsonRecord]] = field(default_factory=list)
    opened: set[str] = field(default_factory=set)
    depth: int = 0  # levels of subagents' files being read

    def rows_of(self, file: TrajectoryFile) -> list[JsonRecord]:
        """The rows of a file that belongs to the session, empty the second time; what cannot be read is noted."""
        rows: list[JsonRecord] = []
        if file.path in self.opened:
            return rows
        self.opened.add(file.path)
        try:
            rows += (row for _, row in file.objects())
        except UnreadableFileError as error:
            self.notes.append(f"{file.path} is lost: {error.reason}")
        self.notes += [f"{file.path}, {damage.position} is lost: {damage.reason}" for damage in file.damages]
        file.damages.clear()
        self.parts.append(rows)
        return rows

    def events_in(
        self, file: TrajectoryFile | None, read: Callable[[list[JsonRecord]], Iterable[Event]]
    ) -> Iterator[Event]:
        """The events of a subagent's file, without its answers; one `unread` if it is missing or nested too deep."""
        if file is None or self.depth == _MAX_DEPTH:
            yield Note("unread", f"file {file.name}" if file else "subagent whose file is missing")
            return
        self.depth += 1
        for event in read(self.rows_of(file)):
            if not (isinstance(event, Note) and event.kind == "answer"):
                yield event
        self.depth -= 1

    def trajectory(self, events: Iterable[Event]) -> Trajectory:
        """The trajectory: its steps are calls that showed something, its end the last context named, else all steps."""
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
        # If no root is recorded, it follows from a file that is named by an absolute and by a relative path.
        pairs = ((whole, f"/{path}") for whole in paths if whole.startswith("/") for path in plain)
        roots = (whole.removesuffix(path) for whole, path in pairs if whole.endswith(path))
        root = next(filter(None, notes["root"]), "") or next(roots, "")
        below = _below(root.rstrip("/\\"))
        calls = [replace(call, views=renamed(call.views, below)) for call in calls]
        showing = [call for call in calls if call.views]
        steps = tuple(call.views for call in showing)
        answer = answer_in(notes["answer"])
        final = union(steps) if answer is None else inside(spans_named(answer))
        # An answer that was cut off may have made calls, but is not in `n_turns`.
        shown_at = tuple((min(call.shown_at[0], usage.n_turns or 0), call.shown_at[1]) for call in showing)
        return Trajectory(
            steps, final or None, self.item, self.patch, self.position, tuple(self.notes), calls=tuple(calls),
            unread=Unread([*(name for call in calls for name in call.unread), *notes["unread"]]),
            usage=replace(usage, n_calls=len(calls)), root=root,
            prompts=tuple(text for text in notes["prompt"] if text.strip())[:_MAX_PROMPTS], shown_at=shown_at,
            read_with=frozenset(self.opened),
        )  # fmt: skip


def _below(root: str) -> Callable[[str], str]:
    """A function that makes paths relative to the folder a session began in; the folder itself becomes empty."""
    in_windows = root[1:3] in (":\\", ":/") and root[:1].isalpha()
    root = root.replace("\\", "/") if in_windows else root

    def below(path: str) -> str:
        if in_windows:
            path = path.replace("\\", "/")
            # Git Bash writes the drive as a folder.
            path = f"{root[:2]}{path[2:]}" if path.lower().startswith(f"/{root[0].lower()}/") else path
        return f"{path}/".removeprefix(f"{root}/").rstrip("/") if root else path

    return below


def paired(call_ids: Sequence[str], results: Sequence[JsonRecord], keys: Sequence[str]) -> list[list[JsonRecord]]:
    """Each call's results by id; the other calls get the other results: in order if equally many, else all of them."""
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
    # One trajectory of all rows, or one per object that holds events. An object that names no item is known by its
    # file's path, and has its patch in the file next to it.
    rows: list[JsonRecord] = []
    for position, row in file.objects():
        given = next((value for key in holders if (value := held_list(row, key)) is not None), None)
        if given is None:
            rows.append(row)
            continue
        events: list[JsonRecord] = [event for event in given if isinstance(event, dict)]
        patch, notes = recorded_patch(row), list[str]()
        if not item_of(row) and patch is None:
            patch, notes = file.patch_beside()
        if n_odd := len(given) - len(events):
            notes.insert(0, f"events that are not objects: {n_odd:,}")
        session = Session(file, item_of(row), patch, position, notes, [events])
        yield session.trajectory(events_of(session))
    if rows:
        file.fail_if_damaged()
        patch, notes = file.patch_beside()
        session = Session(file, patch=patch, notes=notes, parts=[rows])
        yield session.trajectory(events_of(session))


def session_importer(
    name: str, title: str, files: str, *, example: str, holders: Sequence[str],
    is_event: Callable[[JsonRecord], bool], events_of: Callable[[Session], Iterator[Event]],
    is_part: Callable[[JsonRecord, str], bool] = lambda row, name: False,
    companions: Callable[[str], Sequence[str]] = lambda path: [patch_path(path)], aliases: tuple[str, ...] = (),
) -> Importer:  # fmt: skip
    """The importer for files that hold one session each, or objects with one each; the patch is in the file next to it.

    `holders` are the keys under which an object may hold events. `is_event` recognises an event that only this format
    has. `events_of` gives a record's events in order: calls and notes, then the usage. `is_part` recognises, by its
    first event and its name, a file that is part of another session.
    """

    def recognise(head: bytes, path: str) -> bool:
        for row in objects_in(head):
            events = (event for key in holders for event in (held_list(row, key) or ())[:_MAX_HELD])
            if is_event(row) or any(is_event(event) for event in events if isinstance(event, dict)):
                return not is_part(row, path)
        return False

    return Importer(
        name, title,
        f"{files}, named like the instance or in its folder, with a .patch file; or objects with instance_id, "
        f"model_patch and {holders[0]}.",
        recognise, trajectories=partial(_trajectories, holders, events_of), companions=companions, kind="trajectory",
        example=example, aliases=aliases,
    )  # fmt: skip
