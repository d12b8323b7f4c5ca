"""Trajectories as columns: every file read once, each trajectory with its item; also as text for a person."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

import polars as pl

from ingest.runs.find_trajectories import TASK_FILE, TrajectoryFiles
from ingest.runs.importer import TrajectoryFile, item_in
from ingest.runs.trajectory import NO_RESULT, FileSpan, ParsedCall, Trajectory, Unread, Views, union
from ingest.runs.usage import AgentUsage
from ingest.runs.values import LAST_LINE, str_at
from ingest.sources.tree import UnreadableFileError
from lake.errors import Exit, GoldspanError
from lake.limits import MAX_NAME_CHARACTERS, MAX_PATCH_CHARACTERS, MAX_VIEWS
from lake.rejects import Rejects
from lake.tables import FINAL, PUBLISHED_READING, STEP, table
from lake.text import counted, escaped

USAGE: Mapping[str, pl.DataType] = {name: table("usage").columns[name] for name in vars(AgentUsage())}
VIEW_COLUMNS: Mapping[str, pl.DataType] = {
    "trajectory": pl.Int64(), "part": pl.String(), "step": pl.Int64(), "rank": pl.Int64(), "path_given": pl.String(),
    "start": pl.Int64(), "end": pl.Int64(), "symbol": pl.String(),
}  # fmt: skip
"""The spans that agents saw or named, in order; `trajectory` counts from 0, lines from 1."""
ANSWER_COLUMNS: Mapping[str, pl.DataType] = {
    "trajectory": pl.Int64(), "named": pl.String(), "item_id": pl.String(), "position": pl.String(),
    "n_steps": pl.Int64(), "n_steps_published": pl.Int64(), "failed": pl.String(), "patch": pl.String(),
    "step_turns": pl.List(pl.Int64()), "step_calls": pl.List(pl.Int64()), **USAGE,
}  # fmt: skip
"""One row per trajectory; `named` is the item as given in the file, `item_id` null if no item has that name."""
_AT_ONCE = 100_000
_LEAST_QUESTION = 20  # characters: a shorter query may occur in any text


@dataclass(frozen=True)
class Ids:
    """Items that a trajectory may name: `known` maps item and upstream ids to items, `questions` items to queries."""

    known: dict[str, str]
    questions: Callable[[], Mapping[str, str]] = dict

    @classmethod
    def of(cls, items: pl.DataFrame, questions: Callable[[], Mapping[str, str]]) -> "Ids":
        """The ids of some items; an upstream id that several items share is left out."""
        items = items.select("upstream_id", "item_id").unique(maintain_order=True)
        others = items.filter(pl.col("upstream_id").is_unique() & pl.col("upstream_id").is_not_null())
        return cls({**dict(others.iter_rows()), **{item: item for item in items["item_id"]}}, questions)

    def of_trajectory(self, trajectory: Trajectory, file: TrajectoryFile) -> str:
        """The item's name: as recorded, else from path, task, root or prompts, else the file's if it holds no other."""
        item = trajectory.item or self.in_path(file.path) or _of_task(file) or self.in_path(trajectory.root)
        return item or self._of_prompts(trajectory.prompts) or ("" if trajectory.position else file.name)

    def _of_prompts(self, prompts: Sequence[str]) -> str:
        """The item whose query, white space aside, occurs in a prompt; empty if there is none, or several."""
        texts = [" ".join(text.split()) for text in prompts]
        occurring = [question for question in self._of_question if any(question in text for text in texts)]
        # A query may be the beginning of another.
        longest = [question for question in occurring if sum(question in other for other in occurring) == 1]
        return self._of_question[longest[0]] if len(longest) == 1 else ""

    @cached_property
    def _of_question(self) -> dict[str, str]:
        plain = [(" ".join(text.split()), item) for item, text in self.questions().items() if item in self.known]
        counts = Counter(text for text, _ in plain)
        return {text: item for text, item in plain if counts[text] == 1 and len(text) >= _LEAST_QUESTION}

    def item_of(self, name: str) -> str | None:
        """The item with a name, even if a trial's folder cut it off; None if there is none, or several."""
        if name in self.known:
            return self.known[name]
        is_cut = len(name) == 32  # Harbor names a trial's folder after this many characters of its task
        items = {item for known, item in self.known.items() if is_cut and known.startswith(name)}
        return items.pop() if len(items) == 1 else None

    def in_path(self, path: str) -> str:
        """The item that a file or folder in a path is named after, endings aside; the last counts. Empty if none."""
        for part in reversed(path.split("/")):
            while part:
                if part in self.known:
                    return part
                part = part.rpartition(".")[0]
        return ""


