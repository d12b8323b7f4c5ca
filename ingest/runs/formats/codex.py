"""Codex's records of September 2025 to version 0.144: a rollout, or what `codex exec --json` prints (pull 4177)."""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from typing import NamedTuple
from urllib.parse import unquote

from tree_sitter import Node

from ingest.contents.syntax_trees import syntax_tree, text_of
from ingest.runs.calls.tools import ToolCall
from ingest.runs.sessions import Answer, Event, Note, Session, session_importer
from ingest.runs.usage import AgentUsage, TokenCounts
from ingest.runs.values import JsonRecord, at, content_of, line_of, object_at, objects_at, parsed_object, str_at

_MAX_CALLS = 1_000  # of a script
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_CONTINUES = {"write_stdin": "session_id", "wait": "cell_id"}  # tools that continue what an earlier call started
_ROLLOUT = ("session_meta", "response_item", "turn_context", "event_msg", "compacted")
_PRINTED = re.compile(r"(?:thread|turn)\.[a-z]+|item\.(?:started|updated|completed)")
_NO_FILES = (
    "message", "reasoning", "agent_message", "assistant_message", "error", "todo_list", "web_search", "web_search_call",
    "image_generation_call", "ghost_snapshot", "compaction", "compaction_summary", "tool_search_call",
    "tool_search_output", "file_change", *_OUTPUTS,
)  # fmt: skip
"""Items that show nothing of files."""
_FOLDER = re.compile(r"<cwd>([^<\n]+)</cwd>|^(?:- )?Current working directory: (.+)$", re.MULTILINE)
HEAD = re.compile(
    r"(?:Command: (?s:.*?)\n)?"
    r"(?P<lines>(?:(?:Chunk ID|Wall time|Exit code|Original token count|Total output lines|Process exited with code"
    r"|Process running with session ID|Script (?:completed|failed|terminated|running with cell ID))\b.*\n)+)"
    r"(?P<output>Output:(?:\n|\Z)(?:Total output lines: [0-9]+\n+)?)?"
)
_EXIT = re.compile(r"^(?:Exit code:|Process exited with code) (-?[0-9]+)$|^Script failed", re.MULTILINE)
_RUNNING = re.compile(r"^(?:Process running with session ID|Script running with cell ID) (\S+)$", re.MULTILINE)
_FAILED = re.compile(
    r"failed in sandbox |exec_command failed|execution error|exec command rejected|aborted by user|command timed out"
    r"|failed to parse|unsupported call|apply_patch verification failed|patch rejected|error: |user cancelled",
    re.IGNORECASE,
)


class _Output(NamedTuple):
    """A call's output: its texts after the head, None if cut off; `running` is the session it left running."""

    texts: tuple[str, ...] | None
    failed: bool = False
    running: str = ""


def _is_event(row: JsonRecord) -> bool:
    kind = str_at(row, "type")
    is_item = (kind in _ROLLOUT and isinstance(row.get("payload"), dict)) or (kind in _CALLS and "call_id" in row)
    return is_item or _PRINTED.fullmatch(kind) is not None or row.get("record_type") == "state"


def _events_of(session: Session) -> Iterator[Event]:
    yield from _rollout(session, session.parts[0])
    yield AgentUsage().with_tokens(chain.from_iterable(map(_spent, session.parts)))


def _rollout(session: Session, events: Sequence[JsonRecord]) -> Iterator[Event]:
    items = [*map(_item, events)]
    outputs, totals, commands, call_id = _outputs(items), set[TokenCounts](), dict[str, list[JsonRecord]](), ""
    # Newer versions give a subagent's id, and the commands that ran during a call, only in rows next to the calls.
    payloads = [(object_at(event, "payload"), object_at(event, "payload", "item")) for event in events]
    rows = (row for pair in payloads for row in pair if str_at(row, "agent_thread_id"))
    begun = {str_at(row, "event_id") or str_at(row, "id"): str_at(row, "agent_thread_id") for row in rows}
    for (_, ran), item in zip(payloads, items, strict=True):
        call_id = str_at(item, "call_id") if item.get("type") in _CALLS else call_id
        if ran.get("type") == "CommandExecution":
            folder = unquote(str_at(ran, "cwd").removeprefix("file://"))
            commands.setdefault(call_id, []).append({"command": ran.get("command"), "workdir": folder})
    for event, item in zip(events, items, strict=True):
        if (total := _total(event)) is not None and total not in totals:
            totals.add(total)
            yield Answer()
        yield Note("model", str_at(event, "payload", "model"))
        kind, content, is_own = str_at(item, "type"), content_of(item), item.get("role") == "assistant"
        if event.get("type") in ("session_meta", "turn_context"):
            yield Note("folder", str_at(event, "payload", "cwd"))
        if kind == "message" and not (is_own or session.folder) and (match := _FOLDER.search(content)):
            # In September 2025 only the first message gave the folder.
            yield Note("folder", (match[1] or match[2]).strip())
        turn, call_id = len(session.turns) + 1, str_at(item, "call_id")  # an answer is recorded after its calls
        if kind in _CALLS:
            output = outputs.get(call_id)
            for call in _calls(item, output, commands.get(call_id, ())):
                yield replace(call, turn=turn, is_answered=output is not None)
            if str_at(item, "name") == "spawn_agent" and output is not None:
                yield from _subagents(session, "\n".join((begun.get(call_id, ""), *(output.texts or ()))))
        elif kind in ("message", "agent_message", "assistant_message"):
            yield Note("answer" if is_own or kind != "message" else "prompt", content or str_at(item, "text"))
        elif kind == "command_execution":
            failed = item.get("exit_code") not in (None, 0) or item.get("status") in ("failed", "declined")
            arguments = {"command": item.get("command")}
            yield ToolCall("shell", arguments, str_at(item, "aggregated_output"), failed, turn=turn)
        elif kind == "mcp_tool_call":
            yield Note("unread", f"tool {str_at(item, 'server')}.{str_at(item, 'tool')}")
        elif kind and kind not in _NO_FILES:
            yield Note("unread", f"item {kind}")


