import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

import evaluate.retrievers
import evaluate.selection
from evaluate.retrievers import retrievers
from lake.benchmarks import protocols_of
from lake.catalog.benchmarks.repoeval import REPOEVAL_PROMPT
from lake.errors import Exit
from lake.store import Lake
from lake.usage import run_costs
from tests.frames import write
from tests.tiny import CATS, ROOT, TASKS, Said, build, command, ingested, jsonl, leftovers, put, stored, task, task_file

pytestmark = pytest.mark.slow

MADE = ("hits", "run_items", "runs", "scores", "aggregates")
ONE = ("--systems", "window-4-2+bm25-okapi")


def _evaluate(lake: Path, *arguments: object, code: int = 0) -> Said:
    return command("evaluate", "--lake", lake, *arguments).ended(code)


def _ready(lake: Path, source: Path, *, chunkers: tuple[str, ...] = ("window-4-2",), **given: object) -> Path:
    ingested(lake, source, chunkers=chunkers, **given)  # type: ignore[arg-type] # passed on as given
    return lake


@pytest.fixture(scope="module")
def _evaluated_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("evaluated")
    _evaluate(_ready(home / "lake", build(home / "source")))
    return home / "lake"


@pytest.fixture
def one_chunker(_evaluated_once: Path, tmp_path: Path) -> Path:
    """The small RepoEval, ingested with one chunker and evaluated; each test has a copy of its own."""
    return shutil.copytree(_evaluated_once, tmp_path / "one chunker")


def _runs(lake: Path) -> pl.DataFrame:
    return Lake(lake).read("runs").sort("system", "run_id")


