"""RepoBench-R's tasks and protocols: gold is a candidate snippet; relevant is that candidate, or a similar chunk."""

from dataclasses import replace

from lake.catalog.protocol import WHOLE, Primary, Protocol, Task, at

REPOBENCH_OFFICIAL = Task(
    name="repobench-r/official",
    benchmark="repobench-r",
    title="The last lines against the candidates",
    meaning="The three lines before the next one are the query, without imports; the row's candidates are ranked "
    "whole. Equal scores keep the candidates' own order.",
    query="last-3-lines",
    query_meaning="the last three lines of the code, a trailing newline counting as a line",
    pool_meaning="the row's candidates, blank ones too",
    tie="pool",
    depth=None,
    ranks_blank=True,
    without=("own-file",),
    chunkers=("whole-file",),
    version=2,
)

REPOBENCH_CHUNKS = Task(
    name="repobench-r/chunks",
    benchmark="repobench-r",
    title="Imports and code against the candidates' chunks",
    meaning="The imports and all code before the next line are the query; the chunks of the candidates are ranked.",
    query="imports-and-code",
    query_meaning="the import statements, an empty line, and the code",
    pool_meaning="the chunks of the row's candidates",
    depth=None,
    without=("own-file",),
)

_PRIMARY = Primary("accuracy", 1, "chunk", "macro")
_HEADLINE = ("subset/split/level", "python_cff/test/hard")

OFFICIAL = Protocol(
    name="repobench-r@official-v1",
    title="RepoBench-R, as published",
    meaning="Does the ranking put the snippet that the next line uses first? The candidates are ranked whole, and one "
    "of them is right: among 5 to 9 at level easy, among 10 or more at level hard.",
    tasks=("repobench-r/official",),
    gold="candidate",
    relevance="same-candidate",
    metrics=(("accuracy", (1, 3, 5)), *at(WHOLE, "correct", "found_rank", "best_similarity")),
    primary=_PRIMARY,
    headline=_HEADLINE,
    source="RepoBench's accuracy at 1 and 3 (easy), at 1, 3 and 5 (hard), by the index of the gold snippet. A list "
    "shorter than k, which its code refuses, scores 0 at k.",
    applies=(("accuracy", 5, "level", "hard"),),
    full_lists=True,
    place=0,
)

REPOBENCH_CHUNKING = Protocol(
    name="repobench-r@chunking-v1",
    title="RepoBench-R, re-chunked, by shared tokens",
    meaning="Does retrieval over re-cut snippets bring back one that is nearly the gold snippet? A chunk is relevant "
    "when it shares at least seven tenths of the tokens in either.",
    # The second task no longer exists, but its name is part of the protocol's seal.
    tasks=("repobench-r/chunks", "repobench-r/repository"),
    gold="candidate",
    relevance="jaccard",
    metrics=(
        ("accuracy", (1, 3, 5)),
        *at((5,), "precision", "recall"),
        ("mrr", (10,)),
        ("reachable", WHOLE),
        ("accuracy_reachable", (1, 3, 5)),
        ("boundary_similarity", WHOLE),
        ("non_gold_share", (5,)),
        *at(WHOLE, "correct", "found_rank", "best_similarity"),
    ),
    primary=_PRIMARY,
    headline=_HEADLINE,
    source="The brief: Jaccard of the tokens between white space, of a chunk and the gold snippet, at least 0.7; 0 for "
    "two empty texts.",
    threshold=0.7,
)

IDENTIFIER = replace(
    REPOBENCH_CHUNKING,
    name="repobench-r@identifier-v1",
    title="RepoBench-R, re-chunked, by shared identifiers",
    meaning="Does retrieval over re-cut snippets bring back a part of the gold snippet? A chunk is relevant when at "
    "least seven tenths of its identifiers are in the gold snippet.",
    relevance="identifier-overlap",
    metrics=tuple(metric for metric in REPOBENCH_CHUNKING.metrics if metric[0] != "boundary_similarity"),
    source="The brief's fallback: identifiers of a chunk that the gold snippet has too, over those of the chunk. It "
    "names no threshold; 0.7 is ours.",
)
