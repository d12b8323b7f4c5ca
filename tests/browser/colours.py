"""The style sheet's colours as numbers: custom properties, light-dark() and color-mix() resolved for either scheme."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

Colour = tuple[float, float, float, float]
"""Red, green, blue and opacity, from 0 to 1."""

_NAMES: Mapping[str, Colour] = {"transparent": (0, 0, 0, 0), "white": (1, 1, 1, 1), "black": (0, 0, 0, 1)}
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")


@dataclass(frozen=True)
class Rule:
    """A selector with what it declares."""

    selector: str
    declared: Mapping[str, str]


def rules(css: str) -> Iterator[Rule]:
    """Every rule, those within `@media` too, a selector at a time."""
    for selectors, body in _RULE.findall(re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)):
        parts = [part.partition(":") for part in body.split(";")]
        declared = {name.strip(): value.strip() for name, _, value in parts if value}
        # Within `@media` the text before a rule begins with what opens the block.
        for selector in selectors.rpartition("}")[2].split(","):
            yield Rule(" ".join(selector.split()), declared)


class Scheme:
    """The colours of one scheme.

    Args:
        css: The style sheet.
        is_dark: Which of two colours counts.
    """

    def __init__(self, css: str, *, is_dark: bool) -> None:
        self._is_dark = is_dark
        self.properties = {
            name: value for rule in rules(css) for name, value in rule.declared.items() if name.startswith("--")
        }

    def colour(self, value: str) -> Colour | None:
        """A value's colour, the first in it; None where it has none of its own."""
        for part in _parts(value):
            if (own := self._colour_of(part)) is not None:
                return own
        return None

    def _colour_of(self, text: str) -> Colour | None:
        name, _, inner = text.partition("(")
        inside = inner.removesuffix(")")
        if name == "var":
            property_, _, other = inside.partition(",")
            return self.colour(self.properties.get(property_.strip(), other))
        if name == "light-dark":
            light, dark = _split(inside)
            return self.colour(dark if self._is_dark else light)
        if name == "color-mix":
            return self._mixed(inside)
        if name == "linear-gradient":
            return None
        if text.startswith("#"):
            digits = text[1:] if len(text) > 4 else "".join(digit * 2 for digit in text[1:])
            red, green, blue = (int(digits[start : start + 2], 16) / 255 for start in (0, 2, 4))
            return (red, green, blue, 1.0)
        return _NAMES.get(text)

    def _mixed(self, inside: str) -> Colour | None:
        first, second = _split(inside)[1:]
        share = re.search(r"([0-9.]+)%", first)
        a, b = (self.colour(re.sub(r"[0-9.]+%", "", argument)) for argument in (first, second))
        if a is None or b is None or share is None:
            return None
        weight = float(share[1]) / 100
        opacity = a[3] * weight + b[3] * (1 - weight)
        mixed = (a[channel] * a[3] * weight + b[channel] * b[3] * (1 - weight) for channel in range(3))
        red, green, blue = (channel / opacity if opacity else 0 for channel in mixed)
        return (red, green, blue, opacity)


def contrast(colour: Colour, other: Colour) -> float:
    """The ratio of WCAG 2: 1 for equal colours, 21 for black on white."""
    darker, lighter = sorted((_luminance(colour), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: Colour) -> float:
    linear = [channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in colour[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _split(text: str) -> list[str]:
    """The arguments of a function: commas within further brackets do not part them."""
    return [argument.strip() for argument in re.split(r",(?![^(]*\))", text)]


def _parts(value: str) -> list[str]:
    return re.findall(r"[\w#.-]+\((?:[^()]|\([^()]*\))*\)|[^\s,]+", value)
