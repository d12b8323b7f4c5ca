"""A command in any language that answers JSON lines with JSON lines; what crashes or hangs costs its own answer alone.

Each request is a line `{"id": …, …}` on the command's standard input, which ends behind the last; each answer is a line
with the same id on its standard output, in any order, at once or when all are read. It ends with all that it started.
"""

from __future__ import annotations

import json
import os
import queue
import re
import shlex
import shutil
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from lake.errors import Exit, GoldspanError
from lake.fingerprint import fingerprint, sha256_of_file
from lake.limits import MAX_LINE_BYTES, parsed_json

ANSWER_SECONDS = 60.0
"""Seconds that a command may be silent while it owes answers."""
MAX_VAIN = 5
"""Requests that may go wrong before any is answered; then the others are not tried."""
_KEPT_LINES, _SHOWN_LINES, _SHOWN_CHARACTERS = 20, 3, 200
"""Lines of standard error that are kept; of these so many are shown, with so many characters."""

FUNCTION = re.compile(r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*):[^\W\d]\w*")  # `module:function`, in place of one
_ERROR = re.compile(r"(?:Uncaught )?[\w.]*(?:Error|Exception)\b[^:]*: ")

Request = Mapping[str, object]
"""A request, or the answer to one, its id included."""


class NoAnswerError(Exception):
    """A program owes an answer and gives none; the message has its last complaint.

    It ended or closed its output, or `is_silent`: it ran on for too long, or `is_invalid`: it wrote something else.
    """

    def __init__(self, why: str, *, is_silent: bool = False, is_invalid: bool = False) -> None:
        super().__init__(why)
        self.is_silent, self.is_invalid = is_silent, is_invalid


