"""Whole repositories as what items search: cloned where that is asked for, and where the items' gold stands in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from ingest.benchmarks.declaration import Benchmark
from ingest.benchmarks.repobench_r.repository_pools import RULE, clone_repositories, commits_of, files_at
from ingest.contents.blobs import BATCH_BYTES, Contents
from ingest.sources.git import Repositories
from lake.errors import MAX_EXAMPLES
from lake.make import product_of
from lake.outcome import Outcome
from lake.store import Lake, Part
from lake.tables import table
from lake.text import counted

_WORD = re.compile(r"\S+")


def search_repositories(
    lake: Lake,
    benchmark: Benchmark,
    repositories: Repositories | None,
    contents: Contents,
    result: Outcome,
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
    items = lake.scan("items", benchmark=benchmark.name).filter("scorable")
    wanted = items.group_by("repo").agg(pl.col("language").unique().sort()).sort("repo").collect()
    refused = clone_repositories(lake, benchmark, repositories, wanted, contents)
    names = [_find_gold(lake, benchmark, stored) for stored in lake.parts("items", benchmark=benchmark.name)]
    for part in lake.parts("gold_spans", benchmark=benchmark.name):
        if part.name.endswith(f".{RULE}") and part.name not in names:
            lake.remove(part)
    if repositories is not None:
        result.rejected += lake.scan_parts(refused, "rejects").collect().height
        result.notes += _notes(lake, benchmark, wanted["repo"].to_list())


def _find_gold(lake: Lake, benchmark: Benchmark, items: Part) -> str:
    """Find where the gold of one part's items stands in their repositories; that part's name, empty for none."""
    folders = {"benchmark": benchmark.name}
    repos = set(lake.scan_parts([items], "items").filter("scorable").select("repo").collect()["repo"])
    stored = {
        repo: lake.part("files", files_at(repo, commit), kind="searched", **folders)
        for repo, commit in commits_of(lake, benchmark).items()
        if repo in repos
    }
    pools = {repo: part for repo, part in stored.items() if part is not None}
    gold = lake.part("gold_spans", items.name, **folders)
    if not pools or gold is None:
        return ""
    product = product_of(
        lake,
        "gold_spans",
        part=f"{items.name}.{RULE}",
        inputs=[items, gold, *pools.values()],
        code=[gold_in],
        **folders,
    )
    product.make(lambda: gold_in(lake, benchmark.name, items, gold, pools))
    return f"{items.name}.{RULE}"


def gold_in(lake: Lake, benchmark: str, stored: Part, gold: Part, pools: Mapping[str, Part]) -> pl.DataFrame:
    """Where the gold snippets of some items stand in their repositories; no rows for what stands in none.

    Args:
        lake: Where all is.
        benchmark: Whose items they are.
        stored: The items.
        gold: Their gold among the candidates.
        pools: Repository → its files.
    """
    items = lake.scan_parts([stored], "items").filter("scorable")
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
    for repo, pool in pools.items():
        asked = snippets.filter(pl.col("repo") == repo).select("item_id", "target_path", "text").rows()
        for file in _searched(lake, pool):
            for item_id, own, snippet in asked:
                for path, start, end in occurrences(snippet, [file], own):
                    span = {"path": path, "line_start": start, "line_end": end}
                    rows.append({"benchmark": benchmark, "item_id": item_id, "gold": RULE, **span})
    return pl.DataFrame(rows, schema=table("gold_spans").columns)


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
