"""Moatless Tools' `trajectory.json`: a tree or list of nodes, each with its actions and the context after them.

Based on the project's source (github.com/aorwall/moatless-tools, moatless/actions and moatless/file_context.py); no
real file has been seen. `ViewCode` names lines or definitions of files. Searches are counted as not understood; what
they find is in the context of their node, with the other files and definitions that the agent has collected.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ingest.runs.calls.tools import ToolCall
from ingest.runs.importer import Importer, TrajectoryFile, item_of, patch_path, recorded_patch
from ingest.runs.sessions import Session
from ingest.runs.trajectory import FileSpan, ParsedCall, Trajectory, union
from ingest.runs.values import JsonRecord, line_of, list_at, object_at, objects_at, str_at

_MARKS = (re.compile(rb'"node_id"\s*:'), re.compile(rb'"(?:action_steps|action_args_class|file_context)"\s*:'))
_SEARCHES = re.compile(r"(?:Find|Semantic|Search|Grep|Read|List)\w*Args")


def recognise(head: bytes, name: str) -> bool:
    """Whether a file names nodes with actions or a context of files near its start."""
    return head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{") and all(mark.search(head) for mark in _MARKS)


def companions(path: str) -> Sequence[str]:
    """The patch next to a trajectory whose context contains none."""
    return [patch_path(path)]


def trajectories(file: TrajectoryFile) -> Iterator[Trajectory]:
    """The one trajectory of a file; the final context is that of its last node."""
    document = object_at(file.json())
    nodes = sorted(_nodes(document), key=lambda node: line_of(node, "node_id") or 0)
    calls = [_call(object_at(step, "action")) for node in nodes for step in objects_at(node, "action_steps") or [node]]
    contexts = [files for node in nodes if (files := objects_at(node, "file_context", "files"))]
    last = contexts[-1] if contexts else []
    patch = recorded_patch(document) or "\n".join(filter(None, (str_at(each, "patch") for each in last)))
    beside, notes = (None, []) if patch else file.patch_beside()
    item = item_of(document) or item_of(object_at(document, "metadata"))
    whole = Session(file, item, patch or beside, notes=notes).trajectory(calls)
    final = union([_spans(each, objects_at(each, "spans")) for each in last])
    yield replace(whole, final=final or whole.final)


def _nodes(document: JsonRecord) -> list[JsonRecord]:
    nodes = objects_at(document, "nodes") or [object_at(document, "root")]
    for node in nodes:
        nodes += objects_at(node, "children")
    return nodes


def _call(action: JsonRecord) -> ToolCall:
    name = (str_at(action, "action_args_class") or str_at(action, "name")).rpartition(".")[2]
    arguments = {key: value for key, value in action.items() if key not in ("action_args_class", "thoughts")}
    if name == "ViewCodeArgs":
        views = [view for each in objects_at(action, "files") for view in _spans(each, [each])]
        return ToolCall(name, arguments, parsed=ParsedCall(tuple(views), reads=True))
    unread = (f"action {name}",) if _SEARCHES.fullmatch(name) else ()
    return ToolCall(name, arguments, parsed=ParsedCall(reads=bool(unread), unread=unread))


def _spans(file: JsonRecord, spans: Sequence[JsonRecord]) -> list[FileSpan]:
    """The lines or definitions of a file that some objects name; the whole file if it is shown whole, or none is."""
    path, named = str_at(file, "file_path"), list[FileSpan]()
    for span in spans:
        start, end = line_of(span, "start_line"), line_of(span, "end_line")
        symbols = [str_at(span, "span_id"), *(str_at(name) for name in list_at(span, "span_ids"))]
        named += [FileSpan(path, start, end)] if start is not None else [FileSpan(path, symbol=s) for s in symbols if s]
    return (named if named and file.get("show_all_spans") is not True else [FileSpan(path, 1)]) if path else []


MOATLESS = Importer(
    name="moatless", title="Moatless trajectories (experimental: no real file of it was seen)", kind="trajectory",
    meaning="One trajectory.json per instance, in a folder named like it: nodes with action_steps and file_context.",
    recognise=recognise, trajectories=trajectories, companions=companions,
    example='{"metadata": {"instance_id": "…"}, "root": {"node_id": 0, "action_steps": [], "children": []}}',
)  # fmt: skip
