"""What ContextBench's published converter reads of shell commands, and of OpenHands' actions.

Its reader of `output.jsonl` was at hand in summary only; this follows the one beside it that reads the same tools from
completions (contextbench/agents/openhands/extract_llm_completions.py), and for commands that of mini-swe-agent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

from ingest.runs.trajectories.trajectory import Context, FileSpan, Views, renamed
from ingest.runs.values import JsonRecord, line_of, list_at, str_at

_ENDINGS = (
    "py", "js", "java", "go", "rs", "c", "cpp", "h", "hpp", "ts", "tsx", "jsx", "rb", "php", "cs", "kt", "scala",
    "swift",
)  # fmt: skip
"""What the name of a source file ends in."""
_CHANGES = ("sed -i", "echo ", "mkdir", "rm ", "git add", "git commit")
_PARTS = re.compile(r"&&|\|\||;")
_BLANKS = re.compile(r"(\s)\1{3,}")
_NUMBERED = re.compile(r"nl\s.+\s(?P<file>\S+)\s*\Z", re.DOTALL)
_PRINTED = re.compile(r"\s*sed\s+-n\s+['\"]?(?P<start>[0-9]+),(?P<end>[0-9]+)p")
_READERS = (
    re.compile(r"sed\s+-n\s+['\"]?(?P<start>[0-9]+),(?P<end>[0-9]+)p['\"]?\s+(?P<file>[^\s&|>;<]+)"),
    re.compile(r"\bhead\s+-n\s+(?P<end>[0-9]+)\s+(?P<file>[^\s&|>]+)"),
    re.compile(r"\bcat\s+(?P<file>[^\s&|>]+)"),
)
_SEARCH = re.compile(r"\bgrep(?=\s)")
_WORD = re.compile(r"\S+")
_SOURCE = re.compile(rf"[^\s&|>]+\.(?:{'|'.join(_ENDINGS)})\b")


def published_context(events: Iterable[JsonRecord]) -> Context | None:
    """A step for each `read` or `run` action that names a file, whatever it gave; in the end all their lines, joined.

    None where no action has arguments: such events the converter does not know.
    """
    actions = [event for event in events if isinstance(event.get("args"), dict)]
    steps = tuple(views for event in actions if (views := _of_action(event)))
    # Lines of one file that overlap or touch are one, and every file without lines stands once.
    every_view = [view for step in steps for view in step]
    joined = list(dict.fromkeys(view for view in every_view if view.start is None))
    lines = (view for view in every_view if view.start is not None)
    for view in sorted(lines, key=lambda view: (view.path, view.start or 0, view.end or 0)):
        last = joined[-1] if joined else None
        if last is not None and last.path == view.path and last.end is not None and (view.start or 0) <= last.end + 1:
            joined[-1] = replace(last, end=max(last.end, view.end or 0))
        else:
            joined.append(view)
    return Context(steps, tuple(joined) or None) if actions else None


def _of_action(event: JsonRecord) -> Views:
    """What an action names; a `read` without a `view_range` names the file alone."""
    views: list[FileSpan] = []
    if event.get("action") == "run":
        views = views_of_command(str_at(event, "args", "command"))
    elif event.get("action") == "read":
        start, end = (*map(line_of, list_at(event, "args", "view_range")), 0, 0)[:2]
        lines = (start, end) if start and end and start > 0 and end > 0 else (None, None)
        views = [FileSpan(str_at(event, "args", "path"), *lines)]
    unquoted = renamed(views, lambda path: path.strip().strip("'\"").removeprefix("/workspace/"))
    return renamed(unquoted, lambda path: path.lstrip("/").removeprefix("./"))


def views_of_command(command: str) -> list[FileSpan]:
    """The source files that a command shows, each with its lines where the command names them, in its order.

    A command that changes files as well shows nothing that counts. Paths are as the command has them.
    """
    if any(change in command for change in _CHANGES):
        return []
    views: list[FileSpan] = []
    # What a run of blanks is as long as makes no difference, and time.
    for part in _PARTS.split(_BLANKS.sub(r"\1\1\1", command)):
        # The first that a part fits is what it does.
        printed = next((match.groupdict() for reader in _READERS if (match := reader.search(part))), None)
        fields = _numbered(part) or printed or {"file": _searched(part)}
        file, end = fields["file"].strip("'\""), line_of(fields.get("end"))
        if file.endswith(tuple(f".{ending}" for ending in _ENDINGS)):
            views.append(FileSpan(file, line_of(fields.get("start", "1")) if end is not None else None, end))
    return list(dict.fromkeys(views))


def _numbered(part: str) -> dict[str, str] | None:
    """`nl -ba FILE | sed -n '1,9p'`: the last word before the pipe, where another stands between it and `nl`."""
    for left, right in pairwise(part.split("|")):
        if (printed := _PRINTED.match(right)) and (numbered := _NUMBERED.search(left)):
            return {**printed.groupdict(), "file": numbered["file"]}
    return None


def _searched(part: str) -> str:
    """The first source file that `grep` is given, with a word or more than one blank between them; empty for none."""
    start = 0
    while search := _SEARCH.search(part, start):
        first = ""
        start = end = search.end()
        for number, word in enumerate(_WORD.finditer(part, start)):
            blank, end = part[end : word.start()], word.end()
            file = _SOURCE.match(word[0])
            if file and number:
                return file[0]
            first = file[0] if file and len(blank) > 1 else first
            if number and "\n" in blank:
                break
            start = word.start()
        if first:
            return first
    return ""