class RunningProgram:
    """A program that runs until it is closed, or until an answer is missing."""

    def __init__(self, words: Sequence[str], seconds: float) -> None:
        self._seconds = seconds
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._complaint: deque[bytes] = deque(maxlen=_KEPT_LINES)
        self._threads: list[threading.Thread] = []
        # A session of its own ends with all it starts. Python would keep its answers back in a pipe.
        pipe, none, environment = subprocess.PIPE, subprocess.DEVNULL, {**os.environ, "PYTHONUNBUFFERED": "1"}
        try:
            self._process = subprocess.Popen(
                words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, env=environment
            )
        except OSError as error:
            raise NoAnswerError(f"{words[0]} cannot be started: {error.strerror}") from error
        # Its input ends with this process, however that ends: then nothing of the program is left running.
        guard = ("sh", "-c", 'read -r _; kill -s KILL -- "-$0"', str(self._process.pid))
        self._guard = subprocess.Popen(guard, stdin=pipe, stdout=none, stderr=none, start_new_session=True)
        self._in_thread(self._read)
        self._in_thread(self._read_complaint)

    def send(self, requests: Sequence[Request], *, are_all: bool = False) -> None:
        """Send requests, and close the input behind the last of all; nothing is waited for."""
        self._in_thread(partial(self._write, requests, are_all=are_all))

    def answer(self, owed: set[str]) -> Request:
        """The next answer to any request of some ids; without one a `NoAnswerError`, and the program is ended."""
        try:
            line = self._lines.get(timeout=self._seconds)
        except queue.Empty as error:
            why = self._ended(f"no answer within {self._seconds:g} seconds")
            raise NoAnswerError(why, is_silent=True) from error
        if not line:
            ending = "it closed its output and gave no answer"
            with suppress(subprocess.TimeoutExpired):
                code = self._process.wait(1)
                how = f"it was ended by signal {-code}" if code < 0 else f"it ended with status {code}"
                ending = f"{how} and no answer"
            raise NoAnswerError(self._ended(ending))
        payload, fault = _parse(line, owed)
        if fault:
            raise NoAnswerError(self._ended(fault), is_invalid=True)
        return payload

    def close(self, seconds: float = 0) -> None:
        """End it with all that it started, some seconds after its input was closed."""
        if seconds:
            self._write((), are_all=True)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        # Ended before the program's id is free for another process.
        self._guard.kill()
        self._guard.communicate()
        self._process.wait()
        self._write((), are_all=True)
        for thread in self._threads:
            thread.join(1)

    def _in_thread(self, work: Callable[[], None]) -> None:
        self._threads.append(threading.Thread(target=work, daemon=True))
        self._threads[-1].start()

    def _write(self, requests: Sequence[Request], *, are_all: bool) -> None:
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):
            for request in requests:
                self._process.stdin.write(json.dumps(request).encode() + b"\n")
                self._process.stdin.flush()
            if are_all:
                self._process.stdin.close()

    def _read(self) -> None:
        with suppress(OSError, ValueError), self._process.stdout as output:  # type: ignore[union-attr]  # it is a pipe
            while line := output.readline(MAX_LINE_BYTES + 1):
                if line.strip():
                    self._lines.put(line)
        self._lines.put(b"")

    def _read_complaint(self) -> None:
        with suppress(OSError, ValueError), self._process.stderr as complaint:  # type: ignore[union-attr]  # as above
            while line := complaint.readline(1 << 10):
                self._complaint.append(line)

    def _ended(self, why: str) -> str:
        """End the program; why there is no answer, with the last lines of its standard error."""
        self.close()
        text = b"".join(self._complaint).decode(errors="replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        # Python prints the stack above the error, others below it.
        errors = [number for number, line in enumerate(lines) if _ERROR.match(line)]
        shown = " | ".join(lines[max(0, errors[-1] - 2) : errors[-1] + 2] if errors else lines[-_SHOWN_LINES:])
        shown = shown if len(shown) <= _SHOWN_CHARACTERS else f"…{shown[-_SHOWN_CHARACTERS:]}"
        return f"{why}; it complained: {shown}" if shown else why


def _parse(line: bytes, owed: set[str]) -> tuple[Request, str]:
    shown = line[:80].decode(errors="backslashreplace").rstrip()
    if len(line) > MAX_LINE_BYTES:
        return {}, f"its answer has a line of more than {MAX_LINE_BYTES:,} bytes"
    try:
        payload = parsed_json(line)
    except (ValueError, RecursionError):
        return {}, f"it wrote {shown!r}, which is no JSON; what it tells a person belongs on standard error"
    if not isinstance(payload, dict) or not isinstance(payload.get("id"), str):
        return {}, f"it wrote {shown!r}, which is no JSON object with the id of a request"
    if payload["id"] not in owed:
        return {}, f"it answered the id {payload['id'][:80]!r}, which was not sent or is answered already"
    return payload, ""


@dataclass(frozen=True)
class JsonCommand:
    """A program and its arguments, which no shell reads; it may be silent for some seconds while it owes answers."""

    words: tuple[str, ...]
    seconds: float = ANSWER_SECONDS

    @classmethod
    def of(cls, text: str, *, seconds: float = ANSWER_SECONDS) -> JsonCommand:
        """A command as a person writes it, with quotes where a word has blanks."""
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise GoldspanError(f"the command {text!r} cannot be read: {error}", code=Exit.USAGE) from error
        if not words:
            message = "a command must be given, and there is none"
            raise GoldspanError(message, hint="Such as: 'node chunk.js'", code=Exit.USAGE)
        if shutil.which(words[0]) is None:
            message = f"there is no program {words[0]!r} on this machine"
            hint = "Name one that is installed, or a file that may be executed: ./chunk, python chunk.py"
            raise GoldspanError(message, where=f"the command {text!r}", hint=hint, code=Exit.MISSING)
        return cls(tuple(words), seconds)

    @property
    def files(self) -> list[Path]:
        """The files that its words name."""
        return [Path(word) for word in self.words if Path(word).is_file()]

    @cached_property
    def digest(self) -> str:
        """Of its words and of the files that they name; what those read in turn is not known."""
        return fingerprint(list(self.words), [sha256_of_file(file) for file in self.files])

    def answers(self, requests: Sequence[Request]) -> list[Request]:
        """The answer to each request, in their order, or with `error` why there is none; each has an `id` of its own.

        What crashes, hangs or writes nonsense is started again for the requests that it owes, fewer and fewer at a
        time, until the one that it fails on is alone.
        """
        answers: dict[str, Request] = {}
        batches = [list(requests)] if requests else []
        n_vain, has_answered = 0, False
        while batches and n_vain < MAX_VAIN:
            batch = batches.pop()
            payloads, error = self.run(batch)
            answers |= payloads
            has_answered = has_answered or bool(payloads)
            owed = [request for request in batch if str(request["id"]) not in payloads]
            if len(batch) == 1 and owed:
                answers[str(batch[0]["id"])] = {"error": error}
                n_vain += not has_answered
            elif owed:
                # What answers as it reads fails on the first that it owes; of what reads all first, nothing is known.
                middle = (len(owed) + 1) // 2 if has_answered and not payloads else 1
                batches += [half for half in (owed[middle:], owed[:middle]) if half]
        last = next((answer["error"] for answer in reversed(answers.values()) if "error" in answer), "")
        given_up = {"error": f"not tried, after {MAX_VAIN} others in vain; the last: {last}"}
        return [answers.get(str(request["id"]), given_up) for request in requests]

    def run(self, requests: Sequence[Request]) -> tuple[dict[str, Request], str]:
        """The answers of one start of the command, by id, and why it did not answer the rest."""
        owed = {str(request["id"]) for request in requests}
        payloads: dict[str, Request] = {}
        try:
            with closing(RunningProgram(self.words, self.seconds)) as program:
                program.send(requests, are_all=True)
                while owed:
                    payload = program.answer(owed)
                    owed.discard(str(payload["id"]))
                    payloads[str(payload["id"])] = payload
        except NoAnswerError as error:
            return payloads, str(error)
        return payloads, ""
