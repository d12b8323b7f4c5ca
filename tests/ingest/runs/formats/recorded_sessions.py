"""How a test reads an agent's record, and events of Claude Code's sessions, made up."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ingest.runs.importer import TrajectoryFile
from ingest.runs.trajectory import Trajectory
from ingest.sources.tree import entry_on_disk
from tests.tiny import put

Json = dict[str, object]
Reader = Callable[[TrajectoryFile], Iterator[Trajectory]]


def rows(*objects: object) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in objects).encode()


def read(reader: Reader, folder: Path, data: bytes, name: str = "a.jsonl", **beside: bytes) -> list[Trajectory]:
    """What an importer reads of a file, with other files beside it: `patch=b"…"` is `a.patch`."""
    stem = name.partition(".")[0]
    files = {name: data, **{f"{stem}.{ending}": text for ending, text in beside.items()}}
    return list(reader(opened(folder, name, files)))


def opened(folder: Path, name: str, files: Mapping[str, bytes] | None = None) -> TrajectoryFile:
    """A file of a folder, with all the others that lie in it; `files` are put there first."""
    for name_of, data in (files or {}).items():
        put(folder / name_of, data)
    every: dict[str, TrajectoryFile] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            name_of = path.relative_to(folder).as_posix()
            every[name_of] = TrajectoryFile(entry_on_disk(path, name_of), all=every)
    return every[name]


def used(tool: str, call: str = "c1", /, **given: object) -> Json:
    part: Json = {"type": "tool_use", "id": call, "name": tool, "input": given}
    return said_by_claude(part)


def said_by_claude(*parts: Json | str) -> Json:
    """An assistant's event of some parts, texts among them."""
    content = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    message = {"role": "assistant", "content": content}
    return {"type": "assistant", "sessionId": "s", "cwd": "/testbed", "message": message}


def gave(text: object, call: str = "c1", *, error: bool = False, **beside: object) -> Json:
    part: Json = {"type": "tool_result", "tool_use_id": call, "content": text, **({"is_error": True} if error else {})}
    event: Json = {"type": "user", "sessionId": "s", "cwd": "/testbed", "message": {"role": "user", "content": [part]}}
    return {**event, "toolUseResult": beside} if beside else event
