"""Templates to HTML and code; the one module that knows Jinja. HTML is escaped, an undefined name is an error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from lake.text import counted, group_name
from report.format import DASH, between, count, fixed, score, share, signed, size, two_digits, visible

_MARK = re.compile(r"(?<=[-_./+])(?=[^-_./+])")

TEMPLATES = Path(__file__).parent.parent / "site" / "templates"


def render(template: str, values: Mapping[str, object]) -> str:
    """A template filled in; every text that comes from outside is escaped, its hidden characters made visible."""
    return _environment().get_template(template).render(values)


def prose(text: str) -> Markup:
    """A text from a declaration; what stands between backticks is code."""
    parts = [escape(visible(part)) for part in " ".join(text.split()).split("`")]
    if len(parts) % 2 == 0:  # a backtick without its partner is just a backtick
        parts[-2:] = [parts[-2] + "`" + parts[-1]]
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if number % 2 else part for number, part in enumerate(parts)
    )


@lru_cache(maxsize=1 << 14)
def breakable(text: str) -> Markup:
    """A name that may break after its marks, where a column is too narrow for it: each break is `<wbr>`."""
    return Markup("<wbr>").join(escape(visible(part)) for part in _MARK.split(text))


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=select_autoescape(default=True, disabled_extensions=("txt",)),
        undefined=StrictUndefined,
        auto_reload=False,
        bytecode_cache=FileSystemBytecodeCache(),
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters |= {
        "prose": prose,
        "breakable": breakable,
        "score": score,
        "fixed": fixed,
        "group_name": group_name,
        "share": share,
        "signed": signed,
        "count": count,
        "measured": two_digits,
        "size": size,
        "plural": counted,
        "address": quote,
    }
    environment.globals["between"] = between
    return environment


def _finalize(value: object) -> object:
    if type(value) is str:
        return visible(value)
    return DASH if value is None else value
