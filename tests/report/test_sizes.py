from collections.abc import Mapping
from pathlib import Path

import polars as pl

from report.build import build
from report.charts.figures import Curve
from report.charts.plots import line_chart
from tests.report.html import Element, parse, table
from tests.report.small_lake import TARGET, aggregated, run_id, write, write_boards, write_lake

SWEEP = {
    f"{family}-{size}+{retriever}": 0.1 * place + (0.4 if retriever == "oracle" else 0.0)
    for place, size in enumerate((300, 1500, 2400), start=1)
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
    build(write_boards(lake), folder / "site")
    return parse((folder / "site" / "repoeval.html").read_text(encoding="utf-8"))


def test_a_family_of_three_sizes_is_a_line_for_each_retriever_with_its_oracle(tmp_path: Path) -> None:
    found = page(tmp_path, {**SWEEP, **OTHERS})
    rows = table(found, "chunking-v1: line_f1@8000 by the size in a chunker")
    # What was cut says how large its chunks are; of the others the name does.
    assert rows == [
        ["Chunkers and retriever", "300", "1,500", "2,400"],
        ["bm25-okapi fixed-nws", "0.100 300", "0.200 833", "0.300 2,400"],
        ["oracle fixed-nws", "0.500 300", "0.600 833", "0.700 2,400"],
    ]
    (chart,) = [one for one in found.all("svg") if "the size of chunks" in (one.attributes["aria-label"] or "")]
    assert "bm25-okapi fixed-nws 0.100 at 300 to 0.300 at 2,400" in (chart.attributes["aria-label"] or "")
    (of_target,) = [
        one for one in found.all("section") if one.attributes.get("data-protocol") == TARGET.partition("@")[2]
    ]
    assert "by the size of chunks" not in of_target.text


def test_two_sizes_are_no_line(tmp_path: Path) -> None:
    assert "by the size of chunks" not in page(tmp_path, OTHERS).text


def test_the_picture_has_a_mark_per_size_and_a_dashed_line_for_the_oracle() -> None:
    oracle = Curve("a+oracle", [0.9, 0.8, 0.7], "oracle", [250, 500, 1_000])
    curves = [oracle, Curve("a+x", [0.1, 0.2], "retriever", [300, 900])]
    svg = str(line_chart(curves, ("Characters", "F1"), "sizes"))
    assert svg.count("stroke-dasharray") == 1
    assert all(f">{text}<" in svg for text in ("a+oracle 0.700", "a+x 0.200", "500", "1,000", "Characters", "F1"))
    assert svg.count("clip") == 0