def _subagents(session: Session, output: str) -> Iterator[Event]:
    """The events of the subagents that a call started; its output has their ids, in which their files' names end."""
    names = dict.fromkeys(re.findall(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", output))
    if not names and '"task_name"' in output:
        yield Note("unread", "subagent whose file is missing")
    for name in names:
        ends = tuple(f"{name}.jsonl{packed}" for packed in ("", ".gz", ".zst"))
        for path in [path for path in sorted(session.file.all) if path.endswith(ends)] or [""]:
            yield from session.events_in(session.file.all.get(path), lambda rows: _rollout(session, rows))


def _total(event: JsonRecord, which: str = "total_token_usage") -> TokenCounts | None:
    if event.get("type") == "turn.completed":
        return TokenCounts.of(event.get("usage"))
    is_count = at(event, "payload", "type") == "token_count"
    return TokenCounts.of(at(event, "payload", "info", which)) if is_count else None


def _spent(rows: Sequence[JsonRecord]) -> list[TokenCounts | None]:
    """The tokens of a rollout: the newest running total."""
    of_answers = {total: _total(event, "last_token_usage") for event in rows if (total := _total(event)) is not None}
    first = object_at(next(iter(rows), {}), "payload")
    if "forked_from_id" in first and "subagent" in object_at(first, "source"):
        # The totals of a subagent that began with an earlier conversation include that.
        return [*of_answers.values()]
    return [next(filter(None, map(_total, reversed(rows))), None)]


def _item(event: JsonRecord) -> JsonRecord:
    kind = str_at(event, "type")
    if kind in ("response_item", "item.completed"):
        return object_at(event, "payload" if kind == "response_item" else "item")
    return event if kind in ("message", *_CALLS, *_OUTPUTS) else {}


def _calls(item: JsonRecord, output: _Output | None, ran: Sequence[JsonRecord] = ()) -> Iterator[ToolCall]:
    name, value = str_at(item, "name").removeprefix("functions."), item.get("arguments", item.get("input"))
    arguments = parsed_object(value) or ({"input": value} if isinstance(value, str) else {})
    calls, call_id = [(name, arguments)], str_at(item, "call_id")
    if str_at(item, "type") == "local_shell_call":
        calls = [("local_shell", object_at(item, "action"))]
    elif name == "exec":
        calls = script_calls(str_at(arguments, "input")) or calls
        if ran and any(tool == "exec_command" and not ToolCall(tool, given).command for tool, given in calls):
            # Only the script itself knew some of its commands.
            calls = [call for call in calls if call[0] != "exec_command"] + [("exec_command", given) for given in ran]
    elif name.endswith("parallel") and "tool_uses" in arguments:
        uses = objects_at(arguments, "tool_uses")
        calls = [(str_at(use, "recipient_name").rpartition(".")[2], object_at(use, "parameters")) for use in uses]
    tools, (texts, failed, _) = [ToolCall(*call) for call in calls], output or _Output(None)
    own, whole = [text for text in texts or () if text.strip()], None if texts is None else "\n".join(texts)
    showing = [tool for tool in tools if not tool.shows_nothing]
    each = iter(own if len(tools) > 1 and len(own) == len(showing) else ())
    for number, tool in enumerate(tools):
        text = next(each, whole) if tool in showing else whole
        yield replace(tool, output=text, failed=failed, call_id=call_id and f"{call_id} {number}")


def script_calls(script: str) -> list[tuple[str, JsonRecord]]:
    """A script's calls `tools.name({…})`, at most 1,000, with their arguments; one only known at run time is None."""
    root = syntax_tree(script.encode(errors="replace"), "javascript")
    with suppress(RecursionError):
        return [] if isinstance(root, str) else list(islice(_calls_in(root, {}), _MAX_CALLS))
    return []


def _calls_in(node: Node, constants: dict[str, object]) -> Iterator[tuple[str, JsonRecord]]:
    if node.type == "call_expression" and _text(node, "function", "object") == "tools":
        arguments = node.child_by_field_name("arguments")
        first = _value(arguments.named_child(0), constants) if arguments is not None else None
        yield _text(node, "function", "property"), {"input": first} if isinstance(first, str) else object_at(first)
    for child in node.named_children:
        yield from _calls_in(child, constants)
    if node.type == "variable_declarator":
        constants[_text(node, "name")] = _value(node.child_by_field_name("value"), constants)


def _value(node: Node | None, constants: dict[str, object]) -> object:
    if node is None:
        return None
    inner, text = node.named_children, _text(node)
    match node.type:
        case "string" | "template_string" | "binary_expression":
            pieces, operator = [_value(piece, constants) for piece in inner], _text(node, "operator")
            texts = [piece for piece in pieces if isinstance(piece, str)]
            return "".join(texts) if operator in ("", "+") and len(texts) == len(pieces) else None
        case "string_fragment":
            return text
        case "escape_sequence":
            # Most escapes are also those of JSON.
            with suppress(ValueError):
                return str(json.loads(f'"{text}"'))
            return text[1:].strip("\n")
        case "identifier" | "shorthand_property_identifier":
            return constants.get(text)
        case "array":
            return [_value(entry, constants) for entry in inner]
        case "object":
            keys = [pair.child_by_field_name("key") or pair for pair in inner]
            names = [str(_value(key, {})) if key.type == "string" else _text(key) for key in keys]
            values = [_value(pair.child_by_field_name("value") or pair, constants) for pair in inner]
            return dict(zip(names, values, strict=True))
        case "parenthesized_expression" | "template_substitution":
            return _value(inner[0], constants) if inner else None
    return None


def _text(node: Node | None, *fields: str) -> str:
    """The text of a node, or of the one under some fields; empty if there is none."""
    for field in fields:
        node = node.child_by_field_name(field) if node is not None else None
    return text_of(node).decode(errors="replace") if node is not None else ""


def _outputs(items: Sequence[JsonRecord]) -> dict[str, _Output]:
    """Each call's output by call id, with what later calls returned of a process that it left running."""
    outputs, started_by, owners = dict[str, _Output](), dict[str, str](), dict[str, str]()
    for item in items:
        call_id, kind = str_at(item, "call_id"), item.get("type")
        if kind in _CALLS and (key := _CONTINUES.get(str_at(item, "name"))):
            owners[call_id] = started_by.get(str(parsed_object(item.get("arguments")).get(key)), "")
        elif kind in _OUTPUTS:
            result, owner = _output(item.get("output")), owners.get(call_id) or call_id
            outputs[call_id] = result
            if owner != call_id and owner in outputs:
                before = outputs[owner].texts
                texts = None if before is None or result.texts is None else (*before, *result.texts)
                outputs[owner] = result._replace(texts=texts)
            if result.running:
                started_by[result.running] = owner
    return outputs


def _output(output: object) -> _Output:
    if output is None:
        return _Output(None)
    if isinstance(output, list):
        parts = [_output(part if isinstance(part, str) else str_at(part, "text")) for part in output] or [_Output(())]
        return parts[0]._replace(texts=tuple(text for part in parts for text in part.texts or () if text))
    answer = parsed_object(output)
    if "output" in answer or "content" in answer:
        text = str_at(answer, "output") or content_of(answer)
        exit_code = line_of(object_at(answer, "metadata").get("exit_code", answer.get("exit_code")))
        return _Output((text,), exit_code not in (None, 0) or answer.get("success") is False)
    text = str_at(output)
    head = HEAD.match(text)
    if head is None or head["output"] is None:
        # An output that was cut off in its head.
        is_cut = text.startswith("Command: ") or (head is not None and text.startswith(("Chunk ID: ", "Script ")))
        return _Output(None if is_cut else (text,), _FAILED.match(text) is not None)
    exited, running = _EXIT.search(head["lines"]), _RUNNING.search(head["lines"])
    failed = exited is not None and exited[1] != "0"
    return _Output((text[head.end() :],), failed, running[1] if running else "")


def answered_calls(call: ToolCall, output: str, *, failed: bool) -> Iterator[ToolCall]:
    """The calls in a call of Harbor's record, several if it ran a script, each with its output."""
    result = _output(output)
    if output.startswith("[{'") and len(output) < 1_000_000:
        # Harbor writes a list of texts as a Python literal.
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            result = _output(ast.literal_eval(output))
    for each in _calls({"name": call.name, "arguments": call.arguments}, result):
        yield replace(each, failed=failed or each.failed, turn=call.turn)


CODEX = session_importer(
    "codex", "Codex rollouts", "A rollout's .jsonl, or the output of codex exec --json",
    holders=("events", "rollout", "session"), is_event=_is_event, events_of=_events_of,
    # A subagent's rollout is part of another session and not a trajectory by itself.
    is_part=lambda row, _: "subagent" in object_at(row, "payload", "source"),
    example='{"timestamp": "…", "type": "session_meta", "payload": {"id": "…", "cwd": "/testbed"}}',
)  # fmt: skip
