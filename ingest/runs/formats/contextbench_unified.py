"""Predictions as ContextBench's evaluator takes them: one object per instance, its steps and its final context."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ingest.runs.importer import Importer, TrajectoryFile, item_of
from ingest.runs.trajectory import FileSpan, Trajectory, Views
from ingest.runs.values import at, line_of, object_at

_STEP = ("files", "spans", "symbols")
_FINAL = ("pred_files", "pred_spans", "pred_symbols")
_STARTS = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\[\s*)?\{")
_KEYS = (b"traj_data", b"pred_steps", b"pred_files", b"pred_spans", b"pred_symbols")


def recognise(head: bytes, name: str) -> bool:
    """Objects, or a list of them, with one of the keys that only this format has."""
    # Without a backslash before it: a key, not a text of one.
    keys = [key for key in _KEYS if key in head] if _STARTS.match(head) else []
    return any(re.search(rb'(?<!\\)"%s"\s*:' % key, head) for key in keys)


def trajectories(file: TrajectoryFile) -> Iterator[Trajectory]:
    """One for every object; within a step files come first, then spans, then symbols, in the order they are given."""
    for position, row in file.objects():
        notes: list[str] = []
        data, patch = object_at(row, "traj_data") or row, row.get("model_patch")
        given = enumerate(_entries(data.get("pred_steps")), start=1)
        steps = tuple(_views(step, _STEP, f"step {number}", notes) for number, step in given)
        final = _views(data, _FINAL, "the final context", notes)
        if not isinstance(patch, str | None):
            notes.append("model_patch is no text")
            patch = None
        yield Trajectory(steps, final or None, item_of(row), patch, position, tuple(notes))


def _views(held: object, keys: Sequence[str], where: str, notes: list[str]) -> Views:
    files, spans, symbols = (at(held, key) for key in keys)
    views, odd = list[FileSpan](), list[object]([] if isinstance(held, dict) else [held])
    for file in _entries(files):
        views.append(FileSpan(file)) if isinstance(file, str) and file else odd.append(file)
    for path, span in _by_file(spans):
        start, end = line_of(at(span, "start")), line_of(at(span, "end"))
        is_lines = object_at(span).get("type", "line") == "line" and start is not None and end is not None
        views.append(FileSpan(path, start, end)) if path and is_lines else odd.append((path, span))
    for path, name in _by_file(symbols):
        is_symbol = path and isinstance(name, str) and name
        views.append(FileSpan(path, symbol=str(name))) if is_symbol else odd.append((path, name))
    if odd:
        what = f"{where} names what is no file, span of lines or symbol ({len(odd):,}): {str(odd[0])[:100]}"
        notes.append(what)
    return tuple(views)


def _entries(value: object) -> Sequence[object]:
    """The entries of a list, none of null; in place of anything else one that is neither a text nor an object."""
    return value if isinstance(value, list) else [] if value is None else [(value,)]


def _by_file(value: object) -> Iterator[tuple[str, object]]:
    by_file = value if isinstance(value, dict) else {} if value is None else {"": value}
    return ((path, entry) for path, values in by_file.items() for entry in _entries(values))


CONTEXTBENCH_UNIFIED = Importer(
    name="unified", title="ContextBench's unified predictions", kind="trajectory",
    aliases=("contextbench", "contextbench-unified"), lists_files=True,
    meaning="JSON Lines, a JSON list or one object: instance_id, model_patch, traj_data with pred_steps and pred_*.",
    recognise=recognise, trajectories=trajectories,
    example='{"instance_id": "acme__rockets-1", "model_patch": "", "traj_data": {"pred_steps": [{"files": ["a.py"], …',
)  # fmt: skip
