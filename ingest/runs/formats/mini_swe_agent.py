"""mini-swe-agent's trajectories, of versions 1 and 2 (github.com/SWE-agent/mini-swe-agent, src/minisweagent/models)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

from ingest.runs.calls.tools import ToolCall
from ingest.runs.importer import Importer, TrajectoryFile, first_object, trial_results
from ingest.runs.sessions import Event, Note, Session, paired
from ingest.runs.trajectory import FileSpan, Trajectory, Views, answer_in, in_repository, renamed, spans_named
from ingest.runs.usage import AgentUsage, TokenCounts, dollars_at, most_frequent
from ingest.runs.values import JsonRecord, content_of, count_at, line_of, object_at, objects_at, parsed_object, str_at

NAME = re.compile(r"(?:\.traj|mini-swe-agent\.trajectory)\.json(?:\.gz|\.zst)?$")
_COMMAND = re.compile(r"```bash\s*\r?\n(.*?)\r?\n```", re.DOTALL)
_ENVIRONMENT = ("info", "config", "environment")
_SUBMITS = "COMPLETE_TASK"  # A command that contains it ends the work: it prints the answer, which nobody reads
_BLOCK = re.compile(r"```(?:bash|sh|shell|mswea_bash_command)[ \t]*\n(.*?)\n?```", re.DOTALL)
_CODE = re.compile(r"<returncode>\s*(-?[0-9]+)\s*</returncode>")
_OUTPUT = re.compile(r"<output(?:_head)?>\n?(.*?)(?:</output>|</output_tail>|\Z)", re.DOTALL)
_ENDINGS = "py|js|java|go|rs|c|cpp|h|hpp|ts|tsx|jsx|rb|php|cs|kt|scala|swift"  # of source files
_CHANGES = ("sed -i", "echo ", "mkdir", "rm ", "git add", "git commit")
_NUMBERED = re.compile(r"nl\s.+\s(?P<file>\S+)\s*\Z", re.DOTALL)
_PRINTED = re.compile(r"\s*sed\s+-n\s+['\"]?(?P<start>[0-9]+),(?P<end>[0-9]+)p")
_READERS = (
    re.compile(r"sed\s+-n\s+['\"]?(?P<start>[0-9]+),(?P<end>[0-9]+)p['\"]?\s+(?P<file>[^\s&|>;<]+)"),
    re.compile(r"\bhead\s+-n\s+(?P<end>[0-9]+)\s+(?P<file>[^\s&|>]+)"),
    re.compile(r"\bcat\s+(?P<file>[^\s&|>]+)"),
    # `\bgrep\s+.*?\s+FILE`, tried only at a `grep` that may match although those before it in its line do not.
    re.compile(
        rf"(?:^(?>[^\n]*?\bgrep(?=\s))|\bgrep(?=\s*\n))\s+[^\n]*?\s+(?P<file>[^\s&|>]+\.(?:{_ENDINGS})\b)", re.MULTILINE
    ),
)


def recognise(head: bytes, name: str) -> bool:
    """Whether an object with `info` names mini-swe-agent, or has messages in a file named like a trajectory."""
    row = first_object(head)
    is_named = "info" in row and str_at(row, "trajectory_format").startswith("mini-swe-agent")
    return is_named or "mini_version" in object_at(row, "info") or ("messages" in row and bool(NAME.search(name)))


def trajectories(file: TrajectoryFile) -> Iterator[Trajectory]:
    """The one trajectory of a file.

    If the agent was asked to state what it looks at, as by ContextBench, the steps are the `<explore_context>` blocks
    of all messages or, without any, what its commands alone say that they show; if not, what its commands printed.
    """
    document = file.json()
    item, messages = str_at(document, "instance_id") or file.item_of_trial(), objects_at(document, "messages")
    texts = [content_of(message) for message in messages]
    contents = list(zip(messages, texts, strict=True))
    own, prompts = ([text for each, text in contents if each.get("role") == role] for role in ("assistant", "user"))
    # The repository's folder below `/home` is named in the container's image, else in the item.
    image = re.search(r"_m_([\w.-]+)", str_at(document, *_ENVIRONMENT, "image"))
    match = image or re.match(r"[^/]+?__(.+?)-[0-9]+", item or file.name)
    inside = partial(in_repository, folder=match[1] if match else "")
    steps, shown_at, n_turns, n_calls = list[Views](), list[tuple[int, int]](), 0, 0
    for message, text in contents:
        if _is_answer(message):
            n_turns, n_calls = n_turns + 1, n_calls + len(_actions_of(message))
        # A block that names only files outside the repository is dropped; one that names nothing is an empty step.
        blocks = map(spans_named, re.findall(r"<explore_context>(.*?)</explore_context>", text, re.DOTALL))
        steps += [views for spans in blocks if (views := renamed(spans, inside)) or not spans]
        shown_at += [(n_turns, n_calls)] * (len(steps) - len(shown_at))
    final, any_final = (renamed(spans_named(answer_in(some) or ""), inside) or None for some in (own, texts))
    commands = [block[1] for text in own if (block := _COMMAND.search(text)) and _SUBMITS not in block[1]]
    shown = filter(None, (renamed(views_of_command(command), inside) for command in commands))
    published = Trajectory(tuple(steps or shown), any_final)
    info, extras = object_at(document, "info"), [object_at(message, "extra") for message in messages]
    # The submission is in the file's `info` or in the message that ends the work.
    patch = next((patch for end in (info, *extras[-1:]) if isinstance(patch := end.get("submission"), str)), None)
    answers = [object_at(extra, "response") for extra in extras]
    models = (str_at(answer, "model") for answer in answers)
    usage = AgentUsage(
        str_at(info, "config", "model", "model_name") or most_frequent(models),
        usd=dollars_at(info, "model_stats", "instance_cost"), n_turns=count_at(info, "model_stats", "api_calls"),
        exit_status=str_at(info, "exit_status"),
    ).with_tokens(TokenCounts.of(answer.get("usage")) for answer in answers)  # fmt: skip
    is_stated = any(re.search("explore_context", text, re.IGNORECASE) for text in texts)
    root, calls = Note("root", str_at(document, *_ENVIRONMENT, "cwd").rstrip("/")), list(calls_of(messages))
    about: list[Event] = [root, *(Note("prompt", text) for text in prompts[:1]), usage]
    whole = Session(file, item, patch, parts=[messages, extras]).trajectory(about if is_stated else [*about, *calls])
    if is_stated:
        usage = replace(whole.usage, n_calls=len(calls))
        whole = replace(whole, steps=published.steps, shown_at=tuple(shown_at), usage=usage)
    yield replace(whole, final=final or whole.final).beside(published)


def returned(text: str) -> tuple[str, bool] | None:
    """A command's output and whether it failed, as reported by a message; None if it reports no command."""
    result = parsed_object(text) if text.lstrip().startswith("{") else {}
    if "returncode" in result:
        ends = "\n".join(filter(None, (str_at(result, name) for name in ("output_head", "output_tail"))))
        return str_at(result, "output") or ends, line_of(result["returncode"]) != 0
    code, output = _CODE.search(text), _OUTPUT.search(text)
    if code is not None:
        return output[1] if output else text[code.end() :], line_of(code[1]) != 0
    return (output[1], True) if output is not None and "timed out" in text else None


