from tests.browser.conftest import Opened
from tests.browser.visits import EVERY_RULE, RUN_AXE
from tests.report.small_lake import BASELINES, PROTOCOLS, SYSTEMS


def test_a_page_is_accessible_on_a_phone(opened: Opened, axe: str) -> None:
    page = opened("repoeval.html", viewport={"width": 390, "height": 844})
    page.evaluate(axe)
    assert page.evaluate(RUN_AXE, EVERY_RULE) == []


def test_the_navigation_of_six_boards_is_one_line(opened: Opened) -> None:
    page = opened("methods.html", viewport={"width": 1280, "height": 900})
    nav, link = page.locator(".top nav"), page.locator(".top nav li").first
    page.evaluate(
        """labels => {
          const first = document.querySelector('.top nav li');
          document.querySelector('.top nav').className = 'many';
          for (const label of labels) {
            first.after(first.cloneNode(true));
            first.nextSibling.firstChild.textContent = label;
          }
        }""",
        ["RepoBench-R", "RepoEval (sample)", "RepoBench-R (sample)", "ContextBench (sample)"],
    )
    assert nav.evaluate("nav => nav.offsetHeight") < 1.5 * link.evaluate("link => link.offsetHeight")


def test_a_page_follows_the_systems_scheme_and_the_button_overrules_it(opened: Opened) -> None:
    page = opened("index.html", color_scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.emulate_media(color_scheme="light")
    light = page.evaluate(background)
    assert dark != light
    button = page.get_by_role("button", name="Theme")
    button.click()
    assert button.text_content() == "Theme: light"
    button.click()
    assert button.text_content() == "Theme: dark"
    assert page.evaluate(background) == dark
    page.reload()
    assert page.evaluate(background) == dark
    assert button.text_content() == "Theme: dark"


def test_without_scripts_every_table_row_and_chart_is_there(opened: Opened) -> None:
    page = opened("repoeval.html", java_script_enabled=False)
    rows = [table.locator("tbody tr:not(.apart)").count() for table in page.locator("table[data-main]").all()]
    # Systems alone, and the failed one; the limited one under one protocol only. Baselines are said below.
    assert rows == [len(SYSTEMS) - len(BASELINES) + 2, len(SYSTEMS) - len(BASELINES) + 1]
    assert page.locator(".marks-said").count() == len(PROTOCOLS)
    charts = [chart.is_visible() for chart in page.locator("figure svg").all()]
    assert charts == [True] * max(len(charts), len(PROTOCOLS))
    assert page.locator("th button").count() == 0


def test_the_keyboard_reaches_the_content_first(opened: Opened) -> None:
    page = opened("index.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_a_button_copies_what_it_stands_beside_and_says_so(opened: Opened) -> None:
    from playwright.sync_api import expect

    page = opened("submit.html")
    page.get_by_role("button", name="Copy make_run.py").click()
    expect(page.get_by_role("status").first).to_have_text("Copied.")
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<textarea id=into></textarea>')")
    page.locator("#into").focus()
    page.keyboard.press("Control+V")
    assert page.locator("#into").input_value() == page.locator("[data-recipe='make_run.py']").text_content()
    without = opened("submit.html", java_script_enabled=False)
    assert without.get_by_role("button", name="Copy").count() == 0
    assert without.locator("[data-command]").count() == 3
