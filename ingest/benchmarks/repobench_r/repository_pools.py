"""The repositories that a benchmark's items come from, cloned to be searched whole.

A benchmark that names no commits is searched at the head of each repository's default branch when it was first cloned.
The table `pools` keeps that commit, and it is fetched again wherever the files are.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ingest.benchmarks.declaration import Benchmark
from ingest.contents.blobs import Contents, joined, pool_batches, pool_rows
from ingest.sources.git import Repositories
from ingest.sources.git_address import RepositoryError
from lake.fingerprint import sha256_of
from lake.make import Product, product_of, put
from lake.rejects import Rejects
from lake.store import Lake, Part
from lake.text import language_of

RULE = "repository"
"""The gold rule, and what its parts of `gold_spans` are called beside those of the items: `<part>.repository`."""


def clone_repositories(
    lake: Lake, benchmark: Benchmark, repositories: Repositories | None, wanted: pl.DataFrame, contents: Contents
) -> list[Part]:
    """Clone repositories, as far as they are not there; where `rejects` says what of them could not be had.

    Args:
        lake: Where to.
        benchmark: It says under which prefix its repositories are pools.
        repositories: Where they are cloned from; without, what was cloned before is all there is.
        wanted: repo, and language: those its items are in.
        contents: Stores what the files hold.
    """
    first = f"ingest-{benchmark.name}-{RULE}."
    names = {repo: f"{first}{sha256_of(repo.encode())[:16]}" for repo in wanted["repo"]}
    if repositories is not None:
        repositories.expect(wanted.height)
        for repo, languages in wanted.iter_rows():
            rejects = Rejects()
            try:
                if _clone(lake, benchmark, repositories, repo, languages, contents, rejects):
                    continue
            except RepositoryError as error:
                rejects.add(f"repository {repo}", "the whole repository", error.what)
            put(lake, "rejects", names[repo], rejects.frame("ingest"))
    kept = []
    for part in lake.parts("rejects"):
        if part.name in names.values():
            kept.append(part)
        elif part.name.startswith(first):
            lake.remove(part)
    return kept


def commits_of(lake: Lake, benchmark: Benchmark) -> dict[str, str]:
    """The repositories that stand as pools, and the commit of each."""
    folders = _folders(benchmark)
    pools = [part for part in lake.parts("pools", **folders) if lake.part("files", part.name, **folders) is not None]
    is_whole = pl.col("pool_id") == pl.lit(f"{benchmark.repository_pools}/") + pl.col("repo")
    return dict(
        lake.scan_parts(pools, "pools").filter(is_whole).select("repo", "commit").sort("repo").collect().iter_rows()
    )


def _clone(
    lake: Lake,
    benchmark: Benchmark,
    repositories: Repositories,
    repo: str,
    languages: Sequence[str],
    contents: Contents,
    rejects: Rejects,
) -> bool:
    """Store a repository's files in the languages that its items are in; whether all of it was there already."""
    known = commits_of(lake, benchmark).get(repo)
    if known and (stored := _files(lake, benchmark, repo, known, languages)).is_current:
        lost = stored.scan("files").join(lake.scan("blobs").select("sha256"), on="sha256", how="anti")
        if lost.head(1).collect().is_empty():
            return True
    checkout = repositories.files(repo, known)
    chosen = [file for file in checkout.files if language_of(file.path) in languages]
    pool_id = f"{benchmark.repository_pools}/{repo}"
    parts = []
    for files, blobs in pool_batches((pool_id, file.path, data) for file, data in checkout.read(chosen)):
        parts.append(files)
        contents.write(blobs)
    files = joined(parts)
    checkout.reject_refused(f"repository {repo}", rejects)
    for file in checkout.large:
        if language_of(file.path) in languages:
            rejects.add(f"repository {repo}", f"path {file.path}", "it is larger than 1 MB, and not searched")
    if files.is_empty():
        reason = f"it holds no file in {' or '.join(languages)} at {checkout.commit}"
        rejects.add(f"repository {repo}", "the whole repository", reason)
        return False
    named = pl.DataFrame({"pool_id": [pool_id], "repo": [repo], "commit": [checkout.commit]})
    product = _files(lake, benchmark, repo, checkout.commit, languages)
    product.write(pool_rows(files, named, **_folders(benchmark)), files)
    return False


def _files(lake: Lake, benchmark: Benchmark, repo: str, commit: str, languages: Sequence[str]) -> Product:
    return product_of(
        lake,
        "pools",
        "files",
        part=files_at(repo, commit),
        inputs=(),
        parameters=[repo, commit, languages],
        code=[_clone],
        **_folders(benchmark),
    )


def _folders(benchmark: Benchmark) -> dict[str, str]:
    return {"benchmark": benchmark.name, "kind": "searched"}


def files_at(repo: str, commit: str) -> str:
    """What the part of a repository's files is called."""
    return f"{RULE}.{repo}@{commit}"
