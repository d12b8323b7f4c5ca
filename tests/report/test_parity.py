from pathlib import Path

from report.methods.parity import parity_rows
from tests.report.html import parse
from tests.tiny import command


def test_every_compared_quantity_is_a_row_of_the_page(lake_folder: Path, tmp_path: Path) -> None:
    said = command("report", "--lake", lake_folder, "--site", tmp_path / "site")
    assert said.code in {0, 5}, said.err
    page = parse((tmp_path / "site/methods.html").read_text())
    cells = {cell.text for tag in ("td", "th") for cell in page.all(tag)}
    rows = parity_rows()
    assert rows
    assert {row.reference for row in rows} | {row.quantity for row in rows} <= cells
    assert {f"{row.n_compared:,}" for row in rows} | {f"{row.n_equal:,}" for row in rows} <= cells
