"""Definitions in a file by tree-sitter, under two sets of rules, one file each, and as rows of the lake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from ingest.contents.definitions import docs, official
from ingest.contents.definitions.nodes import Definition
from ingest.contents.syntax_trees import syntax_tree
from lake.rejects import Rejects
from lake.tables import table
from lake.text import LANGUAGES

RULES: Mapping[str, str] = {"official": official.MEANING, "docs": docs.MEANING}
"""Set of rules → what it calls a definition."""

__all__ = ["RULES", "Definition", "Found", "definitions_of", "ending_of", "symbol_rows"]


@dataclass(frozen=True)
class Found:
    """What a set of rules finds in a text."""

    definitions: list[Definition] = field(default_factory=list)
    why_not: str = ""


def ending_of(path: str) -> str:
    """What stands after a name's last dot, in small letters; it decides the language."""
    _, dot, ending = path.rpartition("/")[2].rpartition(".")
    return ending.lower() if dot else ""


def definitions_of(text: str | bytes, ending: str) -> dict[str, Found]:
    """The definitions in a text, by set of rules that knows its path's ending (`h`, not `.h`); it is parsed once.

    Whatever the parser made of syntax errors is looked through. Byte offsets are those of the text in UTF-8.
    """
    data = (text.decode(errors="replace") if isinstance(text, bytes) else text).encode(errors="replace")
    readers = {"official": official.definitions, "docs": docs.definitions} if ending in LANGUAGES else {}
    if ending not in official.ENDINGS:
        readers.pop("official", None)
    root = syntax_tree(data, LANGUAGES[ending]) if readers else ""
    if isinstance(root, str):
        return {name: Found(why_not=root) for name in readers}
    return {name: Found(read(root, data, ending)) for name, read in readers.items()}


def symbol_rows(
    sha256: Sequence[str], endings: Sequence[str], by_content: Sequence[Mapping[str, Found]]
) -> list[pl.DataFrame]:
    """Definitions of some contents as tables: `symbols` for each set of rules, then `rejects` and `symbol_status`."""
    frames = []
    for rules in RULES:
        rows = [
            (rules, content, *definition)
            for content, by_rules in zip(sha256, by_content, strict=True)
            if rules in by_rules
            for definition in by_rules[rules].definitions
        ]
        frames.append(pl.DataFrame(rows, schema=table("symbols").columns, orient="row"))
    rejects = Rejects()
    why_not = [by_rules["docs"].why_not or None for by_rules in by_content]
    for content, ending, why in zip(sha256, endings, why_not, strict=True):
        if why:
            rejects.add(f"blob {content}", "symbols", f".{ending} could not be parsed: {why}")
    status = pl.DataFrame({"sha256": sha256, "failed": why_not}, schema=table("symbol_status").columns)
    return [*frames, rejects.frame("ingest"), status]
