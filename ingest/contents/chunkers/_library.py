"""What the chunkers of other libraries share: chunks given as texts are found in the file, else it is cut plainly."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from ingest.contents.chunkers import Cut, Document, LineRange
from ingest.contents.chunkers._lines import cumulative, pack

OF_CHONKIE = ("requests", "tokenizers", "tqdm", "typing-extensions")
"""What chonkie imports and does not ask for."""

NOT_KNOWN = "language not known"


class Piece(Protocol):
    """A chunk as Chonkie gives it."""

    text: str


class Chunking(Protocol):
    """A chunker of Chonkie's."""

    def chunk(self, text: str) -> Iterable[Piece]: ...


class Splitter(Protocol):
    """A splitter of LangChain's or LlamaIndex's."""

    def split_text(self, text: str) -> Iterable[str]: ...


def placed(text: str, chunks: Iterable[str]) -> list[LineRange]:
    """The characters that chunks hold, each looked for behind the one before it.

    Raises:
        ValueError: One is no part of the text there.
    """
    spans: list[LineRange] = []
    end = 0
    for chunk in filter(None, chunks):
        start = text.find(chunk, end)
        if start < 0:
            message = f"chunk {len(spans)} is no part of the file"
            raise ValueError(message)
        end = start + len(chunk)
        spans.append((start, end))
    return spans


def by_texts(document: Document, n: int, split: Callable[[str], Iterable[str]]) -> Cut:
    """What a library splits a text into, or the plain way and why, where it gives up."""
    try:
        return Cut(placed(document.text, split(document.text)), unit="characters")
    except ImportError:
        # No oddity of the file.
        raise
    except Exception as error:
        # Whatever a library raises of an odd file.
        return plain(document, n, f"{type(error).__name__}: {error}"[:100])


def plain(document: Document, n: int, why: str) -> Cut:
    """Whole lines, packed as `fixed-nws-<n>` does."""
    return Cut(pack(cumulative(document.n_nws), 0, len(document.lines), n), why)
