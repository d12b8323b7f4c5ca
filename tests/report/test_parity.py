"""What the methods page says of outside references."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from lake.store import Lake
from lake.tables import table
from tests.report.html import parse
from tests.tiny import command


def page(lake: Path, site: Path) -> str:
    said = command("report", "--lake", lake, "--site", site)
    assert said.code in {0, 5}, said.err
    return (site / "methods.html").read_text()


def test_without_a_comparison_the_page_says_how_to_run_one(lake_folder: Path, tmp_path: Path) -> None:
    assert "Not run in this build." in page(lake_folder, tmp_path / "site")
    assert not (tmp_path / "site/data/parity.parquet").exists()


def test_every_compared_quantity_is_a_row_of_the_page_and_of_the_download(lake_folder: Path, tmp_path: Path) -> None:
    row = {
        "reference": "some-library",
        "quantity": "ndcg@10 of a query",
        "benchmark": "repoeval",
        "kind": "independent library",
        "n_compared": 1234,
        "n_equal": 1233,
        "largest_difference": 2.5e-3,
        "explanation": "it cuts ties otherwise",
    }
    rows = pl.DataFrame([row], schema=table("parity").columns)
    Lake(lake_folder).write("parity", rows, part="all", fingerprint="x")
    text = page(lake_folder, tmp_path / "site")
    assert "Not run in this build." not in text
    cells = [cell.text for tag in ("td", "th") for cell in parse(text).all(tag)]
    assert {"some-library", "ndcg@10 of a query", "1,234", "1,233", "2.5e-03", "it cuts ties otherwise"} <= set(cells)
    assert pl.read_parquet(tmp_path / "site/data/parity.parquet").rows() == rows.rows()
