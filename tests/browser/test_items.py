from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

from report.build import build
from report.format import item_address, page_path
from report.items import roster as rosters
from report.items.licences import ItemText
from tests.browser.conftest import Opened
from tests.browser.visits import EVERY_RULE, OPEN_DETAILS, RUN_AXE
from tests.report.item_lake import (
    AGENT,
    AMOUNTS,
    CANDIDATES,
    CONTEXTS,
    FINAL,
    HOSTILE,
    HOSTILE_SHOWN,
    KEYS,
    OTHER,
    QUESTION,
    RETRIEVER,
    STEPS,
    item_id,
    write_item_lake,
)
from tests.report.test_item_shards import lines_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

QUESTION_SHOWN = QUESTION.replace("\u202e", "\\u{202E}")
GOLD = lines_of([("a.py", 4, 20), ("b.py", 0, 20)])
ITEM = item_address(CONTEXTS, item_id(1))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the lake of items, most items in a file of their own."""
    folder = tmp_path_factory.mktemp("items")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rosters, "RAW_BYTES", 1_500)
        build(write_item_lake(folder / "lake"), folder / "site", item_text=ItemText.FULL)
    return folder / "site"


def counted(page: Page, selector: str, n: int) -> None:
    from playwright.sync_api import expect

    expect(page.locator(selector)).to_have_count(n)


def row(page: Page, system: str) -> list[str]:
    cells = page.locator("table.sums tbody tr", has_text=system).first.locator("td")
    cells.first.wait_for()
    return cells.all_text_contents()


def test_ranges_are_added_as_their_lines_one_by_one(opened: Opened) -> None:
    page = opened(page_path("items", CONTEXTS))
    draw = random.Random(7)

    def ranges() -> list[list[int]]:
        spans = [sorted(draw.choices(range(31), k=2)) for _ in range(draw.randrange(6))]
        return spans + draw.choice([[], [[0, 30]], [[10, 10]], [[5, 9], [9, 12]]])

    cases = [[[ranges(), ranges()], [ranges(), ranges()]] for _ in range(300)]
    results = page.evaluate("cases => cases.map(([g, r]) => goldspan.strips.sizes(g, r, [28, -1]))", cases)
    for (gold, returned), sizes in zip(cases, results, strict=True):
        should, held = (
            {(file, line) for file, n in ((0, 28), (1, 99)) for ends in of[file] for line in range(*ends) if line < n}
            for of in (gold, returned)
        )
        assert sizes == {"gold": len(should), "returned": len(held), "both": len(should & held)}


def test_an_item_opens_after_two_files_and_its_sums_follow_from_its_spans(opened: Opened) -> None:
    page = opened("items/index.html")
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(unquote(request.url).rpartition("/")[2]))
    page.goto(page.url.replace("items/index.html", ITEM))
    final = lines_of(FINAL)
    hit = len(final & GOLD)
    texts = row(page, AGENT)
    assert texts[:2] == [str(len(final)), str(hit)]
    assert texts[2:4] == [f"{hit}/36 = {hit / 36:.2f}", f"{hit}/{len(final)} = {hit / len(final):.2f}"]
    assert texts[4] == f"{2 * hit / (36 + len(final)):.2f}"
    assert hit == AMOUNTS[AGENT][0]
    assert row(page, "BM25")[1] == str(AMOUNTS[RETRIEVER][0])
    verdict = page.locator("p.verdict").text_content()
    assert verdict == (
        f"Found, but not kept: {AGENT} had seen all 36 gold lines by step 4 and kept {hit}. "
        "All 2 systems shown returned lines of a gold file."
    )
    assert page.locator("#one-name").text_content() == item_id(1)
    assert "acme/one @ 01234567" in (page.locator(".lead").first.text_content() or "")
    page.locator("table.text").first.wait_for()
    # One with the item, one with its text.
    assert sum(name.removesuffix(".js").isdigit() for name in loaded) == 2
    assert "list.js" not in loaded


def test_strips_mark_gold_and_what_was_returned(opened: Opened) -> None:
    page = opened(ITEM)
    strip = page.locator("figure.strips", has_text="a.py").first
    strip.wait_for()
    labels = strip.locator("svg").evaluate_all("all => all.map(each => each.getAttribute('aria-label'))")
    assert labels[0] == "gold: lines 5–20"
    assert labels[1] == "the query: its text, its hole: text from line 2, hole at lines 4–5"
    assert labels[2].endswith("first 8,000 characters: lines 1–15; 11 of them gold")
    assert labels[3] == f"{AGENT}, final context: lines 7–12; 6 of them gold"
    # Overlapping and touching gold is one mark; what is not gold of an answer is marked apart.
    marks = strip.locator("svg").first.locator("rect")
    assert [marks.first.get_attribute(side) for side in ("x", "width")] == ["4", "16"]
    assert marks.count() == 1
    assert strip.locator("svg").nth(2).locator("rect.right").evaluate("each => each.getAttribute('width')") == "11"


def test_an_agents_steps_are_replayed_by_the_arrow_keys(opened: Opened) -> None:
    page = opened(ITEM)
    output = page.locator("output")
    output.wait_for()
    seen: list[tuple[str, int | None, int | None]] = []
    wanted = []
    for spans in STEPS:
        seen += spans
        hit = len(lines_of(seen) & GOLD)
        wanted.append(f"{hit}/36 = {hit / 36:.2f}")
    assert page.locator(".steps .by").all_text_contents() == wanted
    for step in (3, 2, 1):
        page.keyboard.press("ArrowLeft")
        assert (output.text_content() or "").startswith(f"step {step} of 4 · gold seen {wanted[step - 1]}")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert "step=2" in page.evaluate("location.href")
    page = opened(page.evaluate("location.href").partition("/site/")[2])
    page.locator("output").wait_for()
    assert (page.locator("output").text_content() or "").startswith("step 2 of 4")
    page.locator("#step").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "step"
    assert (page.locator("output").text_content() or "").startswith("step 3 of 4")
    page.locator(".steps button").last.click()
    assert "step=" not in page.evaluate("location.href")


def test_the_list_filters_pages_and_walks_and_the_way_back_is_open(opened: Opened) -> None:
    page = opened(f"{page_path('items', CONTEXTS)}#ledger={KEYS[AGENT]}/found")
    names = page.locator("table.items tbody th")
    page.locator("table.items a").first.wait_for()
    assert names.count() == 6
    page.locator("#f-class").select_option("seen")
    page.locator("table.items", has_text="No item fits all of these filters").wait_for()
    assert f"ledger={KEYS[AGENT]}/seen" in page.evaluate("location.href")
    page.go_back()
    counted(page, "table.items tbody tr", 6)
    page.locator("#f-language").select_option("go")
    counted(page, "table.items tbody tr", 4)
    page.locator("#f-repo").select_option("acme/two")
    counted(page, "table.items tbody tr", 1)
    page.locator("#f-repo").select_option("")
    counted(page, "table.items tbody tr", 4)
    page.locator("table.items a").first.click()
    page.locator(".walk", has_text="1 of 4 listed items").wait_for()
    page.keyboard.press("j")
    page.locator(".walk", has_text="2 of 4 listed items").wait_for()
    second = page.locator("h1#one-name").text_content()
    page.keyboard.press("k")
    page.locator(".walk", has_text="1 of 4 listed items").wait_for()
    page.go_back()
    page.locator("h1#one-name", has_text=second or "").wait_for()
    page.locator("#up").click()
    page.locator("table.items a").first.wait_for()
    assert page.locator("table.items tbody tr").count() == 4
    page.locator("#f-language").select_option("")
    page.locator("#f-class").select_option("unscorable")
    page.locator("table.items a", has_text=item_id(3)).click()
    page.locator("p.verdict", has_text="Cannot be scored: it is gone.").wait_for()


def test_systems_are_chosen_and_stand_in_the_address(opened: Opened) -> None:
    page = opened(f"{ITEM}&systems={KEYS[OTHER]},ffffffff")
    assert row(page, "Jaccard")[:2] == ["20", "20"]
    assert page.locator("table.sums tbody tr").count() == 1
    assert "Never reached:" in (page.locator("p.verdict").text_content() or "")
    page.locator("#shown summary").click()
    page.locator("#shown label", has_text=AGENT).click()
    counted(page, "table.sums tbody tr", 2)
    assert f"systems={KEYS[OTHER]},{KEYS[AGENT]}" in page.evaluate("location.href")


def test_hostile_names_are_text(opened: Opened) -> None:
    page = opened(item_address(CONTEXTS, HOSTILE))
    page.locator("h1", has_text=HOSTILE_SHOWN).wait_for()
    page.locator("summary", has_text="Returned from files without gold").click()
    assert HOSTILE_SHOWN in (page.locator(".wrong-files").text_content() or "")
    assert page.locator("img").count() == 0


def test_text_stands_where_a_licence_permits_it_and_else_how_to_see_it(opened: Opened) -> None:
    page = opened(ITEM)
    page.locator("table.text").nth(1).wait_for()
    first = page.locator("table.text").first.locator("tbody tr")
    assert page.locator("pre.question").text_content() == QUESTION_SHOWN
    # Gold is lines 5 to 20 of 40; eight more on either side, and what the systems returned behind those.
    numbers = first.locator("td:first-child").all_text_contents()
    assert numbers[:28] == [str(number) for number in range(1, 29)]
    assert first.first.locator("td").all_text_contents() == ["1", "1", f"name_00 = '{'x' * 389}… (500 characters)"]
    assert first.nth(6).locator("td").nth(1).text_content() == "G12"
    assert "licence MIT" in (page.locator("#text .note").text_content() or "")
    assert page.locator("table.text .word-k").first.text_content() == "def"
    page.locator("#text summary", has_text="Returned lines of files without gold: 1 file").click()
    assert HOSTILE_SHOWN in (page.locator("#text details").text_content() or "")
    page = opened(item_address(CONTEXTS, item_id(2)))
    page.locator("#text code").wait_for()
    assert page.locator("#text code").text_content() == "git show '0123456789abcdef:a.py'"
    assert "no known licence of its repository" in (page.locator("#text").text_content() or "")
    assert page.locator("table.text").count() == 0


def test_an_item_that_is_not_there_is_said_to_be_missing(opened: Opened) -> None:
    page = opened(item_address(CONTEXTS, "no/such"))
    page.locator("p.verdict", has_text="There is no item no/such here.").wait_for()
    page.locator("#up").click()
    page.locator("table.items a").first.wait_for()


def test_candidates_stand_with_their_ranks(opened: Opened) -> None:
    page = opened(item_address(CANDIDATES, "python_cff/test/hard/1"))
    page.locator("table.sums").wait_for()
    assert page.locator("tr.golden").all_text_contents() == ["candidate 6 · gold7"]
    assert page.locator("table.sums tbody tr").first.text_content() == "candidate 01"
    verdict = page.locator("p.verdict").text_content()
    assert verdict == (
        "Lost to another candidate: BM25 over whole-file ranks the gold candidate 7th of 8; candidate 0 is first."
    )


@pytest.mark.parametrize(
    "address", [ITEM, page_path("items", CONTEXTS), item_address(CANDIDATES, "python_cff/test/hard/0")]
)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_items_are_accessible_and_never_scroll_sideways(opened: Opened, axe: str, address: str, scheme: str) -> None:
    page = opened(address, color_scheme=scheme, viewport={"width": 320, "height": 800})
    page.locator("table.items a, #text > *").first.wait_for()
    page.evaluate(OPEN_DETAILS)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.evaluate(axe)
    assert page.evaluate(RUN_AXE, EVERY_RULE) == []


def test_without_scripts_the_first_items_are_listed(opened: Opened) -> None:
    page = opened(page_path("items", CONTEXTS), java_script_enabled=False)
    assert page.locator("table.items tbody tr").count() == 6
    assert "gold_spans" in page.locator("noscript").inner_text()
    assert not page.locator("#filters").is_visible()
