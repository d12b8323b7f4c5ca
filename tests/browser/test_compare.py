from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lake.store import Lake
from report.build import build
from tests.browser.conftest import Opened, downloaded, until, watching
from tests.report.small_lake import HOSTILE, HOSTILE_SHOWN, run_id

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PAIRS = """async () => {
  const pairs = [];
  for (const option of document.querySelectorAll('#pick option[data-name]')) {
    const board = await goldspan.outcomes.open(option.dataset.name);
    const runs = await Promise.all(board.runs.map(run => board.run(run.key)));
    for (let place = 0; place < board.strata.length; place++) {
      const slice = await board.slice_of(place);
      runs.forEach((a, i) => runs.forEach((b, j) => i === j || pairs.push({
        protocol: board.protocol, value: board.strata[place], a: a.key, b: b.key,
        reckoned: goldspan.outcomes.pair(board, a, b, slice), stored: goldspan.stored(slice, i, j)
      })));
    }
  }
  return pairs;
}"""
SHOWN = (
    "() => [...document.querySelectorAll('#verdicts tbody tr')].map(row => [...row.cells].map(each => each.innerText))"
)
NO_SCRIPT = {"java_script_enabled": False}


@pytest.fixture(scope="module")
def evaluated(_made_once: Path) -> Lake:
    return Lake(_made_once / "lake")


