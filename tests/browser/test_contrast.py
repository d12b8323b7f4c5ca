"""Contrast of every pair of colours that the style sheet can put together, light and dark, as the browser has them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from report.folder import CHECKOUT
from tests.browser.conftest import Opened
from tests.browser.visits import look

CSS = "\n".join(path.read_text(encoding="utf-8") for path in sorted((CHECKOUT / "site" / "static").glob("*.css")))
LEAST = 4.5
"""The least contrast of what is read."""

DRAWN = re.compile(r"(\.(ci|swatch|mark|strip|forest|seen-bar)\b|\bi$)")
"""Selectors of marks: nothing is written on them, and their colour is that of what is drawn."""
KINDS = r"^--(page|raised|ink|muted|c\d|(retriever|agent|imported|oracle|baseline)(-\d)?)$"
"""The backgrounds of pictures, and what these write and draw in: a curve's name has the colour of the curve."""

Colour = Sequence[int]
"""Red, green and blue of 255, and how opaque it is."""


@dataclass(frozen=True)
class Colours:
    """Selector → text and background of rules that set both, the text or the background of others; named colours."""

    both: Mapping[str, tuple[Colour, Colour]]
    texts: Mapping[str, Colour]
    grounds: Mapping[str, Colour]
    named: Mapping[str, Colour]


@pytest.fixture(params=["light", "dark"])
def colours(request: pytest.FixtureRequest, opened: Opened) -> Colours:
    read: dict[str, Any] = look(opened("index.html", color_scheme=request.param), "colours", CSS, KINDS)
    texts, grounds = (
        {name: colour for name, colour in read[of].items() if not DRAWN.search(name)} for of in ("texts", "grounds")
    )
    return Colours(read["both"], texts, grounds, read["named"])


def contrast(colour: Colour, other: Colour) -> float:
    """The ratio of WCAG 2: 1 for equal colours, 21 for black on white."""
    darker, lighter = sorted((_luminance(colour), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: Colour) -> float:
    of = [channel / 255 for channel in colour[:3]]
    linear = [channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in of]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def low(pairs: Mapping[str, tuple[Colour, Colour]]) -> dict[str, float]:
    """What cannot be read."""
    return {name: round(contrast(*pair), 2) for name, pair in pairs.items() if contrast(*pair) < LEAST}


def test_contrast_is_that_of_wcag() -> None:
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert round(contrast((119, 119, 119), (255, 255, 255)), 2) == 4.48


def test_what_sets_both_colours_can_be_read(colours: Colours) -> None:
    assert len(colours.both) > 5
    assert low(colours.both) == {}


def test_every_colour_of_text_can_be_read_on_every_background_that_sets_none(colours: Colours) -> None:
    assert len(colours.grounds) > 5
    # In a heat's cells everything is written in one colour, the small print and links too.
    heat = {f".heat td{within}": colours.texts[f".heat td{within}"] for within in ("", " small", " a")}
    pairs = {
        f"{text} on {ground}": (ink, colour)
        for ground, colour in colours.grounds.items()
        for text, ink in (heat if ground.startswith(".heat .h") else colours.texts).items()
    }
    assert low(pairs) == {}


def test_what_pictures_write_and_draw_is_seen_on_the_page_and_on_cards(colours: Colours) -> None:
    assert len(colours.named) > 12
    grounds = {name: colours.named[name] for name in ("--page", "--raised")}
    inks = {name: colour for name, colour in colours.named.items() if name not in grounds}
    assert low({f"{a} on {b}": (ink, ground) for a, ink in inks.items() for b, ground in grounds.items()}) == {}
