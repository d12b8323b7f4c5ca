"""An import: its request, checked against the lake, its files, its task, and the items that the task asks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import polars as pl

from ingest.programs.command import JsonCommand
from ingest.runs.find_trajectories import AUTO, TrajectoryFiles
from ingest.runs.imported_runs import Imported, Tables
from ingest.sources.input_file import InputFile
from lake.benchmarks import check_benchmark, tasks_of
from lake.catalog.protocol import AnswerKind, Task
from lake.declarations import CHUNKER_ALIASES
from lake.errors import Exit, GoldspanError, lookup
from lake.fingerprint import fingerprint
from lake.pools import Where, drawn_ids, of_where, with_items, with_pools_of
from lake.rejects import Rejects
from lake.store import Lake

_MAX_SYSTEM_CHARACTERS = 120
_MAX_ID_BYTES = 120  # A run's id is part of a file name, which may have 255 bytes including its digests
_COLUMNS = (
    "item_id", "upstream_id", "subset", "repo", "pool_id", "target_path", "target_line", "query_line_start",
    "target_text", "scorable",
)  # fmt: skip
Say = Callable[[str], None]


@dataclass(frozen=True)
class ImportRequest:
    """One import: a file, its system and its task. With `asked_all` or a selection, unanswered items are failures."""

    file: Path
    benchmark: str
    system: str
    task: str = ""
    format: str = AUTO
    skip_unknown: bool = False
    chunker: str = ""
    asked_all: bool = False
    prices: Path | None = None
    resolved: Path | None = None
    where: Where = ()
    limit: int | None = None

    @property
    def is_selection(self) -> bool:
        """Whether `where` or `limit` selects the items asked, so that those without an answer are failures."""
        return bool(self.where) or self.limit is not None


@dataclass(frozen=True)
class Search:
    """A search program whose answers are imported; `fingerprint` covers everything that is known to affect them."""

    command: JsonCommand
    format: str
    name: str
    files: Mapping[str, str]
    versions: Mapping[str, str]
    fingerprint: str


@dataclass(frozen=True)
class ImportJob:
    """One import in progress: of the answers of `program`, at its `cost`, or else of files that a user gives.

    `items` are those that the task asks, each with its `part` of the lake, its `pool_id` and its `query_sha256`.
    """

    lake: Lake
    request: ImportRequest
    files: TrajectoryFiles
    task: Task
    items: pl.DataFrame
    chunker: str | None
    rejects: Rejects
    program: Search | None = None
    cost: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def of(
        cls, lake: Lake, request: ImportRequest, files: TrajectoryFiles, rejects: Rejects, program: Search | None = None
    ) -> "ImportJob":
        """The job of a request, which is checked against the lake and against the kind of answers in its files."""
        chunker, kind = _checked_chunker(lake, request), files.importer.kind
        if (chunker if kind == "trajectory" else request.prices or request.resolved) is not None:
            message = "--prices and --resolved apply to trajectories alone, --chunker to all but trajectories"
            raise GoldspanError(f"{message}; the file has a {kind}", hint="Leave them out.", code=Exit.USAGE)
        task = _asked_task(lake, request, kind)
        return cls(lake, request, files, task, _asked_items(lake, request, task), chunker, rejects, program)

    @cached_property
    def input_file(self) -> InputFile:
        """The file or folder as given, with the unit and the example of its format for messages."""
        return replace(self.files.input_file, unit=self.files.importer.unit, example=self.files.importer.example)

    @cached_property
    def stamp(self) -> str:
        """The fingerprint of what is imported, and as what; a part of it is in the run's id."""
        request, content = self.request, self.program.fingerprint if self.program else self.files.sha256
        stamp = fingerprint(content, request.system, self.task.name, self.files.importer.name, self.chunker)
        stamp = fingerprint(stamp, "asked all") if request.asked_all else stamp
        return fingerprint(stamp, request.where, request.limit) if request.is_selection else stamp

    @cached_property
    def run_id(self) -> str:
        """`<task>--<system>--<8 hex digits>`, with `.` for `/`; a system name too long for a folder's name is cut."""
        name = self.request.system
        while len("".join(mark if mark.isascii() else "%00" * len(mark.encode()) for mark in name)) > _MAX_ID_BYTES:
            name = name[:-1]
        return f"{self.task.name}--{name}--{self.stamp[:8]}".replace("/", ".")

    @property
    def folders(self) -> dict[str, str]:
        """The folders of the run's parts in the lake."""
        return {"benchmark": self.task.benchmark, "run_id": self.run_id}

    @cached_property
    def result(self) -> Imported:
        """The summary of the import, filled in as it proceeds."""
        importer, why = self.files.importer, "by its content" if self.request.format == AUTO else "as requested"
        read_as = f"{self.input_file.name}, {importer.title} ({why}: --format {importer.name})"
        read_as = f"the answers of `{self.program.name}`" if self.program else read_as
        return Imported(self.run_id, importer.kind, read_as)


