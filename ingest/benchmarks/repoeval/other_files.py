"""RepoEval's constructed pools: each repository among files of the others, drawn, alike, or all files of some."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from ingest.benchmarks.declaration import PoolGroup
from ingest.benchmarks.repoeval.tasks import Task
from lake.selection import seeded_hash

HARD, VECTORS, RANDOM, WITH = "hard", "vectors", "random", "with-"
POOLS: Mapping[str, str] = {
    HARD: "hard-negatives",
    VECTORS: "vector-negatives",
    RANDOM: "random-negatives",
    **{f"{WITH}{n}": f"{WITH}{n}" for n in (1, 4, 16)},
}
"""Kind of pool, as its ids begin (`repoeval/<kind>/<repository>`) → the part that holds those of all repositories."""

_WORD = re.compile(r"\w+")
_K1, _B = 1.5, 0.75

Vector = npt.NDArray[np.float64]
Scores = Callable[[Vector], Vector]
"""How often each word stands in a query → how much each document is like it."""


@dataclass(frozen=True)
class Words:
    """The words of some contents, numbered: `row_of` a sha256, and how often each word stands in each (rows, words)."""

    terms: Mapping[str, int]
    counts: sparse.csr_array
    row_of: Mapping[str, int]

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> Words:
        """Those of the texts by sha256 that hold more than white space."""
        contents = sorted({sha256 for sha256, text in texts.items() if text.strip()})
        terms: dict[str, int] = {}
        counted = [Counter(_WORD.findall(texts[sha256].lower())) for sha256 in contents]
        for words in counted:
            for word in words:
                terms.setdefault(word, len(terms))
        columns = [terms[word] for words in counted for word in words]
        starts = np.cumsum([0, *map(len, counted)])
        values = [float(n) for words in counted for n in words.values()]
        counts = sparse.csr_array((values, columns, starts), shape=(len(contents), len(terms)))
        return cls(terms, counts, {sha256: number for number, sha256 in enumerate(contents)})

    def vector(self, text: str) -> Vector:
        """How often each of the words stands in a text."""
        words = [self.terms[word] for word in _WORD.findall(text.lower()) if word in self.terms]
        return np.bincount(words, minlength=len(self.terms)).astype(np.float64)


def constructed_pools(group: PoolGroup, tasks: Sequence[Task]) -> list[PoolGroup]:
    """Each repository among files of the others, of every kind; none of a repository without others or tasks."""
    prompts: dict[str, list[str]] = {}
    for task in tasks:
        prompts.setdefault(task.repo, []).append(task.prompt)
    repo = pl.col("pool_id").str.split("/").list.last()
    has_others = group.files["pool_id"].n_unique() > 1
    words = Words.of(dict(group.blobs.select("sha256", "text").iter_rows()) if has_others else {})
    pools = []
    for kind, part in POOLS.items():
        files = group.files.with_columns(pool_id=pl.lit(f"repoeval/{kind}/") + repo)
        queries = {f"repoeval/{kind}/{name}": texts for name, texts in prompts.items()}
        pools.append(PoolGroup(part, with_others(files, words, queries, kind), group.blobs.clear()))
    return pools


def with_others(files: pl.DataFrame, words: Words, queries: Mapping[str, Sequence[str]], kind: str) -> pl.DataFrame:
    """Pools with files of the other pools at their end.

    A pool is given as many files as it has: those that rank highest for any of its queries, by BM25 or by the cosine of
    TF-IDF vectors over the files of all other pools, or by lot; or all files of so many other pools, drawn by a seed,
    each number's among the next one's. Where two rank or score alike, a seeded hash of pool and content decides. Each
    content comes in once, and none that the pool has itself or that holds nothing but white space. Their paths begin
    with `other/` and the name of their repository, and so are those of none of its own files. A pool without queries,
    or without others, is left out.

    Args:
        files: Rows of table `files`; a pool's repository is what stands behind the last `/` of its name.
        words: Of all their contents.
        queries: Pool → what is searched for in it.
        kind: One of POOLS.
    """
    frames = [files.clear()]
    for pool_id in sorted(set(files["pool_id"]) & set(queries)):
        own = files.filter(pool_id=pool_id)
        others = files.filter(pl.col("pool_id") != pool_id, ~pl.col("sha256").is_in(own["sha256"].implode()))
        n_added = own.height
        if kind.startswith(WITH):
            others = others.filter(pl.col("pool_id").is_in(_drawn(pool_id, others, int(kind.removeprefix(WITH)))))
            n_added = others.height
        # The first place of a content is the one that is taken.
        candidates = others.filter(pl.col("sha256").is_in(list(words.row_of)))
        candidates = candidates.unique("sha256", keep="first", maintain_order=True)
        lot = np.array([seeded_hash(pool_id, sha256) for sha256 in candidates["sha256"]], dtype=np.int64)
        ranks = np.zeros(candidates.height, np.int64)
        if kind in (HARD, VECTORS) and candidates.height:
            counts = words.counts[[words.row_of[sha256] for sha256 in candidates["sha256"]]]
            scores = bm25(counts) if kind == HARD else cosine(counts)
            ranks = _best_ranks(scores, [words.vector(query) for query in queries[pool_id]], lot)
        prefix = _unused("other", own["path"])
        repo = pl.col("pool_id").str.split("/").list.last()
        added = (
            candidates.with_columns(rank=pl.Series(ranks), lot=pl.Series(lot))
            .sort("rank", "lot", "sha256")
            .head(n_added)
            .with_columns(path=pl.concat_str(pl.lit(f"{prefix}/"), repo, pl.lit("/"), pl.col("path")))
            .sort("path")
            .with_columns(pool_id=pl.lit(pool_id), position=pl.int_range(pl.len(), dtype=pl.Int64) + own.height)
        )
        frames += [own, added.select(files.columns)] if added.height else []
    return pl.concat(frames)


def _drawn(pool_id: str, others: pl.DataFrame, n: int) -> list[str]:
    """So many of the other pools; of all kinds of pools a repository has the same order of the others."""
    repo = pool_id.rpartition("/")[2]
    pools = others["pool_id"].unique().to_list()
    return sorted(pools, key=lambda other: (seeded_hash(repo, other.rpartition("/")[2]), other))[:n]


def _unused(name: str, paths: pl.Series) -> str:
    """A folder's name that none of some paths begins with."""
    while paths.str.starts_with(f"{name}/").any():
        name += "_"
    return name


