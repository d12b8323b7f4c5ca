"""Faults a person can mend, and the exit codes the commands answer with."""

import copyreg
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from enum import IntEnum
from typing import TypeVar

import polars as pl

from lake.text import escaped, listed

MAX_EXAMPLES = 3

_T = TypeVar("_T")

_OS_ERROR = re.compile(r"os error (\d+)")


class Exit(IntEnum):
    """The exit statuses of commands."""

    DONE = 0
    ERROR = 1
    USAGE = 2
    INVALID = 3
    MISSING = 4
    INCOMPLETE = 5
    GATE = 6
    INTERRUPTED = 130
    TERMINATED = 143


class GoldspanError(Exception):
    """A fault in what was given, told in at most ten lines: what, where, the first examples, and what to do."""

    def __init__(
        self, what: str, *, where: str = "", examples: Sequence[str] = (), hint: str = "", code: Exit = Exit.ERROR
    ) -> None:
        self.what = what
        self.where = where
        self.examples = tuple(examples)
        self.hint = hint
        self.code = code
        super().__init__(what)

    def __reduce__(self) -> tuple[object, ...]:
        """Raised in another process, it arrives whole, whatever its kind is made with."""
        return copyreg.__newobj__, (type(self), self.what), vars(self)  # type: ignore[attr-defined]  # typeshed lacks it

    def __str__(self) -> str:
        return self.render()

    def render(self) -> str:
        """The message as a person reads it; what a terminal would obey is shown as an escape."""
        lines = [escaped(self.what)]
        lines += [f"  where: {_on_a_line(self.where)}"] if self.where else []
        lines += [f"  for example: {_on_a_line(example[:200])}" for example in self.examples[:MAX_EXAMPLES]]
        if (n_more := len(self.examples) - MAX_EXAMPLES) > 0:
            lines.append(f"  and {n_more:,} more")
        return "\n".join([*lines, *([f"  {escaped(self.hint)}"] if self.hint else [])])


def _on_a_line(text: str) -> str:
    return escaped(text).replace("\n", r"\u{A}")


def refusal_of(error: BaseException) -> str:
    """The system's own message in an error, polars' among them: `No space left on device`; empty where it has none."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    number = _OS_ERROR.search(str(error)) if isinstance(error, (OSError, pl.exceptions.PolarsError)) else None
    return os.strerror(int(number[1])) if number else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The closest known names as a question, else the list of what there is; empty when nothing is known."""
    choices = sorted(set(known))
    close = get_close_matches(name, choices, n=3, cutoff=0.6)
    if close:
        return f"Did you mean {' or '.join(repr(match) for match in close)}?"
    return f"There is: {listed(choices)}." if choices else ""


def lookup(name: str, kind: str, known: Mapping[str, _T], *, code: Exit = Exit.USAGE) -> _T:
    """The value of a known name; an unknown one is an error that asks "did you mean"."""
    if name not in known:
        raise unknown_name(name, kind, known, code=code)
    return known[name]


def unknown_name(name: str, kind: str, known: Iterable[str], *, code: Exit = Exit.USAGE) -> GoldspanError:
    """The error for a name that is not declared: `unknown chunker 'fixd'. Did you mean 'fixed-nws-<n>'?`."""
    return GoldspanError(f"unknown {kind} {name!r}", hint=did_you_mean(name, known), code=code)
