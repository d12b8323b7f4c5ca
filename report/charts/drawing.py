"""What every picture is drawn with: scales, axes, marks, a legend and the `<svg>` element around them.

Every mark is drawn in `currentColor` or a custom property of the style sheet, so one picture serves light and dark.
A picture has one name for those who cannot see it; the page gives its numbers as rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from report.format import visible
from report.models import KINDS

INK, PAGE, LINE, MUTED = "currentColor", "var(--page)", "var(--line)", "var(--muted)"
CHARACTER, FONT = 7.2, 12
"""Pixels of a character at most, in the widest of the fonts that a page may be shown in; and of a line's height."""

_LEAST = 11 / FONT  # No text gets smaller than 11 pixels: in a narrower box the picture scrolls.
_MOST_MARKS, _MAX_LABEL, _N_TICKS = 8, 24, 5
_LEGEND = 26


@dataclass(frozen=True)
class Scale:
    """Numbers from `low` to `high` as pixels from `start` to `end`, along their logarithms where it `is_log`."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def __call__(self, value: float) -> float:
        """Where a number lies."""
        low, high, at = map(math.log, (self.low, self.high, value)) if self.is_log else (self.low, self.high, value)
        return self.start + (at - low) / ((high - low) or 1.0) * (self.end - self.start)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """The round numbers on its axis, each as it is shown."""
        if self.is_log:
            return [(value, f"{value:,.10g}") for value in _round_powers(self.low, self.high)]
        rough = (self.high - self.low) / _N_TICKS
        power = 10.0 ** math.floor(math.log10(rough))
        step = power * next(
            digit for digit, most in ((1, 1.5), (2, 3.5), (5, 7.5), (10, 10.1)) if rough / power <= most
        )
        decimals = max(0, -math.floor(math.log10(step) + 1e-9))
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [(number * step, f"{number * step:,.{decimals}f}") for number in range(first, last + 1)]


def powers_scale(numbers: Sequence[float], beyond: float, start: float, end: float) -> Scale:
    """A scale for what is compared by ratios; `beyond` is the room at either end, as a factor."""
    return Scale(min(numbers) / beyond, max(numbers) * beyond, start, end, is_log=True)


def _round_powers(low: float, high: float) -> list[float]:
    """The round numbers between two: 1, 2, 5, 10, … where they are few, else powers of 10."""
    powers = [10.0**power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    marks = [power * digit for power in powers for digit in (1, 2, 5) if low <= power * digit <= high]
    return marks if len(marks) <= _MOST_MARKS else [power for power in powers if low <= power <= high]


def number(value: float) -> str:
    """A place in a picture, to a tenth of a pixel."""
    return f"{value:z.1f}".removesuffix(".0")


def element(name: str, **attributes: str | float | None) -> str:
    """An element without content; a `_` in an attribute's name is written `-`, and what is None is left out."""
    known = {key.replace("_", "-"): value for key, value in attributes.items() if value is not None}
    shown = (f' {key}="{number(value) if isinstance(value, float) else value}"' for key, value in known.items())
    return f"<{name}{''.join(shown)}/>"


def words(x: float, y: float, text: str, *, anchor: str = "start", fill: str = INK, is_bold: bool = False) -> str:
    """A text whose middle is at y, which begins, is centred or ends at x."""
    weight = ' font-weight="bold"' if is_bold else ""
    where = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return (
        f'<text x="{number(x)}" y="{number(y + FONT / 3)}"{where} fill="{fill}"{weight}>{escape(visible(text))}</text>'
    )


def line(points: Iterable[tuple[float, float]], *, is_stepped: bool = False, **look: str | float | None) -> str:
    """A line through points; where it is stepped, each value holds until the next point."""
    way = ""
    for x, y in points:
        way += (
            f"M{number(x)},{number(y)}"
            if not way
            else f"H{number(x)}V{number(y)}"
            if is_stepped
            else f"L{number(x)},{number(y)}"
        )
    return element("path", d=way, fill="none", **look)


