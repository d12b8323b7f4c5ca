"""The project's own commands, run as anyone would type them: for what starts a stage but may not import it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from lake.errors import GoldspanError

CHECKOUT = Path(__file__).resolve().parents[1]
"""The folder that the commands are run in."""

_DONE = {0, 5}
"""5: done, though some rows are rejected or cannot be scored."""


def run_stage(arguments: Sequence[str], lake: Path, say: Callable[[str], None]) -> None:
    """Run `python -m <arguments> --lake <lake>` in the checkout; the arguments begin with the stage.

    Raises:
        GoldspanError: It ended in an error, with the last lines that it printed and its exit code.
    """
    say(f"python -m {' '.join(arguments)}")
    command = [sys.executable, "-m", *arguments, "--lake", str(lake)]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    if done.returncode not in _DONE:
        message = f"python -m {arguments[0]} ended with {done.returncode}"
        raise GoldspanError(message, where=" ".join(arguments), examples=done.stderr.strip().splitlines()[-3:])
