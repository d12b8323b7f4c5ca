"""What `--search WHAT` means: a command in any language, a Python function, or ripgrep."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ingest.json_command import JsonCommand
from ingest.searches import function_program, ripgrep_program
from lake.errors import Exit, GoldspanError
from lake.fingerprint import sha256_of_file
from lake.make import made_from

RIPGREP = "ripgrep"
_FUNCTION = re.compile(r"(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*):[^\W\d]\w*")


def is_ripgrep(what: str) -> bool:
    """Whether it is ripgrep that is meant, which is called rg where it is installed."""
    return what.strip() in {RIPGREP, "rg"}


@dataclass(frozen=True)
class Search:
    """A program that answers items.

    Attributes:
        what: As it was written.
        kind: The run's format.
        files: Path → sha256 of the files that it was made of, as far as the command names them.
        versions: Program → version, where it is known.
    """

    what: str
    kind: Literal["command", "function", "ripgrep"]
    command: JsonCommand
    files: Mapping[str, str]
    versions: Mapping[str, str]

    @classmethod
    def of(cls, what: str, seconds: float) -> Search:
        """The program that is meant, which is on this machine; nothing is started."""
        if is_ripgrep(what):
            return cls(RIPGREP, "ripgrep", _python(ripgrep_program.__file__, seconds), {}, {RIPGREP: _ripgrep()})
        if found := _FUNCTION.fullmatch(what.strip()):
            path = Path(*found["module"].split("."))
            files = [one for one in (path.with_suffix(".py"), path / "__init__.py") if one.is_file()]
            command = _python(function_program.__file__, seconds, what.strip())
            return cls(what.strip(), "function", command, _digests(files), {})
        command = JsonCommand.of(what, seconds=seconds)
        return cls(what, "command", command, _digests(command.files), {})

    @property
    def fingerprint(self) -> str:
        """What its answers depend on, as far as it is known."""
        ours: Mapping[str, Sequence[Callable[..., object]]] = {
            "ripgrep": [ripgrep_program.main], "function": [function_program.main], "command": []
        }  # fmt: skip
        told = [self.what, self.kind, dict(self.files), dict(self.versions)]
        return made_from(parameters=told, code=ours[self.kind])


def _python(script: str, seconds: float, *arguments: str) -> JsonCommand:
    return JsonCommand((sys.executable, script, *arguments), seconds)


def _digests(files: list[Path]) -> dict[str, str]:
    return {file.as_posix(): sha256_of_file(file) for file in files}


def _ripgrep() -> str:
    """The version of ripgrep; a `GoldspanError` where it is not on this machine."""
    if shutil.which("rg") is None:
        message = "--search ripgrep runs the program rg, which is not on this machine"
        hint = "Install it: apt-get install ripgrep (Debian, Ubuntu), brew install ripgrep (macOS)."
        raise GoldspanError(message, hint=hint, code=Exit.MISSING)
    said = subprocess.run(["rg", "--version"], capture_output=True, text=True, check=False).stdout
    return said.split("\n", 1)[0].removeprefix("ripgrep ").split(" ")[0]
