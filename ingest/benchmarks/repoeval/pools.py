"""RepoEval's pools: the repositories, the pools of the published code-chunk evaluation, and pools with added files."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, takewhile
from typing import TYPE_CHECKING

import dataframely as dy
import numpy as np
import polars as pl

from ingest.benchmarks.declaration import PoolGroup
from ingest.benchmarks.fields import FieldError, check
from ingest.contents.blobs import pool_frames
from ingest.rejects import Rejects
from ingest.sources.tree import Tree, UnreadableFileError
from lake.fingerprint import seeded_hash
from lake.limits import MAX_SOURCE_BYTES
from lake.tables import table
from lake.tables.ingested import Files

CODE_CHUNK_REPOS = (
    "amazon-science_patchcore-inspection", "deepmind_tracr", "facebookresearch_omnivore", "google_lightweight_mmm",
    "lucidrains_imagen-pytorch", "maxhumber_redframes",
)  # fmt: skip


def repositories_of(tree: Tree, folder: str, repos: set[str], rejects: Rejects) -> PoolGroup:
    """One pool for each repository of the tree; a single top folder around all repositories is ignored."""
    paths = [entry.path.rpartition("/")[0] for entry in tree.entries]
    above = os.path.commonpath(paths).split("/") if paths else []
    top = "".join(f"{folder}/" for folder in takewhile(lambda folder: folder not in {"", *repos}, above))

    def files() -> Iterator[tuple[str, str, bytes]]:
        for entry in sorted(tree.entries, key=lambda entry: entry.path):
            repo, _, path = entry.path.removeprefix(top).partition("/")
            if not entry.path.startswith(top) or not path:
                continue
            try:
                data = entry.read()
                too_large = f"it has {len(data):,} bytes; at most {MAX_SOURCE_BYTES:,} are read of a source file"
                check(len(data) <= MAX_SOURCE_BYTES, too_large)
                yield f"{folder}/{repo}", path, data
            except (FieldError, UnreadableFileError) as error:
                rejects.add(tree.location, f"entry {entry.path}", str(error))

    return PoolGroup(folder, *pool_frames(files()))


def published_pools(group: PoolGroup) -> PoolGroup:
    """The pools of the published code-chunk evaluation, none if one is missing; patchcore's `build/lib` comes first."""
    repo = pl.col("pool_id").str.split("/").list.last()
    files = group.files.filter(repo.is_in(CODE_CHUNK_REPOS)).with_columns(
        pool_id=pl.lit("code-chunk/") + repo, order=pl.lit(1)
    )
    if files["pool_id"].n_unique() < len(CODE_CHUNK_REPOS):
        # An empty part rather than none, so that one from an earlier source is replaced.
        files = files.clear()
    copied = files.filter(repo.str.ends_with("_patchcore-inspection"), pl.col("path").str.starts_with("src/"))
    built = copied.with_columns(path=pl.col("path").str.replace("^src/", "build/lib/"), order=pl.lit(0))
    ordered = pl.concat([built, files]).sort("pool_id", "order", "path")
    position = pl.int_range(pl.len(), dtype=pl.Int64).over("pool_id")
    stored = Files.cast(ordered.with_columns(position=position))
    return PoolGroup("code-chunk", stored, group.blobs.clear())


if TYPE_CHECKING:
    from scipy import sparse

HARD, VECTORS, RANDOM, WITH = "hard", "vectors", "random", "with-"
CONSTRUCTED_POOLS: Mapping[str, str] = {
    HARD: "hard-negatives",
    VECTORS: "vector-negatives",
    RANDOM: "random-negatives",
    **{f"{WITH}{n}": f"{WITH}{n}" for n in (1, 4, 16)},
}
"""Kind of pool → the part that holds the pools of this kind of all repositories; pool ids are `<kind>/<repository>`."""

_WORD = re.compile(r"\w+")
_NO_WORD = str.maketrans({chr(code): " " for code in range(128) if not _WORD.match(chr(code))})
_K1, _B = 1.5, 0.75


@dataclass(frozen=True)
class DocumentWords:
    """The words of contents: `terms` numbers them, `counts` has a row per content, `row_of` maps sha256 to row."""

    terms: Mapping[str, int]
    counts: sparse.csr_array
    row_of: Mapping[str, int]

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> DocumentWords:
        """The words of all texts that are not blank; `texts` is sha256 → text."""
        contents = sorted({sha256 for sha256, text in texts.items() if text.strip()})
        counted = [_count(texts[sha256]) for sha256 in contents]
        terms = {word: number for number, word in enumerate(dict.fromkeys(chain.from_iterable(counted)))}
        return cls(terms, _matrix(counted, terms), {sha256: number for number, sha256 in enumerate(contents)})


def _matrix(counted: Sequence[Mapping[str, int]], terms: Mapping[str, int]) -> sparse.csr_array:
    """The counts of documents' words as a matrix (documents, terms); words that are no terms are left out."""
    # Imported when needed: the import takes a tenth of a second.
    from scipy import sparse

    known = [[(terms[word], n) for word, n in counts.items() if word in terms] for counts in counted]
    columns, values = np.array([*chain.from_iterable(known)], np.int64).reshape(-1, 2).T
    starts = np.cumsum([0, *map(len, known)])
    return sparse.csr_array((values.astype(np.float64), columns, starts), shape=(len(known), len(terms)))


