"""The two files that are scored: TREC's, the tables of BEIR, or JSON; each as a frame of query, document and number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from lake.errors import MAX_EXAMPLES, Exit, GoldspanError
from lake.limits import (
    MAGIC_BYTES,
    MAX_DOCUMENT_BYTES,
    MAX_LINE_BYTES,
    TooMuchUnpackedError,
    packing,
    parsed_json,
    unpacked,
)

BLOCK_BYTES = 1 << 24
_BOM = b"\xef\xbb\xbf"
_BLANK = re.compile(rb"[ \t\r\f\v]+")
_LINE_ENDS = re.compile(rb" ?\n[\n ]*")


@dataclass(frozen=True)
class Kind:
    """What a file holds.

    Attributes:
        name: What the command line calls it.
        columns: Of its lines, as TREC has them.
        number: The column of its number, which is read beside `query` and `document`.
        type: Of the number.
        example: A line.
    """

    name: str
    columns: tuple[str, ...]
    number: str
    type: pl.DataType
    example: str


QRELS = Kind("QRELS", ("query", "0", "document", "grade"), "grade", pl.Int64(), "q1 0 d7 1")
RUN = Kind("RUN", ("query", "Q0", "document", "rank", "score", "tag"), "score", pl.Float64(), "q1 Q0 d7 1 0.93 mine")
BEIR_HEADER = "query-id corpus-id score"


@contextmanager
def rows_of(path: Path, kind: Kind) -> Iterator[pl.LazyFrame]:
    """A file's query, document and number, to be collected inside the context.

    Columns are parted by spaces or tabs, however many. A file with one everywhere is read where it lies, any other and
    what is packed is first written anew.

    Raises:
        GoldspanError: There is no such file, it is cut off, or a line or a number in it cannot be read.
    """
    head = next(_blocks(path), b"")
    if head[:1] in (b"{", b"["):
        yield _of_json(path, kind)
        return
    first = head.split(b"\n", 1)[0]
    has_header = " ".join(first.decode(errors="replace").split()) == BEIR_HEADER
    columns = ("query", "document", kind.number) if has_header else kind.columns
    separator = b"\t" if b"\t" in first else b" "
    with TemporaryDirectory(prefix="goldspan-") as folder:
        plain = path
        if _is_packed(path) or not all(_is_plain(block, separator, len(columns)) for block in _blocks(path)):
            plain, separator = Path(folder, "plain"), b" "
            with plain.open("wb") as to:
                to.writelines(map(_plain, _blocks(path)))
            if not all(_is_plain(block, separator, len(columns)) for block in _blocks(plain)):
                raise fault(path, kind, columns)
        schema = {name: kind.type if name == kind.number else pl.String() for name in columns}
        try:
            rows = pl.scan_csv(
                plain,
                separator=separator.decode(),
                has_header=False,
                quote_char=None,
                skip_rows=int(has_header),
                schema=schema,
            )
            yield rows.select("query", "document", kind.number)
        except pl.exceptions.PolarsError as error:
            raise fault(path, kind, columns, has_header=has_header) from error


def fault(path: Path, kind: Kind, columns: Sequence[str] = (), *, has_header: bool = False) -> GoldspanError:
    """The error for a file of lines that cannot be read: its first lines with other columns, or without the number."""
    columns = columns or kind.columns
    position, found = 0, []
    called = f"{len(columns)} columns ({' '.join(columns)}), {kind.number} a{' whole' * kind.type.is_integer()} number"
    for block in _blocks(path):
        lines = block.split(b"\n")[:-1]
        parts = list(map(bytes.split, lines))
        numbers = [part[columns.index(kind.number)] if len(part) == len(columns) else b"" for part in parts]
        number = pl.Series([text.decode(errors="replace") for text in numbers], dtype=pl.String)
        number = number.cast(kind.type, strict=False)
        is_utf8 = pl.Series([line.decode(errors="ignore").encode() == line for line in lines], dtype=pl.Boolean)
        broken = number.is_null() | number.cast(pl.Float64).is_nan() | ~is_utf8
        for place in (broken & pl.Series(map(bool, parts), dtype=pl.Boolean)).arg_true():
            if position or place or not has_header:
                found.append(f"line {position + place + 1}: {lines[place].decode(errors='replace')}")
        position += len(lines)
        if len(found) > MAX_EXAMPLES:
            break
    message = f"{kind.name} is to have lines of {called}"
    hint = f"A line of it: {kind.example}. The order is: python -m evaluate score QRELS RUN"
    return GoldspanError(message, where=str(path), examples=found, hint=hint, code=Exit.INVALID)


def _of_json(path: Path, kind: Kind) -> pl.LazyFrame:
    """`{query: {document: number}}`, as ranx and pytrec_eval have it."""
    data = bytearray()
    for block in _blocks(path):
        data += block
        if len(data) > MAX_DOCUMENT_BYTES:
            message = f"it holds more than {MAX_DOCUMENT_BYTES:,} bytes, the most of one JSON value"
            raise GoldspanError(message, where=str(path), hint="Write it as a TREC file.", code=Exit.INVALID)
    whole = kind.type.is_integer()
    wanted = f"{kind.name} as JSON is {{query: {{document: {'whole ' * whole}number}}}}"
    try:
        value = parsed_json(bytes(data))
    except (ValueError, RecursionError) as error:
        message = f"{wanted}; this is not JSON: {str(error) or 'nested too deep'}"
        raise GoldspanError(message, where=str(path), hint="Is it cut off?", code=Exit.INVALID) from error
    lists: dict[str, dict[str, object]] = {}
    for query, found in value.items() if isinstance(value, dict) else [("", value)]:
        types = {int} if whole else {int, float}
        if not isinstance(found, dict) or {type(number) for number in found.values()} - types:
            examples = [f"{query}: {found!r}"[:80]]
            raise GoldspanError(wanted, where=str(path), examples=examples, code=Exit.INVALID)
        lists[query] = found
    rows = [(query, document, number) for query, found in lists.items() for document, number in found.items()]
    schema = {"query": pl.String(), "document": pl.String(), kind.number: kind.type}
    return pl.LazyFrame(rows, schema=schema, orient="row", strict=False)


def _is_packed(path: Path) -> bool:
    with path.open("rb") as file:
        return bool(packing(file.read(MAGIC_BYTES)))


def _blocks(path: Path) -> Iterator[bytes]:
    """The file's bytes, unpacked, some whole lines at a time, the last one with its end.

    Raises:
        GoldspanError: There is no such file, it cannot be opened, or what is packed is cut off or damaged.
    """
    rest, is_first = b"", True
    try:
        with path.open("rb") as file, unpacked(file) as stream:
            while block := stream.read(BLOCK_BYTES):
                whole, newline, rest = (rest + block).rpartition(b"\n")
                if len(rest) > MAX_LINE_BYTES:
                    message = f"it has a line of more than {MAX_LINE_BYTES:,} bytes"
                    raise GoldspanError(message, where=str(path), code=Exit.INVALID)
                if newline:
                    yield (whole + newline).removeprefix(_BOM) if is_first else whole + newline
                    is_first = False
    except FileNotFoundError as error:
        message, hint = f"there is no file {path}", "The order is: python -m evaluate score QRELS RUN"
        raise GoldspanError(message, hint=hint, code=Exit.MISSING) from error
    except (OSError, ValueError, TooMuchUnpackedError) as error:
        message = f"the file cannot be read to its end: {getattr(error, 'strerror', None) or error}"
        hint = "Is it cut off? Unpack it with the tool that packed it, or write it again."
        raise GoldspanError(message, where=str(path), hint=hint, code=Exit.INVALID) from error
    if rest:
        yield rest.removeprefix(_BOM) + b"\n" if is_first else rest + b"\n"


def _is_plain(block: bytes, separator: bytes, n_columns: int) -> bool:
    """Whether every line has its columns with one separator between two, so far as counting tells."""
    other = b" " if separator == b"\t" else b"\t"
    broken = (other, b"\r", b"\f", b"\v", separator * 2, separator + b"\n", b"\n" + separator, b"\n\n", _BOM)
    return (
        not block.startswith((separator, b"\n"))
        and not any(mark in block for mark in broken)
        and block.count(separator) == (n_columns - 1) * block.count(b"\n")
    )


def _plain(block: bytes) -> bytes:
    """Whole lines with one space between columns, none at the ends, and no empty lines."""
    return _LINE_ENDS.sub(b"\n", _BLANK.sub(b" ", block)).lstrip()
