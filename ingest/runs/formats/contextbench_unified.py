"""Predictions as ContextBench's evaluator takes them: one object per instance, its steps and its final context."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ingest.runs.calls.parsed import FileSpan, Views
from ingest.runs.importer import Importer
from ingest.runs.json_values import at, kind_of, line_of, list_of, object_of
from ingest.runs.trajectories.items_and_patches import item_of
from ingest.runs.trajectories.trajectory import Trajectory
from ingest.runs.trajectories.trajectory_file import TrajectoryFile

_STEP = ("files", "spans", "symbols")
_FINAL = ("pred_files", "pred_spans", "pred_symbols")
_STARTS = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\[\s*)?\{")
_KEYS = (b"traj_data", b"pred_steps", b"pred_files", b"pred_spans", b"pred_symbols")


def recognise(head: bytes, name: str) -> bool:
    """Objects, or a list of them, with one of the keys that only this format has."""
    if _STARTS.match(head) is None:
        return False
    # Without a backslash before it: a key, not a text of one.
    return any(re.search(rb'(?<!\\)"%s"\s*:' % key, head) for key in _KEYS if key in head)


def trajectories(file: TrajectoryFile) -> Iterator[Trajectory]:
    """One for every object, of JSON Lines, of a list, or of the file.

    Within a step files come first, then spans, then symbols, each in the order they are given. A file that has spans is
    mostly listed as well, and stands twice then: which of the two counts is for protocols to say. Spans that are not of
    lines, and whatever else is of another type than it should be, are left out and noted.
    """
    for position, row in file.objects():
        notes: list[str] = []
        data = object_of(row, "traj_data") or row
        steps = [
            _views(step, _STEP, f"step {number}", notes)
            for number, step in enumerate(_list(data.get("pred_steps"), "pred_steps is", notes), start=1)
        ]
        final = _views(data, _FINAL, "the final context", notes)
        patch = row.get("model_patch")
        if patch is not None and not isinstance(patch, str):
            notes.append(f"model_patch is {kind_of(patch)}, not a text")
            patch = None
        yield Trajectory(tuple(steps), final or None, item_of(row), patch, position, tuple(notes))


def _views(held: object, keys: Sequence[str], where: str, notes: list[str]) -> Views:
    if not isinstance(held, dict):
        notes.append(f"{where} is {kind_of(held)}, not an object")
        return ()
    files, spans, symbols = keys
    views: list[FileSpan] = []
    for file in _list(held.get(files), f"files of {where}:", notes):
        if isinstance(file, str) and file:
            views.append(FileSpan(file))
        else:
            notes.append(f"{where} names a file that is {kind_of(file) if file != '' else 'empty'}")
    for path, span in _by_file(held.get(spans), "spans", where, notes):
        start, end = line_of(at(span, "start")), line_of(at(span, "end"))
        if object_of(span).get("type", "line") == "line" and start is not None and end is not None:
            views.append(FileSpan(path, start, end))
        else:
            notes.append(f"{where} has a span of {path[:100]} that is not of lines: {str(span)[:60]}")
    for path, symbol in _by_file(held.get(symbols), "symbols", where, notes):
        if isinstance(symbol, str) and symbol:
            views.append(FileSpan(path, symbol=symbol))
        else:
            notes.append(f"{where} names a symbol of {path[:100]} that is no text")
    return tuple(views)


def _list(value: object, what: str, notes: list[str]) -> Sequence[object]:
    if value is not None and not isinstance(value, list):
        notes.append(f"{what} {kind_of(value)}, not a list")
    return list_of(value)


def _by_file(value: object, kind: str, where: str, notes: list[str]) -> Iterator[tuple[str, object]]:
    """What an object holds by file, one after the other; what is not of a file is noted."""
    if value is not None and not isinstance(value, dict):
        notes.append(f"{kind} of {where}: {kind_of(value)}, not an object by file")
    for path, values in object_of(value).items():
        if path:
            yield from ((path, one) for one in _list(values, f"{kind} of {path[:100]} in {where}:", notes))
        else:
            notes.append(f"{kind} of {where}: a file without a name")


CONTEXTBENCH_UNIFIED = Importer(
    name="unified",
    title="ContextBench's unified predictions",
    meaning="JSON Lines, a JSON list or one object: instance_id, model_patch, traj_data with pred_steps and pred_*.",
    recognise=recognise,
    trajectories=trajectories,
    lists_files=True,
    kind="trajectory",
    example='{"instance_id": "acme__rockets-1", "model_patch": "", "traj_data": {"pred_steps": [{"files": ["a.py"], …',
    aliases=("contextbench", "contextbench-unified"),
)
