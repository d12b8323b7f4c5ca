"""Hashes of values and of bytes."""

import hashlib
import json
from pathlib import Path
from typing import IO

SEED = "goldspan-1"


def canonical_json(value: object) -> str:
    """JSON with sorted keys and no spaces, so that equal values have equal texts."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_plain)


def fingerprint(*parts: object) -> str:
    """A hash of JSON-like values, including paths, dictionaries, sets and tuples: 32 hex digits."""
    return hashlib.sha256(canonical_json(parts).encode()).hexdigest()[:32]


def sha256_of(data: bytes) -> str:
    """The sha256 of some bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def sha256_of_file(path: Path) -> str:
    """The sha256 of a file's bytes, in hex, read in blocks."""
    with path.open("rb") as file:
        return sha256_of_stream(file)


def sha256_of_stream(stream: IO[bytes]) -> str:
    """The sha256 of a stream from its current position, in hex, read in blocks."""
    return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]  # it has readinto


def seeded_hash(*parts: str) -> int:
    """A hash of some texts and the project's seed only: 63 bits, so that it fits in `Int64`."""
    data = "\0".join((SEED, *parts)).encode()
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big") >> 1


def _plain(value: object) -> object:
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, Path):
        return value.as_posix()
    raise TypeError(f"cannot fingerprint a {type(value).__name__}")
