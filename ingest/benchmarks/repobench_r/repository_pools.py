"""The repositories that a benchmark's items come from, cloned to be searched whole, and where gold stands in them.

A benchmark that names no commits is searched at the head of each repository's default branch when it was first cloned.
The table `pools` keeps that commit, and it is fetched again wherever the files are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from ingest.benchmarks.declaration import Benchmark
from ingest.contents.blobs import BATCH_BYTES, Contents, joined, pool_batches, pool_rows
from ingest.outcome import Ingested
from ingest.sources.clones import reject_refused
from ingest.sources.git import Repositories
from ingest.sources.git_address import RepositoryError
from ingest.sources.git_objects import DamagedError
from lake.errors import MAX_EXAMPLES
from lake.fingerprint import fingerprint, sha256_of
from lake.rejects import Rejects
from lake.store import FORMAT_VERSION, Lake, Part
from lake.tables import table
from lake.text import counted, language_of

RULE = "repository"
"""The gold rule, and what its parts of `gold_spans` are called beside those of the items: `<part>.repository`."""

VERSION = 1
"""Raised whenever what is found in equal repositories may change."""

_WORD = re.compile(r"\S+")


def search_repositories(
    lake: Lake,
    benchmark: Benchmark,
    repositories: Repositories | None,
    contents: Contents,
    result: Ingested,
) -> None:
    """Clone what the benchmark's items come from, as far as it is not there, and find their gold in it.

    Without `repositories` nothing is cloned; what was cloned before is searched on.

    Args:
        lake: Where the items are, and where to.
        benchmark: It says under which prefix its repositories are pools; with none nothing is done.
        repositories: Where they are cloned from.
        contents: Stores what the files hold.
        result: Counts what could not be had.
    """
    if not benchmark.repository_pools:
        return
    wanted = (
        lake.scan("items", benchmark=benchmark.name)
        .filter("scorable")
        .group_by("repo")
        .agg(pl.col("language").unique().sort())
        .sort("repo")
        .collect()
    )
    if repositories is not None:
        repositories.expect(wanted.height)
        for repo, languages in wanted.iter_rows():
            rejects = Rejects()
            try:
                if _clone(lake, benchmark, repositories, repo, languages, contents, rejects):
                    continue
            except (RepositoryError, DamagedError) as error:
                rejects.add(f"repository {repo}", "the whole repository", str(error).splitlines()[0])
            made_of = fingerprint(FORMAT_VERSION, languages, [vars(one) for one in rejects])
            lake.write("rejects", rejects.frame("ingest"), part=_rejects_of(benchmark, repo), fingerprint=made_of)
    names = {_rejects_of(benchmark, repo) for repo in wanted["repo"]}
    refused = [part for part in lake.parts("rejects") if part.name.startswith(_rejects_of(benchmark, ""))]
    for stale in refused:
        if stale.name not in names:
            lake.remove(stale)
    if repositories is not None:
        kept = [part for part in refused if part.name in names]
        result.n_rejected += lake.scan_parts(kept, "rejects").collect().height
    for stored in lake.parts("items", benchmark=benchmark.name):
        _find_gold(lake, benchmark, stored)
    _forget_gold(lake, benchmark)
    if repositories is not None:
        result.notes += _notes(lake, benchmark, wanted["repo"].to_list())


def commits_of(lake: Lake, benchmark: Benchmark) -> dict[str, str]:
    """The repositories that stand as pools, and the commit of each."""
    folders = {"benchmark": benchmark.name, "kind": "searched"}
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
    made_of = fingerprint(FORMAT_VERSION, VERSION, list(table("files").columns), languages)
    folders = {"benchmark": benchmark.name, "kind": "searched"}
    if known and lake.is_current("files", _part_of(repo, known), fingerprint(made_of, known), **folders):
        held = lake.scan_parts([_stored(lake, benchmark, repo, known)], "files")
        lost = held.join(lake.scan("blobs").select("sha256"), on="sha256", how="anti")
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
    reject_refused(checkout, f"repository {repo}", rejects)
    for file in checkout.large:
        if language_of(file.path) in languages:
            rejects.add(f"repository {repo}", f"path {file.path}", "it is larger than 1 MB, and not searched")
    if files.is_empty():
        reason = f"it holds no file in {' or '.join(languages)} at {checkout.commit}"
        rejects.add(f"repository {repo}", "the whole repository", reason)
        return False
    stamp = fingerprint(made_of, checkout.commit)
    named = pl.DataFrame({"pool_id": [pool_id], "repo": [repo], "commit": [checkout.commit]})
    part = _part_of(repo, checkout.commit)
    lake.write("pools", pool_rows(files, named, **folders), part=part, fingerprint=stamp, **folders)
    lake.write("files", files, part=part, fingerprint=stamp, **folders)
    return False


def _part_of(repo: str, commit: str) -> str:
    return f"{RULE}.{repo}@{commit}"


def _rejects_of(benchmark: Benchmark, repo: str) -> str:
    return f"ingest-{benchmark.name}-{RULE}.{sha256_of(repo.encode())[:16] if repo else ''}"


def _stored(lake: Lake, benchmark: Benchmark, repo: str, commit: str) -> Part:
    part = lake.part("files", _part_of(repo, commit), benchmark=benchmark.name, kind="searched")
    assert part is not None  # no commit is told where it is not there
    return part


def _find_gold(lake: Lake, benchmark: Benchmark, stored: Part) -> None:
    """Where the gold snippets of one part's items stand in their repositories; no rows for what stands in none."""
    folders = {"benchmark": benchmark.name}
    name = f"{stored.name}.{RULE}"
    commits = commits_of(lake, benchmark)
    items = lake.scan_parts([stored], "items").filter("scorable")
    repos = [repo for repo in items.select("repo").unique().sort("repo").collect()["repo"] if repo in commits]
    gold, known = lake.part("gold_spans", stored.name, **folders), lake.part("gold_spans", name, **folders)
    if not repos or gold is None:
        if known is not None:
            lake.remove(known)
        return
    pools = [_stored(lake, benchmark, repo, commits[repo]) for repo in repos]
    made_of = fingerprint(VERSION, stored.fingerprint, gold.fingerprint, [(one.name, one.fingerprint) for one in pools])
    if known is not None and known.fingerprint == made_of:
        return
    snippets = (
        lake.scan_parts([gold], "gold_spans")
        .select("item_id", "path")
        .join(items.select("item_id", "pool_id", "repo", "target_path"), on="item_id")
        .join(lake.scan("files").select("pool_id", "path", "sha256"), on=["pool_id", "path"])
        .join(lake.scan("blobs").select("sha256", "text"), on="sha256")
        .select("repo", "item_id", "target_path", "text")
        .sort("item_id")
        .collect()
    )
    rows: list[dict[str, object]] = []
    for repo, pool in zip(repos, pools, strict=True):
        asked = snippets.filter(pl.col("repo") == repo).select("item_id", "target_path", "text").rows()
        for file in _searched(lake, pool):
            for item_id, own, snippet in asked:
                for path, start, end in occurrences(snippet, [file], own):
                    span = {"path": path, "line_start": start, "line_end": end}
                    rows.append({"benchmark": benchmark.name, "item_id": item_id, "gold": RULE, **span})
    frame = pl.DataFrame(rows, schema=table("gold_spans").columns)
    lake.write("gold_spans", frame, part=name, fingerprint=made_of, **folders)


