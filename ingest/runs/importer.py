"""The declaration of an import format, and the files that may hold trajectories."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from posixpath import dirname, join, normpath

import polars as pl

from ingest.runs.trajectory import Trajectory
from ingest.runs.values import JsonRecord, first_text, object_at, objects_in, str_at, without_messages
from ingest.sources.input_file import InputFile
from ingest.sources.rows import LENIENT, is_json_lines, json_values, parquet_rows
from ingest.sources.tree import UnreadableFileError
from lake.catalog.protocol import AnswerKind
from lake.errors import MAX_EXAMPLES

_IDS = ("instance_id", "original_inst_id", "item_id")
_PATCHES = ("model_patch", "git_patch", "generated_patch", "patch")
_NAMED = re.compile(r'"(?:original_inst_id|instance_id)"\s*:\s*"([^"\\]{1,300})"')
_TRIAL = re.compile(r"(?P<item>.{1,32})__(?=[a-z]*[A-Z0-9])[A-Za-z0-9]{7}")  # the folder of a Harbor trial


@dataclass(frozen=True)
class Importer:
    """A format of predictions made elsewhere; `--format` accepts its name and its aliases.

    Attributes:
        recognise: Whether a file has the format, by the first bytes of its unpacked content and, if needed, its path.
        read: Rows in frames of bounded size, in file order, with `position` (from 1, in the format's `unit`). A ranking
            has those of `RANKING_COLUMNS` that its file has; without a document a row stands for an empty ranking. A
            completion has repo, path, line, context_start (both 0-based), target_text, prompt_sha256, completion.
        trajectories: The trajectories of one file, for that kind in place of `read`.
        companions: Paths of files that are read only with the file at a path; one that ends in `/` is a whole folder.
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


@dataclass(frozen=True)
class TrajectoryFile(InputFile):
    """A file that may hold trajectories; `all`: the files given with it, by path; `damages`: its unreadable parts."""

    all: Mapping[str, "TrajectoryFile"] = field(default_factory=dict, repr=False, compare=False)
    damages: list[UnreadableFileError] = field(default_factory=list, compare=False)

    def beside(self, path: str) -> "TrajectoryFile | None":
        """The file at a path relative to this file's folder; None if no such file was given."""
        return self.all.get(normpath(join(dirname(self.path), path)))

    def objects(self) -> Iterator[tuple[str, JsonRecord]]:
        """The objects of JSON Lines, of a JSON list, or one JSON object (without a position), or the rows of Parquet.

        A line or entry that is not an object is added to `damages`; any other damage is an `UnreadableFileError`.
        """
        if self.head().startswith(b"PAR1"):
            yield from parquet_rows(self.entry, list)
            return
        for position, value in json_values(self.entry, lambda head: is_json_lines(without_messages(head)), LENIENT):
            if isinstance(value, dict):
                yield position, value
                continue
            damage = UnreadableFileError(self.path, "it is no object")
            self.damages.append(value if isinstance(value, UnreadableFileError) else damage)
            self.damages[-1].position = position

    def fail_if_damaged(self) -> None:
        """Raise `UnreadableFileError` if records could not be read, for a file whose rows make up one trajectory."""
        # A line that begins otherwise is a message that a program printed between records.
        if damages := [damage for damage in self.damages if damage.excerpt.lstrip()[:1] in ("", "{")]:
            reason = "; ".join(f"{damage.position}: {damage.reason}" for damage in damages[:MAX_EXAMPLES])
            self.damages.clear()
            raise UnreadableFileError(self.path, reason)

    def rows(self) -> list[JsonRecord]:
        """The objects of a file that is one trajectory; an `UnreadableFileError` if any of them is damaged."""
        rows = [row for _, row in self.objects()]
        self.fail_if_damaged()
        return rows

    def patch_beside(self) -> tuple[str | None, list[str]]:
        """The patch in the file next to a session's record (None if there is none), and a note if it is damaged."""
        path = patch_path(self.path)
        try:
            return self.all[path].text() if path in self.all else None, []
        except UnreadableFileError as error:
            return None, [f"the patch is lost: {path.rpartition('/')[2]}: {error.reason}"]

    def result_of_trial(self) -> JsonRecord:
        """The result of the Harbor trial that a trajectory is from; an empty object if no result names a task."""
        for path in trial_results(self.path):
            with suppress(UnreadableFileError):
                if path in self.all and str_at(result := object_at(self.all[path].json()), "task_name"):
                    return result
        return {}

    def item_of_trial(self) -> str:
        """The item of a Harbor trial: the task name in its result, else (maybe cut off) that in its folder's name."""
        trials = (_TRIAL.fullmatch(part) for part in reversed(self.path.split("/")[:-1]))
        return str_at(self.result_of_trial(), "task_name") or next((trial["item"] for trial in trials if trial), "")


def item_in(damage: UnreadableFileError) -> str:
    """The item that damaged JSON names near its beginning or end; empty if it names none."""
    return match[1] if (match := _NAMED.search(damage.excerpt)) else ""


def first_object(head: bytes) -> JsonRecord:
    """The first object in a file's first bytes; an empty one if there is none."""
    return next(iter(objects_in(head)), {})


def item_of(row: JsonRecord) -> str:
    """The item that an object, or its `extra`, names; empty if it names none."""
    return first_text(row, _IDS) or first_text(row.get("extra"), _IDS)


def recorded_patch(row: JsonRecord) -> str | None:
    """The patch that an object, its `test_result` or its `extra` holds under a usual key; None if there is none."""
    parts = (object_at(row, "test_result"), row, object_at(row, "extra"))
    return next((patch for part in parts for key in _PATCHES if isinstance(patch := part.get(key), str)), None)


def patch_path(path: str) -> str:
    """The path of the patch of a session that records none: `<name>.patch` next to `<name>.jsonl`."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{name.removesuffix('.gz').removesuffix('.zst').rpartition('.')[0] or name}.patch"


def trial_results(path: str) -> list[str]:
    """The paths where the result of a Harbor trial may be: in the folder above the trajectory's, or in the same one."""
    return [normpath(join(dirname(path), name)) for name in ("../result.json", "result.json")]
