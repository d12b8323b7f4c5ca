"""What to type next, so that it can be typed as it is printed: this Python, and the folders that the command was given.

Hints are written with `python -m …` and `make …` wherever they are made; :func:`typed` alone completes them.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

_COMMAND = re.compile(r"(?<![\w/])python -m (?:(?P<stage>ingest|evaluate|report)\b(?: (?P<verb>[a-z]+)\b)?)?")
_MAKE = re.compile(r"(?<!\w)make (?P<verbs>(?:ingest|evaluate|report|serve|clean)(?: (?:ingest|evaluate|report)\b)*)\b")
_VERBS = {
    *("list", "table", "compare", "effects", "repro", "run", "check", "submissions", "verify", "clean", "mine", "own"),
    *("tasks", "export", "publish", "item", "items", "status", "texts"),
}
_WITHOUT_LAKE = {("ingest", "show"), ("evaluate", "score"), ("report", "serve"), ("report", "list")}
_READERS = {"LAKE": {"ingest", "evaluate", "report", "clean"}, "SITE": {"report", "serve"}}
"""Make variable → the verbs that it is for."""


def given(flag: str) -> str:
    """What the command was given as a flag, or as GOLDSPAN_<FLAG> in the environment; empty without."""
    pairs = dict(zip(sys.argv, sys.argv[1:], strict=False))
    joined = [word.partition("=")[2] for word in sys.argv if word.startswith(f"--{flag}=")]
    return [pairs.get(f"--{flag}") or os.environ.get(f"GOLDSPAN_{flag.upper()}") or "", *joined][-1]


def typed(text: str) -> str:
    """A sentence whose commands can be typed as they are: by this Python, with the lake and the site of the command."""
    return _MAKE.sub(_make, _COMMAND.sub(_command, text))


def _command(match: re.Match[str]) -> str:
    stage, verb, lake = match["stage"], match["verb"], given("lake")
    start = match[0].replace("python", _python(), 1)
    if not lake or not stage or (stage, verb) in _WITHOUT_LAKE or "--lake" in match.string[match.end() :]:
        return start
    flag = f" --lake {shlex.quote(lake)}"
    # A stage's own command has no verb, and what follows belongs to that.
    return f"{start}{flag}" if verb in _VERBS or not verb else start.removesuffix(f" {verb}") + f"{flag} {verb}"


def _make(match: re.Match[str]) -> str:
    verbs = set(match["verbs"].split())
    of_verbs = [name for name, readers in _READERS.items() if verbs & readers and given(name.lower())]
    return " ".join([match[0], *(f"{name}={shlex.quote(given(name.lower()))}" for name in of_verbs)])


def _python() -> str:
    """This Python from the working directory, or wherever it is."""
    program = Path(sys.executable)
    return shlex.quote(str(program.relative_to(Path.cwd()) if program.is_relative_to(Path.cwd()) else program))


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
