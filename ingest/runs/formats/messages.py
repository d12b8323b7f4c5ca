"""Chat messages with tool calls, as models' interfaces take them and as many agents and data sets record them.

A call and its result are in the form of one of those that docs/agents.md lists, or in the text (`<function=bash>…`,
`<tool_call>…`, `<read_file>…`, or a command in a fenced block), with the next message as result.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ingest.runs.calls.tools import ToolCall
from ingest.runs.formats import codex, gemini_cli, mini_swe_agent, swe_agent
from ingest.runs.sessions import Answer, Event, Note, Session, paired, session_importer
from ingest.runs.usage import AgentUsage, TokenCounts, dollars_at, most_frequent, seconds_between
from ingest.runs.values import JsonRecord, content_of, first_text, list_at, object_at, objects_at, parsed_object, str_at

_OF_OTHERS = {"sessionId", "sessionID", "session_id", "uuid", "observation", "info", "extra", "response"}
"""Keys of messages, and of the objects that hold them, in other agents' records."""
_CALLS, _RESULTS = ("tool_use", "toolRequest", "toolCall"), ("tool_result", "toolResponse")
_ROLES = {"model": "assistant", "gpt": "assistant", "human": "user", "ai": "assistant"}  # Google's, ShareGPT's, Nebius'
_IDS = ("tool_call_id", "tool_use_id", "toolCallId", "id")
_FUNCTION = re.compile(r"<function=(?P<name>[\w.-]+)>(?P<rest>.*?)(?:</function>|\Z)", re.DOTALL)
_HERMES = re.compile(r"<tool_call>\s*(?=\{)(.*?)(?:</tool_call>|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=(?P<name>[\w.-]+)>\n?(?P<value>.*?)\n?</parameter>", re.DOTALL)
_TAGGED = re.compile(r"<(?P<name>read_file|search_files|execute_command)>(?P<rest>.*?)(?:</(?P=name)>|\Z)", re.DOTALL)
_TAG = re.compile(r"<(path|command|line_range|start_line|end_line)>(.*?)(?:</\1>|\Z)", re.DOTALL)
_ANSWER = re.compile(r"^\[[a-z_]+(?: for .*)?\] Result:(?:\n|\Z)", re.MULTILINE)
_RESPONSE = re.compile(r"<tool_response>\n?(.*?)\n?(?:</tool_response>|\Z)", re.DOTALL)
_REFUSED = re.compile(r"\s*The (?:tool execution failed|user denied)")
_HEAD = re.compile(r"\A\s*(?:EXECUTION RESULT of \[[\w.-]+\]:|OBSERVATION:)\n?")
_FENCED = re.compile(r"```(?:bash|sh|shell)?[ \t]*\n(.*?)\n?```", re.DOTALL)
_OF_COMMAND = re.compile(r"\AOBSERVATION:|<returncode>\s*-?[0-9]+\s*</returncode>|\nbash-\$\s*\Z")
_STATE = re.compile(r"\n?\(Open file: .*\)\n\(Current directory: (.*)\)\nbash-\$\s*\Z")  # of SWE-agent before 1.0
_FOLDER = re.compile(
    r"<uploaded_files>\s*(/[^\s<]+)\s*</uploaded_files>|<cwd>([^<\n]+)</cwd>|\[Current working directory: ([^\]\n]+)\]"
    r"|^# Current Work(?:ing|space) Directory \((.+)\) Files$", re.MULTILINE
)  # fmt: skip


def _message(row: JsonRecord) -> JsonRecord:
    """The message in a row; one of Google's or Kimi Code's in the form of Anthropic's, ShareGPT's in OpenAI's."""
    event = object_at(row, "event")
    if row.get("type") == "context.append_loop_event":
        call_id, result = event.get("toolCallId"), object_at(event, "result")
        if event.get("type") == "tool.call":
            part = {"type": "tool_use", "id": call_id, "name": event.get("name"), "input": event.get("args")}
            return {"role": "assistant", "content": [part], "step": event.get("stepUuid")}
        return {**result, "role": "tool", "tool_call_id": call_id, "content": result.get("output")} if result else {}
    # ShareGPT's, or that of SWE-agent's runs in Nebius' data set.
    if role := str_at(row, "from") or (str_at(row, "role") if "mask" in row else ""):
        call = parsed_object(row, "value") if role.endswith("_call") else {}
        text = {"role": _ROLES.get(role, role), "content": row.get("value") or row.get("text")}
        return {"role": "assistant", "tool_calls": [call]} if call else text
    message = object_at(row, "message") if row.get("type") == "message" else row
    if parts := objects_at(message, "parts"):
        role = str_at(message, "role")
        return {"role": _ROLES.get(role, role), "content": list(map(gemini_cli.of_google, parts)), "is_of_google": True}
    return message


