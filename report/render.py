"""Render templates, with HTML escaped, and write scripts of data; the only module that uses Jinja."""

import base64
import json
import re
import zlib
from collections.abc import Mapping
from functools import lru_cache
from inspect import isfunction
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape
from rich.filesize import decimal

from lake.averages import AVERAGES, FEWEST_REPOS, ITEM_INTERVALS, ITEM_NOTE, NO_INTERVAL
from lake.text import counted, group_name
from lake.verdict import EXPLORATORY
from report import format as formats
from report.format import DASH, visible

_LEVEL = 4  # of deflate; the default, 6, takes twice as long and saves 6 %
_UNSAFE = {"<": "\\u003c", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def data_file(name: str, value: object, *, is_json: bool = False) -> bytes:
    """A script that passes a value (already JSON if `is_json`) to the page under a name; keys keep their order."""
    text = str(value) if is_json else _compact(value)
    return f"goldspan.give({_literal(_compact(name))},{_literal(text)});\n".encode()


def packed(content: bytes) -> str:
    """Bytes, deflated, as base64 text; the script's `goldspan.unpack` reverses it."""
    return base64.b64encode(zlib.compress(content, _LEVEL)).decode()


def packed_json(value: object) -> str:
    """A value as JSON, packed by :func:`packed`."""
    return packed(_compact(value).encode("utf-8", "surrogatepass"))


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _literal(text: str) -> str:
    for character, escaped in _UNSAFE.items():
        text = text.replace(character, escaped)
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


_MARK = re.compile(r"(?<=[-_./+])(?=[^-_./+])")

TEMPLATES = Path(__file__).parent.parent / "site" / "templates"


def render(template: str, values: Mapping[str, object]) -> str:
    """A template filled in; hidden characters in values are made visible, and values are escaped in HTML."""
    return _environment().get_template(template).render(values)


def prose(text: str) -> Markup:
    """A declaration's text as HTML; text between backticks becomes `<code>`."""
    return Markup(re.sub("`([^`]*)`", r"<code>\1</code>", str(escape(visible(" ".join(text.split()))))))


@lru_cache(maxsize=1 << 14)
def breakable(text: str) -> Markup:
    """A name as HTML that may break after its punctuation: `<wbr>` marks each place."""
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
        finalize=lambda value: visible(value) if type(value) is str else DASH if value is None else value,
    )
    # All functions of `report.format` are filters and globals, under their own names.
    functions = {name: each for name, each in vars(formats).items() if isfunction(each)}
    environment.filters |= functions | {
        "prose": prose,
        "breakable": breakable,
        "group_name": group_name,
        "plural": counted,
        "address": quote,
        "size": decimal,
    }
    environment.globals |= functions | {
        "averages": {name: average.title for name, average in AVERAGES.items()},
        "exploratory": EXPLORATORY,
        "fewest_repos": FEWEST_REPOS,
        "item_intervals": ITEM_INTERVALS,
        "item_note": ITEM_NOTE,
        "no_interval": NO_INTERVAL,
    }
    return environment
