"""The one module that calls Vega and the converter of pictures; the only font is the one that it brings along."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import vl_convert as vlc

# A font of the machine is opened anew for every letter, and may be another on the next machine. The converter reads
# this when it is first called.
os.environ["FONTCONFIG_FILE"] = str(Path(__file__).parents[2] / "site" / "templates" / "fonts.conf")
VEGA_LITE = "6.4"

# The one font that the converter brings along has these. A second font, or a second weight of it, would make a PDF that
# differs from one build to the next: the converter writes fonts in no fixed order.
_FOREIGN = re.compile(r"[^\n\x20-\u017f\u0386-\u03ce\u0400-\u045f\u2013\u2014\u2018-\u201e\u2020-\u2026\u2212]")
# Nor are the degrees of transparency that a page of it uses: lines of one length, which may change places.
_NAMED = re.compile(rb"(?:^ +/[a-z]+[0-9]+ [0-9]+ 0 R\n){2,}", re.MULTILINE)
_WEIGHT = re.compile(r' font-weight="[^"]*"')


@cache
def svg_of_chart(specification: str) -> str:
    """The picture that a specification of Vega-Lite means; one that is on two pages is drawn once."""
    return vlc.vegalite_to_svg(specification, vl_version=VEGA_LITE)


def png_of(svg: str) -> bytes:
    """A picture that needs no page, as a PNG of its own size."""
    return vlc.svg_to_png(_FOREIGN.sub("?", _WEIGHT.sub("", svg)), scale=1)


def pdf_of(svg: str) -> bytes:
    """The same as a PDF, whose bytes are the same every time."""
    content = vlc.svg_to_pdf(_FOREIGN.sub("?", _WEIGHT.sub("", svg)))
    return _NAMED.sub(lambda names: b"".join(sorted(names[0].splitlines(keepends=True))), content)