def _of_task(file: TrajectoryFile) -> str:
    paths = (str(folder / TASK_FILE) for folder in PurePosixPath(file.path).parents)
    with suppress(UnreadableFileError):
        return next(filter(None, (str_at(file.all[path].json(), "item_id") for path in paths if path in file.all)), "")
    return ""


def parse_runs(
    files: TrajectoryFiles, ids: Ids, rejects: Rejects, counts: Counter[str], unread: Unread
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """All trajectories of some files, as rows of `VIEW_COLUMNS` and of `ANSWER_COLUMNS`."""
    views, answers = list[tuple[object, ...]](), list[tuple[object, ...]]()
    frames, n_views, read_with = list[pl.DataFrame](), 0, set[str]()
    for number, (file, trajectory) in enumerate(_all(files, ids, rejects)):
        where = f"{file.path}, {trajectory.position}" if trajectory.position else file.path
        read_with |= trajectory.read_with
        unread.update(trajectory.unread)
        counts["n_calls"] += len(trajectory.calls)
        for call in trajectory.calls:
            counts["n_not_understood"] += any(name != NO_RESULT for name in call.unread)
            counts["n_reading"] += call.reads
            counts["n_showing"] += call.reads and bool(call.views)
        n_unsound, patch, published = 0, trajectory.patch, trajectory.published
        parts = list[tuple[str, int, Views]]()
        for prefix, context in (("", trajectory), (PUBLISHED_READING, published)):
            if context is not None:
                parts += ((prefix + STEP, step, seen) for step, seen in enumerate(context.steps, start=1))
                parts.append((prefix + FINAL, 0, context.final or ()))
        for part, step, seen in parts:
            if not files.importer.lists_files:
                # Each file with lines is also listed by itself, before them, as by published converters.
                alone = {view.path for view in seen if view.start is None and view.symbol is None}
                paths = dict.fromkeys(view.path for view in seen if view.start is not None and view.path not in alone)
                seen = (*map(FileSpan, paths), *seen)
            with_names = (view for view in seen if 0 < len(view.path) <= MAX_NAME_CHARACTERS >= len(view.symbol or ""))
            sound = [view for view in with_names if max(abs(view.start or 0), abs(view.end or 0)) <= LAST_LINE]
            n_unsound += len(seen) - len(sound)
            n_views += len(sound)
            for rank, view in enumerate(sound if n_views <= MAX_VIEWS else (), start=1):
                symbol = None if view.symbol is None else _text(view.symbol)
                views.append((number, part, step, rank, _text(view.path), view.start, view.end, symbol))
        if len(views) >= _AT_ONCE:
            frames.append(pl.DataFrame(views, schema=dict(VIEW_COLUMNS), orient="row"))
            views.clear()
        notes = [*trajectory.notes]
        if n_unsound:
            notes.append(f"{n_unsound:,} views without a path or with impossible line numbers")
        if len(patch or "") > MAX_PATCH_CHARACTERS:
            notes.append(f"its patch is not read: more than {MAX_PATCH_CHARACTERS:,} characters")
            patch = None
        for note in notes:
            rejects.add(file.path, trajectory.position or f"item {trajectory.item}", note)
        name = ids.of_trajectory(trajectory, file)
        too_many = f"more views than the limit of {MAX_VIEWS:,} per run; split it"
        failed = trajectory.failed or (too_many if n_views > MAX_VIEWS else None)
        used = (_text(value) if isinstance(value, str) else value for value in vars(trajectory.usage).values())
        n_steps = (len(trajectory.steps), published and len(published.steps))
        # An unknown turn, 0, becomes null.
        turns, calls = ([pair[index] or None for pair in trajectory.shown_at] or None for index in (0, 1))
        of_item = (number, _text(name), ids.item_of(name), _text(where))
        answers.append((*of_item, *n_steps, failed, patch and _text(patch), turns, calls, *used))
    skipped = [path for path in files.skipped if path not in read_with]
    counts["n_skipped"] = len(skipped)
    unread.update(f"file {_kind_of(path)}" for path in skipped)
    frames.append(pl.DataFrame(views, schema=dict(VIEW_COLUMNS), orient="row"))
    return pl.concat(frames), pl.DataFrame(answers, schema=dict(ANSWER_COLUMNS), orient="row")


def _all(files: TrajectoryFiles, ids: Ids, rejects: Rejects) -> Iterator[tuple[TrajectoryFile, Trajectory]]:
    """What is damaged is a failed trajectory if its content or its path names the item, else a row of `rejects`."""
    for file in files.files:
        n_whole, damages = 0, list[UnreadableFileError]()
        try:
            for trajectory in files.importer.trajectories(file):
                n_whole += 1
                yield file, trajectory
        except UnreadableFileError as error:
            damages.append(error)
        else:
            if not n_whole and not file.damages:
                rejects.add(file.path, "file", "it holds no trajectory")
        for damage in [*damages, *file.damages]:
            item = item_in(damage) or ("" if n_whole and damage.position else ids.in_path(file.path))
            if item:
                yield file, Trajectory((), None, item, position=damage.position, failed=damage.reason)
            else:
                rejects.add(file.path, damage.position or "file", damage.reason)


def _text(text: str) -> str:
    """The text with half surrogate pairs, which are possible in JSON but not in UTF-8, written as escapes."""
    return text.encode(errors="backslashreplace").decode()


def shown_trajectories(files: TrajectoryFiles, rejects: Rejects) -> Iterator[str]:
    """The lines that describe the trajectories in some files; a `GoldspanError` if their format holds none."""
    if files.importer.kind != "trajectory":
        message = f"the file contains a {files.importer.kind}, not trajectories"
        raise GoldspanError(message, hint="Use `python -m ingest check` for it.", code=Exit.USAGE)
    read_with = set[str]()
    for file, trajectory in _all(files, Ids({}), rejects):
        read_with |= trajectory.read_with
        yield from map(escaped, _shown(file, trajectory, files.importer.name))
    if skipped := [path for path in files.skipped if path not in read_with]:
        yield f"not read: {Unread(map(_kind_of, skipped)).summary()}"


def _kind_of(path: str) -> str:
    """The name under which a skipped file is counted: `*` and its extension."""
    return f"*{PurePosixPath(path).suffix or path}"


def _shown(file: TrajectoryFile, trajectory: Trajectory, format_name: str) -> Iterator[str]:
    where = f"{file.path}, {trajectory.position}" if trajectory.position else file.path
    patch = trajectory.patch and f"a patch of {counted(trajectory.patch.count(chr(10)), 'line')}"
    item = f"item {trajectory.item}, " if trajectory.item else ""
    failed = f"; failed: {trajectory.failed}" if trajectory.failed else ""
    steps = counted(len(trajectory.steps), "step")
    yield f"{where}: {format_name}, {item}{steps}, {patch or 'no patch'}{failed}"
    step, shown_at = 0, iter(trajectory.shown_at)
    for event in trajectory.calls or map(ParsedCall, trajectory.steps):
        is_step = bool(event.views) or not trajectory.calls
        step += is_step
        turn, call = next(shown_at, (0, 0)) if is_step else (0, 0)
        whence = f"  (turn {turn}, tool call {call})" if turn else ""
        yield f"  {f'step {step}' if is_step else '-':>8}  {event.call}{whence}".rstrip()
        yield from (f"            {view}" for view in event.views)
        yield from (f"            not understood: {name}" for name in event.unread)
        if event.reads and not event.views:
            yield "            showed no file: it failed, found nothing, or its output is not understood"
    is_union = trajectory.final is not None and trajectory.final == union(trajectory.steps)
    whole = "everything the steps showed" if is_union else "" if trajectory.final else "none"
    yield f"  final context: {whole}".rstrip()
    yield from (f"            {view}" for view in (() if is_union else trajectory.final or ()))
    used = [f"{name} {value}" for name, value in vars(trajectory.usage).items() if value is not None]
    yield from [f"  usage: {', '.join(used)}"] * bool(used)
    yield from (f"  note: {note}" for note in trajectory.notes)
    if trajectory.unread:
        yield f"  not read: {Unread(trajectory.unread).summary()}"
