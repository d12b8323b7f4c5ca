from tests.browser.conftest import Opened


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
