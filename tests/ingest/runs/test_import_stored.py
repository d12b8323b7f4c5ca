import json
from pathlib import Path

import polars as pl
import pytest

from lake.errors import Exit
from lake.fingerprint import sha256_of
from lake.store import Lake
from lake.tables import table
from tests.changed_code import changed
from tests.frames import write
from tests.ingest.runs.imports import FIRST, ITEMS, LAST, another, hit, hits, imported, refused, trec
from tests.report.small_lake import ran, row
from tests.tiny import TASKS, build, ingested, stored

ALL = trec([(item, "cats.py", 1, 1) for item in ITEMS])


def test_a_run_says_where_it_comes_from(lake: Lake) -> None:
    result = imported(lake, ALL, name="run.trec")
    row = lake.read("runs").row(0, named=True)
    assert row["run_id"] == result.run_id == f"repoeval.prompt--mine--{row['fingerprint'][:8]}"
    assert (row["origin"], row["system"], row["task"]) == ("imported", "mine", "repoeval/prompt")
    assert (row["chunker"], row["retriever"], row["versions"], row["limit"]) == (None, None, "{}", None)
    assert (row["format"], row["file"]) == ("trec", "run.trec")
    assert json.loads(row["parameters"]) == {"sha256": sha256_of(ALL)}
    assert {"name": "n_done", "n": 5} in row["counts"]
    assert {*lake.read("hits").select("part", "step", "symbol", "chunk_no").rows()} == {("ranking", 0, None, None)}


def test_the_same_file_again_is_current_and_counts_alike(lake: Lake) -> None:
    data = trec([(FIRST, "rockets/orbit.py#L13", 1, 1), (FIRST, "no.py", 2, 1)])
    first, before = imported(lake, data), stored(lake.root)
    again = imported(lake, data)
    assert (first.is_current, again.is_current) == (False, True)
    assert again.counts == first.counts
    assert stored(lake.root) == before


def test_another_file_under_the_same_name_takes_the_place_of_the_first(lake: Lake) -> None:
    first = imported(lake, hit("rockets/orbit.py") + hit("a.py", "other"), skip_unknown=True)
    lake.write("aggregates", pl.DataFrame(schema=table("aggregates").columns), part="all", fingerprint="x",
               benchmark="repoeval", run_id=first.run_id)  # fmt: skip
    second = imported(lake, ALL)
    assert second.notes == [f"replaces {first.run_id}, imported earlier under the same name"]
    assert lake.read("runs")["run_id"].to_list() == [second.run_id]
    assert not any(first.run_id in path for path in stored(lake.root))


def test_other_names_and_other_tasks_stand_beside_one_another(lake: Lake) -> None:
    with another("repoeval/other"):
        runs = {imported(lake, ALL, system=name, task=task).run_id
                for name in ("mine", "yours") for task in ("", "repoeval/other")}  # fmt: skip
    assert set(lake.read("runs")["run_id"]) == runs
    assert len(runs) == 4


def test_new_items_make_an_import_stale(lake: Lake, tmp_path: Path) -> None:
    first = imported(lake, ALL)
    ingested(lake.root, build(tmp_path / "other", TASKS[:4]))
    error = refused(lake, ALL)
    assert f"'{LAST}'" in error.examples[0]
    again = imported(lake, ALL, skip_unknown=True)
    assert (again.is_current, again.run_id, again.n_items) == (False, first.run_id, 4)
    assert LAST not in lake.read("run_items")["item_id"].to_list()


def test_an_import_is_made_again_by_what_read_it_and_where_a_part_of_it_is_lost(lake: Lake) -> None:
    imported(lake, ALL)
    with changed("ingest/runs/formats/repobench.py"):
        assert imported(lake, ALL).is_current
    with changed("ingest/runs/formats/rankings.py"):
        assert not imported(lake, ALL).is_current
        assert imported(lake, ALL).is_current
    assert not imported(lake, ALL).is_current
    whole = stored(lake.root)
    for table_name in ("hits/", "run_items/"):
        (lake.root / next(path for path in whole if path.startswith(table_name))).unlink()
        assert not imported(lake, ALL).is_current
        assert stored(lake.root) == whole


def test_a_task_with_pools_of_its_own_asks_only_items_that_have_one(lake: Lake) -> None:
    files = lake.read("files").filter(pool_id="repoeval/function_level/zoo_animals", path="dogs.py")
    own = files.with_columns(pool_id=pl.lit("own/zoo_animals"), path=pl.lit("build/dogs.py"))
    own = own.drop("benchmark", "kind")
    lake.write("files", own, part="own", fingerprint="x", benchmark="repoeval", kind="searched")
    with another("repoeval/own", pool_prefix="own", subsets=("function-2k",)):
        rows = trec([(LAST, "build/dogs.py", 1, 1), (LAST, "cats.py", 2, 0)])
        result = imported(lake, rows, task="repoeval/own", asked_all=True)
        assert (result.n_items, result.counts["n_unresolved"]) == (2, 1)
        assert hits(lake, "path", item=LAST) == [("build/dogs.py",), (None,)]
        assert "no item of the file is in" in refused(lake, hit("rockets/orbit.py"), task="repoeval/own").what


def test_a_chunker_of_the_lake_names_the_chunks(lake: Lake) -> None:
    chunk = lake.read("chunks", chunker="window-4-2").join(
        lake.read("files").filter(pl.col("path") == "rockets/orbit.py"), on="sha256"
    ).filter(pl.col("chunk_no") == 2).row(0, named=True)  # fmt: skip
    document = f"rockets/orbit.py#L{chunk['line_start'] + 1}-L{chunk['line_end']}"
    rows = [(FIRST, document, 1, 2), (FIRST, "rockets/orbit.py", 2, 1)]
    result = imported(lake, trec(rows), chunker="window-4-2")
    assert hits(lake, "chunk_no") == [(2,), (None,)]
    assert result.counts["n_no_chunk"] == 1
    assert lake.read("runs")["chunker"].to_list() == ["window-4-2"]


def test_a_chunker_that_the_lake_does_not_have_is_refused(lake: Lake) -> None:
    error = refused(lake, ALL, chunker="window-4-3")
    assert (error.code, "Did you mean 'window-4-2'" in error.hint) == (Exit.USAGE, True)


@pytest.mark.parametrize("name", ["", " x", "a\0b", "x" * 121, "a\u200bb"])
def test_a_name_that_is_none_is_refused(lake: Lake, name: str) -> None:
    assert refused(lake, ALL, system=name).code == Exit.USAGE


@pytest.mark.parametrize("name", ["mein Größter ☃ v2", "../../x", "%2F", "漢" * 120])
def test_any_printable_name_of_120_characters_is_stored_and_found(lake: Lake, name: str) -> None:
    result = imported(lake, ALL, system=name)
    assert lake.read("runs", benchmark="repoeval", run_id=result.run_id)["system"].to_list() == [name]
    assert "/" not in result.run_id
    assert all(part.path.is_relative_to(lake.root / "hits" / "benchmark=repoeval") for part in lake.parts("hits"))


def test_the_name_of_a_built_in_system_is_refused(lake: Lake) -> None:
    built_in = ran("window-4-2+bm25", "repoeval/prompt", 5)
    write(lake, "runs", [built_in], part="all", benchmark="repoeval", run_id="r")
    assert "belongs to a built-in system" in refused(lake, ALL, system="window-4-2+bm25").what
    write(lake, "retrievers", [row("oracle", {})])
    assert "belongs to a built-in system" in refused(lake, ALL, system="whole-file+oracle").what
    assert imported(lake, ALL, system="mine+oracle").counts["n_done"] == 5
