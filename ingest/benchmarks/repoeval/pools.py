"""RepoEval's pools: each repository, those of the published code-chunk evaluation, and each among files of others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from ingest.benchmarks.declaration import PoolGroup
from ingest.benchmarks.repoeval.tasks import Task
from ingest.contents.blobs import pool_frames
from ingest.sources.tree import Entry, Tree, UnreadableEntryError
from lake.limits import MAX_POOL_LINES
from lake.rejects import Rejects
from lake.sampling import seeded_hash

CODE_CHUNK_REPOS = (
    "amazon-science_patchcore-inspection",
    "deepmind_tracr",
    "facebookresearch_omnivore",
    "google_lightweight_mmm",
    "lucidrains_imagen-pytorch",
    "maxhumber_redframes",
)
"""The repositories of the published code-chunk evaluation."""

_WORD = re.compile(r"\w+")
_K1, _B = 1.5, 0.75


def repositories_of(tree: Tree, folder: str, repos: set[str], rejects: Rejects) -> PoolGroup:
    """Every repository of the tree; a top folder around them all is seen through."""
    top = _around(tree.entries, repos)

    def files() -> Iterator[tuple[str, str, bytes]]:
        n_lines = 0
        for entry in sorted(tree.entries, key=lambda entry: entry.path):
            repo, _, path = entry.path.removeprefix(top).partition("/")
            if not entry.path.startswith(top) or not path:
                continue
            try:
                data = entry.read()
            except UnreadableEntryError as error:
                rejects.add(tree.location, f"entry {entry.path}", f"cannot be read: {error.reason}")
                continue
            n_lines += data.count(b"\n")
            if n_lines > MAX_POOL_LINES:
                reason = f"the files before it have the {MAX_POOL_LINES:,} lines that are read in all"
                rejects.add(tree.location, f"entry {entry.path}", reason)
                continue
            yield f"repoeval/{folder}/{repo}", path, data

    stored, blobs = pool_frames(files())
    return PoolGroup(folder, stored, blobs)


def published_pools(group: PoolGroup) -> list[PoolGroup]:
    """The pools of the published code-chunk evaluation, if all are there; patchcore's built package comes first."""
    repo = pl.col("pool_id").str.split("/").list.last()
    files = group.files.filter(repo.is_in(CODE_CHUNK_REPOS)).with_columns(
        pool_id=pl.lit("repoeval/code-chunk/") + repo, order=pl.lit(1)
    )
    if files["pool_id"].n_unique() < len(CODE_CHUNK_REPOS):
        # No rows rather than no part, so that those of an earlier source do not stay.
        files = files.clear()
    copied = files.filter(repo.str.ends_with("_patchcore-inspection"), pl.col("path").str.starts_with("src/"))
    built = copied.with_columns(path=pl.col("path").str.replace("^src/", "build/lib/"), order=pl.lit(0))
    ordered = pl.concat([built, files]).sort("pool_id", "order", "path")
    position = pl.int_range(pl.len(), dtype=pl.Int64).over("pool_id")
    stored = ordered.with_columns(position=position).select(group.files.columns)
    return [PoolGroup("code-chunk", stored, group.blobs.clear())]


def hard_pools(group: PoolGroup, tasks: Sequence[Task]) -> PoolGroup:
    """Each repository among the files of the others that are most like its prompts."""
    prompts: dict[str, list[str]] = {}
    for task in tasks:
        prompts.setdefault(f"repoeval/hard/{task.repo}", []).append(task.prompt)
    repo = pl.col("pool_id").str.split("/").list.last()
    files = group.files.with_columns(pool_id=pl.lit("repoeval/hard/") + repo)
    texts = dict(group.blobs.select("sha256", "text").iter_rows())
    return PoolGroup("hard-negatives", with_hard_negatives(files, texts, prompts), group.blobs.clear())


def _around(entries: Sequence[Entry], repos: set[str]) -> str:
    """The folders around the repositories that the tasks name: nothing, or an extra top folder such as in some zips."""
    counts = Counter(
        "".join(f"{folder}/" for folder in folders[:depth])
        for entry in entries
        for folders in [entry.path.split("/")[:-1]]
        for depth, folder in enumerate(folders[:3])
        if folder in repos
    )
    return min(counts, key=lambda top: (-counts[top], top)) if counts else ""


