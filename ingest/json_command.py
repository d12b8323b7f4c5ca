"""A command in any language that answers JSON lines with JSON lines; what crashes or hangs costs its own answer alone.

Each request is a line `{"id": …, …}` on the command's standard input, which ends behind the last; each answer is a line
with the same id on its standard output, in any order, at once or when all are read.
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
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

from lake.errors import Exit, GoldspanError
from lake.fingerprint import fingerprint, sha256_of_file
from lake.limits import MAX_LINE_BYTES, parsed_json
from lake.located import is_library, shown_path
from lake.text import escaped

PATIENCE = 60.0
"""Seconds that a command may be silent while it owes answers."""
NOTICE = 10.0
"""After so many seconds of silence, and again after as many, a line says what is waited for."""
MAX_VAIN = 5
"""So many requests may go wrong before any is answered; then the others are not tried."""
_COMPLAINT, _SHOWN_LINES, _SHOWN_CHARACTERS = 20, 3, 200
"""Lines of standard error that are kept; of these so many are shown, with so many characters."""

_ERROR = re.compile(r"(?:Uncaught )?[\w.]*(?:Error|Exception)\b[^:]*: ")
_PYTHON_LINE = re.compile(r"\s*File \"(.+)\", line (\d+)")
_OTHER_LINE = re.compile(r"(?:^|[\s(])(?:file://)?([^\s():]+\.\w+):(\d+)\b")

Request = Mapping[str, object]


class Answer(NamedTuple):
    """What came of a request.

    Attributes:
        said: The command's answer, its id included; empty where it failed.
        error: Why there is none, with what the command complained of.
    """

    said: Mapping[str, object]
    error: str = ""


@dataclass(frozen=True)
class JsonCommand:
    """A command; no shell reads it.

    Attributes:
        words: The program and its arguments.
        seconds: How long it may be silent while it owes answers; then it and all that it started are killed.
    """

    words: tuple[str, ...]
    seconds: float = PATIENCE

    @classmethod
    def of(cls, text: str, *, seconds: float = PATIENCE) -> JsonCommand:
        """A command as a person writes it, with quotes where a word has blanks.

        Raises:
            GoldspanError: It is none, or its program is not on this machine.
        """
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise GoldspanError(f"the command {text!r} cannot be read: {error}", code=Exit.USAGE) from error
        if not words:
            message = "a command is to be given, and there is none"
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

    def answers(self, requests: Sequence[Request]) -> list[Answer]:
        """The answer to each request, in their order.

        What crashes, hangs or talks nonsense is started again for the requests that it owes, fewer and fewer at a time,
        until the one that it fails on is alone.

        Args:
            requests: Each has an `id` of its own, a text.
        """
        found: dict[str, Answer] = {}
        todo = [list(requests)] if requests else []
        n_vain, has_answered = 0, False
        while todo and n_vain < MAX_VAIN:
            batch = todo.pop()
            said, error = self.run(batch)
            found |= {one: Answer(answer) for one, answer in said.items()}
            has_answered = has_answered or bool(said)
            left = [request for request in batch if str(request["id"]) not in said]
            if len(batch) == 1 and left:
                found[str(batch[0]["id"])] = Answer({}, error)
                n_vain += not has_answered
            elif left:
                # What answers as it reads fails on the first that it owes; of what reads all first, nothing is known.
                cut = (len(left) + 1) // 2 if has_answered and not said else 1
                todo += [part for part in (left[cut:], left[:cut]) if part]
        last = next((answer.error for answer in reversed(found.values()) if answer.error), "")
        given_up = Answer({}, f"not tried, after {MAX_VAIN} others in vain; the last: {last}")
        return [found.get(str(request["id"]), given_up) for request in requests]

    def run(self, requests: Sequence[Request]) -> tuple[dict[str, Mapping[str, object]], str]:
        """What one start of the command answers, by id, and why it did not answer the rest."""
        owed = {str(request["id"]) for request in requests}
        said: dict[str, Mapping[str, object]] = {}
        try:
            with closing(Started(self)) as program:
                program.send(requests, are_all=True)
                while owed:
                    answer = program.answer(owed)
                    owed.discard(str(answer["id"]))
                    said[str(answer["id"])] = answer
        except NoAnswerError as error:
            return said, str(error)
        return said, ""


class NoAnswerError(Exception):
    """A command owed an answer and was silent for too long; the message says so, and what it complained of."""


class CrashError(NoAnswerError):
    """It could not be started, ended, or closed its output."""


class NonsenseError(NoAnswerError):
    """It wrote what is no answer to what it was asked."""


class Started:
    """One start of a command, which is ended when it is closed, and where an answer stays out."""

    def __init__(self, command: JsonCommand) -> None:
        self.seconds = command.seconds
        self.called = shlex.join(command.words)
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._complaint: deque[bytes] = deque(maxlen=_COMPLAINT)
        self._threads: list[threading.Thread] = []
        # Ended with all it starts, as a session of its own; Python would keep its answers back in a pipe.
        pipe, told = subprocess.PIPE, {**os.environ, "PYTHONUNBUFFERED": "1"}
        try:
            self._process = subprocess.Popen(
                command.words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, env=told
            )
        except OSError as refused:
            raise CrashError(f"{command.words[0]} cannot be started: {refused.strerror}") from refused
        # Its input ends with this process, however that ends: then nothing of the command is left running.
        words = ("sh", "-c", 'read -r _; kill -s KILL -- "-$0"', str(self._process.pid))
        none = subprocess.DEVNULL
        self._guard = subprocess.Popen(words, stdin=pipe, stdout=none, stderr=none, start_new_session=True)
        self._at_once(self._read)
        self._at_once(self._keep)

    def send(self, requests: Sequence[Request], *, are_all: bool = False) -> None:
        """Send some requests, and say that there are no more; nothing is waited for."""
        self._at_once(partial(self._write, requests, are_all=are_all))

    def answer(self, owed: set[str]) -> Mapping[str, object]:
        """The next answer to any of some requests, by their ids; else a `NoAnswerError`."""
        line = self._next_line()
        if not line:
            raise CrashError(self._told(self._ending()))
        answer, fault = _understood(line, owed)
        if fault:
            raise NonsenseError(self._told(fault))
        return answer

    def _next_line(self) -> bytes:
        waited = 0.0
        while True:
            turn = min(NOTICE, self.seconds - waited)
            try:
                return self._lines.get(timeout=turn)
            except queue.Empty:
                waited += turn
            if waited >= self.seconds:
                raise NoAnswerError(self._told(f"no answer within {self.seconds:g} seconds"))
            what = f"waiting for `{self.called}`: no answer for {waited:g} of {self.seconds:g} seconds (--timeout)"
            print(escaped(what), file=sys.stderr, flush=True)

    def close(self, seconds: float = 0) -> None:
        """End it with all that it started, some seconds after it was told that there are no more requests."""
        if seconds:
            self._write((), are_all=True)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        # Ended before the command's id is free for another process.
        self._guard.kill()
        self._guard.communicate()
        self._process.wait()
        self._write((), are_all=True)
        for thread in self._threads:
            thread.join(1)

    def _at_once(self, work: Callable[[], None]) -> None:
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
        """Hand on every line, and an empty one at the end."""
        assert self._process.stdout is not None
        with suppress(OSError, ValueError), self._process.stdout as answers:
            while line := answers.readline(MAX_LINE_BYTES + 1):
                if line.strip():
                    self._lines.put(line)
        self._lines.put(b"")

    def _keep(self) -> None:
        assert self._process.stderr is not None
        with suppress(OSError, ValueError), self._process.stderr as complaint:
            while line := complaint.readline(1 << 10):
                self._complaint.append(line)

    def _ending(self) -> str:
        """How a command ended, or closed its output, that owed answers."""
        with suppress(subprocess.TimeoutExpired):
            code = self._process.wait(1)
            how = f"it was ended by signal {-code}" if code < 0 else f"it ended with status {code}"
            return f"{how} and no answer"
        return "it closed its output and gave no answer"

    def _told(self, why: str) -> str:
        """Why there is no answer, with the last lines of the command's standard error; the command is ended."""
        self.close()
        lines = b"".join(self._complaint).decode(errors="replace").strip().splitlines()
        # Some print the stack below the error, not above it.
        errors = [line for line in lines if _ERROR.match(line)]
        where = _location(lines) if errors else ""
        said = where + " | ".join(line.strip() for line in errors[-1:] or lines[-_SHOWN_LINES:])
        said = said if len(said) <= _SHOWN_CHARACTERS else f"…{said[-_SHOWN_CHARACTERS:]}"
        return f"{why}; it complained: {said}" if said else why


