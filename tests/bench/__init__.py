"""Speed and memory, measured side by side with named peers: `python -m tests.bench [NAME…]`. One file per bench."""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lake.declarations import discover

ROOT = Path(__file__).parents[2]
"""The checkout, where every measured command runs."""
MEGABYTE = 1_000_000
FORMS = {
    "seconds": "{:.2f} s",
    "cpu_seconds": "{:.2f} CPU s",
    "peak_mb": "{:,.0f} MB",
    "disk_mb": "{:,.1f} MB written",
    "ratio": "{:.2f}×",
    "difference": "{:.1e}",
}
"""What is measured of a row, as it is printed: `ratio` is how many times as fast as its peer it is, `difference` the
largest between its numbers and the peer's."""
Target = Mapping[str, float]
"""What a row should reach: at most, of a ratio at least."""


@dataclass(frozen=True)
class Settings:
    """What a bench is run with; `source` is `sample`, `hub` or an absolute folder."""

    source: str
    repeat: int | None = None
    rows: tuple[int, ...] = ()
    full: float = 0.0

    def attempts(self, *, large: bool = False) -> int:
        """How often something is measured; the fastest attempt counts."""
        return self.repeat or (1 if large else 3)

    @property
    def is_sample(self) -> bool:
        """Whether the data is the bundled sample, for which no target is set."""
        return self.source == "sample"


@dataclass(frozen=True)
class Row:
    """One measured thing: numbers by the names in FORMS, or why there are none (`failed`)."""

    what: str
    measured: Mapping[str, float] = field(default_factory=dict)
    target: Target = field(default_factory=dict)
    failed: str = ""

    @property
    def verdict(self) -> str:
        """`ok`, `over`, `failed`, or nothing where there is no target."""
        if self.failed or not self.target:
            return "failed" if self.failed else ""
        # What was not measured, or is no number, never passes.
        numbers = {name: self.measured.get(name, float("nan")) for name in self.target}
        reached = (n >= self.target[name] if name == "ratio" else n <= self.target[name] for name, n in numbers.items())
        return "ok" if all(reached) else "over"


@dataclass(frozen=True)
class Bench:
    """Something that is measured: `run(settings, folder)` yields rows, into a folder that is taken away afterwards.

    A child process that fails ends it with a row that says so; `method` is what holds beyond what holds for all.
    """

    name: str
    title: str
    method: str
    run: Callable[[Settings, Path], Iterator[Row]]


def benches() -> Mapping[str, Bench]:
    """Every declared bench by name."""
    return discover(sys.modules[__name__], Bench)
