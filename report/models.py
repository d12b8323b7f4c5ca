"""Typed rows of the lake for pages: attributes are a table's columns, and what :class:`TablesRead` adds to them."""

from types import SimpleNamespace

MEASURE = ("granularity", "metric", "k")
"""The key of a column of scores."""

ALL_ITEMS = "all"
"""The name of the slice with every item, and of its only value."""

COMPLETE, FAILED, IMPORTED, BUILT_IN = "complete", "failed", "imported", "built-in"


class TableRow(SimpleNamespace):
    """A row of a table; a declaration's row also has its `table` and `shown_name`, its name for people."""


class BenchmarkRow(TableRow):
    """A benchmark; its `title` ends with its label, `subject` is the declared title, `provenance` its source in words.

    It has counts of its items: n_items, n_scorable, n_repos, languages and subsets of scorable items, and `why_not`.
    `label` marks data other than the published benchmark. Own data (`is_own`) and published results (`is_edition`) are
    scored by the rules of `kind`.
    """


class ProtocolRow(TableRow):
    """A protocol; `task` is set if several of its tasks have runs and this is the protocol for one of them."""

    @property
    def short(self) -> str:
        """Its name without the benchmark (`chunking-v1`), followed by the task's name if `task` is set."""
        name = self.name.partition("@")[2] or self.name
        return f"{name}/{self.task.partition('/')[2]}" if self.task else name


class RunRow(TableRow):
    """A run with its `kind`, the key of KIND_LOOKS it is `drawn` with, its `provenance`, and the chunks it searches.

    `short_name` is the retriever's title, or the system's id if that is missing or ambiguous, `by` the addition to it:
    the chunker, or what an agent is made of. `cost`, `usage` and `submission` are its rows of these tables or None.
    `comparable`: it answered the whole benchmark, so that its scores may be compared with others.
    """
