from pathlib import Path

import polars as pl
import pytest

from lake.averages import ITEM, REPOSITORY
from lake.store import Lake
from report.build import build
from report.format import number_key
from report.leaderboard.costs import by_characters
from report.leaderboard.verdicts import MOST_SYSTEMS, beats
from tests.frames import change
from tests.report.html import Element, board_of, page_of, table
from tests.report.small_lake import aggregated, write_boards
from tests.report.wide_lake import write_wide

CUT = {"level": ("easy", "hard"), "difficulty": ("easy", "hard"), "band": ("10-14", "20+", "5-9")}


@pytest.fixture
def page(small: Lake, tmp_path: Path) -> Element:
    """The small lake's page, its eight items cut by level, by the same under another name, and by band."""
    for part in aggregated(small):
        rows = small.scan_parts([part], "aggregates").collect().drop("benchmark")
        whole = rows.filter(pl.col("slice") == "subset")
        cut = [
            whole.with_columns(slice=pl.lit(name), slice_value=pl.lit(value), macro=pl.col("macro") / (number + 2))
            for name, values in CUT.items()
            for number, value in enumerate(values)
        ]
        sized = [each.with_columns(n=pl.lit(4, pl.Int64), n_items=pl.lit(4, pl.Int64)) for each in cut]
        small.write("aggregates", pl.concat([rows, *sized]), part=part.name, fingerprint="cut", **part.folders)
    return page_of(write_boards(small), tmp_path)


def heats(page: Element) -> list[Element]:
    tables = page.all("section")[0].all("table")
    return [each for each in tables if (each.all("caption")[0].attributes.get("id") or "").startswith("heat-")]


def test_two_slices_that_cut_alike_are_one_table(page: Element) -> None:
    titles = [each.text for each in page.all("section")[0].all("h3") if " at 10 by " in each.text]
    assert titles == [f"ndcg at 10 by {name}" for name in ("repository", "level", "number of candidates")]


def test_bands_stand_in_the_order_of_their_numbers(page: Element) -> None:
    head = table(page, "chunking-v1: ndcg at 10, mean over items, by number of candidates")[0]
    assert head[1:] == ["5-94 items", "10-144 items", "20+4 items"]


def test_a_table_says_over_which_items_it_is(page: Element) -> None:
    captions = [each.all("caption")[0].text for each in heats(page)]
    assert "by level; 8 items (the table above: the 5 of function-2k)." in captions[1]
    assert "by number of candidates; 12 items (the table above: " in captions[2]


def test_a_table_over_the_items_of_the_one_above_says_so(small: Lake, tmp_path: Path) -> None:
    # 1, 2 and 2 of the five items.
    size = pl.col("slice_value").rank("dense").over("slice").clip(upper_bound=2).cast(pl.Int64)
    change(small, "aggregates", *aggregated(small), n_items=pl.when(slice="repo").then(size).otherwise("n_items"))
    page = page_of(write_boards(small), tmp_path)
    assert "by repository; the 5 items of the table above." in heats(page)[0].all("caption")[0].text


def test_numbers_in_values_are_ordered_by_size() -> None:
    values = ["b-2", "20+", "5-9", "10-14", "b-10", "a"]
    assert sorted(values, key=number_key) == ["5-9", "10-14", "20+", "a", "b-2", "b-10"]


def test_each_of_the_first_systems_stands_against_all_behind_it(tmp_path: Path) -> None:
    board = board_of(write_wide(tmp_path / "lake", n_items=12, n_systems=30, names=["repoeval@chunking-v1"]))
    lines = beats(board)
    runs = [row.run for row, _ in lines]
    assert len(board.systems) == 28
    assert sum(not run.baseline for run in runs) == MOST_SYSTEMS
    assert {run.retriever for run in runs if run.baseline} == {"random", "oracle"}
    stored = board.facts.comparisons.filter(slice=board.slice[0], slice_value=board.slice[1])
    for position, (row, pairs) in enumerate(lines, 1):
        for other, pair in zip(runs[position:], pairs, strict=True):
            assert pair is not None
            both = [row.run.run_id, other.run_id]
            mine = stored.filter(pl.col("run_a").is_in(both), pl.col("run_b").is_in(both))
            ((run_a, delta, verdict),) = mine.select("run_a", "delta", "verdict").rows()
            ahead = -delta if run_a == row.run.run_id else delta
            assert (pair["delta"], pair["run_a"], pair["run_b"]) == (ahead, other.run_id, row.run.run_id)
            assert (pair["verdict"] == "cannot be separated") == (verdict == "cannot be separated")
            assert (pair["verdict"] == "worse") == (verdict != "cannot be separated" and ahead < 0)


def test_a_board_without_comparisons_has_no_such_table(tmp_path: Path) -> None:
    lake = write_wide(tmp_path / "lake", n_items=12, n_systems=3, names=["repoeval@chunking-v1"])
    for part in lake.parts("comparisons"):
        part.path.unlink()
    assert beats(board_of(lake)) == []


def test_curves_over_what_is_read_have_every_system_in_their_numbers(tmp_path: Path) -> None:
    board = board_of(write_wide(tmp_path / "lake", n_items=12, n_systems=30, names=["repoeval@chunking-v1"]))
    first = by_characters(board, *board.primary.measure[:2])
    assert first is not None
    systems = {row.run.system for row in board.rows if not row.run.baseline}
    assert {line.partition(",")[0] for line in first["figure"].numbers.splitlines()[1:]} == systems
    # Nothing on the frontier is worth less than what costs less.
    values = [offer.value for offer, _, _ in first["offers"]]
    assert values == sorted(values)


def test_the_page_says_whether_the_tests_are_over_items(tmp_path: Path) -> None:
    lake = write_wide(tmp_path / "lake", n_items=12, n_systems=4, names=["repoeval@chunking-v1"])
    for unit in (ITEM, REPOSITORY):
        verdict = pl.lit("cannot be separated")
        change(lake, "comparisons", *lake.parts("comparisons"), unit=pl.lit(unit), verdict=verdict)
        build(lake, tmp_path / unit)
        page, pairs = ((tmp_path / unit / f"{name}.html").read_text() for name in ("repoeval", "pairs/repoeval"))
        assert ("not significantly different" in pairs, "cannot be separated" in pairs) == (True, False)
        table = page[page.index("Who beats whom") :]
        assert ("Tests are over items: for these repositories only." in table) == (unit == ITEM)