def mark(kind: str, x: float, y: float, radius: float, fill: str, **look: str | float | None) -> str:
    """The mark of one of the KINDS, in its shape."""
    r, d, w = number(radius), number(2 * radius), number(1.25 * radius)
    outline = {
        "circle": f"M{number(x - radius)},{number(y)}a{r},{r} 0 1 0 {d},0a{r},{r} 0 1 0 -{d},0",
        "square": f"M{number(x - radius)},{number(y - radius)}h{d}v{d}h-{d}z",
        "diamond": f"M{number(x)},{number(y - 1.25 * radius)}l{w},{w}l-{w},{w}l-{w},-{w}z",
        "triangle-up": f"M{number(x - radius)},{number(y + 0.8 * radius)}h{d}l-{r},-{number(1.8 * radius)}z",
        "triangle-right": f"M{number(x - 0.8 * radius)},{number(y - radius)}v{d}l{number(1.8 * radius)},-{r}z",
    }
    return element("path", d=outline[KINDS[kind].shape], fill=fill, **look)


def axis_below(scale: Scale, top: float, bottom: float, title: str) -> str:
    """The axis of a horizontal scale below the plot, with a line upwards at each number that has room."""
    parts, taken = list[str](), -math.inf
    for value, label in scale.ticks:
        x, half = scale(value), len(label) * CHARACTER / 2
        parts.append(line([(x, top), (x, bottom)], stroke=LINE))
        if x - half > taken:
            parts.append(words(x, bottom + 13, label, anchor="middle", fill=MUTED))
            taken = x + half
    if title:
        parts.append(words((scale.start + scale.end) / 2, bottom + 33, title, anchor="middle", is_bold=True))
    return "".join(parts)


def axis_beside(scale: Scale, left: float, right: float, title: str) -> str:
    """The axis of a vertical scale left of the plot, with a line across at each number; without a title only these."""
    ticks = scale.ticks
    parts = [line([(left, scale(value)), (right, scale(value))], stroke=LINE) for value, _ in ticks]
    if title:
        parts += [words(left - 6, scale(value), label, anchor="end", fill=MUTED) for value, label in ticks]
        x, y = left - room_beside(scale) + FONT / 2, (scale.start + scale.end) / 2
        turned = f"translate({number(x)},{number(y)}) rotate(-90)"
        parts.append(f'<g transform="{turned}">{words(0, 0, title, anchor="middle", is_bold=True)}</g>')
    return "".join(parts)


def room_beside(scale: Scale) -> float:
    """How much room a vertical axis with a title takes."""
    return max(len(label) for _, label in scale.ticks) * CHARACTER + 24


def legend(kinds: Iterable[str], left: float) -> str:
    """The line above a plot that says which mark is of which kind."""
    parts, x, drawn = list[str](), left, set(kinds)
    for kind in (kind for kind in KINDS if kind in drawn):
        shown = KINDS[kind]
        parts += [mark(kind, x + 5, 12, 4.5, shown.colour), words(x + 15, 12, shown.title)]
        x += 30 + len(shown.title) * CHARACTER
    return "".join(parts)


ROOM_ABOVE, ROOM_BELOW = 28.0, 44.0
"""Pixels that a legend takes, and an axis below a plot."""


def svg_of(parts: Iterable[str], width: float, height: float, name: str) -> Markup:
    """An `<svg>` element that fills its box and scrolls where its text would be too small."""
    label = visible(name).replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    size = f'width="{number(width)}" height="{number(height)}" viewBox="0 0 {number(width)} {number(height)}"'
    opening = (
        f'<svg role="img" aria-label="{label}" font-size="{FONT}" style="min-width:{round(width * _LEAST)}px" {size}>'
    )
    return Markup(f"{opening}{''.join(parts)}</svg>")


def cut(text: str, most: int = _MAX_LABEL) -> str:
    """A name that has room beside a picture."""
    shown = visible(text)
    if len(shown) <= most:
        return shown
    # Names that are no words differ at their ends as well.
    kept = 0 if " " in shown else most // 2
    return f"{shown[: most - 1 - kept]}…{shown[len(shown) - kept :]}"


def spread(places: Sequence[float], gap: float, last: float) -> list[float]:
    """Where texts stand that belong to places from 0 to `last`: there, or so far off that no two are within a gap."""
    order = sorted(range(len(places)), key=lambda each: (places[each], each))
    spaced = list(places)
    for before, each in zip([None, *order], order, strict=False):
        spaced[each] = places[each] if before is None else max(places[each], spaced[before] + gap)
    limit = last
    for each in reversed(order):
        spaced[each] = min(spaced[each], limit)
        limit = spaced[each] - gap
    return spaced
