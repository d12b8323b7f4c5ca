"""A command in any language that answers JSON lines with JSON lines; what crashes or hangs costs its own answer alone.

Each request is a line `{"id": …, …}` on the command's standard input, which ends behind the last; each answer is a line
with the same id on its standard output, in any order, at once or when all are read.
"""

from __future__ import annotations

import json
import os
import queue
import shlex
import shutil
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, NamedTuple

from lake.bounded_json import parsed_json
from lake.errors import Exit, GoldspanError
from lake.fingerprint import fingerprint, sha256_of_file
from lake.limits import MAX_LINE_BYTES

PATIENCE = 60.0
"""Seconds that a command may be silent while it owes answers."""

MAX_VAIN = 5
"""So many requests may go wrong before any is answered; then the others are not tried."""

_COMPLAINT = 20
"""Lines of standard error that are kept."""

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
            message = f"the command {text!r} cannot be read: {error}"
            raise GoldspanError(message, code=Exit.USAGE) from error
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
            process = started(self.words)
        except OSError as refused:
            return {}, f"{self.words[0]} cannot be started: {refused.strerror}"
        complaint: deque[bytes] = deque(maxlen=_COMPLAINT)
        lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        work = [
            threading.Thread(target=write, args=(process.stdin, requests), daemon=True),
            threading.Thread(target=read, args=(process.stdout, lines), daemon=True),
            threading.Thread(target=keep, args=(process.stderr, complaint), daemon=True),
        ]
        error = ""
        try:
            for thread in work:
                thread.start()
            while owed and not error:
                try:
                    line = lines.get(timeout=self.seconds)
                except queue.Empty:
                    error = f"no answer within {self.seconds:g} seconds"
                    break
                if not line:
                    error = ending(process)
                    break
                answer, error = understood(line, owed)
                if not error:
                    owed.discard(str(answer["id"]))
                    said[str(answer["id"])] = answer
        finally:
            kill(process)
            process.wait()
            for thread in work:
                thread.join(1)
        told = b"".join(complaint).decode(errors="replace").strip()
        return said, f"{error}; it complained: {' | '.join(told.splitlines()[-3:])}" if error and told else error


def started(words: Sequence[str]) -> subprocess.Popen[bytes]:
    """A command with its three streams."""
    # A session of its own, so that what it starts can be ended with it; Python would keep its answers back in a pipe.
    pipe, told = subprocess.PIPE, {**os.environ, "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, env=told)


def ending(process: subprocess.Popen[bytes]) -> str:
    """How a command ended, or closed its output, that owed answers."""
    with suppress(subprocess.TimeoutExpired):
        code = process.wait(1)
        how = f"it was ended by signal {-code}" if code < 0 else f"it ended with status {code}"
        return f"{how} and no answer"
    return "it closed its output and gave no answer"


def understood(line: bytes, owed: set[str]) -> tuple[Mapping[str, object], str]:
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


def write(to: IO[bytes], requests: Sequence[Request]) -> None:
    """Send the requests, and say that there are no more."""
    with suppress(OSError, ValueError), to:
        send(to, requests)


def send(to: IO[bytes], requests: Sequence[Request]) -> None:
    """Send the requests."""
    with suppress(OSError, ValueError):
        for request in requests:
            to.write(json.dumps(request).encode() + b"\n")
            to.flush()


def read(of: IO[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    """Hand on every line, and an empty one at the end."""
    for line in _lines(of):
        lines.put(line)
    lines.put(b"")


def _lines(of: IO[bytes]) -> Iterator[bytes]:
    with suppress(OSError, ValueError), of:
        while line := of.readline(MAX_LINE_BYTES + 1):
            if line.strip():
                yield line


def keep(of: IO[bytes], complaint: deque[bytes]) -> None:
    """Keep the last lines."""
    with suppress(OSError, ValueError), of:
        while line := of.readline(1 << 10):
            complaint.append(line)


def kill(process: subprocess.Popen[bytes]) -> None:
    """End it with all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
