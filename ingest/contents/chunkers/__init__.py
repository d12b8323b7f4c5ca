"""Chunkers: how a file is cut into what a retriever ranks. One file each, found by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ingest.programs.command import JsonCommand
from lake.offsets import Offsets, split_lines

LineRange = tuple[int, int]
"""Lines `[start, end)`, 0-based and half-open."""

PATH, CHUNK = "{path}", "{chunk}"
"""In the text that a chunk is ranked by, its file's path and the chunk's own text."""

Unit = Literal["lines", "characters", "bytes"]
"""The unit of the ends of a chunk: whole lines, or places in the text or in its UTF-8, which may lie inside a line."""


@dataclass(frozen=True)
class Document:
    """A file as a chunker sees it: its text, its language, never its path: chunks are a content's."""

    text: str
    language: str = ""

    @cached_property
    def lines(self) -> list[str]:
        """The lines with their ends; joined they are the text."""
        return split_lines(self.text)

    @property
    def n_lines(self) -> int:
        """The number of lines."""
        return self.text.count("\n") + (self.text[-1:] not in ("", "\n"))

    @cached_property
    def n_nws(self) -> npt.NDArray[np.int64]:
        """Non-whitespace characters of each line."""
        return Offsets.between_lines(self.text).n_nws


class Cut(NamedTuple):
    """A chunker's answer.

    Attributes:
        ranges: The chunks as ranges `[start, end)` of lines, or of another unit, in the file's order. They may overlap;
            each must lie inside the file, hold at least one line or character, and stand there once. What begins or
            ends inside a line counts as its own bytes and characters, and as all the lines that it touches.
        fell_back: Why the chunker's own way could not be taken and a simpler one was; counted.
        failed: Why the file could not be cut at all; a reject.
        texts: By what each chunk is ranked; None for its own text, and none at all where that is so of all. `{path}` in
            it stands for the file's path, which a chunker is not told, as a content may lie under several, and
            `{chunk}` for the chunk's own text. What is scored are the chunk's lines, whatever its text.
    """

    ranges: list[LineRange]
    fell_back: str = ""
    unit: Unit = "lines"
    failed: str = ""
    texts: Sequence[str | None] = ()


@dataclass(frozen=True)
class Chunker:
    """A way to cut files.

    Attributes:
        name: What it is called; whole numbers in it stand in angle brackets: `fixed-nws-<n>`.
        chunk: `chunk(document, **numbers)` → `Cut`, with the numbers of the name (`n=1500`). A pure function.
        version: For pages; what is cut again, the code decides.
        defaults: The concrete names that run when none are asked for.
        grammars: Packages whose version decides the chunks as well.
        library: The package that cuts; its version decides the chunks as well, and the extra `chunkers` brings it.
        also: Packages that the library imports and does not ask for.
        command: What cuts in place of `chunk`: see :func:`ingest.contents.chunking.cut_by_command`.
        check: `check(**numbers)` says what is wrong with the numbers of a name, or an empty string.
        text: `text(document, cut)` gives the chunks texts to be ranked by: see :mod:`ingest.contents.chunkers_by_name`.
    """

    name: str
    title: str
    meaning: str
    chunk: Callable[..., Cut]
    version: int = 1
    source: str = ""
    defaults: tuple[str, ...] = ()
    grammars: tuple[str, ...] = ()
    library: str = ""
    also: tuple[str, ...] = ()
    given: str = ""
    command: JsonCommand | None = None
    check: Callable[..., str] | None = None
    text: Callable[[Document, Cut], Cut] | None = None