def with_hard_negatives(
    files: pl.DataFrame, texts: Mapping[str, str], queries: Mapping[str, Sequence[str]]
) -> pl.DataFrame:
    """Pools with as many files again, of the other pools, as each has: `files` with those added at its end.

    A pool is given the files that rank highest for any of its queries by BM25 over the files of all other pools; where
    two rank alike, and where they score alike, a seeded hash of pool and content decides. Each content comes in once,
    and none that the pool has itself or that holds nothing but white space. Their paths begin with `other/` and the
    name of their repository, and so are those of none of its own files. A pool without queries, or without others, is
    left out.

    Args:
        files: Rows of table `files`; a pool's repository is what stands behind the last `/` of its name.
        texts: sha256 → text, of all of them.
        queries: Pool → what is searched for in it.
    """
    contents = sorted({sha256 for sha256, text in texts.items() if text.strip()})
    row_of = {sha256: number for number, sha256 in enumerate(contents)}
    terms, counts = _counted([texts[sha256] for sha256 in contents])
    frames = [files.clear()]
    for pool_id in sorted(set(files["pool_id"]) & set(queries)):
        own = files.filter(pool_id=pool_id)
        others = files.filter(pl.col("pool_id") != pool_id, ~pl.col("sha256").is_in(own["sha256"].implode()))
        # The first place of a content is the one that is taken.
        candidates = others.filter(pl.col("sha256").is_in(contents)).unique("sha256", keep="first", maintain_order=True)
        rows = [row_of[sha256] for sha256 in candidates["sha256"]]
        lot = np.array([seeded_hash(pool_id, sha256) for sha256 in candidates["sha256"]], dtype=np.int64)
        ranks = _best_ranks(counts[rows], [_vector(terms, query) for query in queries[pool_id]], lot)
        prefix = _unused("other", own["path"])
        repo = pl.col("pool_id").str.split("/").list.last()
        added = (
            candidates.with_columns(rank=pl.Series(ranks), lot=pl.Series(lot))
            .sort("rank", "lot", "sha256")
            .head(own.height)
            .with_columns(path=pl.concat_str(pl.lit(f"{prefix}/"), repo, pl.lit("/"), pl.col("path")))
            .sort("path")
            .with_columns(pool_id=pl.lit(pool_id), position=pl.int_range(pl.len(), dtype=pl.Int64) + own.height)
        )
        frames += [own, added.select(files.columns)] if added.height else []
    return pl.concat(frames)


def _unused(name: str, paths: pl.Series) -> str:
    """A folder's name that none of some paths begins with."""
    while paths.str.starts_with(f"{name}/").any():
        name += "_"
    return name


def _counted(texts: Sequence[str]) -> tuple[dict[str, int], sparse.csr_array]:
    """The words of some texts, numbered, and how often each stands in each: (texts, words)."""
    terms: dict[str, int] = {}
    counted = [Counter(_WORD.findall(text.lower())) for text in texts]
    for words in counted:
        for word in words:
            terms.setdefault(word, len(terms))
    columns = [terms[word] for words in counted for word in words]
    starts = np.cumsum([0, *map(len, counted)])
    values = [float(n) for words in counted for n in words.values()]
    return terms, sparse.csr_array((values, columns, starts), shape=(len(texts), len(terms)))


def _vector(terms: Mapping[str, int], text: str) -> npt.NDArray[np.float64]:
    words = [terms[word] for word in _WORD.findall(text.lower()) if word in terms]
    return np.bincount(words, minlength=len(terms)).astype(np.float64)


def _best_ranks(
    counts: sparse.csr_array, queries: Sequence[npt.NDArray[np.float64]], lot: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The best rank of each document for any query, from 0; of those that score alike the lesser lot comes first."""
    n_documents = counts.shape[0]
    if not n_documents:
        return np.zeros(0, np.int64)
    lengths = counts.sum(axis=1)
    having = np.bincount(counts.indices, minlength=counts.shape[1])
    rarity = np.log1p((n_documents - having + 0.5) / (having + 0.5))
    weights = counts.copy()
    damped = _K1 * (1 - _B + _B * lengths / lengths.mean())
    weights.data = counts.data * (_K1 + 1) / (counts.data + np.repeat(damped, np.diff(counts.indptr)))
    best = np.full(n_documents, n_documents, np.int64)
    for query in queries:
        # Rounded, so that the order in which a machine adds decides nothing.
        scores = np.round(weights @ (query * rarity), 6)
        order = np.lexsort((lot, -scores))
        # What shares no word with a query is not like it.
        best[order] = np.minimum(best[order], np.where(scores[order] > 0, np.arange(n_documents), n_documents))
    return best