def _is_event(row: JsonRecord) -> bool:
    message = _message(row)
    is_own = message.get("role") == "assistant" and _OF_OTHERS.isdisjoint(row.keys() | message.keys())
    return (is_own and any(True for _ in _calls(message))) or _answers_fenced(message)


def _answers_fenced(message: JsonRecord) -> bool:
    """Whether a message is the output of a command in the text before it: mini-swe-agent's or SWE-agent's."""
    return message.get("role") == "user" and _OF_COMMAND.search(content_of(message)) is not None


def _calls(message: JsonRecord) -> Iterator[ToolCall]:
    for call in objects_at(message, "tool_calls"):
        inner = object_at(call, "function") or call
        arguments = parsed_object(inner, "arguments") or object_at(inner, "args")
        yield ToolCall(str_at(inner, "name"), arguments, call_id=str_at(call, "id"))
    for part in objects_at(message, "content"):
        if part.get("type") in _CALLS:
            inner = object_at(part, "toolCall", "value") or object_at(part, "toolCall") or part
            arguments = parsed_object(inner, "arguments") or parsed_object(inner, "input")
            yield ToolCall(str_at(inner, "name"), arguments, call_id=str_at(part, "id"))
    text = content_of(message)
    for mark in _FUNCTION.finditer(text):
        yield ToolCall(mark["name"], {given["name"]: given["value"] for given in _PARAMETER.finditer(mark["rest"])})
    for given in filter(None, map(parsed_object, _HERMES.findall(text))):
        yield ToolCall(str_at(given, "name"), parsed_object(given, "arguments"))
    for mark in _TAGGED.finditer(text):
        pieces = (_TAG.findall(piece) for piece in mark["rest"].split("<file>"))
        first, *files = ({tag: value.strip() for tag, value in tags} for tags in pieces)
        yield ToolCall(mark["name"], {"files": files} if files else first)


def _results(message: JsonRecord) -> Iterator[JsonRecord]:
    """The results in a message: the `id` of the call, the `text` and whether it `failed`."""
    if message.get("role") in ("tool", "toolResult"):
        failed = message.get("status") == "error" or message.get("isError") is True
        yield {"id": first_text(message, _IDS), "text": content_of(message), "failed": failed}
    for part in objects_at(message, "content"):
        if part.get("type") in _RESULTS:
            inner = object_at(part, "toolResult", "value") or object_at(part, "toolResult") or part
            # Goose's results are a list of texts or contain one, some of them for the user alone.
            given = objects_at(inner, "value") or objects_at(inner, "content")
            audiences = [list_at(each, "annotations", "audience") or ("assistant",) for each in given]
            shown = [each for each, audience in zip(given, audiences, strict=True) if "assistant" in audience]
            failed = any(each.get(name) is True for each in (part, inner) for name in ("is_error", "isError"))
            text = content_of({"content": shown}) or first_text(inner, ("content", "error"))
            yield {"id": first_text(part, _IDS), "text": text, "failed": failed or inner.get("status") == "error"}


def _folder_in(text: str) -> str:
    mark = _FOLDER.search(text)
    return mark[mark.lastindex or 0].strip() if mark else ""


