"""Screens of a terminal, with a prompt before each command: what each printed, and the folder it ran in."""

from __future__ import annotations

import re
from collections.abc import Sequence

_HOST = r"[\w.-]{1,64}@[\w.-]{1,255}"
_PROMPT = re.compile(
    rf"(?:\([\w.-]{{1,64}}\) )?(?:{_HOST}:(?P<folder>[/~][^\n#$]{{0,400}}?)|\[{_HOST} [^\]\n]{{1,400}}\]) ?[#$] ?"
)
_CONTINUED = re.compile(r"\n> ?")
_MAX_CHARACTERS = 2_000_000

ScreenOutput = tuple[str | None, str]
"""What a command printed, None where the screen does not show its beginning; where it ran, empty where not said."""


def printed_on(screen: str, commands: Sequence[str]) -> list[ScreenOutput]:
    """What a screen shows of each of some commands, which were typed one after the other.

    A command whose prompt has moved out of sight, or is not there yet, has no output that is known. A screen without
    any prompt is the output of all of them.
    """
    prompts = list(_PROMPT.finditer(screen, 0, _MAX_CHARACTERS))
    if not prompts:
        return [(screen, "") for _ in commands]
    ends = [*(prompt.start() for prompt in prompts[1:]), len(screen)]
    left = list(zip(prompts, ends, strict=True))
    printed: list[ScreenOutput] = []
    for command in commands:
        for index, (prompt, end) in enumerate(left):
            if (output := _after(screen[prompt.end() : end], command)) is not None:
                folder = (prompt["folder"] or "").strip()
                printed.append((output, folder if folder.startswith("/") else ""))
                left = left[index + 1 :]
                break
        else:
            printed.append((None, ""))
    return printed


def _after(text: str, command: str) -> str | None:
    """What follows a command in a text that begins with it, however its lines are broken; None where it does not."""
    text = _CONTINUED.sub("\n", text) if "\n" in command.strip() else text
    typed = r"\s*".join(map(re.escape, "".join(command.split())))
    # `cat a.p` is not the command where `cat a.py` stands.
    match = re.match(rf"\s*{typed}(?!\S)", text) if typed else None
    return text[match.end() :] if match else None
