"""Prometheus' logs of answering an issue: blocks of context between marks.

No file of it has been seen. It is built from what ContextBench's published converter
(contextbench/agents/prometheus/extract.py) reads of them, `--- BEGIN CONTEXT ---` and `--- BEGIN AGGREGATED CONTEXT
---` blocks with `File:` and `Line number range: a - b`, lines from 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.runs.importer import Importer, TrajectoryFile, patch_path
from ingest.runs.trajectory import FileSpan, Trajectory, Views, union, view_of_lines
from ingest.runs.values import objects_in

_BEGINS = re.compile(rb"--- BEGIN (?:AGGREGATED )?CONTEXT ---")
_LOGGED = re.compile(rb"^[^\n]*\bprometheus\.[\w.]+[^\n]* (?:DEBUG|INFO|WARNING|ERROR)\b", re.MULTILINE)
_FILE = re.compile(r"\s*File:\s*(?P<path>\S.*?)\s*")
_RANGE = re.compile(r"\s*Line\s*number\s*range\s*:\s*(?P<start>[0-9]+)\s*-\s*(?P<end>[0-9]+)\s*", re.IGNORECASE)
_WORKSPACE = re.compile(r"^/workspace/(?:[^/]+/)?")


def recognise(head: bytes, name: str) -> bool:
    """A text, no JSON, that begins a block of context; or a `.log` of Prometheus, whose first block may come late."""
    is_log = name.endswith((".log", ".log.gz", ".log.zst")) and _LOGGED.search(head) is not None
    return (is_log or _BEGINS.search(head) is not None) and not objects_in(head)


def trajectories(file: TrajectoryFile) -> Iterator[Trajectory]:
    """The one trajectory of a log: a step is a block of context that names lines.

    The final context is the last aggregated block, and the union of the steps where that names none; a log with a final
    context alone has it as its only step.
    """
    blocks = re.findall(r"--- BEGIN ((?:AGGREGATED )?CONTEXT) ---(.*?)(--- END \1 ---|\Z)", file.text(), re.DOTALL)
    patch, notes = file.patch_beside()
    if n_open := sum(not end for *_, end in blocks):
        notes.append(f"{n_open} blocks of context do not end; is the log cut off?")
    whole = [(kind, _views(block)) for kind, block, end in blocks if end]
    steps, finals = ([views for kind, views in whole if kind == which] for which in ("CONTEXT", "AGGREGATED CONTEXT"))
    seen = tuple(filter(None, steps))
    final = tuple(dict.fromkeys(finals[-1] if finals else ())) or union(seen)
    yield Trajectory(seen or ((final,) if final else ()), final or None, patch=patch, notes=tuple(notes))


def _views(block: str) -> Views:
    views, path = list[FileSpan](), ""
    for row in map(str.rstrip, block.split("\n")):
        if match := _FILE.fullmatch(row):
            path = _WORKSPACE.sub("", match["path"].removeprefix("/testbed/"), count=1).lstrip("/")
        elif path and (match := _RANGE.fullmatch(row)):
            views += view_of_lines(path, match["start"], match["end"])
    return tuple(views)


PROMETHEUS = Importer(
    name="prometheus", title="Prometheus logs (experimental: no real file of it was seen)", kind="trajectory",
    meaning="One .log per instance, called like the instance: blocks of context with File: and Line number range:.",
    recognise=recognise, trajectories=trajectories, companions=lambda path: [patch_path(path)],
    example="--- BEGIN CONTEXT ---",
)  # fmt: skip
