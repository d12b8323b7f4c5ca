"""A command in any language that answers JSON lines with JSON lines; what crashes or hangs costs its own answer alone.

Each request is a line `{"id": …, …}` on the command's standard input, which ends behind the last; each answer is a line
with the same id on its standard output, in any order, at once or when all are read.
"""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ingest.programs.running import InvalidAnswerError, NoAnswerError, Payload, Request, RunningProgram, SilentError
from lake.errors import Exit, GoldspanError
from lake.fingerprint import fingerprint, sha256_of_file

ANSWER_SECONDS = 60.0
"""Seconds that a command may be silent while it owes answers."""
MAX_VAIN = 5
"""Requests that may go wrong before any is answered; then the others are not tried."""


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

    def start(self) -> RunningProgram:
        """Start it."""
        return RunningProgram(self.words, self.seconds)

    def answers(self, requests: Sequence[Request]) -> list[Payload]:
        """The answer to each request, in their order, or with `error` why there is none; each has an `id` of its own.

        What crashes, hangs or writes nonsense is started again for the requests that it owes, fewer and fewer at a
        time, until the one that it fails on is alone.
        """
        answers: dict[str, Payload] = {}
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

    def run(self, requests: Sequence[Request]) -> tuple[dict[str, Payload], str]:
        """The answers of one start of the command, by id, and why it did not answer the rest."""
        owed = {str(request["id"]) for request in requests}
        payloads: dict[str, Payload] = {}
        try:
            with closing(self.start()) as program:
                program.send(requests, are_all=True)
                while owed:
                    payload = program.answer(owed)
                    owed.discard(str(payload["id"]))
                    payloads[str(payload["id"])] = payload
        except NoAnswerError as error:
            return payloads, str(error)
        return payloads, ""


_MAX_FAILURES = 2
"""After so many items without an answer the rest of a pool is not asked."""
_WAIT_AT_THE_END = 2
"""Seconds that a program has for what it writes when it knows that it is asked no more."""
ANSWER_HINT = 'An answer is {"id": …, "results": [{"path": …, "start": 1, "end": 9, "score": 0.5}]}, on one line.'


@dataclass
class ProgramSession:
    """A program, called as it was written, that is asked one item after the other.

    Attributes:
        check: What is wrong with an answer, or an empty string.
        first_seconds: What the first answer in each pool took, where the pool had others; `query_seconds` the others.
        together: Whether a pool's items are sent together, to a program that is silent until its input ends.
    """

    name: str
    command: JsonCommand
    check: Callable[[Request], str]
    first_seconds: list[float] = field(default_factory=list)
    query_seconds: list[float] = field(default_factory=list)
    together: bool = False
    _n_silences: int = 0
    _program: RunningProgram | None = None

    def answers(self, requests: Sequence[Request]) -> list[Request]:
        """An answer for every item of a pool, or with `error` why there is none."""
        answers: list[Request] = []
        failures: list[str] = []
        for request in requests:
            if self.together:
                break
            if len(failures) == _MAX_FAILURES:
                error = f"not asked, after {_MAX_FAILURES} items without an answer in its pool: {failures[-1]}"
                answers.append({"id": request["id"], "error": error})
                continue
            try:
                answers.append(self._ask(request, is_first=not answers and len(requests) > 1))
            except NoAnswerError as error:
                failures.append(str(error))
                answers.append({"id": request["id"], "error": failures[-1]})
        if not self.together:
            return answers
        # Of one that is sent all items and then its input's end, nothing is timed.
        payloads, why = self.command.run(requests)
        given = [(request, payloads.get(str(request["id"]))) for request in requests]
        return [
            {"id": request["id"], "error": why} if answer is None else self._checked(request, answer)
            for request, answer in given
        ]

    def close(self) -> None:
        """End the program."""
        if self._program is not None:
            self._program.close(_WAIT_AT_THE_END)

    def _ask(self, request: Request, *, is_first: bool) -> Request:
        """The answer of the program, which is started where it does not run; the seconds are those from the sending."""
        try:
            program = self._program = self._program or self.command.start()
            started = time.perf_counter()
            program.send([request])
            answer = program.answer({str(request["id"])})
        except NoAnswerError as error:
            self._program = None
            if isinstance(error, InvalidAnswerError):
                raise self._invalid(request, str(error)) from error
            self._n_silences += isinstance(error, SilentError)
            # One that never answered may be one that answers when it has read everything.
            has_answered = bool(self.first_seconds or self.query_seconds)
            self.together = self._n_silences == _MAX_FAILURES and not has_answered
            raise
        (self.first_seconds if is_first else self.query_seconds).append(time.perf_counter() - started)
        return self._checked(request, answer)

    def _checked(self, request: Request, answer: Request) -> Request:
        """An answer whose paths do not say where the pool's files lay."""
        if problem := self.check(answer):
            raise self._invalid(request, problem)
        if isinstance(results := answer.get("results"), list):
            for result in results:
                result["path"] = result["path"].removeprefix(f"{request['files']}/")
        return answer

    def _invalid(self, request: Request, why: str) -> GoldspanError:
        message = f"the answer to item {request['id']}: {why}"
        return GoldspanError(message, where=self.name, hint=ANSWER_HINT, code=Exit.INVALID)
