import dataclasses
import shutil
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypedDict, Unpack
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

from ingest.runs.imported_runs import Imported
from ingest.runs.importing import import_run
from ingest.runs.request import ImportRequest
from lake.benchmarks import TASKS
from lake.catalog.benchmarks.repoeval import REPOEVAL_PROMPT
from lake.errors import GoldspanError
from lake.store import Lake
from tests.tiny import build, ingested, put, stored

ROCKETS, ZOO = "function-2k/acme_rockets", "function-2k/zoo_animals"
ITEMS = (f"{ROCKETS}/0", f"{ROCKETS}/1", f"{ROCKETS}/2", f"{ZOO}/0", f"{ZOO}/1")
FIRST, LAST = ITEMS[0], ITEMS[-1]


class Pools(TypedDict, total=False):
    pool_prefix: str
    subsets: tuple[str, ...]


Ranked = Sequence[tuple[object, ...]]
"""Rows of item, document, rank, score."""


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("imports")
    ingested(home / "lake", build(home / "source"))
    return home / "lake"


@pytest.fixture
def lake(once: Path, tmp_path: Path) -> Lake:
    return Lake(shutil.copytree(once, tmp_path / "lake"))


def trec(rows: Ranked) -> bytes:
    return "".join(f"{item} Q0 {document} {rank} {score} x\n" for item, document, rank, score in rows).encode()


def tsv(rows: Ranked, *columns: str) -> bytes:
    lines = ["\t".join(columns), *("\t".join(map(str, row)) for row in rows)]
    return "".join(f"{line}\n" for line in lines).encode()


class Settings(TypedDict, total=False):
    benchmark: str
    system: str
    task: str
    format: str
    skip_unknown: bool
    chunker: str
    asked_all: bool


def imported(
    lake: Lake, data: bytes, *, write: bool = True, name: str = "given.txt", **settings: Unpack[Settings]
) -> Imported:
    request = ImportRequest(put(lake.root.parent / "files" / name, data), "repoeval", "mine")
    with lake.locked():
        return import_run(lake, dataclasses.replace(request, **settings), write=write)


def refused(lake: Lake, data: bytes, **settings: Unpack[Settings]) -> GoldspanError:
    """The error an import ends with; nothing of the file is stored then."""
    before = stored(lake.root)
    with pytest.raises(GoldspanError) as caught:
        imported(lake, data, **settings)
    assert stored(lake.root) == before
    assert len(caught.value.render().splitlines()) <= 10
    return caught.value


def hits(lake: Lake, *columns: str, item: str = FIRST) -> list[tuple[object, ...]]:
    found = lake.read("hits").filter(pl.col("item_id") == item).sort("rank")
    return found.select(columns or ("path", "line_start", "line_end")).rows()


def one(document: str, item: str = FIRST) -> bytes:
    return trec([(item, document, 1, 0.5)])


def another(name: str, **fields: Unpack[Pools]) -> AbstractContextManager[object]:
    """A catalogue with one task more, of which rankings are told."""
    task = dataclasses.replace(REPOEVAL_PROMPT, name=name, **fields)
    return patch.dict(TASKS, {name: task})


def test_a_ranking_keeps_the_order_of_its_ranks(lake: Lake) -> None:
    rows = [(FIRST, "rockets/orbit.py", 2, 0.5), (FIRST, "rockets/engine.py", 1, 0.5)]
    imported(lake, trec(rows))
    assert hits(lake, "rank", "path", "score") == [(1, "rockets/engine.py", 0.5), (2, "rockets/orbit.py", 0.5)]


def test_without_ranks_the_score_orders_and_the_file_breaks_ties(lake: Lake) -> None:
    rows = [(FIRST, f"rockets/orbit.py#L{line}", score) for line, score in ((3, 1), (1, 2), (2, 1), (4, -1))]
    imported(lake, tsv(rows, "qid", "docid", "score"))
    assert hits(lake, "rank", "line_end") == [(1, 1), (2, 3), (3, 2), (4, 4)]


def test_without_scores_the_rank_orders_and_no_score_is_made_up(lake: Lake) -> None:
    rows = [(FIRST, "rockets/orbit.py", 2), (FIRST, "rockets/engine.py", 1)]
    result = imported(lake, tsv(rows, "item_id", "document", "rank"))
    assert hits(lake, "path", "score") == [("rockets/engine.py", None), ("rockets/orbit.py", None)]
    assert result.counts["n_tied"] == 0


@pytest.mark.parametrize("ranks", [(0, 1, 2), (1, 2, 9), (5, 6, 7)])
def test_other_ranks_than_1_2_3_are_numbered_anew_and_counted(lake: Lake, ranks: tuple[int, ...]) -> None:
    rows = [(FIRST, f"rockets/orbit.py#L{line}", rank, -rank) for line, rank in enumerate(ranks, start=1)]
    result = imported(lake, trec(rows))
    assert hits(lake, "rank", "line_start") == [(1, 0), (2, 1), (3, 2)]
    assert result.counts["n_renumbered"] == 1
    assert any("numbered anew" in note for note in result.outcome("x", "").warnings)


@pytest.mark.parametrize("rank", [0, 1, 7])
def test_where_trec_ranks_say_nothing_lists_are_ordered_as_trec_eval_orders_them(lake: Lake, rank: int) -> None:
    scores = {
        "rockets/engine.py#L1": 0.5,
        "rockets/engine.py#L10": 0.5,
        # As Float32, which trec_eval reads, the same: the greater name comes first.
        "rockets/engine.py#L2": 0.5 + 1e-12,
        "rockets/orbit.py": -3,
        "rockets/engine.py#L3": 2,
    }
    rows = [(FIRST, document, rank, score) for document, score in scores.items()]
    result = imported(lake, trec([*rows, (LAST, "dogs.py", rank, 1)]))
    assert result.notes == ["the rank column says nothing: lists are ordered by score, as trec_eval does"]
    assert result.counts["n_renumbered"] == 0
    found = lake.read("hits").filter(item_id=FIRST).sort("rank").select("path", "line_start")
    ordered = sorted(scores, key=lambda name: (float(np.float32(scores[name])), name), reverse=True)
    assert ordered[1:4] == ["rockets/engine.py#L2", "rockets/engine.py#L10", "rockets/engine.py#L1"]
    lines = [int(name.partition("#L")[2] or 1) - 1 for name in ordered]
    assert found.rows() == [(name.partition("#")[0], line) for name, line in zip(ordered, lines, strict=True)]


def test_ties_at_the_cut_offs_are_counted(lake: Lake) -> None:
    scores = [9, 8, 7, 6, 5, 5, 4, 3, 2, 1, 1]
    rows = [(FIRST, f"rockets/orbit.py#L{n}", n, score) for n, score in enumerate(scores, start=1)]
    assert imported(lake, trec(rows)).counts["n_tied"] == 1
    assert lake.read("run_items").filter(pl.col("item_id") == FIRST)["ties"].to_list() == [[5, 10]]
