"""The leaderboard's controls: by keyboard, by link, and with the numbers sorted as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import Opened
from tests.report.small_lake import FAILED, HOSTILE_SHOWN, LIMITED, SYSTEMS

if TYPE_CHECKING:
    from playwright.sync_api import Page

TABLE = "[data-protocol]:not([hidden]) [data-average]:not([hidden]) table"


def names(page: Page) -> list[str]:
    """The systems in the order shown, those that are compared."""
    cells = page.locator(f"{TABLE} tbody:first-of-type th").all_text_contents()
    return [" ".join(cell.split()) for cell in cells]


def by(place: int, *, falling: bool) -> list[str]:
    systems = [name for name in SYSTEMS if name.rpartition("+")[2] not in {"own-file", "random"}]
    return sorted(systems, key=lambda name: SYSTEMS[name][place], reverse=falling)


def head(page: Page, key: str) -> str:
    return f"{TABLE} th[data-key='{key}']"


def test_the_table_starts_in_the_order_it_says(opened: Opened) -> None:
    page = opened("repoeval.html")
    assert names(page) == by(0, falling=True)
    assert page.locator(f"{TABLE} th[aria-sort]").count() == 1
    assert page.get_attribute(head(page, "ndcg@10"), "aria-sort") == "descending"


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_a_column_is_sorted_by_keyboard(opened: Opened, key: str) -> None:
    page = opened("repoeval.html")
    page.locator(f"{TABLE} th[data-key='kind'] button").focus()
    page.keyboard.press("Tab")
    page.keyboard.press(key)
    assert page.get_attribute(head(page, "ndcg@10"), "aria-sort") == "ascending"
    assert names(page) == by(0, falling=False)
    assert page.text_content("#said") == "Sorted by ndcg@10, ascending."
    assert page.locator(f"{TABLE} th[aria-sort]").count() == 1


def test_what_is_missing_stays_last_both_ways_and_what_is_not_compared_stays_apart(opened: Opened) -> None:
    page = opened("repoeval.html#columns=all")
    chunks = page.locator(f"{TABLE} th[data-key='chunks'] button")
    for _ in range(2):
        chunks.click()
        baselines = page.locator(f"{TABLE} tbody:nth-of-type(2) tr:not(.apart) th").all_text_contents()
        assert " ".join(baselines[-1].split()) == HOSTILE_SHOWN
        apart = page.locator(f"{TABLE} tbody:last-of-type tr:not(.apart) th").all_text_contents()
        assert {text.split()[0] for text in apart} == {LIMITED, FAILED}


def test_equal_numbers_keep_their_order(opened: Opened) -> None:
    page = opened("repoeval.html")
    page.locator(f"{TABLE} th[data-key='n'] button").click()
    assert names(page) == by(0, falling=True)


def test_words_are_sorted_as_words(opened: Opened) -> None:
    page = opened("repoeval.html")
    page.locator(f"{TABLE} th[data-key='system'] button").click()
    assert names(page) == sorted(names(page), key=str.lower)
    assert page.get_attribute(head(page, "system"), "aria-sort") == "ascending"


@pytest.mark.parametrize(
    ("control", "hash_"),
    [
        ("label:has-text('target-v1')", "#protocol=target-v1"),
        ("label:has-text('Micro')", "#average=micro"),
        ("label:has-text('By repository')", "#average=by_repo"),
        ("label:has-text('all')", "#columns=all"),
        (f"{TABLE} th[data-key='n'] button", "#sort=n"),
    ],
)
def test_a_copied_link_shows_the_same_view(opened: Opened, control: str, hash_: str) -> None:
    def view(page: Page) -> object:
        return [
            page.locator(f"{TABLE} caption").text_content(),
            names(page),
            page.evaluate("[...document.querySelectorAll('th[aria-sort]')].map(th => [th.dataset.key, th.ariaSort])"),
            page.evaluate("[...document.querySelectorAll('input:checked')].map(input => input.value)"),
        ]

    page = opened("repoeval.html")
    plain = view(page)
    page.locator(control).click()
    shown = view(page)
    assert shown != plain
    assert page.evaluate("location.hash") == hash_
    address = page.url.rsplit("/", 1)[1]
    assert view(opened(address)) == shown
    assert view(opened("repoeval.html#protocol=nothing&average=<b>&sort=%00")) == plain


def test_a_link_to_the_order_of_a_further_column_shows_that_column(opened: Opened) -> None:
    page = opened("repoeval.html#sort=precision@5")
    assert page.get_attribute(head(page, "precision@5"), "aria-sort") == "descending"
    assert page.locator(head(page, "precision@5")).is_visible()
    page.locator("label:has-text('main')").click()
    assert not page.locator(head(page, "precision@5")).is_visible()
    assert "columns=main" in page.evaluate("location.hash")


@pytest.mark.parametrize(("name", "first"), [("repoeval.html", "window-20-10+bm25-okapi"), ("contextbench.html", "")])
def test_the_first_system_is_on_the_first_screen_and_no_table_is_wider_than_its_box(
    opened: Opened, name: str, first: str
) -> None:
    for width, height, lowest in ((1280, 900, 900), (390, 844, 1266)):
        page = opened(name, viewport={"width": width, "height": height})
        row = page.locator(f"{TABLE} tbody:first-of-type tr").first
        box = row.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= lowest
        assert first in " ".join((row.text_content() or "").split())
        if width == 1280:
            table = page.locator(f"{TABLE} >> nth=0")
            assert table.evaluate("each => each.scrollWidth <= each.parentElement.clientWidth")


def test_the_protocol_switch_shows_one_protocols_numbers(opened: Opened) -> None:
    page = opened("repoeval.html#protocol=target-v1")
    assert names(page) == by(1, falling=True)
    assert page.locator(".protocol:visible").count() == 1
    assert page.locator("[data-average]:visible svg").count() == 1
    page.get_by_role("radio", name="target-v1").focus()
    page.keyboard.press("ArrowLeft")
    assert names(page) == by(0, falling=True)
    assert page.evaluate("location.hash") == ""
    assert "chunking-v1" in (page.text_content("#said") or "")


def test_going_back_to_an_address_shows_its_view(opened: Opened) -> None:
    page = opened("repoeval.html")
    from playwright.sync_api import expect

    page.evaluate("location.hash = 'protocol=target-v1'")
    expect(page.get_by_role("radio", name="target-v1")).to_be_checked()
    page.go_back()
    expect(page.get_by_role("radio", name="chunking-v1")).to_be_checked()
    assert names(page) == by(0, falling=True)


def test_the_view_is_copied_as_csv_and_markdown(opened: Opened) -> None:
    from playwright.sync_api import expect

    page = opened("repoeval.html", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy as CSV").click()
    expect(page.locator("#said")).to_have_text("Copied this view as CSV.")
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert lines[0] == "System,Kind,ndcg@10,Above fixed-nws-1500+own-file,n/N"
    assert lines[1] == "window-20-10+bm25-okapi,retriever,0.732,−0.081,5/5"
    assert len(lines) == 1 + len(SYSTEMS) + 2
    page.get_by_role("button", name="Copy as Markdown").click()
    expect(page.locator("#said")).to_have_text("Copied this view as Markdown.")
    text = page.evaluate("navigator.clipboard.readText()")
    assert "| fixed-nws-1500+own-file | baseline | 0.813 |" in text
    assert text.startswith("**RepoEval (sample), chunking-v1, macro")


def test_what_is_copied_is_neither_a_formula_nor_markup(opened: Opened) -> None:
    from playwright.sync_api import expect

    page = opened("repoeval.html", permissions=["clipboard-read", "clipboard-write"])
    names = ["=1+1", "+a", "-b", "@c", "-0.5", "a|b`c`[d](e)<i>*_~"]
    page.evaluate(
        """([table, names]) => {
          const rows = [...document.querySelector(table).querySelectorAll("tbody tr:not(.apart)")];
          names.forEach((name, place) => { rows[place].cells[0].textContent = name; });
          rows[0].cells[2].textContent = "-0.25";
        }""",
        [TABLE, names],
    )
    page.evaluate("t => { document.querySelector(t).caption.textContent = 'a|b\\n[c](d)'; }", TABLE)
    page.get_by_role("button", name="Copy as CSV").click()
    expect(page.locator("#said")).to_have_text("Copied this view as CSV.")
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()[1:7]
    assert [line.split(",")[0] for line in lines] == ["'=1+1", "'+a", "'-b", "'@c", "-0.5", names[-1]]
    assert lines[0].split(",")[2] == "-0.25"
    page.get_by_role("button", name="Copy as Markdown").click()
    expect(page.locator("#said")).to_have_text("Copied this view as Markdown.")
    text = page.evaluate("navigator.clipboard.readText()")
    assert text.startswith(r"**a\|b \[c\](d)**")
    assert r"| a\|b\`c\`\[d\](e)\<i\>\*\_\~ |" in text


def test_two_hundred_rows_are_sorted_by_their_numbers(opened: Opened) -> None:
    page = opened("repoeval.html")
    page.evaluate(
        """table => {
          const body = document.querySelector(table).tBodies[0];
          const rows = [...body.rows];
          while (body.rows.length < 200) {
            const row = rows[body.rows.length % rows.length].cloneNode(true);
            row.cells[2].textContent = ((body.rows.length * 7919) % 1000 / 1000).toFixed(3);
            body.append(row);
          }
        }""",
        TABLE,
    )
    page.evaluate("""table => document.querySelector(table + " th[data-key='ndcg@10'] button").click()""", TABLE)
    shown = [float(text) for text in page.locator(f"{TABLE} tbody:first-of-type td.primary").all_text_contents()]
    assert shown == sorted(shown)
