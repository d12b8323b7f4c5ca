"""Speed and memory, measured side by side with named peers: `python -m tests.bench [NAME…]`. One file per bench."""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lake.declarations import discover

ROOT = Path(__file__).parents[2]
"""The checkout, where every measured command runs."""

MEGABYTE = 1_000_000


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
class Target:
    """What a row should reach; what is None is not asked."""

    seconds: float | None = None
    peak_mb: float | None = None
    ratio: float | None = None
    difference: float | None = None
    cpu_seconds: float | None = None
    disk_mb: float | None = None

    def __str__(self) -> str:
        forms = {"seconds": "≤ {:g} s", "cpu_seconds": "≤ {:g} CPU s", "peak_mb": "≤ {:,.0f} MB"}
        forms |= {"disk_mb": "≤ {:,.0f} MB written", "ratio": "≥ {:g}×", "difference": "equal to {:g}"}
        limits = {name: getattr(self, name) for name in forms}
        return ", ".join(form.format(limits[name]) for name, form in forms.items() if limits[name] is not None)


@dataclass(frozen=True)
class Row:
    """One measured thing.

    Attributes:
        peak_mb: The most memory it held at once, in millions of bytes.
        cpu_seconds: What all its threads and children worked: what a busy machine disturbs least.
        ratio: How many times as fast as the fastest peer it is.
        difference: The largest one between its numbers and those of `against`.
        disk_mb: What it wrote, in millions of bytes.
        failed: Why there is no measurement.
        extra: Further numbers, for `--json`.
    """

    what: str
    seconds: float | None = None
    peak_mb: float | None = None
    cpu_seconds: float | None = None
    ratio: float | None = None
    difference: float | None = None
    against: str = ""
    disk_mb: float | None = None
    target: Target = field(default_factory=Target)
    failed: str = ""
    extra: Mapping[str, object] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """`ok`, `over`, `failed`, or nothing where there is no target."""
        if self.failed:
            return "failed"
        if self.target == Target():
            return ""
        target = self.target
        names = ("seconds", "cpu_seconds", "peak_mb", "difference", "disk_mb")
        limits = [(getattr(self, name), getattr(target, name)) for name in names]
        # Compared so that what was not measured, or is no number, never passes.
        at_most = all(limit is None or (value is not None and value <= limit) for value, limit in limits)
        is_fast = target.ratio is None or (self.ratio is not None and self.ratio >= target.ratio)
        return "ok" if at_most and is_fast else "over"


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