ReadAnswers = tuple[pl.DataFrame, Callable[[ImportJob, pl.DataFrame, pl.DataFrame], Tables]]
"""A file's answers (item_id, as in the file if unknown; position; …), and a function that makes the tables of a part.

It takes the items of the part that can be scored, by id, with a running number `item`, and the answers to its items.
"""


def _checked_chunker(lake: Lake, request: ImportRequest) -> str | None:
    """Check the benchmark, chunker and system name; return the chunker's full name, None if none is given."""
    check_benchmark(lake, request.benchmark)
    chunkers, name = {part.name: part.name for part in lake.parts("chunkers")}, request.system
    if not (name and name == name.strip() and name.isprintable() and len(name) <= _MAX_SYSTEM_CHARACTERS):
        message = f"the system name {name[:40]!a} must have 1 to {_MAX_SYSTEM_CHARACTERS} printable characters"
        raise GoldspanError(message, hint="Name the system, such as my-retriever v2.", code=Exit.USAGE)
    own, _, retriever = name.rpartition("+")
    retrievers = set(lake.scan("retrievers").select("name").collect()["name"])
    runs = lake.scan("runs", benchmark=request.benchmark).filter(system=name, origin="built-in")
    if (own in chunkers and retriever in retrievers) or not runs.collect().is_empty():
        message = f"the system name {name!r} belongs to a built-in system"
        raise GoldspanError(message, hint="Choose another name.", code=Exit.USAGE)
    chunker = CHUNKER_ALIASES.get(request.chunker, request.chunker)
    return lookup(chunker, "chunker of this lake", chunkers) if chunker else None


def _asked_task(lake: Lake, request: ImportRequest, kind: AnswerKind) -> Task:
    """The requested task, else the first that this `kind` of answer fits."""
    benchmark, name = request.benchmark, request.task
    known = {task.name: task for task in tasks_of(lake, benchmark)}
    possible = [lookup(name, "task", known)] if name else list(known.values())
    for task in possible:
        if kind in task.answered_by:
            return task
    message = f"{name} is not answered by a {kind}" if name else f"no task of {benchmark} is answered by a {kind}"
    kinds = sorted({answer for task in possible for answer in task.answered_by})
    hint = f"It takes a {' or a '.join(kinds)}: `python -m ingest list formats` shows how each is written."
    raise GoldspanError(message, hint=hint, code=Exit.USAGE)


def _asked_items(lake: Lake, request: ImportRequest, task: Task) -> pl.DataFrame:
    benchmark, where = request.benchmark, request.where
    if where:
        with_items(lake, [benchmark], where)
    selected = of_where(lake.scan("items", benchmark=benchmark), where).select("item_id")
    if (drawn := drawn_ids(lake, task, where, request.limit)) is not None:
        selected = selected.filter(pl.col("item_id").is_in(drawn.implode()))
    # An item may be in two parts: in a whole and in a selection of it.
    queries = lake.scan("queries", benchmark=benchmark, query=task.query).unique("item_id")
    queries = queries.select("item_id", query_sha256="sha256")
    asked = []
    for part in lake.parts("items", benchmark=benchmark):
        items = lake.scan_parts([part], "items").select(*_COLUMNS, part=pl.lit(part.name))
        items = items.join(selected, on="item_id", how="semi", maintain_order="left")
        asked.append(items.join(queries, on="item_id", how="left", maintain_order="left"))
    if not asked or (items_of_task := with_pools_of(lake, task, pl.concat(asked)).collect()).is_empty():
        raise lake.lacks(f"the lake has no items of {benchmark} for {task.name}")
    return items_of_task
