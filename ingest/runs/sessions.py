"""An agent's recorded session: its rows, the events that a format reads from them, and the resulting trajectory."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Literal, NamedTuple

from ingest.runs.calls.tools import ToolCall, parse_call
from ingest.runs.importer import Importer, TrajectoryFile, item_of, patch_path, recorded_patch
from ingest.runs.trajectory import ParsedCall, Trajectory, answer_in, inside, renamed, spans_named, union
from ingest.runs.usage import AgentUsage, TokenCounts, most_frequent, seconds_of
from ingest.runs.values import JsonRecord, first_text, held_list, objects_in, str_at
from ingest.sources.tree import UnreadableFileError

_MAX_PATHS, _MAX_PROMPTS, _MAX_HELD = 1_000, 5, 50
_MAX_DEPTH = 50  # levels of subagents' files that are read


class Note(NamedTuple):
    """Information in a record other than tool calls; an empty text says nothing.

    Paths are made relative to the first `root`, or to the first `folder`, which is also that of the calls after it. The
    first few texts of a `prompt` identify the item; an `answer` is a text by the agent; `unread` is not understood.
    """

    kind: Literal["root", "folder", "prompt", "answer", "model", "unread"]
    text: str


class Answer(NamedTuple):
    """A model's answer, to which the calls after it belong; of several with one `key`, that of most tokens counts."""

    key: str = ""
    model: str = ""
    tokens: TokenCounts | None = None
    usd: float | None = None


Event = ToolCall | Note | Answer | AgentUsage
"""An `AgentUsage` has the sums in a record; what it lacks is summed over the answers."""


@dataclass
class Session:
    """The record of a session: `parts` are its rows, then those of each file that belongs to it (paths in `opened`).

    `row` is the object that holds its rows, if one does. `turns` numbers the answers by key, `turn` is the latest.
    """

    file: TrajectoryFile
    item: str = ""
    patch: str | None = None
    position: str = ""
    notes: list[str] = field(default_factory=list)
    parts: list[Sequence[JsonRecord]] = field(default_factory=list)
    row: JsonRecord = field(default_factory=dict)
    opened: set[str] = field(default_factory=set)
    depth: int = 0  # levels of subagents' files being read
    turns: dict[str, int] = field(default_factory=dict)
    turn: int = 0
    folder: str = ""
    published: Trajectory | None = None  # what ContextBench's published converter reads of it

    def rows_of(self, file: TrajectoryFile) -> list[JsonRecord]:
        """The rows of a file that belongs to the session, empty the second time; what cannot be read is noted."""
        rows: list[JsonRecord] = []
        if file.path not in self.opened:
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
        turn, folder = self.turn, self.folder
        for event in read(self.rows_of(file)):
            if not (isinstance(event, Note) and event.kind == "answer"):
                yield event
        self.turn, self.folder = turn, folder
        self.depth -= 1

    def trajectory(self, events: Iterable[Event]) -> Trajectory:
        """The trajectory: its steps are calls that showed something, its end the last context named, else all steps."""
        calls, usage, terminal, answers = dict[str, ParsedCall](), AgentUsage(), "", dict[int, Answer]()
        notes = defaultdict[str, list[str]](list)
        for event in events:
            if isinstance(event, Note):
                notes["root" if event.kind == "folder" else event.kind].append(event.text)
                self.folder = event.text or self.folder if event.kind == "folder" else self.folder
            elif isinstance(event, Answer):
                n_before = len(self.turns)
                self.turn = self.turns.setdefault(event.key or f"answer {n_before + 1}", n_before + 1)
                same = (event, answers.get(self.turn, event))
                answers[self.turn] = max(same, key=lambda answer: answer.tokens.n_output if answer.tokens else 0)
            elif isinstance(event, AgentUsage):
                usage = event
            elif (key := event.call_id or f"call {len(calls)}") not in calls:
                folder = terminal if event.folder is None else event.folder or self.folder
                parsed = parse_call(replace(event, folder=folder))
                terminal = parsed.folder or terminal
                calls[key] = replace(parsed, call=str(event), shown_at=(event.turn or self.turn, len(calls) + 1))
        if usage.n_input is None:
            usage = usage.with_tokens(answer.tokens for answer in answers.values())
        spent = sum(answer.usd or 0 for answer in answers.values())
        model = most_frequent(notes["model"]) or most_frequent(answer.model for answer in answers.values())
        usage = replace(
            usage, model=usage.model or model, usd=usage.usd or spent or None,
            seconds=seconds_of(chain(*self.parts)) if usage.seconds is None else usage.seconds,
            n_turns=len(answers) or usage.n_turns, n_calls=len(calls),
        )  # fmt: skip
        paths = list(dict.fromkeys(view.path for call in calls.values() for view in call.views))[:_MAX_PATHS]
        plain = [f"/{path}" for path in paths if not path.startswith(("/", "~", ".."))]
        # If no root is recorded, it follows from a file that is named by an absolute and by a relative path.
        pairs = ((whole, path) for whole in paths if whole.startswith("/") for path in plain)
        roots = (whole.removesuffix(path) for whole, path in pairs if whole.endswith(path))
        root = next(filter(None, chain(notes["root"], roots)), "").replace("\\", "/").rstrip("/")
        below = [replace(call, views=renamed(call.views, partial(_below, root))) for call in calls.values()]
        showing = [call for call in below if call.views]
        steps = tuple(call.views for call in showing)
        answer = answer_in(notes["answer"])
        final = union(steps) if answer is None else inside(spans_named(answer))
        # An answer that was cut off may have made calls, but is not in `n_turns`.
        shown_at = tuple((min(call.shown_at[0], usage.n_turns or 0), call.shown_at[1]) for call in showing)
        return Trajectory(
            steps, final or None, self.item, self.patch, self.position, tuple(self.notes), calls=tuple(below),
            unread=Counter([*(name for call in below for name in call.unread), *notes["unread"]]),
            usage=usage, root=root, prompts=tuple(filter(str.strip, notes["prompt"]))[:_MAX_PROMPTS],
            shown_at=shown_at, read_with=frozenset(self.opened),
        ).beside(self.published)  # fmt: skip


