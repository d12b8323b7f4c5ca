"""An import: its request, checked against the lake, its files, the items that it is asked, and what it counts."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import polars as pl

from ingest.programs.command import JsonCommand
from ingest.rejects import Rejects
from ingest.runs.find_trajectories import AUTO, TrajectoryFiles
from ingest.runs.ranking_rows import DOCUMENTS_HELP
from ingest.runs.trajectory import BESIDE_CALLS, most_often
from ingest.sources.input_file import InputFile
from lake.benchmarks import check_benchmark, tasks_of
from lake.catalog.protocol import AnswerKind, Task
from lake.declarations import CHUNKER_ALIASES
from lake.errors import Exit, GoldspanError, lookup
from lake.fingerprint import fingerprint
from lake.outcome import Outcome
from lake.parts import PartCounts
from lake.pools import Where, drawn_ids, of_where, with_items, with_pools_of
from lake.store import Lake
from lake.text import counted, percent

_MAX_SYSTEM_CHARACTERS = 120
_MAX_ID_BYTES = 120  # A run's id is part of a file name, which may have 255 bytes including its digests
_COLUMNS = (
    "item_id", "upstream_id", "subset", "repo", "pool_id", "target_path", "target_line", "query_line_start",
    "target_text", "scorable",
)  # fmt: skip
_SENTENCES = (
    ("n_failed", "item", "failed: {}; reasons: table run_items"),
    ("n_no_context", "item", "no-context: {} without a final context"),
    ("n_no_patch", "item", "without a patch: {}"),
    ("n_faulty_patches", "item", "patches with faults: {}; reasons: table rejects"),
    ("n_skipped", "file", "skipped: {} that are not trajectories"),
    ("n_unresolved", "", "unresolved (no such file in the pool): {n:,} of {paths}"),
    ("n_clamped", "range", "clamped: {} that ended one line past the end of the file"),
    ("n_unscorable", "answer", "left out: {} to items that cannot be scored in this lake"),
    ("n_ambiguous", "name", "ambiguous: {} that its file defines several times; the first is used"),
    ("n_no_chunk", "document", "not a chunk of the named chunker: {}"),
    ("n_beyond", "range", "kept as given: {} past the end of the file"),
    ("n_reversed", "range", "kept as given: {} reversed or before line 1"),
)
"""Each count, its unit, and the sentence that the summary shows if it is not zero."""
Say = Callable[[str], None]


class NoItemKnownError(GoldspanError):
    """The lake has none of the items that a file answers, or can score none of them."""


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
    label: str | None = None  # of the edition of the benchmark that it answers, if that is to be checked

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


@dataclass
class ImportJob:
    """One import: of the answers of `program`, at its `cost`, or else of files that a user gives; and its result.

    `items` are those that the task asks, each with its `part` of the lake, its `pool_id` and its `query_sha256`;
    `n_items` of them were asked and can be scored. In `counts`, n_reading are the tool calls meant to show parts of
    files, and n_showing those that did; `unresolved` is an example of a path that matches no file.
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
    n_items: int = 0
    is_current: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    unresolved: str = ""
    unread: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    views: pl.DataFrame = field(default_factory=pl.DataFrame)  # what all trajectories showed

    @classmethod
    def of(
        cls, lake: Lake, request: ImportRequest, files: TrajectoryFiles, rejects: Rejects, program: Search | None = None
    ) -> "ImportJob":
        """The job of a request, which is checked against the lake and against the kind of answers in its files."""
        labels = lake.scan_part("benchmarks", request.benchmark).select("label").collect()["label"]
        if request.label not in (None, *labels):
            name, hint = request.benchmark, f"First: make ingest BENCHMARKS={request.benchmark} SOURCE=…"
            edition = f"{name} labelled {request.label!r}" if request.label else f"the published {name}"
            raise NoItemKnownError(f"the lake does not hold {edition}", hint=hint, code=Exit.MISSING)
        chunker, kind = _checked_chunker(lake, request), files.importer.kind
        if (chunker if kind == "trajectory" else request.prices or request.resolved) is not None:
            message = "--prices and --resolved apply to trajectories alone, --chunker to all but trajectories"
            raise GoldspanError(f"{message}; the file has a {kind}", hint="Leave them out.", code=Exit.USAGE)
        task = _asked_task(lake, request, kind)
        return cls(lake, request, files, task, _asked_items(lake, request, task), chunker, rejects, program)

    @property
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

    def add_unresolved(self, paths: pl.Series) -> None:
        """Count paths that match no file, and keep the first one as an example."""
        self.counts["n_unresolved"] += len(paths)
        self.unresolved = self.unresolved or str(next(iter(paths), ""))

    def sentences(self) -> list[str]:
        """The counts as sentences: for trajectories, how much was read; then every count that is not zero."""
        n, sentences = self.counts, list[str]()
        if self.files.importer.kind == "trajectory":
            n_all = n["n_done"] + n["n_failed"] + n["n_no_context"]
            steps, spans = counted(n["n_steps"], "step"), counted(n["n_spans"], "span")
            sentences.append(f"trajectories: {n_all:,}, with {steps} and {spans}")
        if n["n_not_understood"]:
            share = f"{n['n_not_understood']:,} of {counted(n['n_calls'], 'tool call')}"
            share += f" ({percent(n['n_not_understood'], n['n_calls'])})"
            of_calls = {name: n for name, n in self.unread.items() if not name.startswith(BESIDE_CALLS)}
            sentences.append(f"not understood: {share}, most often {most_often(of_calls, 3)}")
        if 2 * n["n_showing"] < n["n_reading"]:
            share = f"{n['n_showing']:,} of {counted(n['n_reading'], 'call')}"
            of_files = "that read files; `python -m ingest show FILE` lists them"
            sentences.append(f"warning: output understood of only {share} {of_files}")
        if n["n_unresolved"] == n["n_hits"] > 0 and not n["n_calls"]:
            sentences.append(f"warning: no document in it is a file of its item's pool. {DOCUMENTS_HELP}")
        paths = counted(n["n_hits"], "path") + (f", such as {self.unresolved[:80]!a}" if self.unresolved else "")
        counts = ((n[name], unit, sentence) for name, unit, sentence in _SENTENCES if n[name])
        return sentences + [sentence.format(counted(n, unit), n=n, paths=paths) for n, unit, sentence in counts]

    def summary(self) -> list[str]:
        """The `sentences`, with the items not asked, the tools and files not read, and the items skipped."""
        n_not_asked, n_unknown = self.counts["n_not_asked"], self.counts["n_unknown"]
        share = f"answers {self.n_items:,} of {counted(self.n_items + n_not_asked, 'item')}"
        hint = f"with --asked-all (in a submission `asked: all`) it scores 0 for the other {n_not_asked:,}"
        partial = f"{share}: a partial run, scored on these and not ranked; {hint}"
        unread = f"not read: {most_often(self.unread)}"
        skipped = f"skipped: {counted(n_unknown, 'item')} not asked here, listed in the table rejects"
        more = [unread] * bool(self.unread) + [skipped] * bool(n_unknown)
        return [partial] * bool(n_not_asked) + self.sentences() + more

    def outcome(self, written: str, hint: str, parts: PartCounts | None = None) -> Outcome:
        """The result as the outcome that the command prints at its end."""
        importer, why = self.files.importer, "by its content" if self.request.format == AUTO else "as requested"
        read_as = f"{self.input_file.name}, {importer.title} ({why}: --format {importer.name})"
        read_as = f"the answers of `{self.program.name}`" if self.program else read_as
        n, warnings = self.counts, [f"run {self.run_id}, from {read_as}", *self.notes, *self.summary()]
        return Outcome(
            written, self.n_items, n["n_done"], n["n_missing"], n["n_failed"] + n["n_no_context"], n["n_rejected"],
            n["n_tied"], warnings, hint=hint, tally=parts or PartCounts(),
        )  # fmt: skip


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
    # An item may be in two parts: in a whole and in a selection of it.
    queries = lake.scan("queries", benchmark=benchmark, query=task.query).unique("item_id")
    queries = queries.select("item_id", query_sha256="sha256")
    parts = lake.parts("items", benchmark=benchmark)
    frames = [lake.scan_parts([part], "items").with_columns(part=pl.lit(part.name)) for part in parts]
    if frames:
        items = of_where(pl.concat(frames), where).select(*_COLUMNS, "part")
        if (drawn := drawn_ids(lake, task, where, request.limit)) is not None:
            items = items.filter(pl.col("item_id").is_in(drawn.implode()))
        items = items.join(queries, on="item_id", how="left", maintain_order="left")
        if not (items_of_task := with_pools_of(lake, task, items).collect()).is_empty():
            return items_of_task
    raise lake.lacks(f"the lake has no items of {benchmark} for {task.name}")
