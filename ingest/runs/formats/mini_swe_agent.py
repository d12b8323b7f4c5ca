"""mini-swe-agent's trajectories, of versions 1 and 2 (github.com/SWE-agent/mini-swe-agent, src/minisweagent/models).

Version 1 has one block of bash in every answer, and refuses an answer with none or several; version 2 has tool calls
as well, each with a message of its own that names it. Trajectories that ContextBench made have their agents say what
they look at; they are read as its published converter reads them. Of any other the commands are read with what they
printed, and beside that as the published converter reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from ingest.runs.calls.tools import ToolCall
from ingest.runs.importer import Importer
from ingest.runs.sessions import Note, Session, paired
from ingest.runs.trajectories.published_converter import views_of_command
from ingest.runs.trajectories.records import answer_in, in_repository, item_of_trial, spans_named, trial_results
from ingest.runs.trajectories.trajectory import Context, Trajectory, Views, renamed
from ingest.runs.trajectories.trajectory_file import DamagedFileError, TrajectoryFile
from ingest.runs.trajectories.usage import AgentUsage, TokenCounts, dollars_at, most_frequent, seconds_between
from ingest.runs.values import JsonRecord, content_of, count_at, line_of, object_at, objects_at, parsed_object, str_at

_OBJECT = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{")
_FORMAT = re.compile(rb'"trajectory_format"\s*:\s*"mini-swe-agent|"mini_version"\s*:')
_NAME = re.compile(r"(?:\.traj|mini-swe-agent\.trajectory)\.json(?:\.gz|\.zst)?$")
_FIRST = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"(?:info|messages|instance_id)"\s*:')
_STEP = re.compile(r"<explore_context>(.*?)</explore_context>", re.DOTALL)
_COMMAND = re.compile(r"```bash\s*\r?\n(.*?)\r?\n```", re.DOTALL)
_ENVIRONMENT = ("info", "config", "environment")
_ASKS = re.compile("explore_context", re.IGNORECASE)
_IMAGE = re.compile(r"_m_([\w.-]+)")
_ITEM = re.compile(r"[^/]+?__(.+?)-[0-9]+")
_SUBMITS = "COMPLETE_TASK"
"""A command that holds it ends the work: what it prints is the answer, which nobody reads."""
_BLOCK = re.compile(r"```(?:bash|sh|shell|mswea_bash_command)[ \t]*\n(.*?)\n?```", re.DOTALL)
_CODE = re.compile(r"<returncode>\s*(-?[0-9]+)\s*</returncode>")
_OUTPUT = re.compile(r"<output(?:_head)?>\n?(.*?)(?:</output>|</output_tail>|\Z)", re.DOTALL)
_CUT_SHORT = "timed out"


def recognise(head: bytes, name: str) -> bool:
    """An object that names mini-swe-agent near its beginning, or begins as one in a file that is called so."""
    if _OBJECT.match(head) is None:
        return False
    return _FORMAT.search(head) is not None or (_NAME.search(name) is not None and _FIRST.match(head) is not None)


def trajectories(file: TrajectoryFile) -> Iterator[Trajectory]:
    """The one trajectory of a file.

    Where the agent was asked for what it looks at, steps are the `<explore_context>` blocks of all messages; a block
    that names nothing of the repository is no step, one that names nothing at all is an empty one. Without any, they
    are what the assistant's commands show of files by themselves. Where it was not asked, steps are what its commands
    printed of files; each starts in the same folder.

    The final context is the last `<PATCH_CONTEXT>` of the assistant; where it was not asked and says none, the union of
    the steps. The published converter reads commands alone, and takes the last context of any message, and so the
    template in the request where there is no answer.
    """
    document = file.json()
    item, listed = str_at(document, "instance_id") or item_of_trial(file), object_at(document).get("messages")
    if not isinstance(listed, list):
        raise DamagedFileError("it has no list of messages", item)
    messages, texts = [object_at(message) for message in listed], [content_of(message) for message in listed]
    own, prompts = (
        [text for message, text in zip(messages, texts, strict=True) if message.get("role") == role]
        for role in ("assistant", "user")
    )
    # What the repository's folder below `/home` is called, the container's image says, else the item.
    image = _IMAGE.search(str_at(document, *_ENVIRONMENT, "image"))
    match = image or _ITEM.match(item or file.path.rpartition("/")[2])
    inside = partial(in_repository, folder=match[1] if match else "")
    steps, shown_at, n_turns, n_calls = list[Views](), list[tuple[int, int]](), 0, 0
    for message, text in zip(messages, texts, strict=True):
        n_turns += _is_answer(message)
        n_calls += len(_actions_of(message)) if _is_answer(message) else 0
        spans_of_blocks = [spans_named(block) for block in _STEP.findall(text)]
        # One that names what lies outside the repository alone is none.
        blocks = [views for spans in spans_of_blocks if (views := renamed(spans, inside)) or not spans]
        steps += blocks
        shown_at += [(n_turns, n_calls)] * len(blocks)
    final, any_final = (renamed(spans_named(answer_in(some) or ""), inside) or None for some in (own, texts))
    commands = [block[1] for text in own if (block := _COMMAND.search(text)) and _SUBMITS not in block[1]]
    shown = filter(None, (renamed(views_of_command(command), inside) for command in commands))
    published = Context(tuple(steps or shown), any_final)
    # The submission is the file's, or that of the message that ends the work.
    ends = (object_at(document, "info"), *(object_at(message, "extra") for message in messages[-1:]))
    patch = next((patch for end in ends if isinstance(patch := end.get("submission"), str)), None)
    usage, calls, first = _usage(document, messages), calls_of(messages), tuple(prompts[:1])
    if any(_ASKS.search(text) for text in texts):
        usage = replace(usage, n_calls=sum(1 for _ in calls))
        whole = Trajectory(published.steps, final, item, patch, usage=usage, prompts=first, shown_at=tuple(shown_at))
        yield whole.beside(published)
        return
    root = Note("root", str_at(document, *_ENVIRONMENT, "cwd").rstrip("/"))
    of_calls = Session(file, item, patch).trajectory([root, *(Note("prompt", text) for text in first), *calls, usage])
    yield replace(of_calls, final=final or of_calls.final).beside(published)


def _usage(document: object, messages: Sequence[JsonRecord]) -> AgentUsage:
    info, extras = object_at(document, "info"), [object_at(message, "extra") for message in messages]
    answers = [object_at(extra, "response") for extra in extras]
    stamps = [message.get("timestamp") or object_at(message, "extra").get("timestamp") for message in messages]
    models = (str_at(answer, "model") for answer in answers)
    return AgentUsage(
        model=str_at(info, "config", "model", "model_name") or most_frequent(models),
        usd=dollars_at(info, "model_stats", "instance_cost"),
        seconds=seconds_between(stamps),
        n_turns=count_at(info, "model_stats", "api_calls"),
        exit_status=str_at(info, "exit_status") or None,
    ).with_tokens(TokenCounts.of(answer.get("usage")) for answer in answers)


def returned(text: str) -> tuple[str, bool] | None:
    """What a command gave and whether it failed, as a message tells it; None for one that tells of no command."""
    result = parsed_object(text) if text.lstrip().startswith("{") else {}
    if "returncode" in result:
        return str_at(result, "output"), line_of(result["returncode"]) != 0
    code, output = _CODE.search(text), _OUTPUT.search(text)
    if code is not None:
        return output[1] if output else text[code.end() :], line_of(code[1]) != 0
    return (output[1], True) if output is not None and _CUT_SHORT in text else None


def calls_of(messages: Sequence[JsonRecord]) -> Iterator[ToolCall]:
    """The commands of all answers, each with what it gave; one that was refused, or has no message, gave nothing."""
    turns: list[tuple[list[tuple[str, str]], list[JsonRecord]]] = []
    for message in messages:
        if _is_answer(message):
            turns.append((_actions_of(message), []))
        elif turns and message.get("role") not in ("system", "exit"):
            turns[-1][1].append(message)
    has_codes = any(returned(_result_text(message)) for _, results in turns for message in results)
    for turn, (actions, results) in enumerate(turns, start=1):
        is_refused = len(actions) != 1 and all(not call for _, call in actions)
        pairs = paired([call for _, call in actions], results, ["tool_call_id", "call_id"])
        for (command, _), own in zip(actions, pairs, strict=True):
            given = [result for message in own[:10] if (result := returned(_result_text(message)))]
            output, failed = "", True
            if not is_refused and _SUBMITS not in command and (given or not has_codes):
                output, failed = given[0] if given else ("\n".join(map(_result_text, own)), False)
            yield ToolCall("bash", {"command": command}, output, failed, turn=turn)


def _is_answer(message: JsonRecord) -> bool:
    return message.get("role") == "assistant" or message.get("object") == "response"


def _actions_of(message: JsonRecord) -> list[tuple[str, str]]:
    given = objects_at(message, "extra", "actions")
    for call in () if given else (*objects_at(message, "tool_calls"), *objects_at(message, "output")):
        inner = object_at(call, "function") or call
        if "arguments" in inner:
            call_id = str_at(call, "call_id") or str_at(call, "id")
            given.append({**parsed_object(inner["arguments"]), "tool_call_id": call_id})
    if given:
        return [(str_at(action, "command"), str_at(action, "tool_call_id")) for action in given]
    return [(command.strip(), "") for command in _BLOCK.findall(content_of(message))]


def _result_text(message: JsonRecord) -> str:
    return content_of(message) or str_at(message, "output")


MINI_SWE_AGENT = Importer(
    name="mini-swe-agent",
    title="mini-swe-agent trajectories",
    meaning="One .traj.json per instance: messages, with the context they name, and info.submission, the patch.",
    recognise=recognise,
    trajectories=trajectories,
    companions=trial_results,
    kind="trajectory",
    example='{"info": {"submission": "diff --git …", "mini_version": "1.17.3"}, "messages": [{"role": "system", …',
    aliases=("mini", "minisweagent"),
)
