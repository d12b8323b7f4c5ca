"""A program that searches: asked one item after the other, or for a pool's items together."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ingest.programs.command import JsonCommand, NoAnswerError, Request, RunningProgram
from lake.errors import Exit, GoldspanError

ANSWER_HINT = 'An answer is {"id": …, "results": [{"path": …, "start": 1, "end": 9, "score": 0.5}]}, on one line.'
_MAX_FAILURES = 2
"""After so many items without an answer the rest of a pool is not asked."""


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
            # So long it has for what it writes when it knows that it is asked no more.
            self._program.close(seconds=2)

    def _ask(self, request: Request, *, is_first: bool) -> Request:
        """The answer of the program, which is started where it does not run; the seconds are those from the sending."""
        try:
            program = self._program = self._program or RunningProgram(self.command.words, self.command.seconds)
            started = time.perf_counter()
            program.send([request])
            answer = program.answer({str(request["id"])})
        except NoAnswerError as error:
            self._program = None
            if error.is_invalid:
                raise self._invalid(request, str(error)) from error
            self._n_silences += error.is_silent
            # One that never answered may be one that answers when it has read everything.
            has_answered = bool(self.first_seconds or self.query_seconds)
            self.together = self._n_silences == _MAX_FAILURES and not has_answered
            raise
        (self.first_seconds if is_first else self.query_seconds).append(time.perf_counter() - started)
        return self._checked(request, answer)

    def _checked(self, request: Request, answer: Request) -> Request:
        if problem := self.check(answer):
            raise self._invalid(request, problem)
        if isinstance(results := answer.get("results"), list):
            for result in results:
                result["path"] = result["path"].removeprefix(f"{request['files']}/")
        return answer

    def _invalid(self, request: Request, why: str) -> GoldspanError:
        message = f"the answer to item {request['id']}: {why}"
        return GoldspanError(message, where=self.name, hint=ANSWER_HINT, code=Exit.INVALID)
