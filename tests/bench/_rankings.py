"""A made-up ranking and its relevance judgements as Parquet: seeded, with ties, in no order within a query."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

DEPTH = 100
N_RELEVANT = 10
N_DOCUMENTS = 1_000_003
"""A prime, so that equal steps through the documents never meet the same one twice."""
SEED = 20_240_601

RANKING, RANKED, JUDGEMENTS = "ranking.parquet", "ranked.parquet", "judgements.parquet"
AT_ONCE = 10_000

Integers = npt.NDArray[np.int64]


def write(queries: str | int, folder: str | Path) -> None:
    """Write `queries` rankings of 100 results, the same with ranks, and ten relevant documents for each query."""
    draw, root = np.random.default_rng(SEED), Path(folder)
    parts = [_part(draw, start, min(AT_ONCE, int(queries) - start)) for start in range(0, int(queries), AT_ONCE)]
    ranking = pl.concat([ranking for ranking, _ in parts])
    ranking.write_parquet(root / RANKING)
    judgements = pl.concat([judged for _, judged in parts])
    judgements.write_parquet(root / JUDGEMENTS)
    ordered = ranking.with_columns(pl.col("score").cast(pl.Float32)).sort(
        "query", "score", "document", descending=[False, True, True]
    )
    rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("query")
    ordered.select("query", "document", rank.alias("rank")).write_parquet(root / RANKED)


def _part(draw: np.random.Generator, start: int, n: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    first = draw.integers(N_DOCUMENTS, size=(n, 1))
    step = draw.integers(1, N_DOCUMENTS, size=(n, 1))
    documents = (first + step * np.arange(DEPTH + N_RELEVANT)) % N_DOCUMENTS
    # Four digits tie some of a hundred scores, and Float32 ties none that they do not.
    scores = draw.random((n, DEPTH)).round(4)
    # Some relevant documents are returned and some are not; which, differs from query to query.
    places = draw.random((n, DEPTH + N_RELEVANT)).argpartition(N_RELEVANT, axis=1)[:, :N_RELEVANT]
    relevant = np.take_along_axis(documents, places, axis=1)
    queries = np.arange(start, start + n)
    ranking = _named(queries, documents[:, :DEPTH]).with_columns(score=pl.Series(scores.ravel()))
    return ranking, _named(queries, relevant)


def _named(queries: Integers, documents: Integers) -> pl.DataFrame:
    numbers = pl.DataFrame({"query": np.repeat(queries, documents.shape[1]), "document": documents.ravel()})
    return numbers.select(
        query="q" + pl.col("query").cast(pl.String).str.zfill(7),
        document="d" + pl.col("document").cast(pl.String).str.zfill(7),
    )
