from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import Opened, until
from tests.browser.visits import OPEN_DETAILS, look
from tests.report.small_lake import BASELINES, CHUNKING, HOSTILE_SHOWN, LIMITED, REPOS, SYSTEMS, run_id

if TYPE_CHECKING:
    from playwright.sync_api import Page

SECTION = "section.protocol:not([hidden])"
TABLE = f"{SECTION} table[data-main]"


def names(page: Page) -> list[str]:
    """The systems in the order shown, those that are compared."""
    cells = page.locator(f"{TABLE} tbody:first-of-type th.name a").all_text_contents()
    return [" ".join(cell.split()) for cell in cells]


def numbers(page: Page) -> list[str]:
    return [str(text) for text in page.locator(f"{TABLE} tbody:first-of-type td.primary b").all_text_contents()]


def ordered(position: int, *, falling: bool = True) -> list[str]:
    return sorted(set(SYSTEMS) - set(BASELINES), key=lambda name: SYSTEMS[name][position], reverse=falling)


def by(position: int, *, falling: bool = True) -> list[str]:
    return [" ".join(reversed(name.split("+"))) for name in ordered(position, falling=falling)]


def settled(page: Page, hash_: str | None = None) -> None:
    if hash_ is not None:
        until(page, "hash => location.hash === hash", hash_)
    until(page, "!document.querySelector('[aria-busy]')")


def settled_at(opened: Opened, address: str, **options: object) -> Page:
    page = opened(address, **options)
    settled(page)
    return page


def control(name: str, value: str = "") -> str:
    return f"{SECTION} [data-control='{name}']" + (f"[value='{value}']" if value else "")


def test_the_table_starts_in_the_order_it_says_with_few_columns(opened: Opened) -> None:
    page = opened("repoeval.html")
    assert names(page) == by(0)
    assert page.locator(f"{TABLE} th[aria-sort]").get_attribute("data-key") == "ndcg@10"
    assert page.locator(f"{TABLE} thead tr:first-child th:visible").count() <= 8
    assert page.locator(f"{TABLE} thead th.primary").text_content() == "ndcg at 10"
    # Nothing is loaded for the view that the page opens with.
    assert page.locator("script[src*='boards/']").count() == 0


def test_what_the_script_makes_of_the_opening_view_is_what_the_template_made(opened: Opened) -> None:
    for name in ("repoeval.html", "contextbench.html"):
        page = opened(name)
        protocols = [str(section.get_attribute("data-protocol")) for section in page.locator("section.protocol").all()]
        # Each is shown once, so that its heads and rows have their buttons.
        for address in [*(f"#protocol={protocol}" for protocol in protocols[1:]), ""]:
            page.evaluate("hash => { location.hash = hash; }", address)
            settled(page)
        made = look(page, "template")
        assert made.keys() == {*protocols}
        for protocol in protocols:
            first = protocol == protocols[0]
            page.evaluate("hash => { location.hash = hash; }", f"#protocol={protocol}&baselines=rows")
            until(page, f"document.querySelector('{TABLE} tr.baseline')")
            page.evaluate("hash => { location.hash = hash; }", "" if first else f"#protocol={protocol}")
            until(page, f"!document.querySelector('{TABLE} tr.baseline')")
            settled(page)
        page.evaluate("location.hash = ''")
        until(page, f"document.querySelector('{SECTION}').dataset.protocol === '{protocols[0]}'")
        assert look(page, "template") == made


def test_a_column_is_sorted_by_keyboard(opened: Opened) -> None:
    page = opened("repoeval.html")
    page.locator(f"{TABLE} th[data-key='system'] button").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    until(page, f"document.querySelector(`{TABLE} th[data-key='ndcg@10']`).ariaSort === 'ascending'")
    assert names(page) == by(0, falling=False)
    assert page.text_content("#said") == "Sorted by ndcg at 10, ascending."
    assert page.locator(f"{TABLE} th[aria-sort]").count() == 1
    assert page.evaluate("document.activeElement.closest('th').dataset.key") == "ndcg@10"
    page.keyboard.press("Space")
    until(page, f"document.querySelector(`{TABLE} th[data-key='ndcg@10']`).ariaSort === 'descending'")
    assert names(page) == by(0)


def test_a_menu_closes_by_escape_and_a_search_says_what_fits(opened: Opened) -> None:
    page = opened("repoeval.html")
    menu = page.locator(f"{SECTION} .menu summary").first
    menu.press("Enter")
    assert page.locator(f"{SECTION} .menu[open]").count() == 1
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert page.locator(f"{SECTION} .menu[open]").count() == 0
    assert menu.evaluate("each => each === document.activeElement")
    page.locator(control("search")).fill("nothing like it")
    until(page, "document.getElementById('said').textContent.startsWith('Showing 0 systems: ')")
    assert page.locator(f"{TABLE} tbody").all_text_contents() == ["No system fits the filters."]


