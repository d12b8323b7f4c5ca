"""What parts of a command cost: its functions by name, each without what other parts that it calls cost."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Meter:
    """Wall and processor seconds by part, of this process and of those that it has started and that have ended."""

    def __init__(self) -> None:
        self.spent: dict[str, list[float]] = {}
        self._part: list[str] = []
        self._since = _now()

    def enter(self, part: str) -> None:
        """From here on what is spent is this part's."""
        self._book()
        self._part.append(part)

    def leave(self) -> None:
        """From here on it is again that of the part around."""
        self._book()
        self._part.pop()

    def _book(self) -> None:
        now = _now()
        if self._part:
            spent = self.spent.setdefault(self._part[-1], [0.0, 0.0])
            for kind, (before, after) in enumerate(zip(self._since, now, strict=True)):
                spent[kind] += after - before
        self._since = now

    def around(self, part: str, function: Callable[P, R]) -> Callable[P, R]:
        """The same function, whose cost is that part's."""

        @wraps(function)
        def metered(*args: P.args, **kwargs: P.kwargs) -> R:
            self.enter(part)
            try:
                return function(*args, **kwargs)
            finally:
                self.leave()

        return metered


def spent_by(module: str, arguments: Sequence[str], parts: Mapping[str, Sequence[str]]) -> dict[str, list[float]]:
    """Run a command in this process: part → wall and processor seconds; what is none of the parts' is `rest`.

    Args:
        module: Where the command's `app` is.
        arguments: What it is given.
        parts: Part → functions, each as `module:name` or `module:Class.name`, under the name that its caller calls.
    """
    meter = Meter()
    for part, functions in parts.items():
        for function in functions:
            where, _, path = function.partition(":")
            *owners, name = path.split(".")
            holder: object = importlib.import_module(where)
            for owner in owners:
                holder = getattr(holder, owner)
            setattr(holder, name, meter.around(part, getattr(holder, name)))
    app = importlib.import_module(module).app
    meter.enter("rest")
    # A command ends by leaving, also where some of its items could not be scored.
    with suppress(SystemExit):
        app(list(arguments), standalone_mode=False)
    meter.leave()
    return meter.spent


def _now() -> tuple[float, float]:
    used = os.times()
    return time.perf_counter(), used.user + used.system + used.children_user + used.children_system
