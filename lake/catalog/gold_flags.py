"""What may be odd about an item's gold, as its flags have it: `ends-past-eof:2`."""

from __future__ import annotations

from collections.abc import Mapping

FLAGS: Mapping[str, str] = {
    "content-differs": "spans whose content is not what their lines hold",
    "ends-past-eof": "spans that end past their file's end",
    "starts-past-eof": "spans that lie past their file's end",
    "file-missing": "gold files that are not in their repository",
    "file-not-searched": "gold files that are not searched (unsupported language or over 1 MB)",
    "duplicate-spans": "spans that are named again",
}
"""What an item may be flagged with, each with a count."""

CONSEQUENCES: Mapping[str, str] = {
    "content-differs": "the line numbers are trusted, not the content",
    "ends-past-eof": "cut to the file's end",
    "starts-past-eof": "the file stays gold, none of its lines",
    "file-missing": "left out of every count",
    "file-not-searched": "they stay gold, which no retriever can return",
    "duplicate-spans": "counted once",
}
"""Flag → what becomes of these spans under the project's own gold rule."""
