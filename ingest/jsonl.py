"""JSON Lines, read so that one bad line costs that line alone."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ingest.sources import Entry, UnreadableEntryError
from lake.rejects import Rejects

JsonObject = dict[str, object]


def json_lines(entry: Entry, rejects: Rejects) -> Iterator[tuple[int, JsonObject]]:
    r"""The objects of a JSON Lines file with their line numbers, counted from 1.

    Lines end in `\n` or `\r\n`; blank ones are passed over. A line that is no JSON object, or no UTF-8, is refused; so
    is a file that cannot be read.
    """
    try:
        data = entry.read()
    except UnreadableEntryError as error:
        rejects.add(entry.path, "file", f"cannot be read: {error.reason}")
        return
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line.decode())
        except UnicodeDecodeError as error:
            rejects.add(entry.path, f"line {number}", f"not UTF-8: {error.reason} at byte {error.start}")
            continue
        except (ValueError, RecursionError) as error:
            rejects.add(entry.path, f"line {number}", f"not JSON ({error}); is the file cut off?", _excerpt(line))
            continue
        if isinstance(value, dict):
            yield number, value
        else:
            rejects.add(entry.path, f"line {number}", f"a {type(value).__name__}, not an object", _excerpt(line))


def _excerpt(line: bytes) -> str:
    return line[:200].decode(errors="replace")