def calls_of(messages: Sequence[JsonRecord]) -> Iterator[ToolCall]:
    """The commands of all answers with their outputs; one that was refused, or has no message, has an empty output."""
    turns: list[tuple[list[tuple[str, str]], list[JsonRecord]]] = []
    for message in messages:
        if _is_answer(message):
            turns.append((_actions_of(message), []))
        elif turns and message.get("role") not in ("system", "exit"):
            turns[-1][1].append(message)
    has_codes = any(returned(_result_text(message)) for _, results in turns for message in results)
    for turn, (actions, results) in enumerate(turns, start=1):
        # In version 1, an answer without exactly one block of bash is refused.
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


def views_of_command(command: str) -> list[FileSpan]:
    """The source files that a command shows, with the lines it names; none if it changes files as well."""
    if any(change in command for change in _CHANGES):
        return []
    views: list[FileSpan] = []
    # Long runs of white space are shortened: they make no difference, but cost time.
    for part in re.split(r"&&|\|\||;", re.sub(r"(\s)\1{3,}", r"\1\1\1", command)):
        # The first pattern that matches a part counts.
        printed = [match.groupdict() for reader in _READERS if (match := reader.search(part))]
        # `nl -ba FILE | sed -n '1,9p'`: the file is the last word before the pipe, if not the only one after `nl`.
        for left, right in reversed([*pairwise(part.split("|"))]):
            if (lines := _PRINTED.match(right)) and (numbered := _NUMBERED.search(left)):
                printed.insert(0, {**lines.groupdict(), "file": numbered["file"]})
        fields = printed[0] if printed else {"file": ""}
        file, end = fields["file"].strip("'\""), line_of(fields.get("end"))
        if file.endswith(tuple(f".{ending}" for ending in _ENDINGS.split("|"))):
            views.append(FileSpan(file, line_of(fields.get("start", "1")) if end is not None else None, end))
    return list(dict.fromkeys(views))


MINI_SWE_AGENT = Importer(
    name="mini-swe-agent", title="mini-swe-agent trajectories", kind="trajectory", aliases=("mini", "minisweagent"),
    meaning="One .traj.json per instance: messages, which name the context, and info.submission, the patch.",
    recognise=recognise, trajectories=trajectories, companions=trial_results,
    example='{"info": {"submission": "diff --git …", "mini_version": "1.17.3"}, "messages": [{"role": "system"}]}',
)  # fmt: skip
