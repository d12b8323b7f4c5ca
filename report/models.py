"""Typed rows of the lake for pages: benchmarks, tasks, protocols, metrics, chunkers, retrievers and runs."""

from types import SimpleNamespace

from lake.tables import PROGRAMS
from lake.text import counted
from report.charts.figures import KIND_LOOKS, ORACLE_KIND
from report.editions import EDITION_TAG

MEASURE = ("granularity", "metric", "k")
"""The key of a column of scores."""

ALL_ITEMS = "all"
"""The name of the slice with every item, and of its only value."""

COMPLETE, FAILED, IMPORTED, BUILT_IN = "complete", "failed", "imported", "built-in"


class TableRow(SimpleNamespace):
    """A row of a table of the lake: its attributes are the columns."""


class DeclarationRow(TableRow):
    """A row of the table of declarations `table` (benchmarks, tasks, protocols, …)."""

    @property
    def shown_name(self) -> str:
        """The name shown to people."""
        return str(self.display_name or self.name)


class BenchmarkRow(DeclarationRow):
    """A benchmark; its `title` ends with its label, `subject` is the declared title.

    It has counts of its items in the lake: n_items, n_scorable, n_repos, languages and subsets of scorable items, and
    `why_not`: the reasons why items are not scorable, with their numbers. `label` (`sample`, `mined`) marks data other
    than the published benchmark. Own data and editions of published results are scored by the rules of `like`.
    """

    @property
    def kind(self) -> str:
        """The name of the benchmark whose rules score it: `like` for own data and editions, else its own name."""
        return str(self.like or self.name)

    @property
    def is_edition(self) -> bool:
        """Whether it is an edition: published results shipped with the code."""
        return EDITION_TAG in self.tags

    @property
    def is_own(self) -> bool:
        """Whether the benchmark is a user's own data."""
        return bool(self.like) and not self.is_edition

    @property
    def provenance(self) -> str:
        """The source of its data, in words."""
        if self.is_edition:
            return "results that ship with Goldspan"
        what = "declaration" if self.source.lower().endswith((".yaml", ".yml")) else "folder"
        known = {"sample": "the built-in sample", "hub": "the Hugging Face Hub"}
        return known.get(self.source, f"a local copy, {what} “{self.source}”")


class ProtocolRow(DeclarationRow):
    """A protocol; `task` is set if several of its tasks have runs and this is the protocol for one of them."""

    @property
    def short(self) -> str:
        """Its name without the benchmark (`chunking-v1`), followed by the task's name if `task` is set."""
        name = self.name.partition("@")[2] or self.name
        return f"{name}/{self.task.partition('/')[2]}" if self.task else name


class RunRow(TableRow):
    """A run: a system's answers to one task, with `retriever_title`, and flags `baseline` and `has_steps`.

    `cost` and `usage` are the run's rows of :func:`lake.usage.run_costs` and :func:`lake.usage.run_usage` (the latter
    with `numbers` added), `submission` is its row of table `submissions`; each is None if there is none.
    """

    @property
    def short_name(self) -> str:
        """The retriever's title, or the system's id if there is no title or it is ambiguous."""
        return str(self.retriever_title or self.system)

    @property
    def by(self) -> str:
        """The addition to `short_name`: the chunker, or what an agent is made of; may be empty."""
        return (self.chunker or "") if self.retriever_title else self.agent

    @property
    def full_name(self) -> str:
        """Its name with the chunker, if it has one."""
        return (
            f"{self.retriever_title} over {self.chunker}" if self.retriever_title and self.chunker else self.short_name
        )

    @property
    def comparable(self) -> bool:
        """Whether it answered the whole benchmark, so that its scores may be compared with others."""
        return self.status == COMPLETE and self.limit is None

    @property
    def kind(self) -> str:
        """The kind of system: agent, baseline, retriever, the submission's kind, or else the run's origin."""
        if self.has_steps:
            return "agent"
        if self.submission is not None:
            return str(self.submission["kind"])
        return "baseline" if self.baseline else "retriever" if self.origin == BUILT_IN else self.origin

    @property
    def agent(self) -> str:
        """An agent's scaffold, model and date, as far as they are known; empty for other systems."""
        if not self.has_steps:
            return ""
        models = self.usage["models"].split(", ") if self.usage else []
        model = counted(len(models), "model") if len(models) > 1 else "".join(models)
        date = self.submission["date"] if self.submission else ""
        return ", ".join(filter(None, [self.format, model, date]))

    @property
    def drawn(self) -> str:
        """The key of KIND_LOOKS it is drawn with; kinds without a look of their own are drawn as retrievers."""
        if self.baseline:
            return ORACLE_KIND if self.retriever == ORACLE_KIND else "baseline"
        return self.kind if self.kind in KIND_LOOKS else "retriever"

    @property
    def provenance(self) -> str:
        """The source of its scores, as shown in its badge."""
        if self.origin == BUILT_IN or self.format in PROGRAMS:
            return "run here"
        return f"scored here from the submitted {'trajectories' if self.has_steps else 'ranking'}"
