"""Pickles of plain values, read without ever running anything a pickle names."""

from __future__ import annotations

import gzip
import io
import pickle
import zlib
from typing import NoReturn

GZIP_MAGIC = b"\x1f\x8b"


class UnsafePickleError(ValueError):
    """A pickle names a class or a function; nothing of it was run."""

    def __init__(self, named: str) -> None:
        super().__init__(f"the pickle names {named}, and only plain values are read from one; nothing in it was run")


class BrokenPickleError(ValueError):
    """Bytes that are no whole pickle."""

    def __init__(self, what: str, error: Exception) -> None:
        super().__init__(f"{what}: {type(error).__name__}: {error}")


class _PlainUnpickler(pickle.Unpickler):
    """Knows containers, str, int, float, bool and None: any other value needs a name, and names are refused."""

    def find_class(self, module_name: str, global_name: str, /) -> NoReturn:
        raise UnsafePickleError(named=f"{module_name}.{global_name}")

    def persistent_load(self, pid: object) -> NoReturn:
        raise UnsafePickleError(named=f"a persistent object {pid!r}"[:200])


def plain_values(data: bytes) -> object:
    """The value of a pickle, gzipped or not.

    Raises:
        UnsafePickleError: It names a class or a function.
        BrokenPickleError: It is cut off or damaged.
    """
    try:
        raw = gzip.decompress(data) if data.startswith(GZIP_MAGIC) else data
    except (EOFError, OSError, zlib.error) as error:
        raise BrokenPickleError(what="the gzip is cut off or damaged", error=error) from error
    try:
        return _PlainUnpickler(io.BytesIO(raw)).load()
    except UnsafePickleError:
        raise
    # The pickle machine answers damaged bytes with almost any exception there is.
    except Exception as error:
        raise BrokenPickleError(what="not a whole pickle", error=error) from error