def _count(text: str) -> Counter[str]:
    r"""How often a text has each word (`\w+`, in lower case); ASCII is split at blanks, in a quarter of the time."""
    lower = text.lower()
    return Counter(lower.translate(_NO_WORD).split() if lower.isascii() else _WORD.findall(lower))


def constructed_pools(group: PoolGroup, items: pl.DataFrame) -> list[PoolGroup]:
    """Pools of each constructed kind: a repository with files of others; none without other repositories or tasks."""
    prompts = items.group_by("repo").agg("prompt").rows()
    repo = pl.col("pool_id").str.split("/").list.last()
    has_others = group.files["pool_id"].n_unique() > 1
    words = DocumentWords.of(dict(group.blobs.select("sha256", "text").iter_rows()) if has_others else {})
    pools = []
    for kind, part in CONSTRUCTED_POOLS.items():
        files = group.files.with_columns(pool_id=pl.lit(f"{kind}/") + repo)
        queries = {f"{kind}/{name}": texts for name, texts in prompts}
        pools.append(PoolGroup(part, with_others(files, words, queries, kind), group.blobs.clear()))
    return pools


def with_others(
    files: pl.DataFrame, words: DocumentWords, queries: Mapping[str, Sequence[str]], kind: str
) -> dy.DataFrame[Files]:
    """Pools with files of other pools added at their end; a pool without queries, or without other pools, is left out.

    Hard, vector and random negatives, as many as the pool has files, are those of all other pools that rank highest for
    any of its queries by BM25 or by the cosine of TF-IDF vectors, or random ones. `with-<n>` adds all files of n other
    pools, which a larger n includes. A content is added once, and never if it is blank or the pool has it.
    """
    pools: dict[str, dict[str, str]] = {}
    for pool_id, path, sha256 in files.select("pool_id", "path", "sha256").iter_rows():
        pools.setdefault(pool_id, {})[path] = sha256
    rows: list[tuple[str, str, str, int]] = []
    for pool_id in sorted(set(pools) & set(queries)):
        own, contents = pools[pool_id], set(pools[pool_id].values())
        others = [pool for pool in pools if pool != pool_id and not contents.issuperset(pools[pool].values())]
        if kind.startswith(WITH):
            # The order of the other pools depends on the repository alone, so it is the same for every kind.
            repo = pool_id.rpartition("/")[2]
            others.sort(key=lambda other: (seeded_hash(repo, other.rpartition("/")[2]), other))
            others = others[: int(kind.removeprefix(WITH))]
        prefix = "other"
        while any(path.startswith(f"{prefix}/") for path in own):
            prefix += "_"
        # A content with several paths gets the first.
        places: dict[str, str] = {}
        for pool in sorted(others, key=list(pools).index):
            for path, sha256 in pools[pool].items():
                if sha256 not in contents and sha256 in words.row_of:
                    places.setdefault(sha256, f"{prefix}/{pool.rpartition('/')[2]}/{path}")
        # By lot, which decides between equal ranks.
        ranked = sorted(places, key=partial(seeded_hash, f"repoeval/{pool_id}"))
        if kind in (HARD, VECTORS) and places:
            counts = words.counts[[words.row_of[sha256] for sha256 in ranked]]
            weights, of_queries = _weights(kind, counts, _matrix([*map(_count, queries[pool_id])], words.terms))
            # Rounded, so that the order in which a machine adds numbers does not matter.
            scores = np.round((weights @ of_queries.T).toarray(), 6)
            by_query = np.argsort(np.argsort(-scores, axis=0, kind="stable"), axis=0)
            # A document that shares no word with a query ranks last for it.
            ranks = np.where(scores > 0, by_query, len(ranked)).min(axis=1)
            ranked = [ranked[number] for number in np.argsort(ranks, kind="stable")]
        n_added = len(places) if kind.startswith(WITH) else len(own)
        added = sorted((places[sha256], sha256) for sha256 in ranked[:n_added])
        for position, (path, sha256) in enumerate([*own.items(), *added] if added else []):
            rows.append((pool_id, path, sha256, position))
    return Files.cast(pl.DataFrame(rows, table("files").columns, orient="row"))


def _weights(
    kind: str, counts: sparse.csr_array, queries: sparse.csr_array
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """The weights of words in documents and in queries, whose products order documents by BM25 or by TF-IDF cosine."""
    n_documents, having = counts.shape[0], np.bincount(counts.indices, minlength=counts.shape[1])
    weights, query_weights = counts.copy(), queries.copy()
    if kind == HARD:
        lengths = counts.sum(axis=1)
        damped = _K1 * (1 - _B + _B * lengths / lengths.mean())
        weights.data = counts.data * (_K1 + 1) / (counts.data + np.repeat(damped, np.diff(counts.indptr)))
        query_weights.data = queries.data * np.log1p((n_documents - having + 0.5) / (having + 0.5))[queries.indices]
        return weights, query_weights
    rarity = np.log((1 + n_documents) / (1 + having)) + 1
    weights.data = (1 + np.log(counts.data)) * rarity[counts.indices]
    query_weights.data = (1 + np.log(queries.data)) * rarity[queries.indices]
    lengths = np.sqrt(weights.multiply(weights).sum(axis=1))
    weights.data /= np.repeat(np.maximum(lengths, 1e-12), np.diff(counts.indptr))
    return weights, query_weights
