"""Chunkers: they cut a file into the chunks that a retriever ranks. One file each, found by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from ingest.programs.command import JsonCommand
from lake.offsets import Offsets, split_lines

LineRange = tuple[int, int]
"""Lines `[start, end)`, 0-based and half-open."""

PATH, CHUNK = "{path}", "{chunk}"
"""Placeholders in the text that a chunk is ranked by: the file's path, and the chunk's own text."""

Unit = Literal["lines", "characters", "bytes"]
"""The unit of chunk boundaries: whole lines, or positions in the text or in its UTF-8, also inside a line."""


@dataclass(frozen=True)
class Document:
    """A file as given to a chunker: text and language, but no path, as chunks belong to a content."""

    text: str
    language: str = ""

    @cached_property
    def lines(self) -> list[str]:
        """The lines with their line ends; joined they give the text."""
        return split_lines(self.text)

    @property
    def n_lines(self) -> int:
        """The number of lines."""
        return self.text.count("\n") + (self.text[-1:] not in ("", "\n"))

    @cached_property
    def nws_before(self) -> list[int]:
        """The non-whitespace characters before each line, then the total: one number more than there are lines."""
        before: list[int] = Offsets.between_lines(self.text).nws.tolist()
        return before


class Cut(NamedTuple):
    """The chunks of one file: ranges `[start, end)` of `unit`, in the file's order; they may overlap.

    Each range is inside the file, not empty, and unique; it has its own bytes, and all lines that it touches.
    `fell_back` says why a simpler method was used than the chunker's own, `failed` why the file could not be cut.
    `texts` are what the chunks are ranked by, None for a chunk's own text, with `PATH` and `CHUNK` to be filled in.
    """

    ranges: list[LineRange]
    fell_back: str = ""
    unit: Unit = "lines"
    failed: str = ""
    texts: Sequence[str | None] = ()


@dataclass(frozen=True)
class Chunker:
    """A method of cutting files.

    Attributes:
        name: Its name, with parameters (whole numbers) in angle brackets: `fixed-nws-<n>`.
        chunk: `chunk(document, **numbers)` → `Cut`, with the numbers in the name (`n=1500`). A pure function.
        defaults: The concrete names that run if none is named.
        grammars, libraries: Packages whose versions determine the chunks; the extra `chunkers` installs `libraries`.
        given, command: For `NAME=COMMAND`, the text given and the command that cuts in place of `chunk`.
        text: `text(document, cut)` gives the chunks texts to be ranked by.
    """

    name: str
    title: str
    meaning: str
    chunk: Callable[..., Cut]
    source: str = ""
    defaults: tuple[str, ...] = ()
    grammars: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    given: str = ""
    command: JsonCommand | None = None
    text: Callable[[Document, Cut], Cut] | None = None


@dataclass(frozen=True)
class NamedChunker:
    """A chunker matched by a concrete name, with the numbers in that name."""

    name: str
    declaration: Chunker
    parameters: Mapping[str, int]
