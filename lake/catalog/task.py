"""What a task is: a benchmark with what is searched for, where, and how equal scores are ordered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

TieRule = Literal["hash", "pool"]

AnswerKind = Literal["ranking", "completion", "trajectory"]
"""What a file made elsewhere holds: per item a list of documents, the text that a model wrote, or an agent's steps."""


@dataclass(frozen=True)
class Task:
    """A benchmark, a query rule, a pool rule and a tie rule; a run belongs to one.

    Attributes:
        query: What is searched for: the name of a query rule, by which the benchmark's reader writes `queries`.
        tie: How equal scores are ordered: by a seeded hash of item and chunk, or by the pool's own order.
        depth: How many results a built-in run keeps per item; None for all.
        pool_prefix: Pools of its own in place of the items'; items without one are not asked.
        pool_by: Which items share such a pool: those of a repository (`<prefix>/<repo>`), or those of a hole
            (`<prefix>/<repo>/<target path>:<target line>`).
        subsets: Where it has pools of its own, the subsets it asks.
        ranks_blank: What holds nothing but white space is ranked too, and scores 0, as everything does for a blank
            query; elsewhere it is in no pool, and items whose gold is so are not asked.
        answered_by: The kinds of files made elsewhere that answer it.
        runs: It runs always, or only where `--tasks` names it; then as long as the lake holds runs of it.
        imported_only: It is answered by what was made elsewhere; nothing here answers it.
        version: Raised whenever rankings may change.
        like: Of own data, the declared task whose rules it has.
    """

    name: str
    benchmark: str
    title: str
    meaning: str
    query: str
    query_meaning: str
    pool_meaning: str
    tie: TieRule
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

    def under(self, benchmark: str) -> Task:
        """The task under the name of an own benchmark, with pools of its own where it has such."""
        names = (f"{benchmark}/{name.partition('/')[2]}" if name else "" for name in (self.name, self.pool_prefix))
        name, pool_prefix = names
        return replace(self, name=name, pool_prefix=pool_prefix, benchmark=benchmark, like=self.name)
