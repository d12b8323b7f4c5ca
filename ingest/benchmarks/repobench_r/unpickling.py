"""Pickles of plain values, read without ever running anything a pickle names, and within a limit of memory.

Python's own unpickler makes room for any place in the memo that a pickle names, and for any number of containers.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Mapping
from pickletools import genops
from sys import getsizeof
from typing import IO, TypeVar, cast

import pyarrow as pa  # type: ignore[import-untyped]  # ships no types

from lake.limits import MAX_LINE_BYTES, MAX_VALUE_BYTES

GZIP_MAGIC = b"\x1f\x8b"
_AT_ONCE = 1 << 20
_OPERATIONS = 1_000_000
"""So many operations are carried out, and one more for each byte of the file: real ones have a hundred bytes for each,
but what is packed a thousandfold has millions in a few."""
ROW_DEPTH = 3
"""A row, its candidates, and what each of these says of itself: containers in one another."""
PACKED_FROM = 1024
"""Characters from which on a text is packed; below, packing costs more than it saves."""
_CODEC = pa.Codec("zstd", compression_level=1)
_OP, _MARKED, _LIST, _DICT, _SET, _MEMOIZED, _ENTRY = 16, 32, 72, 232, 216, 100, 80
"""What an operation, a mark, an empty container, a place in the memo and a further entry cost in memory."""
_SMALL_DICT = 5
"""So many entries an empty dict's cost covers."""
_LARGEST_KEY = 2**31
_MAX_BITS = 8_000
"""More than any number has."""

C = TypeVar("C")


class UnsafePickleError(ValueError):
    """A pickle names a class or a function; nothing of it was run."""

    def __init__(self, named: str) -> None:
        super().__init__(f"the pickle names {named}, and only plain values are read from one; nothing in it was run")


class BrokenPickleError(ValueError):
    """Bytes that are no whole pickle, or one whose values take more memory than any real one's."""

    def __init__(self, what: str, error: Exception | None = None) -> None:
        super().__init__(what if error is None else f"{what}: {type(error).__name__}: {error}")


class PackedText:
    """A long text of a pickle, which takes a third of its memory until it is needed."""

    __slots__ = ("_n_bytes", "_packed", "n_characters")

    def __init__(self, text: str) -> None:
        data = text.encode("utf-8", "surrogatepass")
        self._n_bytes, self.n_characters = len(data), len(text)
        self._packed: bytes = _CODEC.compress(data, asbytes=True)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + getsizeof(self._packed)

    def __repr__(self) -> str:
        return repr(self.text())

    def text(self) -> str:
        """It, unpacked."""
        data: bytes = _CODEC.decompress(self._packed, self._n_bytes, asbytes=True)
        return data.decode("utf-8", "surrogatepass")


def plain_values(data: bytes | IO[bytes], limit: int = MAX_VALUE_BYTES) -> object:
    """The value of a pickle, gzipped or not; its long texts are packed."""
    stream = io.BytesIO(data) if isinstance(data, bytes) else data
    is_packed = stream.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    stream.seek(0)
    # Operations are read by the byte, so out of a buffer.
    unzipped = io.BufferedReader(cast("io.RawIOBase", gzip.GzipFile(fileobj=stream)), _AT_ONCE)
    try:
        value = _value(_Bounded(unzipped if is_packed else stream), limit, stream.tell)
        # A gzip's checksum stands at its end: what was read is right only when that is.
        unread = limit
        while is_packed and (rest := unzipped.read(_AT_ONCE)):
            unread -= len(rest)
            if unread < 0:
                raise BrokenPickleError(what=f"more than {limit:,} bytes follow the pickle")
    except (UnsafePickleError, BrokenPickleError):
        raise
    # Damaged bytes are answered with almost any exception there is.
    except Exception as error:
        is_damaged = is_packed and isinstance(error, (EOFError, OSError, zlib.error))
        what = "the gzip is cut off or damaged" if is_damaged else "not a whole pickle"
        raise BrokenPickleError(what=what, error=error) from error
    return value


