"""Faults a person can mend: exit codes, the line of their own code that is meant, and commands they can type as hints.

It needs the standard library alone: programs use it that know nothing else of Goldspan, and stages before they know
that what they need is installed.
"""

import copyreg
import functools
import inspect
import os
import re
import shlex
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from enum import IntEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from lake.text import escaped, listed

MAX_EXAMPLES = 3

_T = TypeVar("_T")

_OS_ERROR = re.compile(r"os error (\d+)")
_ROOT = Path(__file__).resolve().parents[1]
_LIBRARIES = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib"))

_COMMAND = re.compile(r"(?<![\w/])python -m (?P<stage>(?:ingest|evaluate|report)\b)?")
_MAKE = re.compile(r"(?<!\w)make (?P<verbs>(?:ingest|evaluate|report|serve|clean)(?: (?:ingest|evaluate|report)\b)*)\b")
_READERS = {"LAKE": {"ingest", "evaluate", "report", "clean"}, "SITE": {"report", "serve"}}
"""Make variable → the verbs that it is for."""


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
    import polars as pl

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


def located(error: BaseException, own: Path | None) -> str:
    """An error on one line, behind the file and line of somebody's own code that it comes from, where that is known.

    Whatever lies beside `own`, a file of that code, is taken for their own too.
    """
    message = " ".join(f"{type(error).__name__}: {error}".splitlines())[:300]
    if isinstance(error, SyntaxError) and error.filename:
        return f"{shown_path(Path(error.filename))}:{error.lineno}: {error.msg}"
    folder = own.resolve().parent if own else None
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = Path(frame.filename).resolve()
        is_ours = file.parent != folder and file.is_relative_to(_ROOT)
        if not is_ours and file.is_file() and not is_library(file):
            return f"{shown_path(file)}:{frame.lineno}: {message}"
    return f"{shown_path(own)}: {message}" if own else message


def is_library(file: Path) -> bool:
    """Whether a file was installed, and is nobody's own: Python's, its packages' or Node's."""
    path = file.resolve()
    return "node_modules" in path.parts or any(path.is_relative_to(library) for library in _LIBRARIES)


def file_of(function: Callable[..., object]) -> Path | None:
    """The file that a function, or the one that is bound to it, is written in; None of what Python does not define."""
    while isinstance(function, functools.partial):
        bound = [argument for argument in (*function.args, *function.keywords.values()) if callable(argument)]
        function = bound[0] if bound else function.func
    try:
        return Path(inspect.getfile(inspect.unwrap(function)))
    except TypeError:
        return None


def shown_path(file: Path) -> str:
    """A file as a page may name it: from the working directory or the checkout, else with its own folder alone."""
    path = file.resolve()
    for base in (Path.cwd(), _ROOT):
        if path.is_relative_to(base):
            return path.relative_to(base).as_posix()
    return f"{path.parent.name}/{path.name}"


def given(flag: str) -> str:
    """The value of a flag of the command, or of GOLDSPAN_<FLAG> in the environment; empty without."""
    pairs = dict(zip(sys.argv, sys.argv[1:], strict=False))
    joined = [word.partition("=")[2] for word in sys.argv if word.startswith(f"--{flag}=")]
    return [pairs.get(f"--{flag}") or os.environ.get(f"GOLDSPAN_{flag.upper()}") or "", *joined][-1]


def typed(text: str) -> str:
    """A sentence whose commands can be typed as they are: by this Python, with the lake and the site of the command."""
    return _MAKE.sub(_make, _COMMAND.sub(_command, text))


def _command(match: re.Match[str]) -> str:
    # This Python from the working directory, or wherever it is.
    program, here = Path(sys.executable), Path.cwd()
    python = shlex.quote(str(program.relative_to(here) if program.is_relative_to(here) else program))
    start = match[0].replace("python", python, 1)
    is_complete = not match["stage"] or not given("lake") or "--lake" in match.string[match.end() :]
    return start if is_complete else f"GOLDSPAN_LAKE={shlex.quote(given('lake'))} {start}"


def _make(match: re.Match[str]) -> str:
    verbs = set(match["verbs"].split())
    of_verbs = [name for name, readers in _READERS.items() if verbs & readers and given(name.lower())]
    return " ".join([match[0], *(f"{name}={shlex.quote(given(name.lower()))}" for name in of_verbs)])


def check_libraries(stage: str) -> None:
    """End in a sentence where this Python has not what Goldspan needs."""
    if find_spec("polars") is None:
        environment = _ROOT / ".venv"
        first = "" if environment.is_dir() else f"First: make {stage}, which sets it up. Then: "
        words = [".venv/bin/python", "-m", stage, *sys.argv[1:]]
        print(
            f"{stage}: this Python lacks the libraries that Goldspan needs\n  {first}{shlex.join(words)}",
            file=sys.stderr,
        )
        sys.exit(Exit.MISSING)
