"""An import: its request, checked against the lake, its files, the items that it is asked, and what it counts."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import polars as pl

from ingest.programs.command import JsonCommand
from ingest.rejects import Rejects
from ingest.runs.find_trajectories import AUTO, TrajectoryFiles, importers, trajectory_files
from ingest.runs.ranking_rows import DOCUMENTS_HELP
from ingest.runs.trajectory import BESIDE_CALLS, most_often
from ingest.sources.input_file import InputFile
from lake.benchmarks import check_benchmark, tasks_of
from lake.catalog.protocol import AnswerKind, Task
from lake.declarations import CHUNKER_ALIASES
from lake.errors import Exit, GoldspanError, did_you_mean, lookup
from lake.fingerprint import fingerprint
from lake.outcome import Outcome
from lake.pools import Where, drawn_ids, of_where, with_items, with_pools_of
from lake.store import Lake
from lake.text import counted, percent

_MAX_SYSTEM_CHARACTERS = 120
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
    ("n_unknown", "item", "skipped: {} not asked here, listed in the table rejects"),
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
    def of(cls, lake: Lake, request: ImportRequest, program: Search | None = None) -> "ImportJob":
        """The job of a request, which is checked against the lake and against the kind of answers in its files."""
        rejects, given = Rejects(), InputFile.at(request.file)
        answers = TrajectoryFiles(importers()["answers"], given, []) if program else None
        files = answers or trajectory_files(given, request.format, rejects)
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
        """`<task>--<system>--<8 hex digits>`, with `.` for `/` and `-` for what is not ASCII."""
        name = "".join(mark if mark.isascii() else "-" for mark in self.request.system)
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
        """The counts as sentences: the items not asked, how trajectories were read, and each count that is not zero."""
        n, sentences = self.counts, list[str]()
        if n["n_not_asked"]:
            share = f"answers {self.n_items:,} of {counted(self.n_items + n['n_not_asked'], 'item')}"
            hint = f"with --asked-all (in a submission `asked: all`) it scores 0 for the other {n['n_not_asked']:,}"
            sentences.append(f"{share}: a partial run, scored on these and not ranked; {hint}")
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
        for name, unit, sentence in _SENTENCES:
            sentences += [sentence.format(counted(n[name], unit), n=n[name], paths=paths)] * bool(n[name])
        return sentences + [f"not read: {most_often(self.unread)}"] * bool(self.unread)

    def outcome(self, written: str, hint: str) -> Outcome:
        """The result as the outcome that the command prints at its end."""
        importer, why = self.files.importer, "by its content" if self.request.format == AUTO else "as requested"
        read_as = f"{self.input_file.name}, {importer.title} ({why}: --format {importer.name})"
        read_as = f"the answers of `{self.program.name}`" if self.program else read_as
        n, warnings = self.counts, [f"run {self.run_id}, from {read_as}", *self.notes, *self.sentences()]
        return Outcome(
            written, self.n_items, n["n_done"], n["n_missing"], n["n_failed"] + n["n_no_context"], n["n_rejected"],
            n["n_tied"], warnings, hint=hint, tally=self.lake.tally,
        )  # fmt: skip


def _checked_chunker(lake: Lake, request: ImportRequest) -> str | None:
    """Check the benchmark, chunker and system name; return the chunker's full name, None if none is given."""
    check_benchmark(lake, request.benchmark)
    chunkers, name = {part.name: part.name for part in lake.parts("chunkers")}, request.system
    own, _, retriever = name.rpartition("+")
    retrievers = {*lake.scan("retrievers").select("name").collect()["name"]}
    runs = lake.scan("runs", benchmark=request.benchmark).filter(system=name, origin="built-in")
    is_printable = name == name.strip() and name.isprintable() and 0 < len(name) <= _MAX_SYSTEM_CHARACTERS
    is_built_in = (own in chunkers and retriever in retrievers) or runs.collect().height
    if not is_printable or is_built_in:
        must = "belongs to a built-in system" if is_built_in else "must have 1 to 120 printable characters"
        hint = "Name the system, such as my-retriever v2."
        raise GoldspanError(f"the system name {name[:40]!a} {must}", hint=hint, code=Exit.USAGE)
    chunker = CHUNKER_ALIASES.get(request.chunker, request.chunker)
    return lookup(chunker, "chunker of this lake", chunkers) if chunker else None


def _asked_task(lake: Lake, request: ImportRequest, kind: AnswerKind) -> Task:
    """The requested task, else the first that this `kind` of answer fits."""
    fitting = {task.name: task for task in tasks_of(lake, request.benchmark) if kind in task.answered_by}
    name = request.task or next(iter(fitting), "")
    if name in fitting:
        return fitting[name]
    hint = did_you_mean(name, fitting) or "`python -m ingest list formats` shows what each format holds."
    raise GoldspanError(f"a {kind} does not answer {name or request.benchmark}", hint=hint, code=Exit.USAGE)


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
