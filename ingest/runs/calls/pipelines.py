"""The commands that a shell runs: single ones, and those connected by pipes."""

import re
from dataclasses import dataclass, field
from itertools import chain

from ingest.runs.trajectory import UNKNOWN

SHELLS = ("bash", "sh", "zsh")


@dataclass
class Command:
    """A command: its words without quotes and redirections, and whether its output or its errors are hidden."""

    words: list[str] = field(default_factory=list)
    is_hidden: bool = False
    hides_errors: bool = False

    @property
    def name(self) -> str:
        """The command's name without its folder; empty if it has no words."""
        return self.words[0].rpartition("/")[2] if self.words else ""


@dataclass
class Pipeline:
    """Commands connected by pipes; `joined_by` is the operator before them, `scope` the subshells they run in."""

    commands: list[Command]
    joined_by: str = ""
    scope: tuple[int, ...] = ()

    @property
    def is_hidden(self) -> bool:
        """Whether all of its output is hidden."""
        return any(command.is_hidden for command in self.commands)

    @property
    def echoed_row(self) -> str:
        """The one row of text that an `echo` or `printf` prints whenever it runs; empty for any other pipeline."""
        first, *following = self.commands
        words = [word for word in first.words[1:] if word not in ("-e", "-E")]
        if first.name == "printf":
            pieces = "".join(words[:1]).split("%s")
            is_plain = len(pieces) == len(words) and not any("%" in piece for piece in pieces)
            words = ["".join(chain.from_iterable(zip(pieces, [*words[1:], ""], strict=True)))] if is_plain else []
        text = " ".join(words).replace("\\n", "\n").strip()
        is_row = not (UNKNOWN in text or "\n" in text or re.match(r"-[eE]*n", text))
        return text if is_row and first.name in ("echo", "printf") and not (following or self.is_hidden) else ""