@pytest.fixture(scope="module")
def real(evaluated: Lake, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    build(evaluated, folder / "site")
    return folder / "site"


@pytest.fixture
def compared(browser: Browser, real: Path) -> Iterator[Opened]:
    with watching(browser, real.as_uri()) as open_:

        def ready(path: str = "compare.html", **options: object) -> Page:
            page = open_(path, **options)
            page.wait_for_selector("#compared:not([hidden])")
            return page

        yield ready


def test_every_pair_either_way_round_reckons_as_evaluate_does(compared: Opened, evaluated: Lake) -> None:
    pairs = {(pair["protocol"], pair["value"], pair["a"], pair["b"]): pair for pair in compared().evaluate(PAIRS)}
    primary = evaluated.read("protocols").unnest("primary").select("metric", "k", "granularity", protocol="name")
    rows = evaluated.scan("comparisons").join(primary.lazy(), on=["protocol", "metric", "k", "granularity"]).collect()
    n = 0
    for row in rows.iter_rows(named=True):
        for a, b in permutations((row["run_a"], row["run_b"])):
            pair = pairs.get((row["protocol"], row["slice_value"], a[-8:], b[-8:]))
            if pair is None or row["slice"] != "subset":
                continue
            sign = 1 if b == row["run_b"] else -1
            wins, losses = (row["wins"], row["losses"])[::sign]
            reckoned, stored = pair["reckoned"], pair["stored"]
            assert reckoned["delta"] == pytest.approx(sign * row["delta"], abs=1e-12)
            assert stored["delta"] == sign * row["delta"]
            assert reckoned["n"] == row["n_items"]
            assert (stored["wins"], stored["losses"]) == (wins, losses)
            assert stored["low"] <= stored["high"]
            if wins is not None:
                counted = tuple(reckoned[name] for name in ("wins", "ties", "losses"))
                assert counted == (wins, row["ties"], losses)
            n += 1
    assert n > 100


def test_swapping_mirrors_what_is_shown_and_back_undoes_it(compared: Opened) -> None:
    page = compared()
    before = page.evaluate(SHOWN)
    flips = page.text_content("#flips-caption")
    page.click("#swap")
    until(page, "document.getElementById('said').textContent.startsWith('Compared with')")
    after = page.evaluate(SHOWN)
    other = str.maketrans("+−", "−+")
    assert after[1][3] == before[1][3].translate(other)
    low, high = before[1][4].split(" to ")
    assert after[1][4] == f"{high.translate(other)} to {low.translate(other)}"
    assert after[1][7:10] == before[1][9:6:-1]
    assert [row[1] for row in after] == [row[1] for row in before][::-1]
    assert page.text_content("#flips-caption") == flips
    assert page.evaluate("location.hash").startswith("#systems=")
    page.go_back()
    until(page, "location.hash === ''")
    until(page, f"({SHOWN})()[1][3] === {before[1][3]!r}")


def test_finding_the_gold_stands_beside_how_much_was_returned(compared: Opened) -> None:
    page = compared()
    lines = page.locator("#flips-table tbody tr").first.inner_text()
    assert re.search(r"found: \d+ of \d+ gold lines among \d+", lines)
    bars = page.locator("#ledger table")
    assert "Precision by line" in bars.locator("thead").inner_text()
    assert all(re.fullmatch(r"\d+\.\d %", text) for text in bars.locator("td.precision").all_inner_texts())


def test_the_tables_fit_a_small_desk(compared: Opened) -> None:
    page = compared(viewport={"width": 1100, "height": 900})
    for table in ("#verdicts", "#flips-table"):
        width, room = page.locator(table).evaluate("table => [table.scrollWidth, table.parentElement.clientWidth]")
        assert width <= room + 1, table


def test_an_address_opens_what_was_chosen(compared: Opened) -> None:
    page = compared()
    page.click("#systems summary")
    page.locator("#choices input:not(:checked)").first.click()
    until(page, "document.querySelectorAll('#verdicts tbody tr').length === 3")
    page.select_option("[name=pair]", index=1)
    until(page, "location.hash.includes('pair=')")
    page.select_option("[name=dir]", "better")
    page.select_option("[name=repo]", index=1)
    address = page.evaluate("location.hash")
    assert len(address) <= 300
    state = """() => [...document.querySelectorAll('select')].map(each => each.value)
      .concat(document.getElementById('flips-table').innerText)"""
    again = compared(f"compare.html{address}")
    assert again.evaluate(state) == page.evaluate(state)
    assert again.evaluate(SHOWN) == page.evaluate(SHOWN)
    # An anchor is no view.
    again.evaluate("document.querySelector('a.skip').click()")
    until(again, "location.hash === '#main'")
    again.wait_for_timeout(200)
    assert again.evaluate(SHOWN) == page.evaluate(SHOWN)
    # What nobody knows is ignored.
    page = compared("compare.html#protocol=nothing@v0&systems=ffffffff,eeeeeeee&dir=up&repo=none&page=-3&pair=x")
    assert len(page.evaluate(SHOWN)) == 2


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def test_flips_are_filtered_walked_and_kept(compared: Opened, evaluated: Lake, tmp_path: Path) -> None:
    page = compared()
    first, second = page.locator("#verdicts tbody a").all()
    rows = "#flips-table tbody tr"
    n = page.locator(rows).count()
    counts = page.evaluate(SHOWN)[1]
    assert n == int(counts[7]) + int(counts[9]) > 1
    page.select_option("[name=dir]", "worse")
    assert page.locator(rows).count() == int(counts[9])
    page.select_option("[name=dir]", "")
    kept = rows_of(downloaded(page.locator("#flips-csv"), tmp_path))
    assert [row["item_id"] for row in kept] == page.locator(f"{rows} th").all_text_contents()
    known = set(evaluated.read("items")["item_id"])
    names = list(kept[0])[3:5]
    assert names == [first.text_content(), second.text_content()]
    for row in kept:
        assert row["item_id"] in known
        assert float(row[names[0]]) != float(row[names[1]])
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.evaluate(f"[...document.querySelectorAll('{rows}')].map(row => row.hasAttribute('aria-current'))") == [
        number == 0 for number in range(n)
    ]
    href = page.evaluate("document.activeElement.getAttribute('href')")
    assert href.startswith(f"items/repoeval.html#item={kept[0]['item_id']}&systems=")
    numbers = rows_of(downloaded(page.locator("#verdicts-csv"), tmp_path))
    assert f"{float(numbers[1]['delta']):+.3f}".replace("-", "−") == counts[3]
    assert numbers[1]["wins"] == counts[7]
    figure = downloaded(page.locator("figure.compared button", has_text="SVG").first, tmp_path)
    assert "<path" in figure.read_text(encoding="utf-8")


def test_without_scripts_pairs_are_a_table(compared: Opened, browser: Browser, real: Path, evaluated: Lake) -> None:
    with watching(browser, real.as_uri()) as open_:
        page = open_("compare.html", **NO_SCRIPT)
        assert "python -m evaluate compare A B" in page.inner_text("noscript")
        assert not page.is_visible("#pick")
        page.click("noscript a")
        page = open_("pairs/repoeval.html", **NO_SCRIPT)
        rows = page.locator("table.pairs tbody tr")
        headline = {"protocol": "repoeval@chunking-v1", "metric": "line_f1", "k": 8_000, "slice": "subset"}
        assert rows.count() == evaluated.read("comparisons").filter(**headline).height > 20
        shown = rows.first.locator("td").all_text_contents()
        address = rows.first.locator("td a").get_attribute("href")
    page = compared(f"pairs/{address}")
    cells = page.evaluate(SHOWN)[1]
    assert [cells[3], cells[4], *cells[6:10]] == [shown[0], shown[1], *shown[3:7]]


def test_hostile_names_are_text(opened: Opened) -> None:
    other = run_id("fixed-nws-1500+jaccard")[-8:]
    page = opened(f"compare.html#protocol=repoeval@chunking-v1&systems={run_id(HOSTILE)[-8:]},{other}")
    page.wait_for_selector("#compared:not([hidden])")
    assert HOSTILE_SHOWN.partition("+")[0] in page.evaluate(SHOWN)[0][0]
    assert HOSTILE_SHOWN.partition("+")[0] in page.inner_text("#conclusions")
    page.click("#systems summary")
    page.fill("#search", "evil")
    assert page.locator("#choices li:not([hidden])").count() == 1
