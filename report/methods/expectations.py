"""What was expected of the results before any was known: which chunkers, or which retrievers, do better than others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Expectation:
    """An order of some chunkers, or some retrievers, that was expected before any result was known.

    `part` is what differs between the two systems of a pair, `order` its names, the best first.
    """

    name: str
    meaning: str
    source: str
    protocols: Sequence[str]
    part: Literal["chunker", "retriever"]
    order: Sequence[str]
    how: str


EXPECTATIONS: Sequence[Expectation] = (
    Expectation(
        name="syntax-over-fixed",
        meaning="Chunks cut along the syntax tree are retrieved far better than chunks of a fixed size.",
        source="the published table of code-chunk on RepoEval",
        protocols=("repoeval@code-chunk-v1", "repoeval@chunking-v1"),
        part="chunker",
        order=("syntax-1500", "fixed-nws-1500"),
        how='`python -m evaluate --systems "syntax-1500+*,fixed-nws-1500+*"`',
    ),
    Expectation(
        name="dense-over-lexical",
        meaning="UniXcoder ranks candidates better than CodeBERT, and CodeBERT better than BM25.",
        source="the order that is expected of encoders on RepoBench-R",
        protocols=("repobench-r@official-v1",),
        part="retriever",
        order=("unixcoder", "codebert", "bm25-okapi"),
        how='`python -m evaluate --systems "whole-file+unixcoder,whole-file+codebert"`, with the extra `dense`',
    ),
)
