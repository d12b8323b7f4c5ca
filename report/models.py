"""What there is in a lake, as a page knows it: declared things, benchmarks, protocols, runs, what was submitted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from lake.catalog.protocol import Primary
from lake.tables import PROGRAMS
from lake.text import counted
from report.charts.figures import KIND_LOOKS, ORACLE_KIND
from report.editions import EDITION_TAG

MEASURE = ("granularity", "metric", "k")
"""What names a column of numbers."""

ALL_ITEMS = "all"
"""The slice that holds every item, and its one value."""

COMPLETE, FAILED, IMPORTED, BUILT_IN = "complete", "failed", "imported", "built-in"


class DeclarationRow(BaseModel):
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

    @property
    def shown_name(self) -> str:
        """The name people know it by."""
        return self.display_name or self.name


class BenchmarkRow(DeclarationRow):
    """A benchmark and what of it lies in the lake; repositories, languages and subsets are those of scorable items.

    Its label, which its title ends in, sets its data apart from the published benchmark: `sample`, `mined`. Own data is
    scored by the rules of the benchmark that it is `like`, and so is an edition of published results.
    """

    subject: str
    label: str
    like: str
    licences: list[dict[str, str]]
    place: int
    n_items: int = 0
    n_scorable: int = 0
    n_repos: int = 0
    languages: tuple[str, ...] = ()
    subsets: tuple[str, ...] = ()
    why_not: tuple[tuple[str, int], ...] = ()

    @property
    def kind(self) -> str:
        """The declared benchmark by whose rules it is scored: itself, but for own data."""
        return self.like or self.name

    @property
    def is_edition(self) -> bool:
        """Its rows are results that ship with the code."""
        return EDITION_TAG in self.tags

    @property
    def is_own(self) -> bool:
        """It is somebody's own data."""
        return bool(self.like) and not self.is_edition

    @property
    def provenance(self) -> str:
        """Where its data is from, in words."""
        if self.is_edition:
            return "results that ship with Goldspan"
        what = "declaration" if self.source.lower().endswith((".yaml", ".yml")) else "folder"
        known = {"sample": "the built-in sample", "hub": "the Hugging Face Hub"}
        return known.get(self.source, f"a local copy, {what} “{self.source}”")


class TaskRow(DeclarationRow):
    """A task; `lake.pools.own_pool` says from its prefix what its pools are called."""

    benchmark: str
    query: str
    pool: str
    tie: str
    pool_prefix: str
    pool_by: str


class MetricRow(DeclarationRow):
    """A metric: what is better (`neither` for what ranks nothing), and what its cut-off counts."""

    direction: Literal["higher", "lower", "neither"]
    micro: Literal["ratio", "same", "none"]
    of_steps: bool
    cut: str
    formula: list[str]


class ProtocolRow(DeclarationRow):
    """A sealed way of scoring, of the runs of all its tasks or, where several have runs, of one (`task`)."""

    benchmark: str
    tasks: list[str]
    gold: str
    relevance: str
    primary: Primary
    headline: dict[str, str]
    has_contexts: bool
    leaves_out_failed: bool
    hash: str
    parity_only: bool
    place: int
    task: str = ""

    @property
    def short(self) -> str:
        """Its name within its benchmark, `chunking-v1`, and its task's where it stands for one of several."""
        name = self.name.partition("@")[2] or self.name
        return f"{name}/{self.task.partition('/')[2]}" if self.task else name


@dataclass(frozen=True)
class RunRow:
    """A system's answers to one task, and what they cost if it was run here.

    `cost` and `usage` are rows of :func:`lake.usage.run_costs` and :func:`lake.usage.run_usage`, `numbers` beside;
    `submission` is a row of `submissions` that became this run.
    """

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
    retriever_title: str
    baseline: bool
    has_steps: bool
    cost: Mapping[str, Any] | None
    usage: Mapping[str, Any] | None = None
    submission: Mapping[str, Any] | None = None

    @property
    def short_name(self) -> str:
        """Its retriever's title, whatever was searched; where that is not known, or means several, the system's id."""
        return self.retriever_title or self.system

    @property
    def by(self) -> str:
        """Over which chunks it searches, or of what an agent is made, where its name does not say it."""
        return (self.chunker or "") if self.retriever_title else self.agent

    @property
    def full_name(self) -> str:
        """Its name with the chunker, where the system has one."""
        return (
            f"{self.retriever_title} over {self.chunker}" if self.retriever_title and self.chunker else self.short_name
        )

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
            return str(self.submission["kind"])
        return "baseline" if self.baseline else "retriever" if self.origin == BUILT_IN else self.origin

    @property
    def agent(self) -> str:
        """An agent's scaffold, model and date, as far as its files and its submission tell them; else empty."""
        if not self.has_steps:
            return ""
        models = self.usage["models"].split(", ") if self.usage else []
        model = counted(len(models), "model") if len(models) > 1 else "".join(models)
        date = self.submission["date"] if self.submission else ""
        return ", ".join(filter(None, [self.format, model, date]))

    @property
    def drawn(self) -> str:
        """Which of the KIND_LOOKS it is drawn in: what searches is a retriever, wherever it was made to run here."""
        if self.baseline:
            return ORACLE_KIND if self.retriever == ORACLE_KIND else "baseline"
        return self.kind if self.kind in KIND_LOOKS else "retriever"

    @property
    def provenance(self) -> str:
        """Where its numbers come from, as its badge says it."""
        if self.origin == BUILT_IN or self.format in PROGRAMS:
            return "run here"
        return f"scored here from the submitted {'trajectories' if self.has_steps else 'ranking'}"