def test_every_run_has_every_item_and_every_protocol_a_score_for_each(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    assert set(_runs(lake_folder)["n_items"]) == {len(TASKS)}
    assert set(_runs(lake_folder)["status"]) == {"complete"}
    per_run = lake.read("run_items").group_by("run_id").agg(pl.col("item_id").n_unique())
    assert set(per_run["item_id"]) == {len(TASKS)}
    scores = lake.read("scores").group_by("run_id", "protocol", "metric", "k").agg(pl.col("item_id").n_unique())
    assert set(scores["item_id"]) == {len(TASKS)}
    for protocol in protocols_of(REPOEVAL_PROMPT):
        scored = set(lake.read("scores", protocol=protocol.name, benchmark="repoeval")["run_id"])
        assert len(scored) == len(_runs(lake_folder)["system"].unique())


def test_a_second_evaluation_does_nothing(lake_folder: Path) -> None:
    before = stored(lake_folder)
    times = {path: (lake_folder / path).stat().st_mtime_ns for path in before}
    printed = json.loads(_evaluate(lake_folder, "--json").out)
    assert (printed["made"], printed["removed"], printed["failed"]) == (0, 0, 0)
    assert stored(lake_folder) == before
    assert {path: (lake_folder / path).stat().st_mtime_ns for path in before} == times
    assert leftovers(lake_folder) == []


def test_an_edited_item_makes_every_run_anew_without_remains(one_chunker: Path, source: Path, tmp_path: Path) -> None:
    lake = one_chunker
    put(source / "datasets" / task_file(), jsonl([*TASKS[:4], task("zoo_animals", "cats.py", CATS, 2, 4, 3)]))
    _ready(lake, source)
    _evaluate(lake)
    fresh = _ready(tmp_path / "fresh", source)
    _evaluate(fresh)
    assert stored(lake, *MADE) == stored(fresh, *MADE)


def test_another_source_takes_away_the_runs_of_the_earlier_one(source: Path, tmp_path: Path) -> None:
    put(source / "datasets" / task_file(context="4k"), jsonl(TASKS))
    lake = _ready(tmp_path / "lake", source, subsets=["function-2k", "function-4k"])
    _evaluate(lake)
    assert set(_runs(lake)["n_items"]) == {2 * len(TASKS)}
    rows = [task("birds", "owl.py", CATS, 0, 5, 2)]
    other = build(tmp_path / "birds", rows, repositories={"birds/owl.py": CATS.encode()})
    _ready(lake, other)
    _evaluate(lake)
    fresh = _ready(tmp_path / "fresh", other)
    _evaluate(fresh)
    assert stored(lake, *MADE) == stored(fresh, *MADE)
    assert set(_runs(lake)["n_items"]) == {1}
    assert set(Lake(lake).read("aggregates").filter(pl.col("slice") == "all")["n_items"]) == {1}


def test_one_more_chunker_adds_its_runs_and_touches_no_other(one_chunker: Path, source: Path) -> None:
    lake = one_chunker
    before = stored(lake, *MADE)
    _ready(lake, source, chunkers=("whole-file",))
    _evaluate(lake)
    after = stored(lake, *MADE)
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert changed
    assert all("--whole-file+" in path for path in changed)


def test_a_chunker_that_has_not_cut_everything_is_left_out_and_named(source: Path, tmp_path: Path) -> None:
    lake = _ready(tmp_path / "lake", source)
    put(source / "repositories/function_level/zoo_animals/new.py", b"new = 1\n")
    _ready(lake, source, chunkers=("whole-file",))
    assert "skipped window-4-2: it has no chunks for the files of repoeval; ingest them with it" in _evaluate(lake).err
    assert {system.partition("+")[0] for system in _runs(lake)["system"]} == {"whole-file"}


@pytest.mark.parametrize("name", ["items", "blobs", "chunks"])
def test_nothing_ingested_is_said_with_what_to_do(lake_folder: Path, name: str) -> None:
    shutil.rmtree(lake_folder / name)
    run = command("evaluate", "--lake", lake_folder)
    assert run.code in (Exit.MISSING, Exit.INCOMPLETE)
    run.ended(run.code, "make ingest")


def test_parts_that_somebody_deleted_are_made_again(lake_folder: Path) -> None:
    whole, store = stored(lake_folder), Lake(lake_folder)
    for names in (("hits", "scores"), ("run_items", "aggregates", "costs"), ("runs", "tasks", "metrics", "retrievers")):
        for name in names:
            # Two of each: one system's, and the last.
            parts = store.parts(name)
            for part in {part.path: part for part in (parts[0], parts[-1])}.values():
                store.remove(part)
        _evaluate(lake_folder)
        assert stored(lake_folder) == whole, names
        assert all(Lake(lake_folder).read(name).height for name in names)


def test_a_limit_marks_its_runs_and_is_the_same_sample_everywhere(one_chunker: Path, tmp_path: Path) -> None:
    again = shutil.copytree(one_chunker, tmp_path / "again")
    for lake in (one_chunker, again):
        _evaluate(lake, "--limit", 3, *ONE)
    assert stored(one_chunker) == stored(again)
    limited = _runs(one_chunker).filter(pl.col("limit").is_not_null())
    assert set(limited["limit"]) == {3}
    assert set(limited["n_items"]) == {3}
    assert set(limited["status"]) == {"partial"}
    items = Lake(one_chunker).read("run_items", benchmark="repoeval", run_id=limited["run_id"][0])["item_id"]
    repos = [item_id.split("/")[1] for item_id in items]
    assert sorted(repos) == ["acme_rockets", "acme_rockets", "zoo_animals"]


def _of_runs(parts: dict[str, bytes]) -> dict[str, bytes]:
    """Those that are of one run; what is compared, ranked or accounted for together is of all that there are."""
    return {path: data for path, data in parts.items() if "run_id=" in path}


def test_limited_runs_stand_beside_whole_ones_until_those_are_made_again(one_chunker: Path) -> None:
    before, ledger = stored(one_chunker), Lake(one_chunker).read("ledger")
    _evaluate(one_chunker, "--limit", 3, *ONE)
    assert _of_runs(before).items() <= stored(one_chunker).items()
    assert ledger.join(Lake(one_chunker).read("ledger"), on=ledger.columns, how="anti", nulls_equal=True).is_empty()
    _evaluate(one_chunker)
    assert stored(one_chunker) == before


@pytest.fixture
def declared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Declares a retriever of a test's own, by one file among the others."""
    folder = tmp_path / "retrievers_of_a_test"
    folder.mkdir()
    monkeypatch.setattr(evaluate.retrievers, "__path__", [*evaluate.retrievers.__path__, str(folder)])

    def declare(text: str) -> None:
        head = "from functools import partial\nimport numpy as np\nfrom evaluate.retrievers import Retriever, Scan\n"
        tail = "\n\nMINE = Retriever('mine', 'Mine', 'It is mine.', partial(Scan, score=score))\n"
        put(folder / "mine.py", (head + text + tail).encode())
        monkeypatch.delitem(sys.modules, "evaluate.retrievers.mine", raising=False)
        retrievers.cache_clear()

    yield declare
    monkeypatch.undo()
    sys.modules.pop("evaluate.retrievers.mine", None)
    retrievers.cache_clear()


MINE = ("--systems", "window-4-2+mine")


FAILS_ON_ONE_POOL = """\
def score(pool, queries):
    if 'zoo' in pool.pool_id:
        raise ValueError('no zoo')
    return np.zeros((len(queries), len(pool)))
"""


def test_a_retriever_failing_on_one_pool_fails_its_items(one_chunker: Path, declared: Callable[[str], None]) -> None:
    declared(FAILS_ON_ONE_POOL)
    answer = json.loads(_evaluate(one_chunker, *MINE, "--json", code=Exit.INCOMPLETE).out)
    assert answer["failed"] == 2
    assert answer["scored"] == answer["expected"] - 2
    lake = Lake(one_chunker)
    run = _runs(one_chunker).filter(pl.col("system") == "window-4-2+mine").row(0, named=True)
    assert (run["status"], run["n_items"]) == ("partial", 5)
    items = lake.read("run_items", benchmark="repoeval", run_id=run["run_id"]).sort("item_id")
    failed = items.filter(pl.col("status") == "failed")
    assert failed["item_id"].to_list() == ["function-2k/zoo_animals/0", "function-2k/zoo_animals/1"]
    assert all(re.match(r"\S+/mine\.py:\d+: ValueError: no zoo", error) for error in failed["error"])
    assert set(failed["n_returned"]) == {0}
    scores = lake.scan("scores", benchmark="repoeval").filter(pl.col("run_id") == run["run_id"]).collect()
    assert set(scores.filter(pl.col("item_id").is_in(failed["item_id"].implode()))["value"].drop_nulls()) == {0.0}
    whole = lake.read("aggregates").filter((pl.col("run_id") == run["run_id"]) & (pl.col("slice") == "all"))
    assert set(whole["n_items"]) == {5}
    assert set(whole["n_failed"]) == {2}


def test_a_retriever_failing_everywhere_is_a_failed_run(one_chunker: Path, declared: Callable[[str], None]) -> None:
    declared("def score(pool, queries):\n    raise RuntimeError('never')\n")
    result = _evaluate(one_chunker, *MINE, code=Exit.INCOMPLETE)
    why = r"window-4-2\+mine, repoeval/prompt: 5 of 5 items failed: \S+/mine\.py:\d+: RuntimeError: never"
    assert re.search(why, result.err)
    run = _runs(one_chunker).filter(pl.col("system") == "window-4-2+mine").row(0, named=True)
    assert (run["status"], run["n_items"]) == ("failed", 5)
    costs = run_costs(Lake(one_chunker)).filter(pl.col("run_id") == run["run_id"]).collect().row(0, named=True)
    assert (costs["query_p50"], costs["index_seconds"]) == (None, 0.0)
    _evaluate(one_chunker, *MINE, code=Exit.INCOMPLETE)


def _run(lake: Path, run_id: str, task_name: str, origin: str) -> None:
    """Put a run's row and an item of it into a lake."""
    folders = {"benchmark": "repoeval", "run_id": run_id}
    run = {"system": "x", "task": task_name, "origin": origin, "n_items": 1}
    write(Lake(lake), "runs", [run], part="all", **folders)
    write(Lake(lake), "run_items", [{"item_id": "i", "n_returned": 0}], part="function-2k", **folders)


def test_a_run_of_an_earlier_state_is_taken_away_even_where_its_task_has_no_item_left(lake_folder: Path) -> None:
    before = stored(lake_folder)
    _run(lake_folder, "repoeval.prompt-code-chunk--x+y--00000000", "repoeval/prompt-code-chunk", "built-in")
    run = _evaluate(lake_folder)
    assert "removed 1 run of earlier data or code" in run.err
    assert stored(lake_folder) == before


def test_an_imported_run_is_left_alone(lake_folder: Path) -> None:
    _run(lake_folder, "repoeval.prompt--theirs--00000000", "repoeval/prompt", "imported")
    before = stored(lake_folder)
    _evaluate(lake_folder)
    assert _of_runs(before).items() <= stored(lake_folder).items()


def test_what_an_interrupted_run_of_an_earlier_state_left_is_taken_away(lake_folder: Path) -> None:
    before = stored(lake_folder)
    names = ("hits", "run_items", "scores", "aggregates", "costs")
    left = [Lake(lake_folder).parts(name)[0].path.parent for name in names]
    left = [Path(shutil.copytree(folder, folder.with_name("run_id=repoeval.prompt--x+y--00000000"))) for folder in left]
    _evaluate(lake_folder)
    assert stored(lake_folder) == before
    assert not any(folder.exists() for folder in left)


SETTINGS = (
    {"PYTHONHASHSEED": "0", "POLARS_MAX_THREADS": "1", "GOLDSPAN_ENGINE": "local:1"},
    {"PYTHONHASHSEED": "1", "POLARS_MAX_THREADS": "2", "GOLDSPAN_ENGINE": "local:2"},
)


def test_lakes_are_byte_equal_whatever_the_hash_seed_threads_processes_and_place(source: Path, tmp_path: Path) -> None:
    other = shutil.copytree(source, tmp_path / "elsewhere" / source.name)
    for n, (settings, folder) in enumerate(zip(SETTINGS, (source, other), strict=True)):
        ingest = ("ingest", "repoeval", "--source", str(folder), "--chunkers", "window-4-2,whole-file")
        environment = {**os.environ, **settings, "GOLDSPAN_LAKE": str(tmp_path / f"lake{n}"), "GOLDSPAN_QUIET": "1"}
        for stage in (ingest, ("evaluate",)):
            subprocess.run([sys.executable, "-m", *stage], env=environment, cwd=ROOT, check=True)
    assert stored(tmp_path / "lake0") == stored(tmp_path / "lake1") != {}