def test_words_are_sorted_as_words_and_what_is_missing_or_not_compared_stays_last(opened: Opened) -> None:
    page = settled_at(opened, "repoeval.html#sort=system")
    assert names(page) == sorted(names(page), key=str.lower)
    for hash_ in ("#sort=mrr@10&columns=mrr@10", "#sort=mrr@10&columns=mrr@10&dir=ascending&average=micro"):
        page = settled_at(opened, f"repoeval.html{hash_}")
        apart = page.locator(f"{TABLE} tbody:last-of-type tr:not(.apart) th.name").all_text_contents()
        assert [" ".join(text.split()) for text in apart] == [
            f"bm25-okapi {LIMITED.split('+')[0]} limited to 2",
            "jaccard window-20-10 failed",
        ]


def test_the_browser_goes_back_and_forward_between_views(opened: Opened) -> None:
    page = opened("repoeval.html")
    plain, search = names(page), page.locator(control("search"))
    search.fill("window")
    settled(page, "#search=window")
    found = names(page)
    assert 0 < len(found) < len(plain)
    page.go_back()
    settled(page, "")
    until(page, "![...document.querySelectorAll('[data-control=search]')].some(each => each.value)")
    assert names(page) == plain
    page.go_forward()
    settled(page, "#search=window")
    until(page, f"n => document.querySelectorAll(`{TABLE} tbody:first-of-type th.name a`).length === n", len(found))
    assert (names(page), search.input_value()) == (found, "window")


def test_an_address_that_says_what_there_is_not_shows_the_default(opened: Opened) -> None:
    page = settled_at(
        opened, "repoeval.html#protocol=nothing&average=<b>&sort=%00&metric=x&slice=repo=y&columns=a,b&open=<&pick=<"
    )
    assert (names(page), page.locator(f"{TABLE} .details").count()) == (by(0), 0)


def test_every_switch_shows_the_numbers_of_the_lake(opened: Opened) -> None:
    page = opened("repoeval.html#protocol=target-v1")
    assert (names(page), numbers(page)) == (by(1), [f"{SYSTEMS[name][1]:.3f}" for name in ordered(1)])
    page = settled_at(opened, "repoeval.html#average=by_repo")
    assert numbers(page) == [f"{SYSTEMS[name][0] * 0.9:.3f}" for name in ordered(0)]
    page = settled_at(opened, f"repoeval.html#slice=repo={REPOS[1]}")
    assert numbers(page) == [f"{SYSTEMS[name][0] * 0.825:.3f}" for name in ordered(0)]
    assert "acme/two: 2 items" in (page.text_content(f"{TABLE} caption") or "")
    page = settled_at(opened, "repoeval.html#metric=recall@10&average=micro")
    assert numbers(page) == [f"{SYSTEMS[name][0] * 0.625 * 0.95:.3f}" for name in ordered(0)]


def test_what_is_said_around_the_table_is_of_the_view_or_names_the_view_that_it_is_of(opened: Opened) -> None:
    page = opened("repoeval.html")
    verdict = f"{SECTION} .verdict"
    first = page.text_content(verdict)
    assert page.text_content(f"{SECTION} [data-metric-title]") == "ndcg at 10"
    page = settled_at(opened, "repoeval.html#metric=recall@10")
    assert page.text_content(verdict) == f"ndcg at 10, mean over items, function-2k: {first}"
    assert page.text_content(f"{SECTION} [data-metric-title]") == "recall at 10"
    head = """([column, isByPrimary]) => window.goldspan.board.columns({
      column, isByPrimary, primary: {title: "ndcg at 10"}, board: {average: "macro"}, has: {rank: true}, further: []
    })[0][1]"""
    assert page.evaluate(head, [{"title": "recall at 10"}, False]) == "Rank by ndcg at 10"


def test_baselines_are_lines_through_the_intervals_and_rows_when_asked_for(opened: Opened) -> None:
    page = opened("repoeval.html")
    text = page.text_content(f"{SECTION} .marks-said") or ""
    assert text.startswith("Reference lines: own-file over fixed-nws-1500 0.813; ")
    assert page.locator(f"{TABLE} tr.baseline").count() == 0
    page.locator(control("baselines")).evaluate("each => each.click()")
    until(page, f"document.querySelectorAll('{TABLE} tr.baseline').length === 3")
    rows = page.locator(f"{TABLE} tr.baseline th.name").all_text_contents()
    assert HOSTILE_SHOWN.split("+")[0] in rows[1]


def test_a_row_opens_in_place_and_says_how_to_make_it_again(opened: Opened) -> None:
    page = opened("repoeval.html")
    page.get_by_role("button", name="Details of bm25-okapi window-20-10").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{TABLE} tr.details")
    text = " ".join((page.text_content(f"{TABLE} tr.details") or "").split())
    assert f'python -m evaluate repro "{run_id("window-20-10+bm25-okapi")}"' in text
    assert "@article{repocoder," in text
    assert text.startswith("run here")
    assert f"acme/one{SYSTEMS['window-20-10+bm25-okapi'][0] * 0.7:.3f}, n 2" in text
    assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
    page.keyboard.press("Enter")
    until(page, "!document.querySelector('tr.details')")
    assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "false"