def _fenced(messages: Sequence[JsonRecord]) -> Iterator[Event]:
    """The events of a record whose commands are in fenced blocks, each answered by the next message."""
    command, folder, created = "", "", set[str]()
    for message in messages:
        text, action, command = content_of(message), command, ""
        if message.get("role") == "assistant":
            yield from (Note("answer", text), Answer())
            command = next(reversed(_FENCED.findall(text)), "")
        elif not action:
            yield Note("prompt", text if message.get("role") == "user" else "")
            yield Note("root", _folder_in(text))
        elif result := mini_swe_agent.returned(text):
            yield ToolCall("bash", {"command": action}, *result, folder="")
        else:
            state = _STATE.search(text)
            observation = _HEAD.sub("", text[: state.start()] if state else text)
            yield swe_agent.call_of(action, observation, folder, created)
            folder = state[1] if state else folder
            yield Note("root", folder)


def _events_of(session: Session) -> Iterator[Event]:
    messages = list(map(_message, session.parts[0]))
    if any(map(_answers_fenced, messages)) and not any(any(True for _ in _calls(each)) for each in messages):
        yield from _fenced(messages)
        return
    answered: list[tuple[JsonRecord, list[ToolCall], list[JsonRecord]]] = []
    results_of: dict[str, list[JsonRecord]] = {}  # by the newest call with an id
    for row, message in zip(session.parts[0], messages, strict=True):
        text, is_own = content_of(message), message.get("role") == "assistant"
        yield Note("root", first_text(row, ("working_dir", "cwd")) or _folder_in(text))
        if is_own or message.get("role") == "user":
            yield Note("answer" if is_own else "prompt", text)
        if is_own:
            answered.append((message, list(_calls(message)), []))
            results_of |= {call.call_id: answered[-1][2] for call in answered[-1][1] if call.call_id}
        elif answered:
            # The text after a call in a text is its result.
            _, calls, results = answered[-1]
            plain = _ANSWER.split(text.partition("\n<environment_details>")[0])[1:] or _RESPONSE.findall(text)
            plain = plain or [text] * (bool(calls) and not calls[0].call_id)
            answers = [{"text": answer, "failed": _REFUSED.match(answer) is not None} for answer in plain]
            for result in list(_results(message)) or answers * (not results):
                results_of.get(str_at(result, "id"), results).append(result)
    for message, calls, results in answered:
        tokens, usd = TokenCounts.of(message.get("usage")), dollars_at(message, "usage", "cost", "total")
        yield Answer(str_at(message, "step"), str_at(message, "model"), tokens, usd)
        pairs = paired([call.call_id for call in calls], results, ["id"])
        for call, own in zip(calls, pairs, strict=True):
            result = own[-1] if own else {}
            output, failed = _HEAD.sub("", str_at(result, "text")), result.get("failed") is True
            # Ids may be repeated from answer to answer.
            # Gemini CLI and Kimi Code run each command in a shell of its own.
            stays = message.keys().isdisjoint(("is_of_google", "step"))
            call = replace(call, folder=None if stays else "", call_id="")
            if not own:
                yield replace(call, is_answered=False)
            elif call.tool == "exec_command" or codex.HEAD.match(output):
                yield from codex.answered_calls(call, output, failed=failed)
            elif message.get("is_of_google") and call.tool in gemini_cli.TOOLS:
                yield gemini_cli.with_output(call, output, failed=failed)
            else:
                yield replace(call, output=output, failed=failed)
    spent = [row for row in session.parts[0] if row.get("usageScope") == "turn"]  # Kimi Code's
    seconds = seconds_between(row.get("time") for row in session.parts[0]) if spent else None
    usage = AgentUsage(most_frequent(str_at(row, "model") for row in spent), seconds=seconds)
    yield usage.with_tokens(TokenCounts.of(row.get("usage")) for row in spent)


MESSAGES = session_importer(
    "messages", "Chat messages with tool calls", "A list of messages, as models and Goose take and give them",
    aliases=("chat", "openai", "anthropic", "goose"),
    holders=("messages", "trajectory", "conversation", "conversations", "history"),
    is_event=_is_event, events_of=_events_of,
    # The last two: SWE-agent's `.traj`, and mini-swe-agent's file, of which only the beginning may be seen.
    is_part=lambda row, path: not _OF_OTHERS.isdisjoint(row) or {"trajectory", "history"} <= row.keys()
    or mini_swe_agent.NAME.search(path) is not None,
    example='{"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "bash", "arguments": "{}"}}]}',
)  # fmt: skip
