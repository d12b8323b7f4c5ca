"""Predictions as ContextBench's evaluator takes them: one object per instance, its steps and its final context."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ingest.runs.importer import Importer
from ingest.runs.trajectories.json_values import kind_of, line_of, list_of, object_of
from ingest.runs.trajectories.sessions import item_of
from ingest.runs.trajectories.trajectory import Trajectory, View, Views
from ingest.runs.trajectories.trajectory_file import TrajectoryFile

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

    Raises:
        DamagedError: The file is a list or an object and not JSON to its end.
    """
    for position, row in file.objects():
        notes: list[str] = []
        data = object_of(row, "traj_data") or row
        steps = [_step(step, f"step {n}", notes) for n, step in enumerate(_steps(data.get("pred_steps"), notes), 1)]
        files, spans, symbols = (data.get(key) for key in _FINAL)
        final = _views(files, spans, symbols, "the final context", notes)
        patch = row.get("model_patch")
        if patch is not None and not isinstance(patch, str):
            notes.append(f"model_patch is {kind_of(patch)}, not a text")
        patch = patch if isinstance(patch, str) else None
        yield Trajectory(tuple(steps), final or None, item_of(row), patch, position, tuple(notes))


def _steps(value: object, notes: list[str]) -> list[object]:
    if value is not None and not isinstance(value, list):
        notes.append(f"pred_steps is {kind_of(value)}, not a list")
    return list(list_of(value))


def _step(value: object, where: str, notes: list[str]) -> Views:
    if not isinstance(value, dict):
        notes.append(f"{where} is {kind_of(value)}, not an object")
        return ()
    return _views(value.get("files"), value.get("spans"), value.get("symbols"), where, notes)


def _views(files: object, spans: object, symbols: object, where: str, notes: list[str]) -> Views:
    views: list[View] = []
    for file in _list(files, f"files of {where}", notes):
        if isinstance(file, str) and file:
            views.append(View(file))
        else:
            notes.append(f"{where} names a file that is {kind_of(file) if file != '' else 'empty'}")
    for path, values in _by_file(spans, f"spans of {where}", notes):
        for span in _list(values, f"spans of {path[:100]} in {where}", notes):
            view = _span(path, object_of(span))
            if view is None:
                notes.append(f"{where} has a span of {path[:100]} that is not of lines: {str(span)[:60]}")
            else:
                views.append(view)
    for path, values in _by_file(symbols, f"symbols of {where}", notes):
        for symbol in _list(values, f"symbols of {path[:100]} in {where}", notes):
            if isinstance(symbol, str) and symbol:
                views.append(View(path, symbol=symbol))
            else:
                notes.append(f"{where} names a symbol of {path[:100]} that is no text")
    return tuple(views)


def _span(path: str, span: Mapping[str, object]) -> View | None:
    if span.get("type", "line") != "line":
        return None
    start, end = line_of(span.get("start")), line_of(span.get("end"))
    return None if start is None or end is None else View(path, start, end)


def _list(value: object, what: str, notes: list[str]) -> list[object]:
    if value is None or isinstance(value, list):
        return list(list_of(value))
    notes.append(f"{what}: {kind_of(value)}, not a list")
    return []


def _by_file(value: object, what: str, notes: list[str]) -> list[tuple[str, object]]:
    """The pairs of an object that are of a file; others are noted."""
    if value is not None and not isinstance(value, dict):
        notes.append(f"{what}: {kind_of(value)}, not an object by file")
    pairs = list(object_of(value).items())
    if any(not path for path, _ in pairs):
        notes.append(f"{what}: a file without a name")
    return [(path, values) for path, values in pairs if path]


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
