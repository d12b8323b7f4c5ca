"""Tasks, the protocols (fixed scoring rules) for their runs, and the cut-offs of rankings."""

from dataclasses import dataclass, replace
from typing import Literal

from lake.averages import Aggregate

CUT_OFFS = (1, 3, 5, 10, 20, 50, 100)  # a run records at which of them equal scores were cut apart
USUAL_BUDGET = 8_000  # non-whitespace characters of new lines
BUDGETS = (2_000, USUAL_BUDGET, 32_000)  # a short, a usual and a generous context
DEPTHS = (5, 10, 20)  # numbers of results after which a ranking is scored as a context; agents have no such cut-offs
MAX_VALUES = 24  # values of a slice on a board, those with the most items; the others are only in `aggregates`
GRANULARITIES = ("file", "symbol", "span", "line")  # the units in which contexts are compared; a span is of bytes
WHOLE = (0,)


def at(ks: tuple[int, ...], *metrics: str) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Several metrics at the same cut-offs, as for `Protocol.metrics`."""
    return tuple((metric, ks) for metric in metrics)


@dataclass(frozen=True)
class Primary:
    """The score by which a protocol ranks systems."""

    metric: str
    k: int
    granularity: str
    aggregate: Aggregate


@dataclass(frozen=True)
class ContextRules:
    """Rules by which a gathered context is compared with the gold; the defaults are our own.

    Attributes:
        symbols: The set of rules in table `symbols` that defines what a definition is.
        symbol_identity: Definitions are equal if file and qualified name agree, or only if the node is the same.
        named_symbols: Symbols named by a run are added to those that its spans overlap, or replace them.
        overlap: A definition overlaps a span if it shares a byte with it, or also if it ends right before it.
        ranges: Lines are cut to the file (`clamped`), or kept (`published`, as in the published code) unless a bound is
            0 or less, with reversed ranges counted negative and a line after the last newline as 1 byte.
        unresolved_files: A predicted file that is not in the repository counts as predicted, or not at all.
        files_of_spans: The file of a span or of a named symbol is a predicted file, and a view of a whole file is a
            span over it. Otherwise only files named as such are; a ranking names those of its results.
        failed: An item whose final context names nothing in the repository scores 0, or is left out as an error.
        no_steps: A run without steps covers nothing on its way, or its final context counts as its only step.
        edits: Edited lines are compared with those edited by the gold patch, or with the ranges of the gold context;
            then an item without a patch is scored with the gold patch's own lines.
    """

    symbols: str = "docs"
    symbol_identity: Literal["qualified name", "node"] = "qualified name"
    named_symbols: Literal["added", "in place"] = "added"
    overlap: Literal["shared byte", "touching"] = "shared byte"
    ranges: Literal["clamped", "published"] = "clamped"
    unresolved_files: Literal["counted", "dropped"] = "counted"
    files_of_spans: bool = True
    empty_gold: Literal["no value", "covered"] = "no value"
    empty_prediction: float = 0.0
    failed: Literal["zero", "left out"] = "zero"
    no_steps: Literal["nothing", "final"] = "nothing"
    edits: Literal["gold patch", "gold context"] = "gold patch"


DOCS_CONTEXTS = ContextRules()
OFFICIAL_CONTEXTS = ContextRules(
    symbols="official",
    symbol_identity="node",
    named_symbols="in place",
    overlap="touching",
    ranges="published",
    unresolved_files="dropped",
    files_of_spans=False,
    empty_gold="covered",
    empty_prediction=1.0,
    failed="left out",
    no_steps="final",
    edits="gold context",
)

TieRule = Literal["hash", "pool"]
AnswerKind = Literal["ranking", "completion", "trajectory"]
"""The content of an imported file per item: a ranked list of documents, a model's text, or an agent's steps."""


@dataclass(frozen=True)
class Task:
    """A benchmark with a query rule, a pool rule and a tie rule; every run belongs to one task.

    Attributes:
        query: The name of the query rule, by which the benchmark's reader writes `queries`.
        tie: The order of equal scores: by a seeded hash of item and chunk, or the pool's own order.
        depth: The number of results that a built-in run keeps per item; None for all.
        pool_prefix: The prefix of pools that replace the items' own; items without such a pool are left out.
        pool_by: Such a pool belongs to a repository (`<prefix>/<repo>`) or a hole (`…/<target path>:<target line>`).
        subsets: The subsets that a task with such pools covers; empty for all.
        ranks_blank: Chunks of only white space are ranked, with score 0; otherwise items with such gold are left out.
        runs: Whether it always runs, or only if named in `--tasks` and afterwards as long as the lake has runs of it.
        like: For own data, the declared task whose rules it uses.
    """

    name: str
    benchmark: str
    title: str
    meaning: str
    query: str
    query_meaning: str
    pool_meaning: str
    tie: TieRule = "hash"
    depth: int | None = 100
    pool_prefix: str = ""
    pool_by: Literal["repo", "hole"] = "repo"
    subsets: tuple[str, ...] = ()
    ranks_blank: bool = False
    retrievers: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    chunkers: tuple[str, ...] = ()
    answered_by: tuple[AnswerKind, ...] = ("ranking",)
    runs: Literal["always", "named"] = "always"
    imported_only: bool = False
    version: int = 1
    like: str = ""

    @property
    def rules(self) -> str:
        """The name of the declared task whose rules apply; retrievers and protocols refer to it."""
        return self.like or self.name

    @property
    def kind(self) -> str:
        """The declared benchmark whose rules apply."""
        return self.rules.partition("/")[0]

    def under(self, benchmark: str) -> "Task":
        """A copy of the task for an own benchmark, with renamed pools if it has pools of its own."""
        names = (f"{benchmark}/{name.partition('/')[2]}" if name else "" for name in (self.name, self.pool_prefix))
        name, pool_prefix = names
        return replace(self, name=name, pool_prefix=pool_prefix, benchmark=benchmark, like=self.name)


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """Rules by which a task's runs are scored. No command-line option changes them; a new rule needs a new name.

    Args:
        name: `<benchmark>@<rules>-v<version>`.
        relevance: The name of the rule of relevance of a result.
        headline: The slice shown first, as (slice, value); None for all items.
        threshold: The least similarity of a relevant result, for relevance rules based on similarity.
        applies: Cut-offs at which only some items have a value, as (metric, k, column of items, its value).
        full_lists: A list shorter than k scores 0 at k if its pool has k or more.
        parity_only: Scored only to be compared with published numbers, and never shown on a leaderboard.
        context: How gathered contexts are read, for protocols that score every run as a context, rankings included.
        like: For own data, the declared protocol whose rules it uses.
    """

    name: str
    title: str
    meaning: str
    version: int = 1
    tasks: tuple[str, ...]
    gold: str
    relevance: str
    metrics: tuple[tuple[str, tuple[int, ...]], ...]
    primary: Primary
    headline: tuple[str, str] | None = None
    source: str
    threshold: float | None = None
    applies: tuple[tuple[str, int, str, str], ...] = ()
    full_lists: bool = False
    parity_only: bool = False
    place: int = 1
    context: ContextRules | None = None
    like: "Protocol | None" = None

    @property
    def benchmark(self) -> str:
        """The benchmark whose runs it scores."""
        return self.name.partition("@")[0]

    @property
    def rules(self) -> "Protocol":
        """The declared protocol whose rules and seal apply."""
        return self.like or self

    @property
    def over_items(self) -> bool:
        """Whether intervals and tests always generalise over items: own data does not represent other repositories."""
        return self.like is not None

    def under(self, benchmark: str) -> "Protocol":
        """A copy of the protocol for an own benchmark."""
        return replace(
            self,
            name=f"{benchmark}@{self.name.partition('@')[2]}",
            title=f"{benchmark}, by the rules of {self.title}",
            tasks=tuple(f"{benchmark}/{task.partition('/')[2]}" for task in self.tasks),
            like=self,
        )
