"""The input of ContextBench's evaluator (one object per instance, its steps and final context), and Prometheus' logs.

No log has been seen: they are read as by ContextBench's converter (contextbench/agents/prometheus/extract.py).
"""

import re
from collections.abc import Iterator, Sequence

from ingest.runs.importer import Importer, TrajectoryFile, first_object, item_of, patch_path
from ingest.runs.trajectory import FileSpan, Trajectory, Views, renamed, spans_named, union
from ingest.runs.values import at, line_of, object_at, objects_in

_KEYS = {"traj_data", "pred_steps", "pred_files", "pred_spans", "pred_symbols"}
_ROOT = re.compile(r"^(?:/testbed/|/workspace/(?:[^/]+/)?)?/*")
_LINES = re.compile(r"Line\s*number\s*range\s*:\s*([0-9]+)\s*-\s*([0-9]+)$", re.IGNORECASE)


def trajectories(file: TrajectoryFile) -> Iterator[Trajectory]:
    """One trajectory per object; within a step, files come first, then spans, then symbols, each in the given order."""
    for position, row in file.objects():
        notes: list[str] = []
        data, patch = object_at(row, "traj_data") or row, row.get("model_patch")
        given = enumerate(_entries(data.get("pred_steps")), start=1)
        steps = tuple(_views(step, ("files", "spans", "symbols"), f"step {number}", notes) for number, step in given)
        final = _views(data, ("pred_files", "pred_spans", "pred_symbols"), "the final context", notes)
        if not isinstance(patch, str | None):
            notes.append("model_patch is no text")
            patch = None
        yield Trajectory(steps, final or None, item_of(row), patch, position, tuple(notes))


def _views(value: object, keys: Sequence[str], where: str, notes: list[str]) -> Views:
    files, spans, symbols = (at(value, key) for key in keys)
    entries: list[tuple[object, FileSpan | None]] = [] if isinstance(value, dict) else [(value, None)]
    entries += ((file, FileSpan(file) if isinstance(file, str) else None) for file in _entries(files))
    for path, span in _by_file(spans):
        start, end = line_of(at(span, "start")), line_of(at(span, "end"))
        is_lines = object_at(span).get("type", "line") == "line" and start is not None and end is not None
        entries.append(((path, span), FileSpan(path, start, end) if is_lines else None))
    for path, name in _by_file(symbols):
        entries.append(((path, name), FileSpan(path, symbol=name) if isinstance(name, str) and name else None))
    if odd := [value for value, view in entries if view is None or not view.path]:
        notes.append(f"{where} names what is no file, span of lines or symbol ({len(odd):,}): {str(odd[0])[:100]}")
    return tuple(view for _, view in entries if view is not None and view.path)


def _entries(value: object) -> Sequence[object]:
    """The entries of a list, none for null; any other value becomes one that is neither a text nor an object."""
    return value if isinstance(value, list) else [] if value is None else [(value,)]


def _by_file(value: object) -> list[tuple[str, object]]:
    by_file = value if isinstance(value, dict) else {"": value}
    return [(path, entry) for path, values in by_file.items() for entry in _entries(values)]


def trajectories_of_log(file: TrajectoryFile) -> Iterator[Trajectory]:
    """A log's one trajectory: context blocks as steps; the last aggregated one, or all steps, as final context."""
    blocks = re.findall(r"--- BEGIN ((?:AGGREGATED )?CONTEXT) ---(.*?)(--- END \1 ---|\Z)", file.text(), re.DOTALL)
    patch, notes = file.patch_beside()
    if n_open := sum(not end for *_, end in blocks):
        notes.append(f"{n_open} blocks of context do not end; is the log cut off?")
    whole = [
        (kind, renamed(spans_named(block, _LINES), lambda path: _ROOT.sub("", path, count=1)))
        for kind, block, end in blocks
        if end
    ]
    steps, finals = ([views for kind, views in whole if kind == which] for which in ("CONTEXT", "AGGREGATED CONTEXT"))
    seen = tuple(filter(None, steps))
    final = tuple(dict.fromkeys(finals[-1] if finals else ())) or union(seen)
    yield Trajectory(seen or ((final,) if final else ()), final or None, patch=patch, notes=tuple(notes))


CONTEXTBENCH_UNIFIED = Importer(
    name="unified", title="ContextBench's unified predictions", kind="trajectory",
    aliases=("contextbench", "contextbench-unified"), lists_files=True,
    meaning="JSON Lines, a JSON list or one object: instance_id, model_patch, traj_data with pred_steps and pred_*.",
    recognise=lambda head, _: not _KEYS.isdisjoint(first_object(head)), trajectories=trajectories,
    example='{"instance_id": "acme__rockets-1", "model_patch": "", "traj_data": {"pred_steps": [{"files": ["a.py"]}]}}',
)  # fmt: skip
PROMETHEUS = Importer(
    name="prometheus", title="Prometheus logs (experimental: no real file of it was seen)", kind="trajectory",
    meaning="One .log per instance, named like the instance: blocks of context with File: and Line number range:.",
    recognise=lambda head, _: b"CONTEXT ---" in head and not objects_in(head), trajectories=trajectories_of_log,
    companions=lambda path: [patch_path(path)],
    example="--- BEGIN CONTEXT ---",
)  # fmt: skip
