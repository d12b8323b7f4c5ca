import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest

from lake.store import Lake
from tests.changed_code import changed
from tests.ingest.benchmarks.repobench_r import test_repobench
from tests.tiny import CATS, CHUNKERS, DOGS, TASKS, Said, build, command, ingested, jsonl, put, stored, task, task_file

pytestmark = pytest.mark.slow

SUBSETS = ("function-2k", "function-4k")


@pytest.fixture
def both(source: Path) -> Path:
    put(source / "datasets" / task_file(context="4k"), jsonl(TASKS[:3]))
    return source


def _fingerprints(lake: Path) -> dict[str, str]:
    store = Lake(lake)
    tables = {path.split("/")[0] for path in stored(lake)}
    return {str(part.path): part.fingerprint for name in tables for part in store.parts(name)}


def _changed(before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def _names(paths: set[str]) -> set[str]:
    """Parts by their names, without the digests of what they hold."""
    return {re.sub(r"(\.[0-9a-f]{16,})+\.parquet$", ".parquet", path) for path in paths}


def _read(lake: Path) -> tuple[dict[str, bytes], list[tuple[object, ...]]]:
    """What was read of a source, and what was refused, in whichever batches of contents that was."""
    refused = Lake(lake).read("rejects").unique().sort("stage", "source", "position")
    return stored(lake, "items", "gold_spans", "files", "benchmarks"), refused.rows()


def test_a_second_ingest_does_nothing(source: Path, tmp_path: Path) -> None:
    ingested(tmp_path / "lake", source)
    before, fingerprints = stored(tmp_path / "lake"), _fingerprints(tmp_path / "lake")
    times = {path: (tmp_path / "lake" / path).stat().st_mtime_ns for path in before}
    done = ingested(tmp_path / "lake", source)
    assert (done.expected, done.scored, done.tally.counts()["made"], done.warnings) == (5, 5, 0, [])
    assert stored(tmp_path / "lake") == before
    assert _fingerprints(tmp_path / "lake") == fingerprints
    assert {path: (tmp_path / "lake" / path).stat().st_mtime_ns for path in before} == times


def test_an_edited_row_re_reads_its_subset_and_nothing_else(both: Path, tmp_path: Path) -> None:
    ingested(tmp_path / "lake", both, subsets=SUBSETS)
    before = stored(tmp_path / "lake")
    edited = [task("zoo_animals", "dogs.py", DOGS, 0, 5, 2), *TASKS[1:]]
    put(both / "datasets" / task_file(), jsonl(edited))
    done = ingested(tmp_path / "lake", both, subsets=SUBSETS)
    assert done.tally.counts()["made"] == 5
    assert _names(_changed(before, stored(tmp_path / "lake"))) == {
        "gold_spans/benchmark=repoeval/part-function-2k.parquet",
        "items/benchmark=repoeval/part-function-2k.parquet",
        "queries/benchmark=repoeval/query=prompt/part-function-2k.parquet",
        "rejects/part-ingest-repoeval-function-2k.parquet",
        "rejects/part-ingest-repoeval-function-2k.files.parquet",
    }


def test_adding_a_subset_keeps_the_other_and_the_files_they_share(both: Path, tmp_path: Path) -> None:
    ingested(tmp_path / "lake", both, subsets=["function-2k"])
    before = stored(tmp_path / "lake")
    done = ingested(tmp_path / "lake", both, subsets=["function-4k"])
    assert done.expected == 3
    changed = _changed(before, stored(tmp_path / "lake"))
    assert _names(changed & before.keys()) == {"benchmarks/part-repoeval.parquet"}
    assert Lake(tmp_path / "lake").read("items").group_by("subset").len().sort("subset").rows() == [
        ("function-2k", 5),
        ("function-4k", 3),
    ]


def test_an_edited_file_is_read_and_cut_anew_and_the_other_contents_stay(source: Path, tmp_path: Path) -> None:
    ingested(tmp_path / "lake", source)
    before = stored(tmp_path / "lake", "blobs", "chunks")
    put(source / "repositories/function_level/zoo_animals/dogs.py", (DOGS + "\n\nx = 1\n").encode())
    ingested(tmp_path / "lake", source)
    after = stored(tmp_path / "lake", "blobs", "chunks")
    assert before.items() <= after.items()
    assert len(after) == len(before) + 3  # one blob part, one part of each chunker
    lake = Lake(tmp_path / "lake")
    dogs = lake.read("files").filter(pl.col("path") == "dogs.py").join(lake.read("blobs"), on="sha256")
    assert set(dogs["text"]) == {DOGS + "\n\nx = 1\n"}


def test_subsets_whose_repositories_changed_are_read_again_or_taken_away(both: Path, tmp_path: Path) -> None:
    ingested(tmp_path / "lake", both, subsets=SUBSETS)
    put(both / "repositories/function_level/zoo_animals/cats.py", ("\n\n" + CATS).encode())
    done = ingested(tmp_path / "lake", both, subsets=["function-2k"])
    assert "RepoEval function-4k: its repositories changed; ingest it again" in done.changes
    assert set(Lake(tmp_path / "lake").read("items")["subset"]) == {"function-2k"}
    assert set(Lake(tmp_path / "lake").read("gold_spans")["item_id"].str.head(11)) == {"function-2k"}
    ingested(tmp_path / "lake", both, subsets=SUBSETS)
    ingested(tmp_path / "fresh", both, subsets=SUBSETS)
    assert _read(tmp_path / "lake") == _read(tmp_path / "fresh")


@pytest.mark.parametrize("there_and_back", [False, True])
def test_another_source_takes_away_what_the_earlier_one_left(both: Path, tmp_path: Path, there_and_back: bool) -> None:
    rows = [task("birds", "owl.py", CATS, 0, 5, 2), task("birds", "none.py", CATS, 0, 5, 2)]
    second = build(tmp_path / "second", rows, repositories={"birds/owl.py": CATS.encode()})
    lake = tmp_path / "lake"
    ingested(lake, both, subsets=SUBSETS)
    done = ingested(lake, second)
    assert "RepoEval now comes from second; before it came from source" in done.changes
    last, subsets = (both, SUBSETS) if there_and_back else (second, SUBSETS[:1])
    if there_and_back:
        ingested(lake, both, subsets=SUBSETS)
    ingested(tmp_path / "fresh", last, subsets=subsets)
    assert _read(lake) == _read(tmp_path / "fresh")
    items = Lake(lake).read("items")
    assert items.height == (8 if there_and_back else 2)


def test_rejects_of_a_mended_source_are_taken_back(tmp_path: Path) -> None:
    source = build(tmp_path / "source", jsonl(TASKS) + b"{")
    assert ingested(tmp_path / "lake", source).rejected == 1
    assert ingested(tmp_path / "lake", source).rejected == 1
    build(source)
    assert ingested(tmp_path / "lake", source).rejected == 0
    assert Lake(tmp_path / "lake").read("rejects").is_empty()


def test_a_part_that_somebody_deleted_is_made_again(source: Path, tmp_path: Path) -> None:
    ingested(tmp_path / "lake", source)
    whole, store = stored(tmp_path / "lake"), Lake(tmp_path / "lake")
    for name in ("items", "gold_spans", "blobs", "files", "chunks", "chunkers", "benchmarks", "rejects"):
        for part in store.parts(name):
            if part.name != "repoeval.code-chunk":
                store.remove(part)
        ingested(tmp_path / "lake", source)
        assert stored(tmp_path / "lake") == whole, name


def test_a_limit_is_a_seeded_sample_stratified_by_repository(source: Path, tmp_path: Path) -> None:
    ingested(tmp_path / "one", source, limit=3)
    ingested(tmp_path / "other", source, limit=3)
    assert stored(tmp_path / "one") == stored(tmp_path / "other")
    lake = Lake(tmp_path / "one")
    items = lake.read("items")
    assert sorted(items.group_by("repo").len().rows()) == [("acme_rockets", 2), ("zoo_animals", 1)]
    assert set(lake.read("gold_spans")["item_id"]) == set(items["item_id"])
    assert lake.read("benchmarks")["limit"].item() == 3
    assert lake.read("files").filter(pl.col("pool_id").str.starts_with("repoeval/function_level/")).height == 6


def test_the_benchmarks_row_says_what_this_lake_holds(source: Path, tmp_path: Path) -> None:
    ingested(tmp_path / "lake", source)
    row = Lake(tmp_path / "lake").read("benchmarks").row(0, named=True)
    about = json.loads(row["parameters"])
    assert (row["name"], row["display_name"], row["source"], row["tags"]) == ("repoeval", "RepoEval", "source", [])
    assert (about["n_items"], about["n_scorable"], about["n_repos"], about["subsets"]) == (5, 5, 2, ["function-2k"])
    assert (row["label"], row["limit"], row["place"]) == ("", None, 1)
    assert row["licences"] == [{"repo": repo, "licence": ""} for repo in ("acme_rockets", "zoo_animals")]


SYNTAX = "syntax-800"
CUT = ("chunk_status", "chunks", "rejects")
READ = ("gold_spans", "items", "queries", "rejects")
SYMBOLS = ("rejects", "symbol_rules", "symbol_status", "symbols")


def _reads(home: Path, *benchmarks: str) -> Said:
    arguments = ["--source", home / "source", "--lake", home / "lake", "--chunkers", ",".join([*CHUNKERS, SYNTAX])]
    return command("ingest", *benchmarks, *arguments)


@pytest.fixture(scope="module")
def _once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("current")
    build(home / "source" / "repoeval")
    test_repobench.put(home / "source" / "repobench-r", [test_repobench.row()], [test_repobench.row(10, 9)])
    _reads(home, "repoeval", "repobench-r")
    return home


def _made(home: Path, before: dict[str, bytes]) -> dict[str, set[str]]:
    """Table → the folders below it of the parts that are other than before."""
    after = stored(home / "lake")
    paths = [path for path in {*before, *after} if before.get(path) != after.get(path)]
    folders_of: dict[str, set[str]] = {}
    for path in paths:
        name, *folders = path.split("/")
        folders_of.setdefault(name, set()).add("/".join(folders[:-1]))
    return folders_of


@pytest.fixture
def home(_once: Path, tmp_path: Path) -> Path:
    """Two benchmarks that were ingested; each test has a copy of its own."""
    return shutil.copytree(_once, tmp_path / "home")


@pytest.mark.parametrize(
    ("module", "tables"),
    [
        ("ingest/contents/chunkers/syntax.py", {*CUT, "chunkers"}),
        ("ingest/contents/blobs.py", {*CUT, *SYMBOLS, *READ, "blobs", "chunkers"}),
        ("ingest/contents/definitions.py", {*SYMBOLS}),
        ("ingest/runs/formats/rankings.py", set[str]()),
    ],
)
def test_a_change_of_code_makes_again_what_it_made(home: Path, module: str, tables: set[str]) -> None:
    before = stored(home / "lake")
    with changed(module):
        _reads(home, "repoeval", "repobench-r")
    made = _made(home, before)
    assert made.keys() == tables, module
    if "syntax" in module:
        assert made["chunks"] == {f"chunker={SYNTAX}"}
