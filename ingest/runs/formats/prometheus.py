"""Prometheus' logs of answering an issue: blocks of context between marks.

No file of it has been seen: it is experimental, and read only when it is named. It is built from what ContextBench's
published converter (contextbench/agents/prometheus/extract.py) reads of them, `--- BEGIN CONTEXT ---` and `--- BEGIN
AGGREGATED CONTEXT ---` blocks with `File:` and `Line number range: a - b`, lines from 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ingest.runs.calls.parsed import FileSpan, union, view_of_lines
from ingest.runs.importer import Importer
from ingest.runs.json_values import objects_in
from ingest.runs.trajectories.items_and_patches import patch_beside, patch_path
from ingest.runs.trajectories.trajectory import Trajectory
from ingest.runs.trajectories.trajectory_file import TrajectoryFile

_STEP, _FINAL = "CONTEXT", "AGGREGATED CONTEXT"
_MARK = re.compile(r"--- (?P<side>BEGIN|END) (?P<block>(?:AGGREGATED )?CONTEXT) ---")
_BEGINS = re.compile(rb"--- BEGIN (?:AGGREGATED )?CONTEXT ---")
_LOGGED = re.compile(rb"^[^\n]*\bprometheus\.[\w.]+[^\n]* (?:DEBUG|INFO|WARNING|ERROR)\b", re.MULTILINE)
_FILE = re.compile(r"\s*File:\s*(?P<path>\S.*?)\s*")
_RANGE = re.compile(r"\s*Line\s*number\s*range\s*:\s*(?P<start>[0-9]+)\s*-\s*(?P<end>[0-9]+)\s*", re.IGNORECASE)
_WORKSPACE = re.compile(r"^/workspace/(?:[^/]+/)?")


def recognise(head: bytes, name: str) -> bool:
    """A text, no JSON, that begins a block of context; or a `.log` of Prometheus, whose first block may come late."""
    if not _BEGINS.search(head) and not (name.endswith((".log", ".log.gz", ".log.zst")) and _LOGGED.search(head)):
        return False
    return not objects_in(head)


def companions(path: str) -> Sequence[str]:
    """The patch beside a log, which names none."""
    return [patch_path(path)]


def trajectories(file: TrajectoryFile) -> Iterator[Trajectory]:
    """The one trajectory of a log; which item it is of, its name says.

    A step is a block of context that names lines. The final context is the last aggregated block, and the union of the
    steps where that names none; a log with a final context alone has it as its only step. Lines the wrong way round are
    swapped, `/testbed/` and `/workspace/<folder>/` dropped. The patch is `<name>.patch` beside the log.
    """
    blocks = {_STEP: _Blocks(), _FINAL: _Blocks()}
    for _, line in file.lines():
        for match in _MARK.finditer(line):
            blocks[match["block"]].mark(begins=match["side"] == "BEGIN")
        for kind in blocks.values():
            kind.read(line)
    patch, notes = patch_beside(file)
    if n_open := sum(kind.views is not None for kind in blocks.values()):
        notes.append(f"{n_open} blocks of context do not end; is the log cut off?")
    steps = tuple(tuple(views) for views in blocks[_STEP].whole if views)
    final = tuple(blocks[_FINAL].whole[-1]) if blocks[_FINAL].whole else ()
    final = tuple(dict.fromkeys(final)) or union(steps)
    yield Trajectory(steps or ((final,) if final else ()), final or None, patch=patch, notes=tuple(notes))


@dataclass
class _Blocks:
    """The blocks of one kind, read line by line: a log may be of any length."""

    whole: list[list[FileSpan]] = field(default_factory=list)
    views: list[FileSpan] | None = None
    path: str = ""

    def mark(self, *, begins: bool) -> None:
        if begins and self.views is None:
            self.views, self.path = [], ""
        elif not begins and self.views is not None:
            self.whole.append(self.views)
            self.views = None

    def read(self, line: str) -> None:
        if self.views is None:
            return
        if match := _FILE.fullmatch(line):
            self.path = _WORKSPACE.sub("", match["path"].removeprefix("/testbed/"), count=1).lstrip("/")
        elif self.path and (match := _RANGE.fullmatch(line)):
            self.views += view_of_lines(self.path, match["start"], match["end"])


PROMETHEUS = Importer(
    name="prometheus",
    title="Prometheus logs",
    meaning="One .log per instance, called like the instance: blocks of context with File: and Line number range:.",
    recognise=recognise,
    trajectories=trajectories,
    companions=companions,
    is_experimental=True,
    kind="trajectory",
    example="--- BEGIN CONTEXT ---",
)