def _searched(lake: Lake, pool: Part) -> Iterator[Normalised]:
    """A pool's files, some `BATCH_BYTES` of them in memory at a time."""
    sizes = lake.scan("blobs").select("sha256", "n_bytes")
    files = lake.scan_parts([pool], "files").select("path", "sha256").join(sizes, on="sha256").sort("path").collect()
    for _, batch in files.group_by(pl.col("n_bytes").cum_sum() // BATCH_BYTES, maintain_order=True):
        texts = lake.scan("blobs").select("sha256", "text").filter(pl.col("sha256").is_in(batch["sha256"].implode()))
        for path, text in batch.join(texts.collect(), on="sha256").select("path", "text").iter_rows():
            yield Normalised.of(path, text)


@dataclass(frozen=True)
class Normalised:
    """A file's words with single spaces between them, and the line each stands in.

    Attributes:
        path: The file.
        text: The words.
        line: The line of each word, from 0.
    """

    path: str
    text: str
    line: Sequence[int]

    @classmethod
    def of(cls, path: str, text: str) -> Normalised:
        """A file so."""
        words = [(word, number) for number, line in enumerate(text.split("\n")) for word in _WORD.findall(line)]
        return cls(path, " ".join(word for word, _ in words), [number for _, number in words])


def occurrences(snippet: str, files: Sequence[Normalised], own: str | None) -> Iterator[tuple[str, int, int]]:
    """Where a snippet first stands in each file but its item's own, whatever the white space: path, lines (half-open).

    A snippet without a word stands nowhere.
    """
    wanted = " ".join(_WORD.findall(snippet))
    for file in files if wanted else ():
        at = -1 if file.path == own else file.text.find(wanted)
        if at >= 0:
            first = file.text.count(" ", 0, at)
            yield file.path, file.line[first], file.line[first + wanted.count(" ")] + 1


def _forget_gold(lake: Lake, benchmark: Benchmark) -> None:
    """Take away what was found for items that the lake no longer holds."""
    names = {f"{part.name}.{RULE}" for part in lake.parts("items", benchmark=benchmark.name)}
    for part in lake.parts("gold_spans", benchmark=benchmark.name):
        if part.name.endswith(f".{RULE}") and part.name not in names:
            lake.remove(part)


def _notes(lake: Lake, benchmark: Benchmark, wanted: Sequence[str]) -> Iterator[str]:
    commits = commits_of(lake, benchmark)
    without = [repo for repo in wanted if repo not in commits]
    found = lake.scan("gold_spans", benchmark=benchmark.name).filter(pl.col("gold") == RULE).select("item_id").unique()
    items = lake.scan("items", benchmark=benchmark.name).filter("scorable").select("item_id", "repo").collect()
    n_gold = items.join(found.collect(), on="item_id", how="semi").height
    n_there = items.filter(pl.col("repo").is_in(list(commits))).height
    yield (
        f"{benchmark.display_name} in whole repositories: {n_gold:,} of {counted(items.height, 'item')} can be scored; "
        f"without a repository {items.height - n_there:,}, without gold in it {n_there - n_gold:,}"
    )
    if without:
        named = ", ".join(without[:MAX_EXAMPLES])
        yield f"{len(without):,} of {counted(len(wanted), 'repository')} could not be had: {named}; rejects says why"
