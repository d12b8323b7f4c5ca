"""What OpenHands' actions show of files, as ContextBench's published converter reads them.

Its reader of `output.jsonl` was at hand in summary only; this follows the one beside it that reads the same tools from
completions (contextbench/agents/openhands/extract_llm_completions.py), and for commands that of mini-swe-agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ingest.runs.trajectories.json_values import line_of, list_of, object_of, text_of
from ingest.runs.trajectories.published_shell import views_in
from ingest.runs.trajectories.trajectory import Context, View, renamed
from ingest.runs.trajectories.trajectory_file import JsonObject


def published_context(events: Iterable[JsonObject]) -> Context | None:
    """A step for each `read` or `run` action that names a file, whatever it gave; in the end all their lines, joined.

    A `read` without a `view_range` names the file alone.

    Returns:
        None where no action has arguments: such events the converter does not know.
    """
    actions = [event for event in events if isinstance(event.get("args"), dict)]
    steps = tuple(views for event in actions if (views := _views(event)))
    return Context(steps, _joined([view for step in steps for view in step]) or None) if actions else None


def _views(event: JsonObject) -> tuple[View, ...]:
    action, arguments = event.get("action"), object_of(event.get("args"))
    views: list[View] = []
    if action == "run":
        views = views_in(text_of(arguments.get("command")))
    elif action == "read":
        start, end = (*map(line_of, list_of(arguments.get("view_range"))), 0, 0)[:2]
        asked = (start, end) if start and end and start > 0 and end > 0 else (None, None)
        views = [View(text_of(arguments.get("path")), *asked)]
    return renamed(views, _in_repository)


def _in_repository(path: str) -> str:
    return path.strip().strip("'\"").removeprefix("/workspace/").lstrip("/").removeprefix("./")


def _joined(views: Sequence[View]) -> tuple[View, ...]:
    """The views with lines of one file that overlap or touch as one, and every file without lines once."""
    joined = list(dict.fromkeys(view for view in views if view.start is None))
    for view in sorted((view for view in views if view.start is not None), key=_place):
        last = joined[-1] if joined else None
        if last is not None and last.path == view.path and last.end is not None and (view.start or 0) <= last.end + 1:
            joined[-1] = replace(last, end=max(last.end, view.end or 0))
        else:
            joined.append(view)
    return tuple(joined)


def _place(view: View) -> tuple[str, int, int]:
    return view.path, view.start or 0, view.end or 0
