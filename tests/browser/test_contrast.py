"""Contrast of every pair of colours that the style sheet can put together, computed, light and dark."""

from __future__ import annotations

import re

import pytest

from report.folder import CHECKOUT
from tests.browser.colours import Colour, Scheme, contrast, rules

CSS = "\n".join(
    path.read_text(encoding="utf-8") for path in sorted((CHECKOUT / "site" / "static").glob("*.css"), reverse=True)
)
TEXT = 4.5
"""The least contrast of what is read."""

DRAWN = re.compile(r"(\.(ci|swatch|mark|strip|forest|seen-bar)\b|\bi$)")
"""Selectors of marks: nothing is written on them, and their colour is that of what is drawn."""
KINDS = re.compile(r"--(ink|muted|c\d|(retriever|agent|imported|oracle|baseline)(-\d)?)")
"""What pictures write and draw in: a curve's name at its end has the colour of the curve."""


@pytest.fixture(params=["light", "dark"])
def scheme(request: pytest.FixtureRequest) -> Scheme:
    return Scheme(CSS, is_dark=request.param == "dark")


def backgrounds(scheme: Scheme, *, with_text: bool) -> dict[str, Colour]:
    """Selector → background, of rules that set a colour of text beside it, or of those that leave that to others."""
    colours = {}
    for rule in rules(CSS):
        value = rule.declared.get("background", rule.declared.get("background-color", ""))
        colour = scheme.colour(value) if value else None
        if colour is not None and colour[3] == 1 and ("color" in rule.declared) == with_text:
            colours[rule.selector] = colour
    return colours


def texts(scheme: Scheme) -> dict[str, Colour]:
    """Selector → colour of text, of rules that set no background."""
    colours = {}
    for rule in rules(CSS):
        colour = scheme.colour(rule.declared.get("color", ""))
        if colour is not None and "background" not in rule.declared and not DRAWN.search(rule.selector):
            colours[rule.selector] = colour
    return colours


def test_the_colours_are_read_as_the_browser_reads_them() -> None:
    light, dark = (Scheme(":root { --a: light-dark(#fff, #000000); }", is_dark=is_dark) for is_dark in (False, True))
    assert light.colour("var(--a)") == (1, 1, 1, 1)
    assert dark.colour("1px solid var(--a)") == (0, 0, 0, 1)
    assert light.colour("color-mix(in srgb, #000 25%, var(--a))") == (0.75, 0.75, 0.75, 1)
    assert contrast((0, 0, 0, 1), (1, 1, 1, 1)) == pytest.approx(21)
    assert round(contrast((119 / 255,) * 3 + (1,), (1, 1, 1, 1)), 2) == 4.48


def test_what_sets_both_colours_can_be_read(scheme: Scheme) -> None:
    both = {rule.selector: rule.declared for rule in rules(CSS) if "background" in rule.declared}
    pairs = {
        selector: contrast(colour, text)
        for selector, colour in backgrounds(scheme, with_text=True).items()
        if (text := scheme.colour(both[selector].get("color", ""))) is not None
    }
    assert len(pairs) > 5
    assert {selector: round(ratio, 2) for selector, ratio in pairs.items() if ratio < TEXT} == {}


def test_every_colour_of_text_can_be_read_on_every_background_that_sets_none(scheme: Scheme) -> None:
    grounds = {name: colour for name, colour in backgrounds(scheme, with_text=False).items() if not DRAWN.search(name)}
    assert len(grounds) > 5
    written = texts(scheme)
    # In a heat's cells everything is written in one colour, the small print and links too.
    heat = {f".heat td{within}": written[f".heat td{within}"] for within in ("", " small", " a")}
    low = {
        f"{text} on {ground}": round(ratio, 2)
        for ground, colour in grounds.items()
        for text, ink in (heat if ground.startswith(".heat .h") else written).items()
        if (ratio := contrast(ink, colour)) < TEXT
    }
    assert low == {}


def test_what_pictures_write_and_draw_is_seen_on_the_page_and_on_cards(scheme: Scheme) -> None:
    names = [name for name in scheme.properties if KINDS.fullmatch(name)]
    assert len(names) > 10
    low = {
        f"{name} on {ground}": round(ratio, 2)
        for name in names
        for ground in ("--page", "--raised")
        if (ratio := contrast(_known(scheme, name), _known(scheme, ground))) < TEXT
    }
    assert low == {}


def _known(scheme: Scheme, name: str) -> Colour:
    colour = scheme.colour(f"var({name})")
    assert colour is not None, name
    return colour
