"""mini-swe-agent's messages as calls: a command in a block of code, or a tool's call, and what the next message tells.

Version 1 has one block of bash in every answer, and refuses an answer with none or several; version 2 has tool calls
as well, each with a message of its own that names it (github.com/SWE-agent/mini-swe-agent, src/minisweagent/models).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ingest.runs.calls.tools import ToolCall
from ingest.runs.trajectories.sessions import paired
from ingest.runs.values import (
    JsonObject,
    content_of,
    first_text,
    line_of,
    object_of,
    objects_of,
    parsed_object,
    text_of,
)

SUBMITS = "COMPLETE_TASK"
"""A command that holds it ends the work: what it prints is the answer, which nobody reads."""

_BLOCK = re.compile(r"```(?:bash|sh|shell|mswea_bash_command)[ \t]*\n(.*?)\n?```", re.DOTALL)
_CODE = re.compile(r"<returncode>\s*(-?[0-9]+)\s*</returncode>")
_OUTPUT = re.compile(r"<output(?:_head)?>\n?(.*?)(?:</output>|</output_tail>|\Z)", re.DOTALL)
_CUT_SHORT = "timed out"


def returned(text: str) -> tuple[str, bool] | None:
    """What a command gave and whether it failed, as a message tells it: `<returncode>` and `<output>`, or both as JSON.

    Returns:
        None for a message that tells of no command, such as one that refuses an answer.
    """
    told = parsed_object(text) if text.lstrip().startswith("{") else {}
    if "returncode" in told:
        return text_of(told, "output"), line_of(told["returncode"]) != 0
    code, output = _CODE.search(text), _OUTPUT.search(text)
    if code is not None:
        return output[1] if output else text[code.end() :], line_of(code[1]) != 0
    return (output[1], True) if output is not None and _CUT_SHORT in text else None


def calls_of(messages: Sequence[object]) -> Iterator[ToolCall]:
    """The commands of all answers, each with what it gave; one that was refused, or has no message, gave nothing."""
    turns: list[tuple[list[tuple[str, str]], list[JsonObject]]] = []
    for message in map(object_of, messages):
        if is_answer(message):
            turns.append((actions_of(message), []))
        elif turns and message.get("role") not in ("system", "exit"):
            turns[-1][1].append(message)
    has_codes = any(returned(_text(message)) for _, answers in turns for message in answers)
    for turn, (actions, answers) in enumerate(turns, start=1):
        is_refused = len(actions) != 1 and all(not call for _, call in actions)
        pairs = paired([call for _, call in actions], answers, ["tool_call_id", "call_id"])
        for (command, _), own in zip(actions, pairs, strict=True):
            results = [result for message in own[:10] if (result := returned(_text(message)))]
            output, failed = "", True
            if not is_refused and SUBMITS not in command and (results or not has_codes):
                output, failed = results[0] if results else ("\n".join(map(_text, own)), False)
            yield ToolCall("bash", {"command": command}, output, failed, turn=turn)


def is_answer(message: JsonObject) -> bool:
    """Whether a message is a model's."""
    return message.get("role") == "assistant" or message.get("object") == "response"


def actions_of(message: JsonObject) -> list[tuple[str, str]]:
    """The commands of an answer, each with the id of its call; without an id where it is a block of code."""
    given = objects_of(message, "extra", "actions")
    for call in () if given else (*objects_of(message, "tool_calls"), *objects_of(message, "output")):
        inner = object_of(call, "function") or call
        if "arguments" in inner:
            given.append({**parsed_object(inner["arguments"]), "tool_call_id": first_text(call, ("call_id", "id"))})
    if given:
        return [(text_of(action, "command"), text_of(action, "tool_call_id")) for action in given]
    return [(command.strip(), "") for command in _BLOCK.findall(content_of(message))]


def _text(message: JsonObject) -> str:
    return content_of(message) or text_of(message, "output")
