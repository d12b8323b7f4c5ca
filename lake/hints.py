"""Commands in hints, completed so that they can be typed as printed: this Python, and the folders of the command.

Hints are written with `python -m …` and `make …` wherever they are made; :func:`typed` alone completes them.
"""

import os
import re
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

_COMMAND = re.compile(r"(?<![\w/])python -m (?P<stage>(?:ingest|evaluate|report)\b)?")
_MAKE = re.compile(r"(?<!\w)make (?P<verbs>(?:ingest|evaluate|report|serve|clean)(?: (?:ingest|evaluate|report)\b)*)\b")
_READERS = {"LAKE": {"ingest", "evaluate", "report", "clean"}, "SITE": {"report", "serve"}}
"""Make variable → the verbs that it is for."""


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
        environment = Path(__file__).resolve().parents[1] / ".venv"
        first = "" if environment.is_dir() else f"First: make {stage}, which sets it up. Then: "
        words = [".venv/bin/python", "-m", stage, *sys.argv[1:]]
        print(
            f"{stage}: this Python lacks the libraries that Goldspan needs\n  {first}{shlex.join(words)}",
            file=sys.stderr,
        )
        sys.exit(4)
