import hashlib
import json
from pathlib import Path

import pytest

from report.charts.figures import KIND_LOOKS
from tests.browser.conftest import Opened, downloaded

PAGES = ("index.html", "repoeval.html", "repoeval-all.html", "contextbench-all.html")


@pytest.mark.parametrize("name", PAGES)
def test_every_figure_is_there_to_download_as_the_manifest_has_it(opened: Opened, site: Path, name: str) -> None:
    page = opened(name)
    links = page.evaluate(
        "[...document.querySelectorAll('.downloads a')].filter(a => a.text !== 'PNG').map(a => a.getAttribute('href'))"
    )
    figures = page.locator(".downloads").count()
    assert figures > 0
    assert [link.rpartition(".")[2] for link in links] == ["svg", "pdf", "csv"] * figures
    assert len(set(links)) == len(links)
    manifest = json.loads((site / "manifest.json").read_text(encoding="utf-8"))["files"]
    for link in links:
        assert manifest[link]["sha256"] == hashlib.sha256((site / link).read_bytes()).hexdigest()


def test_a_figure_becomes_a_png_in_the_browser(opened: Opened, tmp_path: Path) -> None:
    page = opened("repoeval-all.html")
    width = page.locator(".chart svg").first.evaluate("svg => svg.viewBox.baseVal.width")
    file = downloaded(page.locator(".downloads a", has_text="PNG").first, tmp_path)
    assert file.suffix == ".png"
    content = file.read_bytes()
    assert content.startswith(b"\x89PNG\r\n")
    assert int.from_bytes(content[16:20]) == pytest.approx(2 * width, abs=1)


def test_text_in_figures_is_readable_on_a_phone(opened: Opened) -> None:
    page = opened("repoeval.html", viewport={"width": 390, "height": 844})
    sizes = page.evaluate("""() => [...document.querySelectorAll('.chart svg')]
      .filter(svg => svg.getClientRects().length).map(
        svg => 12 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width
      )""")
    assert sizes
    assert min(sizes) > 10.95


def test_tables_draw_each_kind_with_a_shape_of_its_own(opened: Opened) -> None:
    page = opened("contextbench.html")
    shapes = page.evaluate(
        """kinds => kinds.map(kind => {
      const table = document.body.appendChild(document.createElement('table'));
      table.dataset.main = '';
      const mark = table.appendChild(document.createElement('td'));
      mark.className = 'ci ' + kind;
      const at = mark.appendChild(document.createElement('i'));
      at.className = 'at';
      const style = getComputedStyle(at);
      return style.borderRadius + style.clipPath + ' ' + (style.backgroundColor !== 'rgba(0, 0, 0, 0)');
    })""",
        [*KIND_LOOKS],
    )
    assert len(set(shapes)) == len(KIND_LOOKS)
    assert all(shape.endswith("true") for shape in shapes)
