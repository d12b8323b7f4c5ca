from pathlib import Path

import numpy as np
import polars as pl
import pytest

from lake.store import Lake
from tests.ingest.runs.imports import FIRST, LAST, hit, hits, imported, trec, tsv
from tests.tiny import CATS, REPOSITORIES, build, ingested


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
def test_other_ranks_than_1_2_3_are_numbered_anew(lake: Lake, ranks: tuple[int, ...]) -> None:
    rows = [(FIRST, f"rockets/orbit.py#L{line}", rank, -rank) for line, rank in enumerate(ranks, start=1)]
    imported(lake, trec(rows))
    assert hits(lake, "rank", "line_start") == [(1, 0), (2, 1), (3, 2)]


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
    assert result.notes == ["ranks are missing or all equal, so lists are ordered by score, as in trec_eval"]
    rows_of_first = lake.read("hits").filter(item_id=FIRST).sort("rank").select("path", "line_start")
    ordered = sorted(scores, key=lambda name: (float(np.float32(scores[name])), name), reverse=True)
    assert ordered[1:4] == ["rockets/engine.py#L2", "rockets/engine.py#L10", "rockets/engine.py#L1"]
    lines = [int(name.partition("#L")[2] or 1) - 1 for name in ordered]
    assert rows_of_first.rows() == [(name.partition("#")[0], line) for name, line in zip(ordered, lines, strict=True)]


def test_ties_at_the_cut_offs_are_counted(lake: Lake) -> None:
    scores = [9, 8, 7, 6, 5, 5, 4, 3, 2, 1, 1]
    rows = [(FIRST, f"rockets/orbit.py#L{n}", n, score) for n, score in enumerate(scores, start=1)]
    assert imported(lake, trec(rows)).counts["n_tied"] == 1
    assert lake.read("run_items").filter(pl.col("item_id") == FIRST)["ties"].to_list() == [[5, 10]]


@pytest.mark.parametrize(
    ("document", "lines"),
    [
        ("rockets/orbit.py#L2-L5", (1, 5)), ("rockets/orbit.py#L7", (6, 7)), ("rockets/orbit.py#L1-L12", (0, 12)),
        ("rockets/orbit.py", (0, 12)), ("rockets/__init__.py", (0, 0)),
    ],
)  # fmt: skip
def test_documents_become_half_open_lines_from_0(lake: Lake, document: str, lines: tuple[int, int]) -> None:
    assert imported(lake, hit(document)).counts["n_clamped"] == 0
    assert hits(lake, "path", "line_start", "line_end", "path_given") == [
        (document.partition("#")[0], *lines, document.partition("#")[0])
    ]


def test_bytes_and_characters_are_those_of_the_lines(lake: Lake) -> None:
    imported(lake, hit("rockets/orbit.py#L4-L6"))
    ((start, end),) = hits(lake, "byte_start", "byte_end")
    assert isinstance(start, int)
    assert isinstance(end, int)
    sha256 = lake.read("files").filter(pl.col("path") == "rockets/orbit.py")["sha256"][0]
    text = lake.read("blobs").filter(pl.col("sha256") == sha256)["text"][0].encode()[start:end].decode()
    assert text == "def circular(radius):\r\n    speed = (398600 / radius) ** 0.5\r\n    return speed\r\n"
    item = lake.read("run_items").filter(pl.col("item_id") == FIRST).row(0, named=True)
    assert (item["n_returned"], item["n_nws"]) == (1, len("".join(text.split())))


def test_overlapping_documents_say_what_each_adds(lake: Lake) -> None:
    documents = ("rockets/orbit.py#L4-L5", "rockets/orbit.py#L5-L6", "rockets/gone.py#L1", "rockets/orbit.py#L4-L6")
    imported(lake, trec([(FIRST, document, rank, 1 / rank) for rank, document in enumerate(documents, start=1)]))
    sizes = [len("defcircular(radius):speed=(398600/radius)**0.5"), len("returnspeed")]
    assert hits(lake, "n_new_nws") == [(sizes[0],), (sizes[1],), (None,), (0,)]


@pytest.mark.parametrize("document", ["rockets/orbit.py#L3-L13", "rockets/orbit.py#L13"])
def test_an_end_one_line_past_the_file_is_clamped_and_counted(lake: Lake, document: str) -> None:
    result = imported(lake, hit(document))
    assert result.counts["n_clamped"] == 1
    assert hits(lake, "line_end") == [(12,)]
    assert "clamped: 1 range that ended one line past the end of the file" in result.outcome("x", "").warnings


@pytest.mark.parametrize("document", ["rockets/engine.py::Engine.burn", "/testbed/rockets/engine.py::Engine::burn"])
def test_a_definition_is_its_lines(lake: Lake, document: str) -> None:
    result = imported(lake, trec([(FIRST, document, 1, 2), (FIRST, "rockets/engine.py::Engine.land", 2, 1)]))
    columns = ("path", "line_start", "line_end", "path_given")
    given = document.replace("Engine::", "Engine.")
    unknown = (None, None, None, "rockets/engine.py::Engine.land")
    assert hits(lake, *columns) == [("rockets/engine.py", 7, 10, given), unknown]
    assert result.counts["n_unresolved"] == 1


def test_of_several_definitions_of_a_name_the_first_is_taken_and_counted(tmp_path: Path) -> None:
    twice = CATS + "\n\ndef purr(volume, length):\n    return volume * length\n"
    files = {**REPOSITORIES, "zoo_animals/cats.py": twice.encode()}
    ingested(tmp_path / "lake", build(tmp_path / "source", repositories=files))
    lake = Lake(tmp_path / "lake")
    result = imported(lake, hit("cats.py::purr", LAST))
    assert hits(lake, item=LAST) == [("cats.py", 0, 2)]
    assert "ambiguous: 1 name that its file defines several times; the first is used" in result.sentences()


@pytest.mark.parametrize(
    "path",
    [
        "/testbed/rockets/orbit.py", "./rockets/orbit.py", "acme_rockets/rockets/orbit.py", "/rockets/orbit.py",
        "rockets\\orbit.py", "C:\\testbed\\rockets\\orbit.py",
    ],
)  # fmt: skip
def test_a_path_resolves_by_dropping_leading_folders(lake: Lake, path: str) -> None:
    assert imported(lake, hit(f"{path}#L2")).counts["n_unresolved"] == 0
    assert hits(lake, "path", "path_given", "line_start") == [("rockets/orbit.py", path, 1)]


@pytest.mark.parametrize(
    "path", ["../rockets/orbit.py", "rockets/../rockets/orbit.py", "nowhere.py", "cats.py", "cand:3"]
)
def test_a_path_that_means_no_file_of_the_pool_is_kept_unresolved_and_counted(lake: Lake, path: str) -> None:
    result = imported(lake, trec([(FIRST, f"{path}#L2", 1, 2), (FIRST, path, 2, 1)]))
    assert (result.counts["n_unresolved"], result.counts["n_hits"]) == (2, 2)
    assert hits(lake, "path_given", "path", "line_start", "line_end") == [(path, None, 1, 2), (path, None, None, None)]
    *_, warning, unresolved = result.outcome("x", "").warnings
    assert unresolved.startswith("unresolved (no such file in the pool): 2 of 2 paths")
    assert path in unresolved
    assert warning.startswith("warning: no document in it is a file of its item's pool. A document is path#L10-L20 (")
    item = lake.read("run_items").filter(pl.col("item_id") == FIRST).row(0, named=True)
    assert (item["status"], item["n_returned"], item["n_nws"]) == ("done", 2, 0)