def unpacked(value: object, depth: int = ROW_DEPTH) -> object:
    """A row as it was pickled, its packed texts unpacked; those deeper within are none that a row has."""
    if isinstance(value, PackedText):
        return value.text()
    if depth and isinstance(value, dict):
        return {key: unpacked(item, depth - 1) for key, item in value.items()}
    if depth and isinstance(value, (list, tuple)):
        return [unpacked(item, depth - 1) for item in value]
    return value


class _Bounded:
    """A file, of which no more is asked for at once than there is to be room for."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, n: int = -1) -> bytes:
        if n > MAX_LINE_BYTES:
            raise BrokenPickleError(what=f"a text of {n:,} bytes; at most {MAX_LINE_BYTES:,} are read")
        return self._file.read(n)

    def readline(self) -> bytes:
        return self._file.readline(MAX_LINE_BYTES)


def _value(file: _Bounded, limit: int, n_read: Callable[[], int]) -> object:
    machine, most = _Machine(limit), _OPERATIONS
    for n, (operation, given, _) in enumerate(genops(cast("IO[bytes]", file))):
        machine.left -= _OP
        if n > most and n > (most := _OPERATIONS + n_read()):
            raise BrokenPickleError(what=f"more than {most:,} operations, the most that are carried out of such a file")
        act = _ACTS.get(operation.name)
        if act is None:
            raise UnsafePickleError(named=_named(operation.name, given, machine.stack))
        act(machine, given)
        if machine.left < 0:
            what = f"its values take more than {limit:,} bytes of memory, the most that is read of a pickle"
            raise BrokenPickleError(what=f"{what}; split the file")
    return machine.stack.pop()


def _named(operation: str, given: object, stack: list[object]) -> str:
    """What an operation that makes no plain value would have called."""
    if operation in ("GLOBAL", "INST"):
        return str(given).replace(" ", ".")
    if operation == "STACK_GLOBAL":
        return ".".join(str(name)[:100] for name in stack[-2:])
    return f"an object to be made (operation {operation})"


class _Machine:
    """Carries out what makes containers, texts, bytes, numbers, truths and None, and counts what they take."""

    def __init__(self, limit: int) -> None:
        self.left = limit
        self.stack: list[object] = []
        self.marks: list[int] = []
        self.memo: dict[object, object] = {}

    def push(self, value: object) -> None:
        if isinstance(value, str) and len(value) >= PACKED_FROM:
            value = PackedText(value)
        elif isinstance(value, int) and value.bit_length() > _MAX_BITS:
            raise ValueError("a number longer than any")
        self.left -= getsizeof(value)
        self.stack.append(value)

    def push_ascii(self, value: object) -> None:
        self.push(str(value).encode("ascii").decode())

    def mark(self, _: object) -> None:
        self.left -= _MARKED
        self.marks.append(len(self.stack))

    def above(self) -> list[object]:
        """What was put on the stack since the last mark, taken from it."""
        mark = self.marks.pop()
        items = self.stack[mark:]
        del self.stack[mark:]
        return items

    def pop(self, _: object) -> None:
        if self.marks and self.marks[-1] == len(self.stack):
            self.marks.pop()
        else:
            self.stack.pop()

    def container(self, value: object, cost: int) -> None:
        self.left -= cost
        self.stack.append(value)

    def last(self, kind: type[C]) -> C:
        """The container that is last on the stack."""
        value = self.stack[-1]
        if not isinstance(value, kind):
            raise ValueError(f"a {type(value).__name__} where a container is to be")
        return value

    def tuple_of(self, n: int) -> None:
        if len(self.stack) < n:
            raise IndexError
        values = tuple(self.stack[-n:])
        del self.stack[-n:]
        self.container(values, _LIST)

    def dict_of(self, _: object) -> None:
        pairs = self.above()
        self.container({}, _DICT)
        self.update(pairs)

    def extend(self, values: list[object]) -> None:
        self.last(list).extend(values)

    def update(self, pairs: list[object]) -> None:
        """Put keys and values, in turn, into the dict that is last on the stack."""
        last = self.last(dict)
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            last[_plain_key(key)] = value
        if len(last) > _SMALL_DICT:
            self.left -= _ENTRY * (len(pairs) // 2)

    def add(self, _: object) -> None:
        values = self.above()
        self.left -= _ENTRY * len(values)
        self.last(set).update(map(_plain_key, values))

    def remember(self, place: object) -> None:
        if place not in self.memo:
            self.left -= _MEMOIZED
        self.memo[place] = self.stack[-1]

    def recall(self, place: object) -> None:
        self.stack.append(self.memo[place])


def _plain_key(key: object) -> str | int | None:
    """A key or member: others can nest without end, be made to collide, or take long each time they are unpacked."""
    if key is None or isinstance(key, str) or (isinstance(key, int) and abs(key) < _LARGEST_KEY):
        return key
    raise ValueError(f"a {'long text' if isinstance(key, PackedText) else type(key).__name__} as a key")


_PUSHED = """
    INT BININT BININT1 BININT2 LONG LONG1 LONG4 FLOAT BINFLOAT UNICODE SHORT_BINUNICODE BINUNICODE BINUNICODE8
    BINBYTES SHORT_BINBYTES BINBYTES8 BYTEARRAY8
