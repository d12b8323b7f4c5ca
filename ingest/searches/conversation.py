"""A command that is asked one thing after the other: each request is sent when the one before it is answered."""

from __future__ import annotations

import queue
import subprocess
import threading
import time
from collections import deque
from contextlib import suppress
from types import TracebackType

from ingest.json_command import Answer, JsonCommand, Request, ending, keep, kill, read, send, started, understood

_KEPT_LINES = 20
_SHOWN_LINES, _SHOWN_CHARACTERS = 3, 90
_WAIT_AT_THE_END = 2


class CrashError(Exception):
    """The command ended, or closed its output, while it owed an answer."""


class TimeOutError(Exception):
    """The command gave no answer in time."""


class NonsenseError(Exception):
    """The command wrote what is no answer to what it was asked."""


class Conversation:
    """One command, started when it is first asked and again after it failed; it ends with the block.

    Args:
        command: The command and its time for each answer.

    Attributes:
        has_answered: Whether it ever did.
    """

    def __init__(self, command: JsonCommand) -> None:
        self.command, self.has_answered = command, False
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._complaint: deque[bytes] = deque(maxlen=_KEPT_LINES)

    def __enter__(self) -> Conversation:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._process is not None and kind is None:
            # It may have something to write at the end of what it is asked.
            self._say_the_end(self._process)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_WAIT_AT_THE_END)
        self._stop()

    def ask(self, request: Request) -> tuple[Answer, float]:
        """The answer to a request, and how many seconds it took from the sending of it.

        Raises:
            CrashError: There is no answer because the command ended.
            TimeOutError: There is none within the command's time.
            NonsenseError: What it wrote is none.
        """
        process = self._process or self._start()
        assert process.stdin is not None
        asked = time.perf_counter()
        threading.Thread(target=send, args=(process.stdin, [request]), daemon=True).start()
        try:
            line = self._lines.get(timeout=self.command.seconds)
        except queue.Empty:
            raise TimeOutError(self._told(f"no answer within {self.command.seconds:g} seconds")) from None
        seconds = time.perf_counter() - asked
        if not line:
            raise CrashError(self._told(ending(process)))
        answer, error = understood(line, {str(request["id"])})
        if error:
            raise NonsenseError(error)
        self.has_answered = True
        return Answer(answer), seconds

    def _stop(self) -> None:
        if self._process is not None:
            kill(self._process)
            self._process.wait()
            self._say_the_end(self._process)
            for thread in self._work:
                thread.join(1)
            self._process = None

    @staticmethod
    def _say_the_end(process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        with suppress(OSError, ValueError):
            process.stdin.close()

    def _start(self) -> subprocess.Popen[bytes]:
        self._lines, self._complaint = queue.SimpleQueue(), deque(maxlen=_KEPT_LINES)
        self._process = process = started(self.command.words)
        assert process.stdout is not None
        assert process.stderr is not None
        self._work = [
            threading.Thread(target=read, args=(process.stdout, self._lines), daemon=True),
            threading.Thread(target=keep, args=(process.stderr, self._complaint), daemon=True),
        ]
        for thread in self._work:
            thread.start()
        return process

    def _told(self, why: str) -> str:
        """Why there is no answer, with the last lines of the command's standard error; the command is ended."""
        self._stop()
        lines = b"".join(self._complaint).decode(errors="replace").strip().splitlines()
        said = " | ".join(line.strip() for line in lines[-_SHOWN_LINES:])
        said = said if len(said) <= _SHOWN_CHARACTERS else f"…{said[-_SHOWN_CHARACTERS:]}"
        return f"{why}; it complained: {said}" if said else why