def _below(root: str, path: str) -> str:
    """A path relative to the folder a session began in; the folder itself becomes empty."""
    return f"{path}/".removeprefix(f"{root}/").rstrip("/") if root else path


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


def session_importer(
    name: str, title: str, files: str, *, example: str, holders: Sequence[str],
    is_event: Callable[[JsonRecord], bool], events_of: Callable[[Session], Iterable[Event]],
    is_part: Callable[[JsonRecord, str], bool] = lambda row, name: False,
    is_holder: Callable[[JsonRecord], bool] = lambda row: False, item_of: Callable[[JsonRecord], str] = item_of,
    companions: Callable[[str], Sequence[str]] = lambda path: [patch_path(path)], aliases: tuple[str, ...] = (),
) -> Importer:  # fmt: skip
    """The importer for files that hold one session each, or objects with one each; the patch is in the file next to it.

    An object holds events under one of `holders`; `is_event` recognises an event that only this format has, `is_holder`
    an object without any, `is_part` by its first event and its name a file that is part of another session.
    """

    def recognise(head: bytes, path: str) -> bool:
        for row in objects_in(head):
            events = (event for key in holders for event in (held_list(row, key) or ())[:_MAX_HELD])
            if is_holder(row) or is_event(row) or any(is_event(event) for event in events if isinstance(event, dict)):
                return not is_part(row, path)
        return False

    def trajectories(file: TrajectoryFile) -> Iterator[Trajectory]:
        # One trajectory of all rows, or one per object that holds events. An object that is alone, or names no item, is
        # known by its file's path, and has its patch in the file next to it.
        rows: list[JsonRecord] = []
        for position, row in file.objects():
            given = next((value for key in holders if (value := held_list(row, key)) is not None), None)
            item, notes = item_of(row), list[str]()
            if given is None and (is_event(row) or not item):
                rows.append(row)
            elif given is None:
                failed = "; ".join(filter(None, ("it has no list of events", str_at(row, "error")[:200])))
                yield Trajectory((), None, item, recorded_patch(row), position, failed=failed)
            else:
                # Some hold each action and its observation as a pair.
                given = [event for entry in given for event in (entry if isinstance(entry, list) else [entry])]
                events: list[JsonRecord] = [event for event in given if isinstance(event, dict)]
                if (patch := recorded_patch(row)) is None and not (item and position):
                    patch, notes = file.patch_beside()
                if n_odd := len(given) - len(events):
                    notes.insert(0, f"events that are not objects: {n_odd:,}")
                session = Session(file, item, patch, position, notes, [events], row)
                yield session.trajectory(events_of(session))
        if rows:
            file.fail_if_damaged()
            patch, notes = file.patch_beside()
            session = Session(file, patch=patch, notes=notes, parts=[rows])
            yield session.trajectory(events_of(session))

    return Importer(
        name, title,
        f"{files}, named like the instance or in its folder, with a .patch file; or objects with instance_id, a "
        f"patch and {holders[0]}.",
        recognise, trajectories=trajectories, companions=companions, kind="trajectory", example=example,
        aliases=aliases,
    )  # fmt: skip