"""
_ACTS: Mapping[str, Callable[[_Machine, object], None]] = {
    **dict.fromkeys(_PUSHED.split(), _Machine.push),
    **dict.fromkeys(("STRING", "BINSTRING", "SHORT_BINSTRING"), _Machine.push_ascii),
    # Where a frame ends says nothing about what is in it.
    **dict.fromkeys(("PROTO", "FRAME", "STOP"), lambda machine, _: None),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), _Machine.recall),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), _Machine.remember),
    "MEMOIZE": lambda machine, _: machine.remember(len(machine.memo)),
    "MARK": _Machine.mark,
    "POP": _Machine.pop,
    "POP_MARK": lambda machine, _: machine.above().clear(),
    "DUP": lambda machine, _: machine.stack.append(machine.stack[-1]),
    "NONE": lambda machine, _: machine.stack.append(None),
    "NEWTRUE": lambda machine, _: machine.stack.append(True),
    "NEWFALSE": lambda machine, _: machine.stack.append(False),
    "EMPTY_LIST": lambda machine, _: machine.container([], _LIST),
    "LIST": lambda machine, _: machine.container(machine.above(), _LIST),
    "APPEND": lambda machine, _: machine.extend([machine.stack.pop()]),
    "APPENDS": lambda machine, _: machine.extend(machine.above()),
    "EMPTY_TUPLE": lambda machine, _: machine.stack.append(()),
    "TUPLE": lambda machine, _: machine.container(tuple(machine.above()), _LIST),
    "TUPLE1": lambda machine, _: machine.tuple_of(1),
    "TUPLE2": lambda machine, _: machine.tuple_of(2),
    "TUPLE3": lambda machine, _: machine.tuple_of(3),
    "EMPTY_DICT": lambda machine, _: machine.container({}, _DICT),
    "DICT": _Machine.dict_of,
    "SETITEM": lambda machine, _: machine.update([machine.stack.pop(-2), machine.stack.pop()]),
    "SETITEMS": lambda machine, _: machine.update(machine.above()),
    "EMPTY_SET": lambda machine, _: machine.container(set(), _SET),
    "ADDITEMS": _Machine.add,
    "FROZENSET": lambda machine, _: machine.container(frozenset(map(_plain_key, machine.above())), _SET),
}
"""Every operation that makes a plain value; whatever else there is makes an object."""
