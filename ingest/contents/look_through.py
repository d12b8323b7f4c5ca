"""One content's definitions and chunks, by one parse for all that read its syntax tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ingest.contents.chunkers import Cut, Document
from ingest.contents.chunkers_by_name import resolve_chunkers
from ingest.contents.chunking import cut_document
from ingest.contents.definitions import Found, definitions_of


class Content(NamedTuple):
    """A content to look through, and the chunkers that cut it; without an ending for definitions no one asks."""

    text: str
    ending: str
    language: str
    chunkers: tuple[str, ...]


class Seen(NamedTuple):
    """The definitions of a content by set of rules, and its cuts by chunker."""

    definitions: dict[str, Found]
    cuts: dict[str, Cut]


def look_through(contents: Sequence[Content]) -> list[Seen]:
    """The definitions and cuts of some contents; an odd one does not cost the others theirs."""
    seen = []
    for content in contents:
        try:
            definitions = definitions_of(content.text, content.ending)
        except Exception as error:
            definitions = {"docs": Found(why_not=f"{type(error).__name__}: {error}")}
        document = Document(content.text, content.language)
        chunkers = resolve_chunkers(content.chunkers)
        seen.append(Seen(definitions, {chunker.name: cut_document(chunker, document) for chunker in chunkers}))
    return seen


def look_without_trees(content: Content, why: str) -> Seen:
    """The cuts of a content whose parser crashed that need no syntax tree, and of the rest that it failed."""
    trees = {chunker.name for chunker in resolve_chunkers(content.chunkers) if chunker.declaration.grammars}
    others = tuple(name for name in content.chunkers if name not in trees)
    [seen] = look_through([content._replace(ending="", chunkers=others)])
    return Seen({"docs": Found(why_not=why)}, {**{name: Cut([], failed=why) for name in trees}, **seen.cuts})
