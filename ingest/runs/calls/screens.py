"""Screens of a terminal, with a prompt before each command: what each printed, and the folder it ran in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_HOST = r"[\w.-]{1,64}@[\w.-]{1,255}"
_PROMPT = re.compile(
    rf"(?:\([\w.-]{{1,64}}\) )?(?:{_HOST}:(?P<folder>[/~][^\n#$]{{0,400}}?)|\[{_HOST} [^\]\n]{{1,400}}\]) ?[#$] ?"
)
_CONTINUED = re.compile(r"\n> ?")
_MAX_CHARACTERS = 2_000_000


@dataclass(frozen=True)
class ScreenOutput:
    """What a screen says of one command.

    Attributes:
        output: What it printed; None where the screen does not show its beginning.
        folder: Where it ran; empty where that is not said.
    """

    output: str | None = None
    folder: str = ""


def printed_on(screen: str, commands: Sequence[str]) -> list[ScreenOutput]:
    """What a screen shows of each of some commands, which were typed one after the other.

    A command whose prompt has moved out of sight, or is not there yet, has no output that is known. A screen without
    any prompt is the output of all of them.
    """
    prompts = list(_PROMPT.finditer(screen, 0, _MAX_CHARACTERS))
    if not prompts:
        return [ScreenOutput(screen) for _ in commands]
    ends = [*(prompt.start() for prompt in prompts[1:]), len(screen)]
    left = list(zip(prompts, ends, strict=True))
    printed: list[ScreenOutput] = []
    for command in commands:
        after = [_after(screen[prompt.end() : end], command) for prompt, end in left]
        place = next((place for place, output in enumerate(after) if output is not None), None)
        if place is None:
            printed.append(ScreenOutput())
            continue
        folder = (left[place][0]["folder"] or "").strip()
        printed.append(ScreenOutput(after[place], folder if folder.startswith("/") else ""))
        left = left[place + 1 :]
    return printed


def _after(text: str, command: str) -> str | None:
    """What follows a command in a text that begins with it, however its lines are broken; None where it does not."""
    typed = "".join(command.split())
    text = _CONTINUED.sub("\n", text) if "\n" in command.strip() else text
    place = 0
    for character in typed:
        while text[place : place + 1].isspace():
            place += 1
        if text[place : place + 1] != character:
            return None
        place += 1
    # `cat a.p` is not the command where `cat a.py` stands.
    return text[place:] if typed and not text[place : place + 1].strip() else None
