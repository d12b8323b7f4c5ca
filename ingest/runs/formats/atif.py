"""ATIF, versions 1.0 to 1.7 (github.com/laude-institute/harbor, docs/rfcs/0001-trajectory-format.md)."""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from ingest.runs.calls.tools import ToolCall
from ingest.runs.formats import claude_code, codex, copilot_cli, gemini_cli, opencode
from ingest.runs.formats.mini_swe_agent import returned
from ingest.runs.importer import patch_path, trial_results
from ingest.runs.sessions import Answer, Event, Note, Session, paired, session_importer
from ingest.runs.trajectory import ParsedCall
from ingest.runs.usage import AgentUsage, TokenCounts, dollars_at, seconds_between, seconds_of
from ingest.runs.values import JsonRecord, content_of, object_at, objects_at, parsed_object, str_at

_PART = re.compile(r"(?P<stem>.+)\.(?:cont|summarization)-[0-9]+(?:-[a-z]+)?\.json(?:\.gz|\.zst)?$")
_MAX_PARTS, _MAX_FILES = 20, 100
_PARTS = ("cont-{}", "summarization-{}-summary", "summarization-{}-questions", "summarization-{}-answers")
_NAMES = ("trajectory_id", "session_id")
_WRITTEN_AT_ONCE = 1.0  # A trajectory of fewer seconds has the timestamps of its conversion from another format
_HOST = r"[\w.-]{1,64}@[\w.-]{1,255}"
_PROMPT = re.compile(
    rf"(?:\([\w.-]{{1,64}}\) )?(?:{_HOST}:(?P<folder>[/~][^\n#$]{{0,400}}?)|\[{_HOST} [^\]\n]{{1,400}}\]) ?[#$] ?"
)
_MAX_CHARACTERS = 2_000_000
_OUTPUTS: Mapping[str, Callable[..., ToolCall]] = {
    "claude-code": claude_code.with_output, "gemini-cli": gemini_cli.with_output, "opencode": opencode.with_output,
    "copilot-cli": lambda call, text, *, failed: copilot_cli.with_result(
        call, {"success": not failed, "result": {"content": text}}),
}  # fmt: skip
"""Agent → function that reads the output of its own tools, as in its own format."""


def companions(path: str) -> Sequence[str]:
    """The patch of a trajectory, the trial's result, and the files in which it continues."""
    folder, name = posixpath.split(path)
    stem = posixpath.join(folder, name.partition(".")[0])
    parts = (f"{stem}.{part.format(n)}.json" for n in range(1, _MAX_PARTS + 1) for part in _PARTS)
    return [patch_path(path), *trial_results(path), *parts]


