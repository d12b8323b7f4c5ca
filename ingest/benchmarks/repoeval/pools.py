"""RepoEval's pools: each repository, and those of the published code-chunk evaluation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import polars as pl

from ingest.benchmarks.declaration import PoolGroup
from ingest.contents.blobs import pool_frames
from ingest.sources.tree import Entry, Tree, UnreadableEntryError
from lake.limits import MAX_POOL_LINES
from lake.rejects import Rejects

CODE_CHUNK_REPOS = (
    "amazon-science_patchcore-inspection",
    "deepmind_tracr",
    "facebookresearch_omnivore",
    "google_lightweight_mmm",
    "lucidrains_imagen-pytorch",
    "maxhumber_redframes",
)
"""The repositories of the published code-chunk evaluation."""


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