def test_two_picked_systems_are_a_link_to_their_comparison(opened: Opened) -> None:
    page = opened("repoeval.html")
    for name in ("bm25-okapi window-20-10", "jaccard fixed-nws-1500"):
        page.get_by_role("checkbox", name=f"Compare {name}").check()
    link = page.get_by_role("link", name="Compare these 2")
    assert page.text_content("#said") == "Compare these 2"
    keys = [run_id(name).rpartition("--")[2] for name in ("window-20-10+bm25-okapi", "fixed-nws-1500+jaccard")]
    assert link.get_attribute("href") == f"compare.html#protocol={CHUNKING}&systems={','.join(keys)}"
    again = settled_at(opened, f"repoeval.html{page.evaluate('location.hash')}")
    assert again.locator(f"{TABLE} td.picker input:checked").count() == 2


def test_the_view_is_copied_as_csv_markdown_and_latex(opened: Opened) -> None:
    from playwright.sync_api import expect

    def copy(page: Page, kind: str, what: str = "Copy") -> str:
        page.evaluate(OPEN_DETAILS)
        page.locator(f"{SECTION} [data-copy='{kind}']:not([data-rows])").click()
        expect(page.locator("#said")).to_have_text(f"Copied this view as {what}.")
        return str(page.evaluate("navigator.clipboard.readText()"))

    page = settled_at(opened, "repoeval.html#baselines=rows", permissions=["clipboard-read", "clipboard-write"])
    head, *rows = csv.reader(io.StringIO(copy(page, "csv", "CSV")))
    assert head[:4] == ["system", "ndcg@10", "low", "high"]
    best = rows[0]
    assert (best[0], best[1], best[head.index("difference")]) == ("window-20-10+bm25-okapi", "0.732", "-0.081")
    assert (best[head.index("n")], best[head.index("n_items")], best[head.index("characters")]) == ("5", "5", "4810")
    assert len(rows) == len(SYSTEMS) + 2
    text = copy(page, "markdown", "Markdown")
    assert "| fixed-nws-1500+own-file | 0.813 |" in text
    assert text.startswith("**ndcg at 10, mean over items; RepoEval (sample), chunking-v1")
    # Markup of names is text wherever it is pasted.
    assert r"evil\</script\>\<img src=x onerror=alert(1)\>" in text
    page.get_by_role("button", name="LaTeX of the top 5").click()
    expect(page.locator("#said")).to_have_text("Copied this view as LaTeX.")
    text = str(page.evaluate("navigator.clipboard.readText()"))
    assert text.count(r"\\") == 1 + min(5, len(by(0)))
    assert r"window-20-10+bm25-okapi & 0.732 & $-$0.081" in text
    assert r"\toprule" in text


def test_what_is_copied_to_a_spreadsheet_is_no_formula(opened: Opened) -> None:
    page = opened("repoeval.html")
    texts = page.evaluate(
        """names => {
          const metric = {name: 'x', title: 'x'};
          const board = {average: 'macro', averages: {macro: 'x'}};
          const columns = { column: metric, primary: metric, board, has: {}, further: [] };
          const cells = { shown: '−0.25', interval: '', n: '–', further: {} };
          const lines = names.map(name => ({ system: {system: name}, ...cells }));
          return window.goldspan.board.texts.csv[1](columns, lines);
        }""",
        ["=1+1", "+a", "-b", "@c", "-0.5", 'a"b,c'],
    )
    rows = list(csv.reader(io.StringIO(texts)))[1:]
    assert [row[0] for row in rows] == ["'=1+1", "'+a", "'-b", "'@c", "-0.5", 'a"b,c']
    assert {row[1] for row in rows} == {"-0.25"}


def test_numbers_are_rounded_as_the_template_rounds_them(opened: Opened) -> None:
    values = [0.125, 0.375, 0.0625, 0.1875, -0.125, 0.0005, 1.0005, 0.285, 2.5, 0.9999, -0.0004, 1e-9]
    page = opened("repoeval.html")
    for digits in (2, 3):
        shown = page.evaluate("([v, d]) => v.map(each => goldspan.board.fixed(each, d))", [values, digits])
        assert shown == [f"{value:.{digits}f}".replace("-", "−") for value in values]


@pytest.mark.parametrize("name", ["repoeval.html", "contextbench.html"])
def test_the_first_system_is_on_the_first_screen_and_no_table_is_wider_than_its_box(opened: Opened, name: str) -> None:
    for width, height, lowest in ((1280, 900, 900), (390, 844, 1266)):
        page = opened(name, viewport={"width": width, "height": height})
        box = page.locator(f"{TABLE} tbody:first-of-type tr").first.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= lowest
        table = page.locator(TABLE)
        assert table.evaluate("each => each.scrollWidth <= each.parentElement.clientWidth + 1")


def test_an_address_is_never_longer_than_is_allowed(opened: Opened) -> None:
    page = opened("repoeval.html")
    page.evaluate(OPEN_DETAILS)
    for box in page.locator(f"{SECTION} [data-control='columns']:not([value='all'])").all():
        box.check()
    page.locator(control("search")).fill("x" * 60)
    until(page, "location.hash.includes('search')")
    assert len(page.evaluate("location.hash")) <= 301
