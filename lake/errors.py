"""Errors that a user can fix: exit codes, the location in the user's own code, and hints with commands to copy.

Only the standard library is imported at load time: others' programs and stages use this before anything is installed.
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
_MAKE = re.compile(r"(?<!\w)make (?:ingest|evaluate|report|serve|clean)(?: (?:ingest|evaluate|report)\b)*\b")


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
    """An error that a user can fix, rendered in at most ten lines: what, where, the first examples, and what to do."""

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
        """Pickle all attributes, so that any subclass survives transfer between processes, whatever its constructor."""
        return copyreg.__newobj__, (type(self), self.what), vars(self)  # type: ignore[attr-defined]  # typeshed lacks it

    def __str__(self) -> str:
        return self.render()

    def render(self) -> str:
        """The message for the user; control characters for a terminal are shown as escapes."""
        about = [f"where: {self.where}"] if self.where else []
        about += [f"for example: {example[:200]}" for example in self.examples[:MAX_EXAMPLES]]
        if (n_more := len(self.examples) - MAX_EXAMPLES) > 0:
            about.append(f"and {n_more:,} more")
        about = [escaped(line).replace("\n", r"\u{A}") for line in about]
        return "\n  ".join([escaped(self.what), *about, *([escaped(self.hint)] if self.hint else [])])


def refusal_of(error: BaseException) -> str:
    """The operating system's message in an OSError or polars error (`No space left on device`); empty if none."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    import polars as pl

    number = _OS_ERROR.search(str(error)) if isinstance(error, (OSError, pl.exceptions.PolarsError)) else None
    return os.strerror(int(number[1])) if number else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The closest known names as a question, or else a list of all; empty if nothing is known."""
    from rapidfuzz import fuzz, process  # needed only on the way to an error

    choices = sorted(set(known))
    close = [match for match, *_ in process.extract(name, choices, scorer=fuzz.ratio, limit=3, score_cutoff=60)]
    if close:
        return f"Did you mean {' or '.join(repr(match) for match in close)}?"
    return f"There is: {listed(choices)}." if choices else ""


def lookup(name: str, kind: str, known: Mapping[str, _T], *, code: Exit = Exit.USAGE) -> _T:
    """The value of a known name; an unknown name raises an error with a suggestion ("did you mean")."""
    if name not in known:
        raise unknown_name(name, kind, known, code=code)
    return known[name]


def unknown_name(name: str, kind: str, known: Iterable[str], *, code: Exit = Exit.USAGE) -> GoldspanError:
    """The error for an unknown name: `unknown chunker 'fixd'. Did you mean 'fixed-nws-<n>'?`."""
    return GoldspanError(f"unknown {kind} {name!r}", hint=did_you_mean(name, known), code=code)


def located(error: BaseException, own: Path | None) -> str:
    """An error on one line, after the file and line of the user's code (in the folder of file `own`) that raised it."""
    message = " ".join(f"{type(error).__name__}: {error}".splitlines())[:300]
    if isinstance(error, SyntaxError) and error.filename:
        return f"{shown_path(Path(error.filename))}:{error.lineno}: {error.msg}"
    folder = own.resolve().parent if own else None
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = Path(frame.filename).resolve()
        is_ours = file.parent != folder and file.is_relative_to(_ROOT)
        is_library = "node_modules" in file.parts or any(file.is_relative_to(library) for library in _LIBRARIES)
        if not is_ours and not is_library and file.is_file():
            return f"{shown_path(file)}:{frame.lineno}: {message}"
    return f"{shown_path(own)}: {message}" if own else message


def file_of(function: Callable[..., object]) -> Path | None:
    """The file that defines a function, or the function bound in a partial; None if it is not defined in Python."""
    while isinstance(function, functools.partial):
        bound = [argument for argument in (*function.args, *function.keywords.values()) if callable(argument)]
        function = bound[0] if bound else function.func
    try:
        return Path(inspect.getfile(inspect.unwrap(function)))
    except TypeError:
        return None


def shown_path(file: Path) -> str:
    """A path fit to publish: relative to the working directory or the checkout, else only `folder/file`."""
    path = file.resolve()
    for base in (Path.cwd(), _ROOT):
        if path.is_relative_to(base):
            return path.relative_to(base).as_posix()
    return f"{path.parent.name}/{path.name}"


def typed(text: str) -> str:
    """A text whose commands can be copied and run: with this Python, lake and site filled in."""
    variables = "".join(f" {name}={shlex.quote(value)}" for name in ("LAKE", "SITE") if (value := _given(name)))
    return _MAKE.sub(lambda match: match[0] + variables, _COMMAND.sub(_command, text))


def _given(name: str) -> str:
    """The value of a command-line flag, or of GOLDSPAN_<NAME> in the environment; empty if neither is set."""
    flag = f"--{name.lower()}"
    pairs = dict(zip(sys.argv, sys.argv[1:], strict=False))
    joined = [word.partition("=")[2] for word in sys.argv if word.startswith(f"{flag}=")]
    return [pairs.get(flag) or os.environ.get(f"GOLDSPAN_{name}") or "", *joined][-1]


def _command(match: re.Match[str]) -> str:
    # The path of this Python, relative to the working directory if it is inside.
    program, here = Path(sys.executable), Path.cwd()
    python = shlex.quote(str(program.relative_to(here) if program.is_relative_to(here) else program))
    start = match[0].replace("python", python, 1)
    is_complete = not match["stage"] or not _given("LAKE") or "--lake" in match.string[match.end() :]
    return start if is_complete else f"GOLDSPAN_LAKE={shlex.quote(_given('LAKE'))} {start}"


def check_libraries(stage: str) -> None:
    """Exit with a message if the dependencies are not installed in this Python."""
    if find_spec("polars") is None:
        first = "" if (_ROOT / ".venv").is_dir() else f"First: make {stage}, which sets it up. Then: "
        command = shlex.join([".venv/bin/python", "-m", stage, *sys.argv[1:]])
        print(f"{stage}: this Python lacks the libraries that Goldspan needs\n  {first}{command}", file=sys.stderr)
        sys.exit(Exit.MISSING)
