"""What Codex gives of its calls' outputs: a head, an exit code, a list of texts, or more in a later call."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingest.runs.values import JsonObject, content_of, line_of, object_of, parsed_object, text_of

CALLS = ("function_call", "custom_tool_call", "local_shell_call")
OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_CONTINUES = {"write_stdin": "session_id", "wait": "cell_id"}
"""Tools that give more of what an earlier call started, with the argument that names it."""

_HEAD = re.compile(
    r"(?:Command: (?s:.*?)\n)?"
    r"(?P<lines>(?:(?:Chunk ID|Wall time|Exit code|Original token count|Total output lines|Process exited with code"
    r"|Process running with session ID|Script (?:completed|failed|terminated|running with cell ID))\b.*\n)+)"
    r"(?P<output>Output:(?:\n|\Z)(?:Total output lines: [0-9]+\n+)?)?"
)
_CUT = ("Command: ", "Chunk ID: ", "Script ")
"""What a head begins with that is one without its `Output:` as well."""

_EXIT = re.compile(r"^(?:Exit code:|Process exited with code) (-?[0-9]+)$|^Script (failed)", re.MULTILINE)
_RUNNING = re.compile(r"^(?:Process running with session ID|Script running with cell ID) (\S+)$", re.MULTILINE)
_FAILED = re.compile(
    r"failed in sandbox |exec_command failed|execution error|exec command rejected|aborted by user|command timed out"
    r"|failed to parse|unsupported call|apply_patch verification failed|patch rejected|error: |user cancelled",
    re.IGNORECASE,
)
_OF_SANDBOX = re.compile(r"failed in sandbox [^\n]*?, stdout: (?P<stdout>.*?), stderr: (?P<stderr>.*)", re.DOTALL)


@dataclass(frozen=True)
class Given:
    """What a call gave.

    Attributes:
        texts: The texts after the head; None where the record was cut off before them.
        failed: Whether it ended with an error.
        running: The session that goes on, empty where it ended.
    """

    texts: tuple[str, ...] | None
    failed: bool = False
    running: str = ""

    @property
    def text(self) -> str | None:
        """All texts as one."""
        return None if self.texts is None else "\n".join(self.texts)


def given_by_call(items: Sequence[JsonObject]) -> dict[str, Given]:
    """What every call gave, with what later calls gave of a process that it left running."""
    given: dict[str, Given] = {}
    started_by: dict[str, str] = {}
    owners: dict[str, str] = {}
    for item in items:
        call_id, kind = text_of(item, "call_id"), item.get("type")
        if kind in CALLS and (key := _CONTINUES.get(text_of(item, "name"))):
            owners[call_id] = started_by.get(str(parsed_object(item.get("arguments")).get(key)), "")
        elif kind in OUTPUTS:
            result = _given(item.get("output"))
            owner = owners.get(call_id) or call_id
            given[call_id] = result
            if owner != call_id and owner in given:
                before = given[owner].texts
                texts = None if before is None or result.texts is None else (*before, *result.texts)
                given[owner] = replace(result, texts=texts)
            if result.running:
                started_by[result.running] = owner
    return given


def _given(output: object) -> Given:
    if output is None:
        return Given(None)
    if isinstance(output, list):
        given = [_given(part if isinstance(part, str) else text_of(part, "text")) for part in output] or [Given(())]
        texts = tuple(text for part in given for text in part.texts or () if text)
        return replace(given[0], texts=texts)
    held = parsed_object(output)
    if "output" in held or "content" in held:
        text = text_of(held, "output") or content_of(held)
        exit_code = line_of(object_of(held, "metadata").get("exit_code", held.get("exit_code")))
        return Given((text,), exit_code not in (None, 0) or held.get("success") is False)
    text = text_of(output)
    if result := _OF_SANDBOX.match(text):
        return Given((result["stdout"] and result["stdout"] + result["stderr"],), failed=True)
    head = _HEAD.match(text)
    if head is None or head["output"] is None:
        is_cut = text.startswith(_CUT[:1]) or (head is not None and text.startswith(_CUT))
        return Given(None if is_cut else (text,), _FAILED.match(text) is not None)
    exited, running = _EXIT.search(head["lines"]), _RUNNING.search(head["lines"])
    failed = exited is not None and (exited[2] is not None or line_of(exited[1]) != 0)
    return Given((text[head.end() :],), failed, running[1] if running else "")
