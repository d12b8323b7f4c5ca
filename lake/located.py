"""Errors with the line of a user's own code that raised them: `mine.py:12: NameError: name 'x' is not defined`.

It needs the standard library alone, as programs use it that know nothing else of Goldspan.
"""

import functools
import inspect
import sysconfig
import traceback
from collections.abc import Callable
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_LIBRARIES = tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib"))


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
