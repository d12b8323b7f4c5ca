import csv
import re
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

from lake.averages import AVERAGES
from lake.store import Lake
from report.charts.drawing import STYLE, light_colours, write_figure
from report.charts.figures import KIND_LOOKS, SHADES, Curve, Figure, Point, cut, draw
from report.charts.plots import MOST_TOGETHER, _shades, forest_chart, line_chart
from report.leaderboard.board import build_board
from report.leaderboard.pictures import SAME, pool_sizes, ways_to_count
from report.tables_read import ProtocolRow, TablesRead
from tests.frames import write
from tests.report.html import Element, page_of, table
from tests.report.small_lake import TARGET, aggregated, run_id, write_boards, write_lake

POINTS = [
    Point("fixed", "retriever", 0.5, 0.4, 0.6),
    Point("agent ✓ <b>", "agent", 0.25, None, None),
    Point("best", "oracle", 0.9, None, None),
]


def figure() -> Figure:
    numbers = pl.DataFrame([{"system": point.label, "value": point.value, "low": point.low} for point in POINTS])
    about = ("a/scores", "Line F1", "RepoEval (sample), 2 items", numbers.write_csv())
    return Figure(*about, draw("plots.forest_chart", POINTS, "a name"))


def contents(folder: Path) -> dict[str, bytes]:
    """The files of the figure by their endings."""
    of = figure()
    write_figure(folder / "scores", of.picture, of.title, of.population, of.numbers)
    return {path.suffix: path.read_bytes() for path in folder.iterdir()}


def shapes(svg: str) -> dict[str, set[str]]:
    """Colour → the outlines that are drawn in it or in a shade of it, without their sizes."""
    marks = re.findall(r'<path[^>]* d="([^"]+)"[^>]*?(?:fill|stroke)="(var\(--[a-z]+)(?:-[2-4])?\)"', svg)
    outlines: dict[str, set[str]] = {}
    for outline, colour in marks:
        outlines.setdefault(f"{colour})", set()).add(re.sub(r"[^A-Zhvl]", "", outline))
    return outlines


