"""Records of agents' sessions as the formats' descriptions have them, made up, and how a test reads one."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ingest.runs.importer import TrajectoryFile
from ingest.runs.trajectory import Trajectory
from ingest.sources.input_file import InputFile
from tests.tiny import put

Json = dict[str, object]
Reader = Callable[[TrajectoryFile], Iterator[Trajectory]]


def rows(*objects: object) -> bytes:
    return "".join(f"{json.dumps(one)}\n" for one in objects).encode()


def read(reader: Reader, folder: Path, data: bytes, name: str = "a.jsonl", **beside: bytes) -> list[Trajectory]:
    """What an importer reads of a file, with other files beside it: `patch=b"…"` is `a.patch`."""
    every: dict[str, TrajectoryFile] = {}
    stem = name.partition(".")[0]
    for path, content in {name: data, **{f"{stem}.{ending}": text for ending, text in beside.items()}}.items():
        every[path] = TrajectoryFile(path, InputFile(put(folder / path, content)).opened, every)
    return list(reader(every[name]))


def opened(folder: Path, name: str, files: Mapping[str, bytes] | None = None) -> TrajectoryFile:
    """A file of a folder, with all the others that lie in it; `files` are put there first."""
    for place, data in (files or {}).items():
        put(folder / place, data)
    every: dict[str, TrajectoryFile] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            place = path.relative_to(folder).as_posix()
            every[place] = TrajectoryFile(place, InputFile(path).opened, every)
    return every[name]


def one(reader: Reader, folder: Path, data: bytes, name: str = "a.jsonl", **beside: bytes) -> Trajectory:
    """The one trajectory of a file that has damaged nothing."""
    (found,) = read(reader, folder, data, name, **beside)
    return found


# Claude Code


def used(tool: str, call: str = "c1", /, **given: object) -> Json:
    part: Json = {"type": "tool_use", "id": call, "name": tool, "input": given}
    return said_by_claude(part)


def said_by_claude(*parts: Json | str) -> Json:
    """An assistant's event of some parts, texts among them."""
    content = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    return {
        "type": "assistant",
        "sessionId": "s",
        "cwd": "/testbed",
        "message": {"role": "assistant", "content": content},
    }


def gave(text: object, call: str = "c1", *, error: bool = False, **beside: object) -> Json:
    part: Json = {"type": "tool_result", "tool_use_id": call, "content": text, **({"is_error": True} if error else {})}
    event: Json = {"type": "user", "sessionId": "s", "cwd": "/testbed", "message": {"role": "user", "content": [part]}}
    return {**event, "toolUseResult": beside} if beside else event


# Codex


def rollout(**payload: object) -> Json:
    return {"timestamp": "2025-10-29T00:59:49.783Z", "type": "response_item", "payload": payload}


META: Json = {"timestamp": "t", "type": "session_meta", "payload": {"id": "s", "cwd": "/testbed"}}


def shell(
    command: str, output: object, call: str = "c1", *, exit_code: int = 0, workdir: str = "/testbed"
) -> list[Json]:
    arguments = json.dumps({"command": ["bash", "-lc", command], "workdir": workdir})
    printed = json.dumps({"output": output, "metadata": {"exit_code": exit_code, "duration_seconds": 0.0}})
    return [
        rollout(type="function_call", name="shell", arguments=arguments, call_id=call),
        rollout(type="function_call_output", call_id=call, output=printed),
    ]


# ATIF


def atif(*steps: Json, **more: object) -> Json:
    agent = {"name": "harbor-agent", "version": "1.0.0"}
    return {"schema_version": "ATIF-v1.4", "session_id": "s", "agent": agent, "steps": list(steps), **more}


def turn(tool: str = "", shown: str | None = None, message: str = "", **given: object) -> Json:
    step: Json = {"step_id": 1, "source": "agent", "message": message}
    if tool:
        step["tool_calls"] = [{"tool_call_id": "c1", "function_name": tool, "arguments": given}]
    if shown is not None:
        step["observation"] = {"results": [{"source_call_id": "c1", "content": shown}]}
    return step