class _Record:
    """A trajectory with its subagents and continuations; without any results, each call showed what it asked for."""

    def __init__(self, session: Session) -> None:
        self.session, self.rows = session, list[JsonRecord]()
        session.opened.add(session.file.path)
        session.item = session.item or str_at(session.row, "extra", "task_id") or session.file.item_of_trial()
        self.agent = str_at(session.row, "agent", "name")
        self.starts_anew = self.agent == "mini-swe-agent"  # each of its commands has its own shell; no `cd` lasts
        results = [result for step in objects_at(session.row, "steps") for result in _results(step)]
        self.has_results = bool(results)
        self.has_codes = self.starts_anew and any(returned(content_of(result)) for result in results)

    def __iter__(self) -> Iterator[Event]:
        yield from self.events_of(self.session.row)
        yield self._usage()

    def events_of(self, row: JsonRecord) -> Iterator[Event]:
        """The events in a trajectory's steps, and in the file that continues it."""
        self.rows.append(row)
        for step in objects_at(row, "steps"):
            message = content_of({"content": step.get("message")})
            if step.get("source") == "user":
                yield Note("prompt", message)
            if step.get("source") == "agent" and step.get("is_copied_context") is not True:
                yield Note("model", str_at(step, "model_name"))
                yield Answer("", str_at(row, "agent", "model_name"), TokenCounts.of(step.get("metrics")))
                yield Note("answer", message)
                yield from self._calls(step)
            for result in _results(step):
                for reference in objects_at(result, "subagent_trajectory_ref"):
                    names = {str_at(reference, key) for key in _NAMES} - {""}
                    agents = objects_at(row, "subagent_trajectories")
                    if own := [agent for agent in agents if names & {str_at(agent, key) for key in _NAMES}]:
                        yield from self.events_of({"steps": own[0].get("steps")})
                    else:
                        yield from self._events_in(str_at(reference, "trajectory_path"))
        yield from self._events_in(str_at(row, "continued_trajectory_ref"))

    def _events_in(self, path: str) -> Iterator[Event]:
        other = self.session.file.beside(path) or self.session.file.beside(posixpath.basename(path))
        if path and (other is None or len(self.session.opened) > _MAX_FILES):
            yield Note("unread", f"file {path}")
        elif path and other is not None:
            for row in self.session.rows_of(other):
                yield from self.events_of(row)

    def _calls(self, step: JsonRecord) -> Iterator[Event]:
        calls = objects_at(step, "tool_calls")
        pairs = paired([str_at(call, "tool_call_id") for call in calls], _results(step), ["source_call_id"])
        tools = [ToolCall(str_at(call, "function_name"), parsed_object(call.get("arguments"))) for call in calls]
        # Calls with the same result were typed into one terminal, whose screen shows them all.
        for _, pairing in groupby(zip(tools, pairs, strict=True), key=lambda pair: [*map(id, pair[1])]):
            together, (own, *_) = zip(*pairing, strict=True)
            is_answered = bool(own or not self.has_results)
            yield from self._together([replace(tool, is_answered=is_answered) for tool in together], own)

    def _together(self, tools: Sequence[ToolCall], results: Sequence[JsonRecord]) -> Iterator[Event]:
        text = "\n".join(map(content_of, results)) if results else None
        parts = (part for result in results for part in (result, object_at(result, "extra")))
        failed = any(part.get(key) is True for part in parts for key in ("is_error", "tool_result_is_error"))
        typed = ["".join(tool.command) for tool in tools if tool.is_shell and tool.is_answered]
        screens = iter([(None, "")] * len(typed) if text is None else _printed_on(text, typed))
        for tool in tools:
            if self.agent == "codex" and text is not None:
                yield from codex.answered_calls(tool, text, failed=failed)
            elif self.agent in _OUTPUTS and text is not None:
                yield _OUTPUTS[self.agent](tool, text, failed=failed)
            elif not tool.is_shell or not tool.is_answered:
                yield replace(tool, output=text, failed=failed)
            else:
                output, folder = next(screens)
                yield Note("root", folder)
                # A command that was refused has no output.
                refused = ("", True) if self.has_codes and output is not None else None
                output, has_failed = returned(output or "") or refused or (output, failed)
                # Keys without a line end are not yet a command.
                is_typed = "keystrokes" in tool.arguments and not "".join(tool.command).endswith("\n")
                parsed = ParsedCall() if is_typed and not (output or "").strip() else None
                stays = "" if self.starts_anew else folder or None
                yield replace(tool, output=output, failed=has_failed, folder=stays, parsed=parsed)

    def _usage(self) -> AgentUsage:
        sums = [object_at(row, "final_metrics") for row in self.rows]
        # The sums of a continuation, or of a trajectory with its subagents, include what came before.
        dollars = [amount for total in sums if (amount := dollars_at(total, "total_cost_usd")) is not None]
        totals = filter(None, map(TokenCounts.of, sums))
        largest = max(totals, key=lambda tokens: sum(filter(None, vars(tokens).values())), default=None)
        trial = self.session.file.result_of_trial()
        seconds = seconds_of(step for row in self.rows for step in objects_at(row, "steps"))
        if seconds is None or seconds < _WRITTEN_AT_ONCE:
            seconds = seconds_between(object_at(trial, "agent_execution").values()) or seconds
        usd = max(dollars, default=dollars_at(trial, "agent_result", "cost_usd"))
        return AgentUsage(usd=usd, seconds=seconds).with_tokens([largest])


def _results(step: JsonRecord) -> list[JsonRecord]:
    return objects_at(step, "observation", "results")


def _printed_on(screen: str, commands: Sequence[str]) -> list[tuple[str | None, str]]:
    """Each command's output on a screen (None: prompt not visible; all: no prompts) and the folder it was run in."""
    prompts = list(_PROMPT.finditer(screen, 0, _MAX_CHARACTERS))
    if not prompts:
        return [(screen, "") for _ in commands]
    ends = [*(prompt.start() for prompt in prompts[1:]), len(screen)]
    left = list(zip(prompts, ends, strict=True))
    printed: list[tuple[str | None, str]] = []
    for command in commands:
        texts = ((n, _after(screen[prompt.end() : end], command)) for n, (prompt, end) in enumerate(left))
        n, output = next((pair for pair in texts if pair[1] is not None), (-1, None))
        folder = "" if output is None else (left[n][0]["folder"] or "").strip()
        printed.append((output, folder if folder.startswith("/") else ""))
        left = left[n + 1 :]
    return printed


def _after(text: str, command: str) -> str | None:
    """The text after a command that `text` begins with, whatever its line breaks; None if it does not."""
    text = re.sub(r"\n> ?", "\n", text) if "\n" in command.strip() else text
    typed = r"\s*".join(map(re.escape, "".join(command.split())))
    # `cat a.p` must not match `cat a.py`.
    match = re.match(rf"\s*{typed}(?!\S)", text) if typed else None
    return text[match.end() :] if match else None


ATIF = session_importer(
    "atif", "ATIF trajectories", "A trajectory's .json, with schema_version, agent and steps", aliases=("harbor",),
    holders=("steps",), companions=companions, events_of=_Record,
    is_holder=lambda row: re.match(r"ATIF\b", str_at(row, "schema_version"), re.IGNORECASE) is not None,
    is_event=lambda row: False, is_part=lambda _, name: _PART.match(name) is not None,
    example='{"schema_version": "ATIF-v1.4", "session_id": "…", "agent": {"name": "openhands"}, "steps": []}',
)  # fmt: skip
