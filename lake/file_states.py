"""What tells whether a file is still the one that was read: its size, its times and its place on the disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

State = tuple[int, ...]
"""Device, inode, size, and when the bytes and the inode were last changed, in nanoseconds."""

SETTLED_NS = 100_000_000
"""A file that was changed so shortly ago may change again without its times telling."""


def state_of(status: os.stat_result) -> State:
    """A file's state."""
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def states_below(root: Path) -> dict[str, State]:
    """The states of all files below a folder, or of a file, links followed; where one may not be read, a short one."""
    try:
        return dict(_states(str(root), frozenset())) if root.is_dir() else {str(root): state_of(root.stat())}
    except FileNotFoundError:
        return {}


def _states(folder: str, above: frozenset[tuple[int, int]]) -> Iterator[tuple[str, State]]:
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        yield folder, (error.errno or 0,)
        return
    for entry in entries:
        try:
            status = entry.stat()
            here = (status.st_dev, status.st_ino)
            if not entry.is_dir():
                yield entry.path, state_of(status)
            elif here not in above:
                yield from _states(entry.path, above | {here})
        except OSError as error:
            yield entry.path, (error.errno or 0,)
