"""Pools and queries made by hand, as retrievers take them."""

from collections.abc import Sequence

import numpy as np

from evaluate.retrievers import Floats, Pool, Queries, Span
from evaluate.systems import retriever_named
from evaluate.texts.tokens import Counted, Texts, Tokenizer, by_spelling, defined_names

Chunk = tuple[str, int, int]
"""Path, first line, line after the last."""


class _DefiningTexts(Texts):
    """Texts of which it is said what names each defines."""

    def __init__(self, texts: Sequence[str], names: Sequence[Sequence[str]]) -> None:
        super().__init__(texts)
        self._names = names

    def _count(self, tokens: Tokenizer) -> Counted:
        return by_spelling(self._names) if tokens is defined_names else super()._count(tokens)


def pool_of(chunks: Sequence[Chunk] = (), texts: Sequence[str] = (), names: Sequence[Sequence[str]] = ()) -> Pool:
    """A pool; `names` are those that each chunk defines."""
    chunks = chunks or [(f"{n}.py", 0, 1) for n in range(len(texts))]
    paths = [path for path, _, _ in chunks]
    return Pool(
        pool_id="pool",
        path=paths,
        chunk_no=np.array([paths[:n].count(path) for n, path in enumerate(paths)], dtype=np.int64),
        line_start=np.array([start for _, start, _ in chunks], dtype=np.int64),
        line_end=np.array([end for _, _, end in chunks], dtype=np.int64),
        n_file_lines=np.array([end for _, _, end in chunks], dtype=np.int64),
        text=_DefiningTexts(texts or [""] * len(chunks), names or [()] * len(chunks)),
    )


def queries_of(
    texts: Sequence[str] = ("",), *, targets: Sequence[tuple[str | None, int]] = (), gold: Sequence[Sequence[Span]] = ()
) -> Queries:
    n = max(len(texts), len(targets), len(gold))
    return Queries(
        item_id=[f"item/{row}" for row in range(n)],
        text=Texts([*texts, *[""] * (n - len(texts))]),
        target_path=[path for path, _ in targets] or [None] * n,
        target_line=np.array([line for _, line in targets] or [-1] * n, dtype=np.int64),
        gold=gold,
    )


def scores_of(name: str, pool: Pool, queries: Queries) -> Floats:
    return retriever_named(name).index(pool).search(queries).scores
