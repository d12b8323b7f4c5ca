"""ContextBench's task and protocols. Gold: the code that an issue needs. Answer: the context that was gathered."""

from lake.catalog.protocol import BUDGETS, DEPTHS, DOCS_CONTEXTS, OFFICIAL_CONTEXTS, WHOLE, Primary, Protocol, Task, at

CONTEXTBENCH_ISSUE = Task(
    name="contextbench/issue",
    benchmark="contextbench",
    title="The issue against its repository",
    meaning="The issue is the query; the repository as it stood before the fix is searched, or an agent works in it.",
    query="problem-statement",
    query_meaning="the problem statement",
    pool_meaning="the repository's files of known languages, up to 1 MB each",
    answered_by=("ranking", "trajectory"),
    without=("own-file",),
)

_SETS = ("file", "symbol", "span")
_PATHS = tuple(f"{of}_{metric}" for of in (*_SETS, "line") for metric in ("auc", "redundancy"))
"""Metrics of an agent's steps before its final context."""

CONTEXTS = Protocol(
    name="contextbench@docs-v1",
    title="ContextBench",
    meaning="Does an answer hold what the issue needs, and little else? The files, definitions, bytes and lines of the "
    "final context and of each step are compared with the gold context, and the edited lines with the gold patch's. A "
    "ranking's final context is its first 8,000 non-whitespace characters, its steps are its first 20 results.",
    tasks=("contextbench/issue",),
    gold="context",
    relevance="line-overlap",
    metrics=(
        *((f"{of}_{metric}", (0, *DEPTHS)) for of in _SETS for metric in ("coverage", "precision", "f1")),
        *at((0, *BUDGETS), "line_coverage", "line_precision", "line_f1"),
        *at(WHOLE, "editloc_coverage", "editloc_precision", "editloc_f1", *_PATHS, "n_steps"),
    ),
    primary=Primary("line_f1", 0, "line", "macro"),
    source="The brief: ranges cut to the file, what is empty counting as such, every instance in the denominator, "
    "symbols by file and qualified name.",
    context=DOCS_CONTEXTS,
)

PUBLISHED = Protocol(
    name="contextbench@official-v1",
    title="ContextBench, as published",
    meaning="The numbers of the published evaluator, with all its conventions: an instance without a context is left "
    "out, an empty prediction is precise, and edits are compared with the gold context.",
    tasks=("contextbench/issue",),
    gold="context-official",
    relevance="line-overlap",
    metrics=(
        *((f"{of}_{metric}", WHOLE) for of in (*_SETS, "line") for metric in ("coverage", "precision")),
        *at(WHOLE, "editloc_coverage", "editloc_precision", *_PATHS, "n_steps"),
    ),
    primary=Primary("line_coverage", 0, "line", "micro"),
    source="The published evaluator: sizes, ratios, trajectories and error rows as its code gives them.",
    place=2,
    context=OFFICIAL_CONTEXTS,
)
