"""A command in any language that answers JSON lines with JSON lines; a crash or hang costs only the answer it was at.

Each request is a line `{"id": …, …}` on its standard input, which is closed after the last; each answer is a line with
the same id on its standard output, in any order, at once or when all are read. All that it starts is ended with it.
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
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import IO

from lake.errors import Exit, GoldspanError
from lake.fingerprint import fingerprint, sha256_of_file
from lake.limits import MAX_LINE_BYTES, parsed_json

ANSWER_SECONDS = 60.0  # that a command may be silent while answers are outstanding
MAX_VAIN = 5  # requests that may fail before any is answered, then no others are tried; a hang counts as two
_KEPT_LINES, _SHOWN_LINES, _SHOWN_CHARACTERS = 20, 3, 200  # of standard error
FUNCTION = re.compile(r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*):[^\W\d]\w*")  # `module:function`, in place of one
_ERROR = re.compile(r"(?:Uncaught )?[\w.]*(?:Error|Exception)\b[^:]*: ")

Request = Mapping[str, object]
"""A request, or the answer to one, its id included."""


class NoAnswerError(Exception):
    """A program ended, wrote no answer or (`is_silent`) timed out; the message has the end of its standard error."""

    def __init__(self, why: str, *, is_silent: bool = False) -> None:
        super().__init__(why)
        self.is_silent = is_silent


class RunningProgram:
    """A running program; it is ended by `close`, or when an answer is missing."""

    def __init__(self, words: Sequence[str], seconds: float) -> None:
        self._seconds = seconds
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._complaint: deque[bytes] = deque(maxlen=_KEPT_LINES)
        self._threads: list[threading.Thread] = []
        pipe, none = subprocess.PIPE, subprocess.DEVNULL
        # The guard comes first and leads the group: its input closes when this process ends, however it ends, and it
        # then kills the group, which is the program and all that the program started.
        guard = ("sh", "-c", "read -r _; kill -s KILL 0")
        self._guard = subprocess.Popen(guard, stdin=pipe, stdout=none, stderr=none, process_group=0)
        # Python would buffer its answers in a pipe.
        environment, group = {**os.environ, "PYTHONUNBUFFERED": "1"}, self._guard.pid
        try:
            self._process = subprocess.Popen(
                words, stdin=pipe, stdout=pipe, stderr=pipe, process_group=group, env=environment
            )
        except OSError as error:
            self._guard.communicate()
            raise NoAnswerError(f"{words[0]} cannot be started: {error.strerror}") from error
        self._in_thread(partial(self._read, self._process.stdout, MAX_LINE_BYTES + 1, self._lines.put))
        self._in_thread(partial(self._read, self._process.stderr, 1 << 10, self._complaint.append))

    def send(self, requests: Sequence[Request], *, are_all: bool = False) -> None:
        """Send requests without waiting, and close the input after the last one (`are_all`)."""
        self._in_thread(partial(self._write, requests, are_all=are_all))

    def answer(self, owed: Container[str]) -> Request:
        """The next answer to any of the requests `owed` (ids); without one, the program is ended: `NoAnswerError`."""
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
        shown = line[:80].decode(errors="backslashreplace").rstrip()
        why = f"it wrote {shown!r}, not a JSON object with the id of an open request; write messages to standard error"
        if len(line) > MAX_LINE_BYTES:
            why = f"its answer has a line of more than {MAX_LINE_BYTES:,} bytes"
        else:
            with suppress(ValueError, RecursionError):
                answer = parsed_json(line)
                if isinstance(answer, dict) and isinstance(answer.get("id"), str) and answer["id"] in owed:
                    return answer
        raise NoAnswerError(self._ended(why))

    def close(self, seconds: float = 0) -> None:
        """End the program with all that it started, at most `seconds` after closing its input."""
        if seconds:
            self._write((), are_all=True)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
        # The group's id cannot be reused before the guard is waited for.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._guard.pid, signal.SIGKILL)
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

    def _read(self, stream: IO[bytes] | None, most: int, keep: Callable[[bytes], None]) -> None:
        assert stream is not None
        with suppress(OSError, ValueError), stream:
            while line := stream.readline(most):
                if line.strip():
                    keep(line)
        keep(b"")

    def _ended(self, why: str) -> str:
        """End the program; return `why` with the last lines of its standard error."""
        self.close()
        text = b"".join(self._complaint).decode(errors="replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        # Python prints the stack above the error, other languages below it.
        errors = [number for number, line in enumerate(lines) if _ERROR.match(line)]
        shown = " | ".join(lines[max(0, errors[-1] - 2) : errors[-1] + 2] if errors else lines[-_SHOWN_LINES:])
        shown = shown if len(shown) <= _SHOWN_CHARACTERS else f"…{shown[-_SHOWN_CHARACTERS:]}"
        return f"{why}; standard error: {shown}" if shown else why


@dataclass(frozen=True)
class JsonCommand:
    """A program and its arguments, run without a shell; it may be silent for `seconds` while it owes answers."""

    words: tuple[str, ...]
    seconds: float = ANSWER_SECONDS

    @classmethod
    def of(cls, text: str, *, seconds: float = ANSWER_SECONDS) -> JsonCommand:
        """A command as a person writes it; words with blanks are in quotes."""
        try:
            words = shlex.split(text) or [""]
        except ValueError as error:
            raise GoldspanError(f"the command {text!r} cannot be read: {error}", code=Exit.USAGE) from error
        if shutil.which(words[0]) is None:
            message = f"the program {words[0]!r} is not installed"
            hint = "Install it, or give an executable file: ./chunk, python chunk.py"
            raise GoldspanError(message, where=f"the command {text!r}", hint=hint, code=Exit.MISSING)
        return cls(tuple(words), seconds)

    @property
    def files(self) -> list[Path]:
        """The files among its words."""
        return [Path(word) for word in self.words if Path(word).is_file()]

    @cached_property
    def digest(self) -> str:
        """The digest of its words and of the files among them; files that these read in turn are not included."""
        return fingerprint(list(self.words), [sha256_of_file(file) for file in self.files])

    def answers(self, requests: Sequence[Request]) -> list[Request]:
        """The answer to each request (by its unique `id`), in order; `error` says why one is missing.

        A program that fails is restarted for the outstanding requests, until the one that it fails on is alone.
        """
        answers, faults = dict[str, Request](), dict[str, str]()
        batches, n_vain, last = [list(requests)] if requests else [], 0, ""
        while batches and (answers or n_vain < MAX_VAIN):
            owed, is_silent = {str(request["id"]): request for request in batches.pop()}, False
            n_sent = len(owed)
            try:
                with closing(RunningProgram(self.words, self.seconds)) as program:
                    program.send([*owed.values()], are_all=True)
                    while owed:
                        answer = program.answer(owed)
                        answers[str(answer["id"])] = answer
                        del owed[str(answer["id"])]
            except NoAnswerError as error:
                last, is_silent = str(error), error.is_silent
            # A run that waited in vain took long.
            n_vain += MAX_VAIN // 2 if is_silent else n_sent == 1
            if n_sent == 1:
                faults |= dict.fromkeys(owed, last)
            elif rest := [*owed.values()]:
                # A program answering as it reads fails at the first it owes; one that reads all first may fail at any.
                middle = 1 if len(rest) < n_sent or not answers else (len(rest) + 1) // 2
                batches += [half for half in (rest[middle:], rest[:middle]) if half]
        given_up = f"not tried: there was no answer to any request before, at last: {last}"
        ids = [str(request["id"]) for request in requests]
        return [answers.get(each) or {"error": faults.get(each, given_up)} for each in ids]
