"""The operations of a pickle that make plain values, carried out within a limit of memory; all others are refused."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from pickle import decode_long
from sys import getsizeof
from typing import IO

from ingest.benchmarks.repobench_r.packed_text import PACKED_FROM, PackedText
from lake.limits import MAX_LINE_BYTES

_DIGITS = 1000
"""More bytes than any number has."""


class UnsafePickleError(ValueError):
    """A pickle names a class or a function; nothing of it was run."""

    def __init__(self, named: str) -> None:
        super().__init__(f"the pickle names {named}, and only plain values are read from one; nothing in it was run")


class BrokenPickleError(ValueError):
    """Bytes that are no whole pickle, or one whose values take more memory than any real one's."""

    def __init__(self, what: str, error: Exception | None = None) -> None:
        super().__init__(what if error is None else f"{what}: {type(error).__name__}: {error}")


_OP, _MARKED, _LIST, _DICT, _SET, _MEMOIZED, _ENTRY = 16, 32, 72, 232, 216, 100, 80
"""What an operation, a mark, an empty container, a place in the memo and a further entry cost in memory."""
_SMALL_DICT = 5
"""So many entries an empty dict's cost covers."""
_NUMBERS = 2**31


class Machine:
    """Reads a pickle's operations one by one, and knows containers, texts, bytes, numbers, truths and None alone.

    Python's own machine makes room for any place in the memo that a pickle names, and for any number of containers.
    """

    def __init__(self, file: IO[bytes], limit: int) -> None:
        self.file, self.limit, self.left = file, limit, limit
        self.stack: list[object] = []
        self.marks: list[int] = []
        self.memo: dict[int, object] = {}

    def load(self) -> object:
        """The value."""
        read, operations = self.file.read, _OPERATIONS
        while (code := read(1)) != b".":
            self.left -= _OP
            operation = operations.get(code)
            if operation is None:
                if not code:
                    raise EOFError
                raise _unknown(self, code)
            operation(self)
            if self.left < 0:
                what = f"its values take more than {self.limit:,} bytes of memory, the most that is read of a pickle"
                raise BrokenPickleError(what=f"{what}; split the file")
        return self.stack.pop()

    def take(self, n: int) -> bytes:
        """The next bytes, held against the limit before there is room for them."""
        if n > MAX_LINE_BYTES:
            what = f"a text of {n:,} bytes; at most {MAX_LINE_BYTES:,} are read"
            raise BrokenPickleError(what=what)
        data = self.file.read(n)
        if len(data) < n:
            raise EOFError
        return data

    def number(self, form: str) -> int:
        """The next bytes as a whole number."""
        value = struct.unpack(form, self.take(struct.calcsize(form)))[0]
        assert isinstance(value, int)
        return value

    def line(self) -> bytes:
        """The next bytes up to a line's end, without it."""
        line = self.file.readline(MAX_LINE_BYTES)
        if not line.endswith(b"\n"):
            message = "a line without end"
            raise ValueError(message)
        return line[:-1]

    def push(self, value: object) -> None:
        """Put a text, bytes or a number on the stack."""
        self.left -= getsizeof(value)
        self.stack.append(value)

    def above(self) -> list[object]:
        """What was put on the stack since the last mark, taken from it."""
        mark = self.marks.pop()
        found = self.stack[mark:]
        del self.stack[mark:]
        return found

    def container(self, value: object, cost: int) -> None:
        """Put a container on the stack."""
        self.left -= cost
        self.stack.append(value)

    def remember(self, place: int) -> None:
        """Keep the last value for later."""
        if place not in self.memo:
            self.left -= _MEMOIZED
        self.memo[place] = self.stack[-1]

    def recall(self, place: int) -> None:
        """Put a value that was kept on the stack."""
        self.stack.append(self.memo[place])

    def extend(self, values: list[object]) -> None:
        """Append to the list that is last on the stack."""
        last = self.stack[-1]
        if not isinstance(last, list):
            raise _misplaced(last)
        last.extend(values)

    def update(self, pairs: list[object]) -> None:
        """Put keys and values, in turn, into the dict that is last on the stack."""
        last = self.stack[-1]
        if not isinstance(last, dict) or len(pairs) % 2:
            raise _misplaced(last)
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            last[_plain_key(key)] = value
        if len(last) > _SMALL_DICT:
            self.left -= _ENTRY * (len(pairs) // 2)

    def add(self, values: list[object]) -> None:
        """Put members into the set that is last on the stack."""
        last = self.stack[-1]
        if not isinstance(last, set):
            raise _misplaced(last)
        self.left -= _ENTRY * len(values)
        last.update(map(_plain_key, values))


def _misplaced(value: object) -> ValueError:
    return ValueError(f"a {type(value).__name__} where a container is to be")


def _plain_key(key: object) -> str | int | None:
    """A key or member: others can nest without end, or be made to collide."""
    if isinstance(key, PackedText):
        return key.text()
    if key is None or isinstance(key, str) or (isinstance(key, int) and abs(key) < _NUMBERS):
        return key
    message = f"a {type(key).__name__} as a key"
    raise ValueError(message)


def _unknown(machine: Machine, code: bytes) -> Exception:
    """The error for an operation that makes no plain value: it names what it would have called."""
    if code in (b"c", b"i"):
        return UnsafePickleError(named=".".join(machine.line().decode(errors="replace") for _ in range(2)))
    if code == b"\x93":
        names = machine.stack[-2:]
        return UnsafePickleError(named=".".join(str(name)[:100] for name in names))
    if code in (b"P", b"Q"):
        given = machine.line().decode(errors="replace") if code == b"P" else type(machine.stack[-1]).__name__
        return UnsafePickleError(named=f"a persistent object {given!r}"[:200])
    if code in (b"R", b"b", b"o", b"\x81", b"\x92", b"\x82", b"\x83", b"\x84", b"\x97", b"\x98"):
        return UnsafePickleError(named=f"an object to be made (operation {code!r})")
    return ValueError(f"no operation is called {code!r}")


def _tuple(machine: Machine, n: int) -> None:
    if len(machine.stack) < n:
        raise IndexError
    values = tuple(machine.stack[-n:])
    del machine.stack[-n:]
    machine.container(values, _LIST)


def _pop(machine: Machine) -> None:
    if machine.marks and machine.marks[-1] == len(machine.stack):
        machine.marks.pop()
    else:
        machine.stack.pop()


def _mark(machine: Machine) -> None:
    machine.left -= _MARKED
    machine.marks.append(len(machine.stack))


def _int(machine: Machine) -> None:
    line = machine.line()
    machine.push(line == b"01" if line in (b"00", b"01") else int(line))


def _dict(machine: Machine) -> None:
    pairs = machine.above()
    machine.container({}, _DICT)
    machine.update(pairs)


def _protocol(machine: Machine) -> None:
    if not 0 <= machine.number("<B") <= 5:
        message = "a protocol that is not known"
        raise ValueError(message)


def _frame(machine: Machine) -> None:
    # Where a frame ends says nothing about what is in it.
    machine.number("<q")


def _quoted(machine: Machine) -> None:
    line = machine.line()
    if len(line) < 2 or line[:1] != line[-1:] or line[:1] not in (b"'", b'"'):
        message = "a text without its quotes"
        raise ValueError(message)
    machine.push(line[1:-1].decode("unicode-escape").encode("latin-1").decode("ascii"))


def _held(data: bytes) -> object:
    text = data.decode("utf-8", "surrogatepass")
    return text if len(data) < PACKED_FROM else PackedText(data, len(text))


def _ascii(data: bytes) -> object:
    return data.decode("ascii")


def _sized(form: str, read: Callable[[bytes], object]) -> Callable[[Machine], None]:
    """What follows its own length, whatever that is written as."""
    return lambda machine: machine.push(read(machine.take(machine.number(form))))


def _long(form: str) -> Callable[[Machine], None]:
    return lambda machine: machine.push(decode_long(machine.take(min(machine.number(form), _DIGITS))))


def _float(machine: Machine) -> None:
    machine.push(struct.unpack(">d", machine.take(8))[0])


_OPERATIONS: Mapping[bytes, Callable[[Machine], None]] = {
    b"\x80": _protocol,
    b"\x95": _frame,
    b"(": _mark,
    b"0": _pop,
    b"1": lambda machine: machine.above().clear(),
    b"2": lambda machine: machine.stack.append(machine.stack[-1]),
    b"N": lambda machine: machine.stack.append(None),
    b"\x88": lambda machine: machine.stack.append(True),
    b"\x89": lambda machine: machine.stack.append(False),
    b"I": _int,
    b"L": lambda machine: machine.push(int(machine.line().removesuffix(b"L"))),
    b"J": lambda machine: machine.push(machine.number("<i")),
    b"K": lambda machine: machine.push(machine.number("<B")),
    b"M": lambda machine: machine.push(machine.number("<H")),
    b"\x8a": _long("<B"),
    b"\x8b": _long("<i"),
    b"F": lambda machine: machine.push(float(machine.line())),
    b"G": _float,
    b"V": lambda machine: machine.push(machine.line().decode("raw-unicode-escape")),
    b"X": _sized("<I", _held),
    b"\x8c": _sized("<B", _held),
    b"\x8d": _sized("<Q", _held),
    b"S": _quoted,
    b"T": _sized("<i", _ascii),
    b"U": _sized("<B", _ascii),
    b"B": _sized("<I", bytes),
    b"C": _sized("<B", bytes),
    b"\x8e": _sized("<Q", bytes),
    b"\x96": _sized("<Q", bytearray),
    b"]": lambda machine: machine.container([], _LIST),
    b"l": lambda machine: machine.container(machine.above(), _LIST),
    b"a": lambda machine: machine.extend([machine.stack.pop()]),
    b"e": lambda machine: machine.extend(machine.above()),
    b")": lambda machine: machine.stack.append(()),
    b"t": lambda machine: machine.container(tuple(machine.above()), _LIST),
    b"\x85": lambda machine: _tuple(machine, 1),
    b"\x86": lambda machine: _tuple(machine, 2),
    b"\x87": lambda machine: _tuple(machine, 3),
    b"}": lambda machine: machine.container({}, _DICT),
    b"d": _dict,
    b"s": lambda machine: machine.update([machine.stack.pop(-2), machine.stack.pop()]),
    b"u": lambda machine: machine.update(machine.above()),
    b"\x8f": lambda machine: machine.container(set(), _SET),
    b"\x90": lambda machine: machine.add(machine.above()),
    b"\x91": lambda machine: machine.container(frozenset(map(_plain_key, machine.above())), _SET),
    b"p": lambda machine: machine.remember(int(machine.line())),
    b"q": lambda machine: machine.remember(machine.number("<B")),
    b"r": lambda machine: machine.remember(machine.number("<I")),
    b"\x94": lambda machine: machine.remember(len(machine.memo)),
    b"g": lambda machine: machine.recall(int(machine.line())),
    b"h": lambda machine: machine.recall(machine.number("<B")),
    b"j": lambda machine: machine.recall(machine.number("<I")),
}
"""Every operation of the protocols 0 to 5 that makes a plain value; `.` ends a pickle."""