def bm25(counts: sparse.csr_array) -> Scores:
    """BM25 of some documents, k1 1.5 and b 0.75."""
    n_documents = counts.shape[0]
    lengths = counts.sum(axis=1)
    having = np.bincount(counts.indices, minlength=counts.shape[1])
    rarity = np.log1p((n_documents - having + 0.5) / (having + 0.5))
    weights = counts.copy()
    damped = _K1 * (1 - _B + _B * lengths / lengths.mean())
    weights.data = counts.data * (_K1 + 1) / (counts.data + np.repeat(damped, np.diff(counts.indptr)))
    return lambda query: weights @ (query * rarity)


def cosine(counts: sparse.csr_array) -> Scores:
    """The cosine of TF-IDF vectors of some documents, terms damped by 1 + log, times the query's own length."""
    having = np.bincount(counts.indices, minlength=counts.shape[1])
    rarity = np.log((1 + counts.shape[0]) / (1 + having)) + 1
    weights = counts.copy()
    weights.data = (1 + np.log(counts.data)) * rarity[counts.indices]
    lengths = np.sqrt(weights.multiply(weights).sum(axis=1))
    weights.data /= np.repeat(np.maximum(lengths, 1e-12), np.diff(counts.indptr))
    return lambda query: weights @ (np.where(query > 0, 1 + np.log(np.maximum(query, 1)), 0) * rarity)


def _best_ranks(score: Scores, queries: Sequence[Vector], lot: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The best rank of each document for any query, from 0; of those that score alike the lesser lot comes first."""
    n_documents = len(lot)
    best = np.full(n_documents, n_documents, np.int64)
    for query in queries:
        # Rounded, so that the order in which a machine adds decides nothing.
        scores = np.round(score(query), 6)
        order = np.lexsort((lot, -scores))
        # What shares no word with a query is not like it.
        best[order] = np.minimum(best[order], np.where(scores[order] > 0, np.arange(n_documents), n_documents))
    return best
