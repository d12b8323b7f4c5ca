"""Definitions in a file by tree-sitter, under two sets of rules, one file each, and as rows of the lake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ingest.contents.definitions.nodes import Definition
from ingest.contents.definitions.rules import (
    DOCS_MEANING,
    ENDINGS,
    OFFICIAL_MEANING,
    docs_definitions,
    official_definitions,
)
from ingest.contents.syntax_trees import syntax_tree
from lake.text import LANGUAGES

RULES: Mapping[str, str] = {"official": OFFICIAL_MEANING, "docs": DOCS_MEANING}

__all__ = ["RULES", "Definition", "Found", "definitions_of", "ending_of"]


@dataclass(frozen=True)
class Found:
    """The definitions that a set of rules finds in a text."""

    definitions: list[Definition] = field(default_factory=list)
    why_not: str = ""


def ending_of(path: str) -> str:
    """The text after a name's last dot, in small letters; it decides the language."""
    _, dot, ending = path.rpartition("/")[2].rpartition(".")
    return ending.lower() if dot else ""


def definitions_of(text: str | bytes, ending: str) -> dict[str, Found]:
    """The definitions in a text, by set of rules that knows its path's ending (`h`, not `.h`); it is parsed once.

    Whatever the parser made of syntax errors is looked through. Byte offsets are those of the text in UTF-8.
    """
    data = (text.decode(errors="replace") if isinstance(text, bytes) else text).encode(errors="replace")
    readers = {"official": official_definitions, "docs": docs_definitions} if ending in LANGUAGES else {}
    if ending not in ENDINGS:
        readers.pop("official", None)
    root = syntax_tree(data, LANGUAGES[ending]) if readers else ""
    if isinstance(root, str):
        return {name: Found(why_not=root) for name in readers}
    return {name: Found(read(root, data, ending)) for name, read in readers.items()}
