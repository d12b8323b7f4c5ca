"""A page or a board as its tests read it: the text of each element, links, tables; the standard library's parser."""

from __future__ import annotations

import base64
import json
import re
import zlib
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from lake.store import Lake
from report.build import build
from report.leaderboard.board import Board, build_board
from report.tables_read import TablesRead

VOID = {"meta", "link", "br", "wbr", "img", "input", "hr", "col"}


@dataclass
class Element:
    """An element with its attributes, its children and the text directly in it."""

    tag: str
    attributes: dict[str, str | None]
    content: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        parts = [each if isinstance(each, str) else each.text_raw for each in self.content]
        return " ".join("".join(parts).split())

    @property
    def text_raw(self) -> str:
        return "".join(each if isinstance(each, str) else each.text_raw for each in self.content)

    def all(self, tag: str = "") -> list[Element]:
        elements = []
        for each in self.content:
            if isinstance(each, Element):
                elements += [each] if tag in ("", each.tag) else []
                elements += each.all(tag)
        return elements


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs))
        self.open[-1].content.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].content.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"<{self.open[-1].tag}> is closed by </{tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].content.append(data)


def parse(text: str) -> Element:
    """The document; an element that is closed by another's end tag fails."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert len(reader.open) == 1, f"<{reader.open[-1].tag}> is never closed"
    return reader.root


def page_of(lake: Lake, folder: Path, name: str = "repoeval-all.html") -> Element:
    """A page of the lake's site, which is built in a folder."""
    build(lake, folder / "site")
    return parse((folder / "site" / name).read_text(encoding="utf-8"))


def board_of(lake: Lake, benchmark: str = "repoeval") -> Board:
    """A benchmark's first board."""
    facts = TablesRead(lake)
    return build_board(facts, facts.boards(benchmark)[0])


def table(page: Element, caption: str) -> list[list[str]]:
    """The rows of the one table whose caption holds some words, heads first."""
    tables = [each for each in page.all("table") if caption in each.all("caption")[0].text]
    assert len(tables) == 1, f"{len(tables)} tables say {caption!r}"
    return [[cell.text for cell in row.all() if cell.tag in ("td", "th")] for row in tables[0].all("tr")]


def given(content: bytes) -> tuple[str, Any]:
    """The name and the value of a data file; packed JSON unpacked."""
    match = re.fullmatch(r'goldspan\.give\((".*?"),(.*)\);\n', content.decode(), re.DOTALL)
    assert match
    name, value = map(json.loads, match.groups())
    return name, json.loads(zlib.decompress(base64.b64decode(value))) if isinstance(value, str) else value


def called(system: str) -> str:
    """What a system is called in a table: its retriever, whose titles are their names here, then its chunker."""
    return " ".join(reversed(system.rsplit("+", 1)))
