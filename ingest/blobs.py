"""Raw bytes as rows of the tables `blobs` and `files`: content once per sha256, paths beside it."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from lake.fingerprint import sha256_of
from lake.tables import table
from lake.text import decode, language_of, line_starts


def pool_frames(files: Iterable[tuple[str, str, bytes]]) -> tuple[pl.DataFrame, pl.DataFrame]:
    r"""The tables `files` and `blobs` for (pool, path, raw bytes), the pools' own order being the order given.

    Text is UTF-8 with U+FFFD for what cannot be decoded; such a blob carries the flag `not-utf8`, one with `\r\n` ends
    `crlf`, one of no bytes `empty`.
    """
    rows: list[dict[str, object]] = []
    blobs: dict[str, dict[str, object]] = {}
    position: dict[str, int] = {}
    for pool_id, path, data in files:
        sha256 = sha256_of(data)
        rows.append({"pool_id": pool_id, "path": path, "sha256": sha256, "position": position.get(pool_id, 0)})
        position[pool_id] = position.get(pool_id, 0) + 1
        if sha256 not in blobs:
            blobs[sha256] = _blob(sha256, path, data)
    return (
        pl.DataFrame(rows, schema=table("files").columns),
        pl.DataFrame(list(blobs.values()), schema=table("blobs").columns),
    )


def _blob(sha256: str, path: str, data: bytes) -> dict[str, object]:
    text, n_replaced = decode(data)
    starts = line_starts(text.encode())
    found = {"not-utf8": n_replaced > 0, "crlf": b"\r\n" in data, "empty": not data}
    return {
        "sha256": sha256,
        "text": text,
        "n_bytes": len(data),
        "n_lines": len(starts),
        "line_starts": starts,
        "language": language_of(path),
        "flags": [flag for flag, holds in found.items() if holds],
    }
