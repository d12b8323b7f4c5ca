"""The declaration of an import format, and the files that may hold trajectories."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from posixpath import dirname, join, normpath
from typing import IO

import polars as pl

from ingest.runs.trajectory import Trajectory
from ingest.runs.values import JsonRecord, first_text, object_at, objects_in, str_at, without_messages
from ingest.sources.input_file import HEAD_BYTES, InputFile
from ingest.sources.rows import MARK, Lines, UnreadableFileError, is_json_lines, opened, read_frames
from ingest.sources.tree import Entry, read_whole
from lake.catalog.protocol import AnswerKind
from lake.errors import MAX_EXAMPLES
from lake.limits import MAX_DOCUMENT_BYTES, MAX_LINE_BYTES, MAX_ROWS_BYTES, parsed_json

IDS = ("instance_id", "original_inst_id", "item_id")
_PATCHES = ("model_patch", "git_patch", "patch")
_NAMED = re.compile(r'"(?:original_inst_id|instance_id)"\s*:\s*"([^"\\]{1,300})"')
_LOOKED_THROUGH = 4096
_BLOCK_BYTES = 1 << 12
_TRIAL = re.compile(r"(?P<item>.{1,32})__(?=[a-z]*[A-Z0-9])[A-Za-z0-9]{7}")  # the folder of a Harbor trial


@dataclass(frozen=True)
class Importer:
    """A format of predictions made elsewhere; `--format` accepts its name and its aliases.

    Attributes:
        recognise: Whether a file has the format, by the first bytes of its unpacked content and, if needed, its path.
        read: Rows in frames of bounded size, in file order, with `position` (from 1, in the format's `unit`). A ranking
            has item_id; document (`path#L10-L20`), or path, line_start, line_end (0-based, half-open); rank, score,
            query_sha256, gold (the right candidate's number). A row without a document stands for an empty ranking;
            with `error`, the reason, for a missing one. A completion has repo, path, line and context_start (both
            0-based), target_text, prompt_sha256, completion.
        trajectories: The trajectories of one file, for that kind in place of `read`; raises `DamagedFileError` alone.
        companions: The paths of files that are read only together with the file at a path; a path that ends in `/` is
            a folder with everything in it.
        lists_files: Whether it lists a context's files itself; if not, each file with lines shown counts as listed.
    """

    name: str
    title: str
    meaning: str
    recognise: Callable[[bytes, str], bool]
    read: Callable[[InputFile], Iterator[pl.DataFrame]] = field(default=lambda _: iter(()))
    trajectories: Callable[["TrajectoryFile"], Iterator[Trajectory]] = field(default=lambda _: iter(()))
    companions: Callable[[str], Sequence[str]] = field(default=lambda _: ())
    lists_files: bool = False
    kind: AnswerKind = "ranking"
    unit: str = "line"
    example: str = ""
    aliases: tuple[str, ...] = ()


class DamagedFileError(Exception):
    """A file, or a part of one, that cannot be read to its end: the reason, the item that it names, and its position.

    `is_text`: it is not a record, but a line of a program's own messages printed between records.
    """

    def __init__(self, reason: str, item: str = "", position: str = "") -> None:
        super().__init__(reason)
        self.reason, self.item, self.position = reason, item, position
        self.is_text = False


@dataclass(frozen=True)
class TrajectoryFile:
    """A file that may hold trajectories, read on demand; `all`: files given with it; `damages`: unreadable parts."""

    entry: Entry
    all: Mapping[str, "TrajectoryFile"] = field(default_factory=dict, repr=False, compare=False)
    damages: list[DamagedFileError] = field(default_factory=list, compare=False)

    @property
    def path(self) -> str:
        """The file's path among the files it was given with."""
        return self.entry.path

    def head(self) -> bytes:
        """The first unpacked bytes, by which a format is recognised; for a damaged file, those before the damage."""
        data = bytearray()
        try:
            with self._stream() as stream:
                while len(data) < HEAD_BYTES and (block := stream.read(_BLOCK_BYTES)):
                    data += block
        except DamagedFileError:
            if not data:
                raise
        return bytes(data)

    def beside(self, path: str) -> "TrajectoryFile | None":
        """The file at a path relative to this file's folder; None if no such file was given."""
        return self.all.get(normpath(join(dirname(self.path), path)))

    def data(self) -> bytes:
        """The unpacked content; a `DamagedFileError` if it is damaged or has more than `MAX_DOCUMENT_BYTES`."""
        with self._stream() as stream:
            data = read_whole(stream, MAX_DOCUMENT_BYTES + 1)
        if len(data) > MAX_DOCUMENT_BYTES:
            reason = f"it has more than the limit of {MAX_DOCUMENT_BYTES:,} bytes"
            raise DamagedFileError(reason, _item_named(data))
        return data

    def text(self) -> str:
        """The content as text without a byte order mark; bytes that are not UTF-8 are replaced."""
        return self.data().decode(errors="replace").removeprefix("\ufeff")

    def json(self) -> object:
        """The content as one JSON value; a `DamagedFileError` if it is not JSON."""
        return _parsed(self.data().removeprefix(MARK))

    def objects(self) -> Iterator[tuple[str, JsonRecord]]:
        """The objects of JSON Lines, of a JSON list, or of one JSON object, or the rows of Parquet, with positions.

        A line or entry that is not an object is added to `damages` and skipped. JSON Lines may be of any length. The
        position of a single object is empty. Any other damage is a `DamagedFileError`.
        """
        values: Iterator[tuple[str, object]]
        if self.head().startswith(b"PAR1"):
            values = self._table_rows()
        elif is_json_lines(without_messages(self.head())):
            values = self._lines()
        elif isinstance(whole := self.json(), list):
            values = ((f"entry {number}", entry) for number, entry in enumerate(whole, start=1))
        else:
            values = iter([("", whole)])
        for position, value in values:
            if isinstance(value, dict):
                yield position, value
                continue
            if not isinstance(value, DamagedFileError):
                value = DamagedFileError("it is no object")
            value.position = position
            self.damages.append(value)

    def fail_if_damaged(self) -> None:
        """Raise `DamagedFileError` if records could not be read, for a file whose rows make up one trajectory."""
        if damages := [damage for damage in self.damages if not damage.is_text]:
            reason = "; ".join(f"{damage.position}: {damage.reason}" for damage in damages[:MAX_EXAMPLES])
            self.damages.clear()
            raise DamagedFileError(reason)

    def rows(self) -> list[JsonRecord]:
        """The objects of a file that is one trajectory; a `DamagedFileError` if any of them is damaged."""
        rows = [row for _, row in self.objects()]
        self.fail_if_damaged()
        return rows

    def _table_rows(self) -> Iterator[tuple[str, object]]:
        try:
            frames = read_frames(self.entry, list, MAX_ROWS_BYTES)
            rows = (row for frame in frames for row in frame.iter_rows(named=True, buffer_size=8))
            yield from ((f"row {number}", row) for number, row in enumerate(rows, 1))
        except UnreadableFileError as error:
            raise DamagedFileError(f"it {str(error).removeprefix('it ')}") from error

    def _lines(self) -> Iterator[tuple[str, object]]:
        with self._stream() as stream:
            for number, line in Lines(stream):
                if line is None:
                    yield f"line {number}", DamagedFileError(f"it has more than the limit of {MAX_LINE_BYTES:,} bytes")
                elif line.strip():
                    try:
                        value = _parsed(line)
                    except DamagedFileError as error:
                        value, error.is_text = error, not line.lstrip().startswith(b"{")
                    yield f"line {number}", value

    def patch_beside(self) -> tuple[str | None, list[str]]:
        """The patch in the file next to a session's record (None if there is none), and a note if it is damaged."""
        path = patch_path(self.path)
        try:
            return self.all[path].text() if path in self.all else None, []
        except DamagedFileError as error:
            return None, [f"the patch is lost: {path.rpartition('/')[2]}: {error.reason}"]

    def result_of_trial(self) -> JsonRecord:
        """The result of the Harbor trial that a trajectory is from; an empty object if no result names a task."""
        for path in trial_results(self.path):
            with suppress(DamagedFileError):
                if path in self.all and str_at(result := object_at(self.all[path].json()), "task_name"):
                    return result
        return {}

    def item_of_trial(self) -> str:
        """The item of a Harbor trial: the task name in its result, else (maybe cut off) that in its folder's name."""
        trials = (_TRIAL.fullmatch(part) for part in reversed(self.path.split("/")[:-1]))
        return str_at(self.result_of_trial(), "task_name") or next((trial["item"] for trial in trials if trial), "")

    @contextmanager
    def _stream(self) -> Iterator[IO[bytes]]:
        try:
            with opened(self.entry) as stream:
                yield stream
        except UnreadableFileError as error:
            raise DamagedFileError(f"it {str(error).removeprefix('it ')}") from error


def _parsed(data: bytes) -> object:
    try:
        return parsed_json(data, errors="replace")
    except (ValueError, RecursionError) as error:
        reason = f"not JSON ({str(error).partition(';')[0]}); is it cut off?"
        raise DamagedFileError(reason, _item_named(data)) from error


def _item_named(data: bytes) -> str:
    parts = (data[:_LOOKED_THROUGH], data[-_LOOKED_THROUGH:])
    return next((match[1] for part in parts if (match := _NAMED.search(part.decode(errors="replace")))), "")


def first_object(head: bytes) -> JsonRecord:
    """The first object in a file's first bytes; an empty one if there is none."""
    return next(iter(objects_in(head)), {})


def item_of(row: JsonRecord) -> str:
    """The item that an object names; empty if it names none."""
    return first_text(row, IDS)


def recorded_patch(row: JsonRecord) -> str | None:
    """The patch that an object holds, under any of the usual keys; None if it holds none."""
    return next((patch for key in _PATCHES if isinstance(patch := row.get(key), str)), None)


def patch_path(path: str) -> str:
    """The path of the patch of a session that records none: `<name>.patch` next to `<name>.jsonl`."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{name.removesuffix('.gz').removesuffix('.zst').rpartition('.')[0] or name}.patch"


def trial_results(path: str) -> list[str]:
    """The paths where the result of a Harbor trial may be: in the folder above the trajectory's, or in the same one."""
    return [normpath(join(dirname(path), name)) for name in ("../result.json", "result.json")]
