"""What there is in a lake, as a page knows it: declared things, benchmarks, protocols, runs, what was submitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from lake.errors import Exit, GoldspanError
from lake.store import Lake
from report.charts.kinds import KINDS, ORACLE
from report.parameters import BenchmarkParameters, ProtocolParameters

REPORTED = "reported only, not ranked"
COMPLETE = "complete"
FAILED = "failed"
IMPORTED = "imported"
BUILT_IN = "built-in"
PROGRAMS = ("command", "function", "ripgrep")
"""Formats of imported runs that were made here, by a program that was asked."""

P = TypeVar("P", bound=BaseModel)


@dataclass(frozen=True)
class Declaration:
    """A row of one of the tables of declared things; the columns as they are stored."""

    table: str
    name: str
    title: str
    display_name: str
    meaning: str
    tags: tuple[str, ...]
    source: str
    revision: str
    licence: str
    citation: str
    paper: str
    parameters: str
    primary_metric: str
    further: Mapping[str, object]

    @property
    def shown_name(self) -> str:
        """The name people know it by."""
        return self.display_name or self.name

    @property
    def provenance(self) -> str:
        """Where a benchmark's data is from, in words."""
        known = {"sample": "the built-in sample", "hub": "the Hugging Face Hub"}
        what = "declaration" if self.source.lower().endswith((".yaml", ".yml")) else "folder"
        return known.get(self.source, f"a local copy, {what} “{self.source}”")

    def read(self, model: type[P]) -> P:
        """The further columns of its table, typed."""
        try:
            return model.model_validate(self.further)
        except ValidationError as error:
            wrong = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()]
            message = f"{self.table}: the row of {self.name!r} cannot be read"
            raise GoldspanError(message, examples=wrong, code=Exit.INVALID) from error


@dataclass(frozen=True)
class Benchmark:
    """A benchmark and what of it lies in the lake; repositories, languages and subsets are those of scorable items."""

    declaration: Declaration
    parameters: BenchmarkParameters
    n_items: int
    n_scorable: int
    n_repos: int
    languages: tuple[str, ...]
    subsets: tuple[str, ...]
    why_not: tuple[tuple[str, int], ...]

    @property
    def name(self) -> str:
        """The name tables know it by."""
        return self.declaration.name

    @property
    def kind(self) -> str:
        """The declared benchmark by whose rules it is scored: itself, but for own data."""
        return self.parameters.like or self.name

    @property
    def label(self) -> str:
        """What sets this data apart from the published benchmark: `sample`, `mined`; empty for the published one."""
        label = self.parameters.label
        return label if label in self.declaration.tags else ""

    @property
    def title(self) -> str:
        """The name people know it by, with its label: every place that shows a number of it says so."""
        name = self.declaration.shown_name
        return f"{name} ({self.label})" if self.label else name


@dataclass(frozen=True)
class Protocol:
    """A sealed way of scoring, of the runs of all its tasks or, where several have runs, of one."""

    declaration: Declaration
    parameters: ProtocolParameters
    task: str = ""

    @property
    def name(self) -> str:
        """Its full name, `repoeval@chunking-v1`."""
        return self.declaration.name

    @property
    def benchmark(self) -> str:
        """The benchmark it belongs to."""
        return self.parameters.benchmark

    @property
    def short(self) -> str:
        """Its name within its benchmark, `chunking-v1`, and its task's where it stands for one of several."""
        name = self.name.partition("@")[2] or self.name
        return f"{name}/{self.task.partition('/')[2]}" if self.task else name


@dataclass(frozen=True)
class Cost:
    """What ranking cost where a run was made: seconds (of queries the median and the 95th percentile) and bytes."""

    index_seconds: float | None
    index_bytes: int | None
    query_p50: float | None
    query_p95: float | None
    hardware: str


@dataclass(frozen=True)
class Submission:
    """A submission: the run that it became, where it was scored, and the numbers that its authors report."""

    run_id: str | None
    kind: str
    standing: str
    reported: Mapping[str, float]
    row: Mapping[str, object]


@dataclass(frozen=True)
class Run:
    """A system's answers to one task, and what they cost if it was run here."""

    run_id: str
    system: str
    benchmark: str
    task: str
    chunker: str | None
    retriever: str | None
    origin: str
    status: str
    limit: int | None
    protocol: str | None
    format: str
    file: str
    notes: tuple[str, ...]
    parameters: str
    versions: str
    baseline: bool
    has_steps: bool
    cost: Cost | None
    submission: Submission | None = None

    @property
    def comparable(self) -> bool:
        """Whether it answered the whole benchmark, so that its numbers may stand beside others."""
        return self.status == COMPLETE and self.limit is None

    @property
    def kind(self) -> str:
        """What sort of system it is."""
        if self.has_steps:
            return "agent"
        if self.submission is not None:
            return self.submission.kind
        return "baseline" if self.baseline else "retriever" if self.origin == BUILT_IN else self.origin

    @property
    def drawn(self) -> str:
        """Which of the KINDS it is drawn as: what searches is a retriever, wherever it was made to run here."""
        if self.baseline:
            return ORACLE if self.retriever == ORACLE else "baseline"
        return self.kind if self.kind in KINDS else "retriever"

    @property
    def provenance(self) -> str:
        """Where its numbers come from, as its badge says it."""
        if self.origin == BUILT_IN or self.format in PROGRAMS:
            return "run here"
        return f"scored here from the submitted {'trajectories' if self.has_steps else 'ranking'}"


def submissions(lake: Lake) -> tuple[Submission, ...]:
    """Everything that was submitted, the newest first."""
    rows = lake.read("submissions").sort("date", "submission", "task", descending=[True, False, False]).to_dicts()
    standing = {"scored": "scored here", "reported": REPORTED, "older": "not scored"}
    found = []
    for row in rows:
        words = standing.get(row["status"], row["status"])
        why = "" if row["status"] in ("scored", "reported") else f": {row['why']}"
        reported = {one["metric"]: one["value"] for one in row["reported"]}
        found.append(Submission(row["run_id"], row["kind"], f"{words}{why}", reported, row))
    return tuple(found)
