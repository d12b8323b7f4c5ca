"""Tasks and protocols: the sealed rules that score a task's runs, and the cut-offs of lists."""

from dataclasses import dataclass, replace
from typing import Literal

from lake.averages import Aggregate

CUT_OFFS = (1, 3, 5, 10, 20, 50, 100)
"""The ranks at which it is noted whether a list was cut between equal scores: those that measures are taken at."""
BUDGETS = (2_000, 8_000, 32_000)
"""Non-whitespace characters of newly returned lines: a short, a usual and a generous context."""
DEPTHS = (5, 10, 20)
"""After how many results a ranking is looked at; an agent has no such cut-offs."""
MAX_VALUES = 24
"""So many values of a slice are on a board, those of most items; the others are in table `aggregates` alone."""
GRANULARITIES = ("file", "symbol", "span", "line")
"""The units that contexts are compared in; a span is bytes."""
WHOLE = (0,)


def at(ks: tuple[int, ...], *metrics: str) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Some metrics, each at the same cut-offs."""
    return tuple((metric, ks) for metric in metrics)


@dataclass(frozen=True)
class Primary:
    """The number a protocol ranks systems by."""

    metric: str
    k: int
    granularity: str
    aggregate: Aggregate


@dataclass(frozen=True)
class ContextRules:
    """Rules by which a gathered context is compared with the gold; the defaults are our own.

    Attributes:
        symbols: The set of rules in table `symbols` that says what a definition is.
        symbol_identity: Two definitions are one symbol by file and qualified name, or only as the same node.
        named_symbols: Names that a run gave are symbols beside those its spans overlap, or in their place.
        overlap: A definition is overlapped where it shares a byte, or also where it ends right before a span.
        ranges: Lines are cut to the file (`clamped`), or as the published code has them (`published`): as given unless
            one is 0 or less, a reversed range counting negative; a line after the last newline is one byte.
        unresolved_files: A predicted file that is not in the repository counts among the predicted, or not at all.
        files_of_spans: The file of a span or of a named symbol is among the predicted files, and a view of a whole file
            is a span over it. Otherwise only what was named as a file is, as a ranking names those of its results.
        empty_gold: With no gold at a granularity there is no value, or all of it is covered.
        failed: An item whose final context names nothing of the repository scores 0, or is left out as an error.
        no_steps: A run without steps covers nothing on its way, or its final context is its one step.
        edits: Edited lines are held against those the gold patch edits, or against the gold context's ranges; an item
            without a patch then answers with the gold patch's own lines.
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
"""The content of an imported file: per item a list of documents, a model's text, or an agent's steps."""


@dataclass(frozen=True)
class Task:
    """A benchmark, a query rule, a pool rule and a tie rule; a run belongs to one.

    Attributes:
        query: The name of a query rule, by which the benchmark's reader writes `queries`.
        tie: How equal scores are ordered: by a seeded hash of item and chunk, or by the pool's own order.
        depth: How many results a built-in run keeps per item; None for all.
        pool_prefix: Pools of its own in place of the items'; items without one are not asked.
        pool_by: Such a pool is a repository's (`<prefix>/<repo>`), or a hole's (`…/<target path>:<target line>`).
        subsets: Where it has pools of its own, the subsets it asks.
        ranks_blank: What is white space alone is ranked, and scores 0; else it is in no pool, and items with such gold
            are not asked.
        runs: It runs always, or only where `--tasks` names it; then as long as the lake holds runs of it.
        like: Of own data, the declared task whose rules it has.
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
        """The declared task whose rules these are, as retrievers and protocols name it."""
        return self.like or self.name

    @property
    def kind(self) -> str:
        """The declared benchmark by whose rules the items are asked."""
        return self.rules.partition("/")[0]

    def under(self, benchmark: str) -> "Task":
        """The task under the name of an own benchmark, with pools of its own where it has such."""
        names = (f"{benchmark}/{name.partition('/')[2]}" if name else "" for name in (self.name, self.pool_prefix))
        name, pool_prefix = names
        return replace(self, name=name, pool_prefix=pool_prefix, benchmark=benchmark, like=self.name)


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """Rules by which a task's runs are scored. Nothing on a command line changes one; a new rule is a new name.

    Args:
        name: `<benchmark>@<rules>-v<version>`.
        relevance: When a result is relevant; by its name, as the stage that scores declares it.
        headline: The slice shown first, as (slice, value); None for the whole.
        threshold: From which similarity on a result is relevant, for relevance rules of similarity.
        applies: Cut-offs that only some items have a value at, as (metric, k, column of items, its value).
        full_lists: A list that is shorter than k, although its pool is not, scores 0 at k.
        parity_only: Scored to be compared with published numbers, never shown on a leaderboard.
        context: How gathered contexts are read, where the protocol scores those: every run of its tasks, rankings too.
        like: Of own data, the declared protocol whose rules it has.
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
        """The declared protocol whose rules these are, and whose seal they have."""
        return self.like or self

    @property
    def over_items(self) -> bool:
        """Whether intervals and tests always go over items: own data stands for no other repositories."""
        return self.like is not None

    def under(self, benchmark: str) -> "Protocol":
        """The protocol under the name of an own benchmark."""
        return replace(
            self,
            name=f"{benchmark}@{self.name.partition('@')[2]}",
            title=f"{benchmark}, by the rules of {self.title}",
            tasks=tuple(f"{benchmark}/{task.partition('/')[2]}" for task in self.tasks),
            like=self,
        )
