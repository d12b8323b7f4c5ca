"""The commands that a shell runs: single ones, and those connected by pipes."""

import re
from collections import Counter
from collections.abc import Sequence
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


def parted(pipelines: Sequence[Pipeline], output: str | None) -> list[tuple[Sequence[Pipeline], str | None]]:
    """The pipelines between texts that `echo` printed on rows of their own, each with the output between these rows."""
    parts, start, rows = list[tuple[Sequence[Pipeline], str | None]](), 0, (output or "").split("\n")
    texts = [pipeline.echoed_row for pipeline in pipelines]
    expected, printed = Counter(texts), Counter(map(str.strip, rows))
    for index, text in enumerate(texts):
        # A text that is printed more or less often than it is echoed also occurs in a file, or was cut off.
        if text and expected[text] == printed[text]:
            end = next((number for number, row in enumerate(rows) if row.strip() == text), None)
            if end is None:
                break
            parts.append((pipelines[start:index], "\n".join(rows[:end])))
            start, rows = index + 1, rows[end + 1 :]
    return [*parts, (pipelines[start:], "\n".join(rows) if output is not None else None)]