def _location(stack: Sequence[str]) -> str:
    """`file:line: ` of the program's own, where an error was raised; empty where its stack does not say.

    Python's stack ends where the error is; others begin there.
    """
    of_python = [match for line in reversed(stack) if (match := _PYTHON_LINE.match(line))]
    for match in of_python or filter(None, map(_OTHER_LINE.search, stack)):
        if (file := Path(match[1])).is_file() and not is_library(file):
            return f"{shown_path(file)}:{match[2]}: "
    return ""


def _understood(line: bytes, owed: set[str]) -> tuple[Mapping[str, object], str]:
    """An answer, or what is wrong with the line."""
    shown = line[:80].decode(errors="backslashreplace").rstrip()
    if len(line) > MAX_LINE_BYTES:
        return {}, f"its answer has a line of more than {MAX_LINE_BYTES:,} bytes"
    try:
        answer = parsed_json(line)
    except (ValueError, RecursionError):
        return {}, f"it wrote {shown!r}, which is no JSON; what it tells a person belongs on standard error"
    if not isinstance(answer, dict) or not isinstance(answer.get("id"), str):
        return {}, f"it wrote {shown!r}, which is no JSON object with the id of a request"
    if answer["id"] not in owed:
        return {}, f"it answered the id {answer['id'][:80]!r}, which was not sent or is answered already"
    return answer, ""
