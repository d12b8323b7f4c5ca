from pathlib import Path

import polars as pl
import pytest

from lake.store import Lake
from report.build import build
from report.format import in_numbers_order
from tests.report.html import Element, parse, table
from tests.report.small_lake import aggregated, write_boards

CUT = {"level": ("easy", "hard"), "difficulty": ("easy", "hard"), "band": ("10-14", "20+", "5-9")}


@pytest.fixture
def page(small: Lake, tmp_path: Path) -> Element:
    """The small lake's page, its eight items cut by level, by the same under another name, and by band."""
    for part in aggregated(small):
        rows = small.scan_parts([part], "aggregates").collect().drop("benchmark")
        whole = rows.filter(pl.col("slice") == "subset")
        cut = [
            whole.with_columns(slice=pl.lit(name), slice_value=pl.lit(value), macro=pl.col("macro") / (place + 2))
            for name, values in CUT.items()
            for place, value in enumerate(values)
        ]
        sized = [each.with_columns(n=pl.lit(4, pl.Int64), n_items=pl.lit(4, pl.Int64)) for each in cut]
        small.write("aggregates", pl.concat([rows, *sized]), part=part.name, fingerprint="cut", **part.folders)
    build(write_boards(small), tmp_path / "site")
    return parse((tmp_path / "site" / "repoeval-all.html").read_text(encoding="utf-8"))


def heats(page: Element) -> list[Element]:
    found = page.all("section")[0].all("table")
    return [each for each in found if (each.all("caption")[0].attributes.get("id") or "").startswith("heat-")]


def test_two_slices_that_cut_alike_are_one_table(page: Element) -> None:
    titles = [each.text for each in page.all("section")[0].all("h3") if " at 10 by " in each.text]
    assert titles == [f"ndcg at 10 by {name}" for name in ("repository", "level", "number of candidates")]


def test_bands_stand_in_the_order_of_their_numbers(page: Element) -> None:
    head = table(page, "chunking-v1: ndcg at 10, mean over items, by number of candidates")[0]
    assert head[1:] == ["5-94 items", "10-144 items", "20+4 items"]


def test_a_table_says_over_which_items_it_is(page: Element) -> None:
    captions = [each.all("caption")[0].text for each in heats(page)]
    assert "by level; 8 items, where the table above is over the 5 of function-2k." in captions[1]
    assert "by number of candidates; 12 items, where the table above" in captions[2]


def test_a_table_over_the_items_of_the_one_above_says_so(small: Lake, tmp_path: Path) -> None:
    for part in aggregated(small):
        rows = small.scan_parts([part], "aggregates").collect().drop("benchmark")
        # 1, 2 and 2 of the five items.
        size = pl.col("slice_value").rank("dense").over("slice").clip(upper_bound=2).cast(pl.Int64)
        rows = rows.with_columns(n_items=pl.when(pl.col("slice") == "repo").then(size).otherwise("n_items"))
        small.write("aggregates", rows, part=part.name, fingerprint="sized", **part.folders)
    build(write_boards(small), tmp_path / "site")
    page = parse((tmp_path / "site" / "repoeval-all.html").read_text(encoding="utf-8"))
    assert "by repository; the 5 items of the table above." in heats(page)[0].all("caption")[0].text


def test_numbers_in_values_are_ordered_by_size() -> None:
    assert in_numbers_order(["b-2", "20+", "5-9", "10-14", "b-10", "a"]) == ["5-9", "10-14", "20+", "a", "b-2", "b-10"]