def test_a_downloaded_picture_needs_no_page_and_says_what_it_shows_of_what(tmp_path: Path) -> None:
    files = contents(tmp_path)
    svg = files[".svg"].decode()
    root = ElementTree.fromstring(svg)  # of our own making
    texts = ["".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[:2] == ["Line F1", "RepoEval (sample), 2 items"]
    assert root.findtext("{http://www.w3.org/2000/svg}title") == "Line F1"
    assert "agent ✓ <b>" in texts
    assert not re.search(r"currentColor|var\(", svg)
    # The converter draws text alone: without a font it would leave a blank.
    assert files[".pdf"].startswith(b"%PDF-")
    assert b"/BaseFont" in files[".pdf"]


def test_the_numbers_of_a_figure_are_its_csv(tmp_path: Path) -> None:
    head, *rows = csv.reader(contents(tmp_path)[".csv"].decode().splitlines())
    assert head == ["system", "value", "low"]
    assert rows == [["fixed", "0.5", "0.4"], ["agent ✓ <b>", "0.25", ""], ["best", "0.9", ""]]


def test_of_more_curves_than_can_be_told_apart_each_has_a_plot_of_its_own() -> None:
    kinds = ("agent", "retriever")
    curves = [Curve(f"system {number}", [0.1, 0.1 * number], kinds[number % 2], [1, 10]) for number in range(1, 8)]
    of_one_kind = [Curve(curve.label, curve.values, "agent", curve.places) for curve in curves[: SHADES + 1]]
    together, apart, alike = (
        str(line_chart(some, ("x", "y"), "n")) for some in (curves[:MOST_TOGETHER], curves, of_one_kind)
    )
    assert all(f">system {number} 0.{number}00<" in apart for number in range(1, 8))
    assert (together.count(">1<"), apart.count(">1<"), alike.count(">1<")) == (1, 2, 2)


@pytest.mark.parametrize("kind", KIND_LOOKS)
def test_a_kind_has_one_colour_and_one_shape_in_every_chart(kind: str) -> None:
    point, curve = Point("a", kind, 0.5, 0.4, 0.6), Curve("a", [0.1, 0.2], kind, [1, 2])
    charts = [
        forest_chart([point], "n"),
        line_chart([curve, Curve("", [0.3], kind, [2])], ("x", "y"), "n", [(2, 0.2, 0)]),
        line_chart([curve], ("x", "y"), "n"),
    ]
    drawn = [outlines for chart in charts if (outlines := shapes(str(chart)).get(KIND_LOOKS[kind].colour))]
    assert len(drawn) == len(charts)
    # A curve has its marks and, besides, its line.
    assert all(outlines >= drawn[0] for outlines in drawn)
    assert len(drawn[0]) == 1


def test_no_two_kinds_look_alike_and_none_is_gold() -> None:
    colours = {kind: light_colours()[each.colour[6:-1]] for kind, each in KIND_LOOKS.items()}
    assert len(set(colours.values())) == len(KIND_LOOKS) == len({each.shape for each in KIND_LOOKS.values()})
    assert light_colours()["gold"] not in colours.values()
    style = STYLE.read_text(encoding="utf-8")
    # Tables draw what charts draw.
    assert all(f".ci.{kind} {{ --kind: {each.colour}; }}" in style for kind, each in KIND_LOOKS.items())


def test_gold_marks_gold_and_the_frame_alone() -> None:
    used = re.findall(r"^([^{}\n]*)\{[^{}]*var\(--gold\)", STYLE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {selector.strip() for selector in used} <= {".mark span", ".top nav a[aria-current]", ".caveats"} | {
        selector.strip() for selector in used if "gold" in selector
    }


def test_a_picture_fills_its_box_and_keeps_its_text_readable() -> None:
    svg = str(forest_chart(POINTS, "a name"))
    width, least = float(re.findall(r' width="([0-9.]+)"', svg)[0]), int(re.findall(r"min-width:(\d+)px", svg)[0])
    assert least / width * 12 == pytest.approx(11, abs=0.05)
    assert "viewBox" in svg
    assert [cut("BM25, Definitions of names", 20), cut("x" * 30, 9)] == ["BM25, Definitions …", "xxxx…xxxx"]


def test_a_system_has_one_colour_whoever_else_is_drawn() -> None:
    names = ["deep", "broad", "fast"]
    alone = [_shades([("agent", name)])[0] for name in names]
    assert len(set(alone)) > 1
    together = _shades([("agent", name) for name in names])
    assert _shades([("agent", name) for name in reversed(names)]) == together[::-1]
    assert len(set(together)) == len(names)


SWEEP = {
    f"{family}-{size}+{retriever}": 0.1 * number + (0.4 if retriever == "oracle" else 0.0)
    for number, size in enumerate((300, 1500, 2400), start=1)
    for family, retriever in (("fixed-nws", "bm25-okapi"), ("fixed-nws", "oracle"))
}
OTHERS = {"syntax-300+bm25-okapi": 0.5, "syntax-600+bm25-okapi": 0.6, "window-20-10+bm25-okapi": 0.7}


def page(folder: Path, systems: Mapping[str, float]) -> Element:
    """The page of a lake in which systems have these values of F1 by lines, under the first protocol."""
    lake = write_lake(folder / "lake", dict.fromkeys(systems, (0.5, 0.5)))
    metrics = lake.read("metrics").to_dicts()
    write(lake, "metrics", [*metrics, {**metrics[0], "name": "line_f1"}])
    for system, value in systems.items():
        (part,) = aggregated(lake, run_id(system))
        rows = lake.scan_parts([part], "aggregates").collect().drop("benchmark")
        head = rows.filter(metric="ndcg", slice="subset")
        lines = [
            head.with_columns(
                granularity=pl.lit("line"), metric=pl.lit("line_f1"), k=pl.lit(k, pl.Int64), macro=pl.lit(value / share)
            )
            for k, share in ((2_000, 2), (8_000, 1))
        ]
        lake.write("aggregates", pl.concat([rows, *lines]), part=part.name, fingerprint="lines", **part.folders)
    return page_of(write_boards(lake), folder, "repoeval.html")


def test_a_family_of_three_sizes_is_a_line_for_each_retriever_with_its_oracle(tmp_path: Path) -> None:
    page_ = page(tmp_path, {**SWEEP, **OTHERS})
    rows = table(page_, "chunking-v1: line_f1@8000 by the size in a chunker")
    # What was cut says how large its chunks are; of the others the name does.
    assert rows == [
        ["Chunkers and retriever", "300", "1,500", "2,400"],
        ["bm25-okapi fixed-nws", "0.100 300", "0.200 833", "0.300 2,400"],
        ["oracle fixed-nws", "0.500 300", "0.600 833", "0.700 2,400"],
    ]
    (chart,) = [svg for svg in page_.all("svg") if "the size of chunks" in (svg.attributes["aria-label"] or "")]
    assert "bm25-okapi fixed-nws 0.100 at 300 to 0.300 at 2,400" in (chart.attributes["aria-label"] or "")
    (of_target,) = [
        section
        for section in page_.all("section")
        if section.attributes.get("data-protocol") == TARGET.partition("@")[2]
    ]
    assert "by the size of chunks" not in of_target.text


def test_two_sizes_are_no_line(tmp_path: Path) -> None:
    assert "by the size of chunks" not in page(tmp_path, OTHERS).text


def test_the_picture_has_a_mark_per_size_and_a_dashed_line_for_a_yardstick() -> None:
    oracle = Curve("a+oracle", [0.9, 0.8, 0.7], "oracle", [250, 500, 1_000])
    chance = Curve("chance", [0.3, 0.4], "baseline", [300, 900])
    curves = [oracle, chance, Curve("a+x", [0.1, 0.2], "retriever", [300, 900])]
    svg = str(line_chart(curves, ("Characters", "F1"), 'a name with "marks" & <tags>'))
    assert (svg.count('role="img"'), svg.count("stroke-dasharray")) == (1, 2)
    assert "&quot;marks&quot; &amp; &lt;tags>" in svg
    assert all(f">{text}<" in svg for text in ("a+oracle 0.700", "a+x 0.200", "500", "1,000", "Characters", "F1"))
    assert svg.count("clip") == 0


def test_each_system_is_a_line_over_the_files_searched(tmp_path: Path) -> None:
    lake = write_lake(tmp_path / "lake")
    sizes = {"function_level/a": 10, "function_level/b": 30, "with-4/a": 200, "with-4/b": 400}
    pools = [
        {"pool_id": f"repoeval/{name}", "benchmark": "repoeval", "kind": "searched", "n_files": n}
        for name, n in sizes.items()
    ]
    write(lake, "pools", pools, benchmark="repoeval", kind="searched")
    facts = TablesRead(lake)
    alone, beside = (build_board(facts, facts.boards("repoeval")[0]) for _ in range(2))
    assert alone.protocol.short == "chunking-v1"
    assert pool_sizes([alone]) is None
    beside.protocol = ProtocolRow(**vars(beside.protocol) | {"name": "repoeval@scale-4-v1"})
    drawn = pool_sizes([beside, alone])
    assert drawn is not None
    assert drawn["sizes"] == [20.0, 300.0]
    numbers = {row.run.system: row.number for row in alone.rows}
    assert {run.system: values for run, values in drawn["lines"]} == {name: [n, n] for name, n in numbers.items()}
    assert "at 20 to" in str(drawn["figure"].picture)
    assert pool_sizes([beside]) is None


def test_readings_are_the_differences_of_the_stored_means(lake_folder: Path) -> None:
    facts = TablesRead(Lake(lake_folder))
    boards = [build_board(facts, protocol) for protocol in facts.boards("repoeval")]
    readings = ways_to_count(boards)
    first, second = (row.run.run_id for row in boards[0].systems[:2])
    board = boards[0]
    means = facts.lake.scan("aggregates", benchmark="repoeval").filter(**board.where).collect()
    means = means.filter(granularity=board.primary.granularity, metric=board.primary.metric)
    ahead, behind = (means.filter(run_id=run_id).sort("k").select([*AVERAGES]) for run_id in (first, second))
    expected = sorted(value for row in (ahead - behind).rows() for value in row)
    deltas = sorted(reading["delta"] for reading in readings["every"] if reading["protocol"] == board.protocol.short)
    assert deltas == expected
    assert len(deltas) == means["k"].n_unique() * len(AVERAGES)
    assert {reading["protocol"] for reading in readings["every"]} > {board.protocol.short}
    n_behind = sum(reading["delta"] < -SAME for reading in readings["every"])
    assert len(readings["turned"]) == n_behind
    assert f" of {len(readings['every'])} ways of scoring" in readings["sentence"]


def test_one_system_alone_has_nothing_to_be_held_against(lake_folder: Path) -> None:
    facts = TablesRead(Lake(lake_folder))
    (best, *_) = build_board(facts, facts.boards("repoeval")[0]).systems
    facts.runs = [run for run in facts.runs if run.baseline or run.run_id == best.run.run_id]
    readings = ways_to_count([build_board(facts, protocol) for protocol in facts.boards("repoeval")])
    assert (readings["every"], readings["sentence"]) == ([], "")
