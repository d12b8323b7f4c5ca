"""Data that a page loads on demand: a script that gives a value under a name, as `site/static/load.js` takes it."""

from __future__ import annotations

import base64
import json
import zlib

_LEVEL = 4
"""Of deflate: the usual one, 6, takes twice as long, and saves 6 %."""

_UNSAFE = {"<": "\\u003c", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def data_file(name: str, value: object) -> bytes:
    """A script that gives a value under the name that pages ask for it by; keys keep their order."""
    return data_file_of(name, _compact(value))


def data_file_of(name: str, value: str) -> bytes:
    """The same of a value that is JSON already."""
    return f"goldspan.give({_literal(_compact(name))},{_literal(value)});\n".encode()


def packed(content: bytes) -> str:
    """Bytes as text, deflated; `goldspan.unpack` gives them again."""
    return base64.b64encode(zlib.compress(content, _LEVEL)).decode()


def packed_json(value: object) -> str:
    """The same of a value as JSON."""
    return packed(_compact(value).encode("utf-8", "surrogatepass"))


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _literal(text: str) -> str:
    for character, escaped in _UNSAFE.items():
        text = text.replace(character, escaped)
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
