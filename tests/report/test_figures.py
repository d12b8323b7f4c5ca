import csv
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from report.charts.drawing import STYLE, light_colours, write_figure
from report.charts.figures import KIND_LOOKS, SHADES, Curve, Figure, Point, draw_figure
from report.charts.plots import MOST_TOGETHER, _shades, forest_chart, line_chart, score_chart

POINTS = [
    Point("one", "fixed", "retriever", 0.5, 0.4, 0.6),
    Point("two", "agent ✓ <b>", "agent", 0.25, None, None),
    Point("three", "best", "oracle", 0.9, None, None),
]


def figure() -> Figure:
    rows = [(point.label, point.value, point.low) for point in POINTS]
    what, columns = (POINTS, "Line F1", "a name"), ("system", "value", "low")
    return draw_figure("a/scores", "Line F1", "RepoEval (sample), 2 items", "plots.score_chart", what, columns, rows)


def contents(folder: Path) -> dict[str, bytes]:
    """The files of the figure by their endings."""
    of = figure()
    write_figure(folder / "scores", of.picture, of.title, of.population, of.numbers)
    return {path.suffix: path.read_bytes() for path in folder.iterdir()}


def shapes(svg: str) -> dict[str, set[str]]:
    """Colour → the outlines that are drawn in it or in a shade of it, without their sizes."""
    marks = re.findall(r'<path[^>]* d="([^"]+)"[^>]*?(?:fill|stroke)="(var\(--[a-z]+)(?:-[2-4])?\)"', svg)
    found: dict[str, set[str]] = {}
    for outline, colour in marks:
        found.setdefault(f"{colour})", set()).add(re.sub(r"[^A-Zhvl]", "", outline))
    return found


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
    point, curve = Point("", "a", kind, 0.5, 0.4, 0.6), Curve("a", [0.1, 0.2], kind, [1, 2])
    charts = [
        score_chart([point], "x", "n"),
        forest_chart([point], "n"),
        line_chart([curve, Curve("", [0.3], kind, [2])], ("x", "y"), "n", [(0, 1)]),
        line_chart([curve], ("x", "y"), "n"),
    ]
    drawn = [found for chart in charts if (found := shapes(str(chart)).get(KIND_LOOKS[kind].colour))]
    assert len(drawn) == len(charts)
    # A curve has its marks and, besides, its line.
    assert all(found >= drawn[1] for found in drawn)
    assert len(drawn[1]) == 1


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
    svg = str(score_chart(POINTS, "Line F1", "a name"))
    width, least = float(re.findall(r' width="([0-9.]+)"', svg)[0]), int(re.findall(r"min-width:(\d+)px", svg)[0])
    assert least / width * 12 == pytest.approx(11, abs=0.05)
    assert "viewBox" in svg


def test_a_system_has_one_colour_whoever_else_is_drawn() -> None:
    names = ["deep", "broad", "fast"]
    alone = [_shades([("agent", name)])[0] for name in names]
    assert len(set(alone)) > 1
    together = _shades([("agent", name) for name in names])
    assert _shades([("agent", name) for name in reversed(names)]) == together[::-1]
    assert len(set(together)) == len(names)
