import random
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from rank_bm25 import BM25Okapi

from ingest.benchmarks.repoeval import REPOEVAL
from ingest.benchmarks.repoeval.pools import HARD, RANDOM, VECTORS, WITH, DocumentWords, with_others
from ingest.pipeline import _declare
from ingest.sources.tree import Source
from lake.store import Lake
from lake.tables import table

Pools = Mapping[str, Mapping[str, str]]
"""Pool → path → text, which is its own hash here."""


def _hard(pools: Pools, queries: Mapping[str, Sequence[str]], kind: str = HARD) -> dict[str, list[tuple[str, str]]]:
    rows = [
        {"pool_id": pool, "path": path, "sha256": text, "position": position}
        for pool, held in pools.items()
        for position, (path, text) in enumerate(held.items())
    ]
    files = pl.DataFrame(rows, schema=table("files").columns)
    words = DocumentWords.of({text: text for text in files["sha256"]})
    mixed = with_others(files, words, queries, kind).sort("pool_id", "position")
    assert mixed.group_by("pool_id").agg((pl.col("position") == pl.int_range(pl.len())).all())["position"].all()
    held: dict[str, list[tuple[str, str]]] = {}
    for pool, path, text in mixed.select("pool_id", "path", "sha256").iter_rows():
        held.setdefault(pool, []).append((path, text))
    return held


def test_as_many_files_are_added_each_content_once_and_none_of_its_own() -> None:
    pools = {
        "h/a": {"x.py": "alpha beta", "other/b/y.py": "gamma"},
        "h/b": {"y.py": "alpha", "z.py": "alpha beta", "w.py": "delta", "blank.py": " \n"},
        "h/c": {"again.py": "alpha", "q.py": "beta beta", "own.py": "gamma", "far.py": "nothing like it"},
        "h/d": {"u.py": "delta"},
    }
    hard = _hard(pools, {"h/a": ["alpha beta"], "h/d": ["delta", "alpha"], "h/none": ["alpha"]})
    assert set(hard) == {"h/a", "h/d"}
    # Its own two first; `other/` is a folder of its own, so that another name is taken.
    assert hard["h/a"] == [
        ("x.py", "alpha beta"), ("other/b/y.py", "gamma"), ("other_/b/y.py", "alpha"), ("other_/c/q.py", "beta beta")
    ]  # fmt: skip
    assert [path for path, _ in hard["h/d"]][1:] == ["other/b/y.py"]
    assert _hard({"h/a": {"x.py": "alpha"}}, {"h/a": ["alpha"]}) == {}


def test_those_that_rank_highest_for_any_query_are_added() -> None:
    drawn = random.Random(5)
    words = [f"w{number}" for number in range(60)]
    pools = {
        f"h/{repo}": {f"{n}.py": " ".join(drawn.choices(words, k=drawn.randint(5, 40))) for n in range(size)}
        for repo, size in (("a", 6), ("b", 25), ("c", 20))
    }
    queries = [" ".join(drawn.choices(words, k=8)) for _ in range(4)]
    added = {text for path, text in _hard(pools, {"h/a": queries})["h/a"] if path.startswith("other/")}
    others = [text for pool in ("h/b", "h/c") for text in pools[pool].values()]
    # rank_bm25's idf is another, so that only most of it is the same.
    index = BM25Okapi([re.findall(r"\w+", text) for text in others])
    rank = {text: len(others) for text in others}
    for query in queries:
        scores = index.get_scores(query.split())
        for position, number in enumerate(sorted(range(len(others)), key=lambda number: -scores[number])):
            rank[others[number]] = min(rank[others[number]], position)
    assert len(added) == 6
    assert len(added & set(sorted(others, key=lambda text: rank[text])[:9])) >= 5
    assert _hard(pools, {"h/a": queries}) == _hard(dict(reversed(pools.items())), {"h/a": queries[::-1]})


def _others(kind: str) -> set[str]:
    drawn = random.Random(7)
    words = [f"w{number}" for number in range(40)]
    pools = {
        f"{kind}/{repo}": {f"{n}.py": " ".join(drawn.choices(words, k=20)) for n in range(size)}
        for repo, size in (("a", 5), ("b", 3), ("c", 4), ("d", 6), ("e", 2), ("f", 7))
    }
    held = _hard(pools, {f"{kind}/a": [pools[f"{kind}/a"]["0.py"]]}, kind)[f"{kind}/a"]
    return {path for path, _ in held if path.startswith("other/")}


def test_larger_pools_hold_all_files_of_more_repositories_and_those_of_smaller_ones() -> None:
    by_one, four, sixteen = (_others(f"{WITH}{n}") for n in (1, 4, 16))
    assert [len({path.split("/")[1] for path in paths}) for paths in (by_one, four, sixteen)] == [1, 4, 5]
    assert by_one < four < sixteen
    assert len(sixteen) == 22


def test_negatives_are_as_many_as_its_own_files_by_lot_or_by_likeness() -> None:
    by_lot, by_words, by_vectors = (_others(kind) for kind in (RANDOM, HARD, VECTORS))
    assert [len(paths) for paths in (by_lot, by_words, by_vectors)] == [5, 5, 5]
    assert by_lot == _others(RANDOM)
    assert by_lot not in (by_words, by_vectors)


def test_vectors_find_the_file_whose_words_are_the_querys() -> None:
    pools = {"v/a": {"x.py": "alpha"}, "v/b": {"y.py": "beta gamma " * 9, "z.py": "beta gamma delta delta delta"}}
    assert _hard(pools, {"v/a": ["beta gamma"]}, VECTORS)["v/a"][1:] == [("other/b/y.py", "beta gamma " * 9)]


TOLD_BY = {
    "MIT": "MIT License",
    "Apache-2.0": "Apache License",
    "BSD-2-Clause": "BSD 2-Clause License",
    "CC-BY-NC-4.0": "Attribution-NonCommercial 4.0 International",
}


def test_each_licence_is_what_the_repositorys_own_file_says(shared: Path) -> None:
    with zipfile.ZipFile(shared / "repoeval/repositories/function_level.zip") as archive:
        told = {
            name.split("/")[-2]: archive.read(name).decode("utf-8").strip().splitlines()[0]
            for name in archive.namelist()
            if name.endswith("/LICENSE")
        }
    assert told == {repo: TOLD_BY[licence] for repo, licence in REPOEVAL.repository_licences.items()}


@pytest.mark.parametrize(("label", "licence"), [("", "MIT"), ("mined", "")])
def test_a_lake_tells_the_licence_of_published_repositories(lake_folder: Path, label: str, licence: str) -> None:
    lake = Lake(lake_folder)
    repo = lake.read("items")["repo"].sort()[0]
    known = replace(REPOEVAL, repository_licences={repo: "MIT"})
    _declare(lake, known, Source(name="somewhere", label=label), None)
    (row,) = lake.read("benchmarks").to_dicts()
    assert {entry["repo"]: entry["licence"] for entry in row["licences"]}[repo] == licence
