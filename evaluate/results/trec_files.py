"""The two files that are scored, each as query → document → number: TREC's columns, BEIR's table, or JSON."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO

from lake.errors import Exit, GoldspanError
from lake.limits import MAX_DOCUMENT_BYTES, MAX_LINE_BYTES, TooMuchUnpackedError, parsed_json, unpacked

ScoreLists = dict[str, dict[str, float]]

_MAX_GRADE = 1_000_000
"""trec_eval keeps a counter for every grade up to the highest."""

_BOM = b"\xef\xbb\xbf"
_BEIR_HEADER = [b"query-id", b"corpus-id", b"score"]
_ORDER = "The order is: python -m evaluate score QRELS RUN"


@dataclass(frozen=True)
class FileKind:
    """What a file holds: its name, the columns of a line as TREC has them, and what its number may be."""

    name: str
    columns: tuple[str, ...]
    number: str
    type: type[int] | type[float]
    values: str

    def is_valid(self, number: float) -> bool:
        """Whether a file of this kind may hold it."""
        return abs(number) <= _MAX_GRADE if self.type is int else number == number


QRELS = FileKind("QRELS", ("query", "0", "document", "grade"), "grade", int, f"a whole number, at most {_MAX_GRADE:,}")
RUN = FileKind("RUN", ("query", "Q0", "document", "rank", "score", "tag"), "score", float, "a number")


@contextmanager
def unpacked_file(path: Path) -> Iterator[IO[bytes]]:
    """A file, plain or packed with gzip or zstd; what is wrong with it while it is read ends in a sentence."""
    try:
        with path.open("rb") as file, unpacked(file) as stream:
            yield stream
    except FileNotFoundError as error:
        raise GoldspanError(f"there is no file {path}", hint=_ORDER, code=Exit.MISSING) from error
    except (OSError, ValueError, RecursionError, TooMuchUnpackedError) as error:
        message = f"the file cannot be read to its end: {getattr(error, 'strerror', None) or error}"
        hint = "Is it cut off? Unpack it with the tool that packed it, or write it again."
        raise GoldspanError(message, where=str(path), hint=hint, code=Exit.INVALID) from error


def read_lists(path: Path, kind: FileKind) -> ScoreLists:
    """Query → document → number, as a file has them, plain or packed with gzip or zstd."""
    with unpacked_file(path) as stream:
        lines = iter(lambda: stream.readline(MAX_LINE_BYTES), b"")
        first = next(lines, b"").removeprefix(_BOM)
        if first.lstrip()[:1] in (b"{", b"["):
            lists = _of_json(first + stream.read(MAX_DOCUMENT_BYTES), path, kind)
        else:
            lists = _of_lines(chain([first], lines), path, kind)
    if not any(lists.values()):
        raise _fault(f"{kind.name} is empty", path)
    return lists


def _of_lines(lines: Iterable[bytes], path: Path, kind: FileKind) -> ScoreLists:
    lists: ScoreLists = defaultdict(dict)
    columns = kind.columns
    for number, line in enumerate(lines, 1):
        if not (parts := line.split()):
            continue
        if parts == _BEIR_HEADER and not lists:
            columns = ("query", "document", kind.number)
            continue
        try:
            row = dict(zip(columns, map(bytes.decode, parts), strict=True))
            value = kind.type(row[kind.number])
            if not kind.is_valid(value):
                raise ValueError(value)
        except ValueError as error:
            names = f"{len(columns)} columns ({' '.join(columns)})"
            message = f"{kind.name} needs lines of {names}, {kind.number} {kind.values}"
            raise _fault(message, path, f"line {number}: {line.decode(errors='replace').rstrip()}") from error
        if row["document"] in lists[row["query"]]:
            message = f"{kind.name} has document {row['document']} twice for query {row['query']}"
            raise GoldspanError(message, where=f"{path}, line {number}", hint="Keep one of them.", code=Exit.INVALID)
        lists[row["query"]][row["document"]] = value
    return lists


def _of_json(data: bytes, path: Path, kind: FileKind) -> ScoreLists:
    """`{query: {document: number}}`, as pytrec_eval and ranx have it."""
    try:
        lists = parsed_json(data)
        if not isinstance(lists, dict) or not all(isinstance(of, dict) for of in lists.values()):
            raise TypeError("it is another JSON value")
        for query, of in lists.items():
            for name, number in of.items():
                # Half a surrogate cannot be written as UTF-8.
                if type(number) not in (int, kind.type) or not kind.is_valid(number) or not f"{query}{name}".encode():
                    raise TypeError(f"{query}: {{{name}: {number!r}}}")
    except (ValueError, TypeError, RecursionError) as error:
        message = f"{kind.name} as JSON is {{query: {{document: {kind.number}}}}}; {kind.number} is {kind.values}"
        raise _fault(message, path, str(error) or "nested too deep") from error
    return lists


def _fault(what: str, path: Path, *examples: str) -> GoldspanError:
    return GoldspanError(what, where=str(path), examples=examples, hint=_ORDER, code=Exit.INVALID)
