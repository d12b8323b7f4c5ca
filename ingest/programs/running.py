"""One start of a program: it is sent lines of JSON, its lines are answers, and it ends with all that it started."""

from __future__ import annotations

import json
import os
import queue
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from lake.limits import MAX_LINE_BYTES, parsed_json
from lake.text import escaped

NOTICE = 10.0
"""After so many seconds of silence, and again after as many, a line says what is waited for."""
_KEPT_LINES, _SHOWN_LINES, _SHOWN_CHARACTERS = 20, 3, 200
"""Lines of standard error that are kept; of these so many are shown, with so many characters."""

_ERROR = re.compile(r"(?:Uncaught )?[\w.]*(?:Error|Exception)\b[^:]*: ")

Request = Mapping[str, object]
Payload = Mapping[str, object]
"""A program's answer to a request, its id included."""


class NoAnswerError(Exception):
    """A program ended, or closed its output, while it owed an answer; the message has its last complaint."""


class SilentError(NoAnswerError):
    """It ran on, and was silent for too long."""


class InvalidAnswerError(NoAnswerError):
    """It wrote what answers no request."""


class RunningProgram:
    """A program that runs until it is closed, or until an answer is missing."""

    def __init__(self, words: Sequence[str], seconds: float) -> None:
        self._seconds, self._called = seconds, shlex.join(words)
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

    def answer(self, owed: set[str]) -> Payload:
        """The next answer to any request of some ids; without one a `NoAnswerError`, and the program is ended."""
        line = self._next_line()
        if not line:
            ending = "it closed its output and gave no answer"
            with suppress(subprocess.TimeoutExpired):
                code = self._process.wait(1)
                how = f"it was ended by signal {-code}" if code < 0 else f"it ended with status {code}"
                ending = f"{how} and no answer"
            raise NoAnswerError(self._ended(ending))
        payload, fault = _parse(line, owed)
        if fault:
            raise InvalidAnswerError(self._ended(fault))
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

    def _next_line(self) -> bytes:
        waited = 0.0
        while waited < self._seconds:
            turn = min(NOTICE, self._seconds - waited)
            with suppress(queue.Empty):
                return self._lines.get(timeout=turn)
            waited += turn
            if waited < self._seconds:
                wait = f"no answer for {waited:g} of {self._seconds:g} seconds (--timeout)"
                print(escaped(f"waiting for `{self._called}`: {wait}"), file=sys.stderr, flush=True)
        raise SilentError(self._ended(f"no answer within {self._seconds:g} seconds"))

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
        assert self._process.stdout is not None
        with suppress(OSError, ValueError), self._process.stdout as output:
            while line := output.readline(MAX_LINE_BYTES + 1):
                if line.strip():
                    self._lines.put(line)
        self._lines.put(b"")

    def _read_complaint(self) -> None:
        assert self._process.stderr is not None
        with suppress(OSError, ValueError), self._process.stderr as complaint:
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


def _parse(line: bytes, owed: set[str]) -> tuple[Payload, str]:
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
