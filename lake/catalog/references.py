"""What a benchmark's systems are held against where no other is named: fixed before any number is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

REFERENCE = "reference"
"""The name that means it, in place of a system's."""

REFERENCES: Mapping[str, Sequence[str]] = {
    "repoeval": ("fixed-nws-1500+own-file", "*+own-file"),
    "repobench-r": ("whole-file+random", "*+random"),
    "contextbench": ("fixed-nws-1500+bm25-okapi", "*+bm25-okapi"),
}
"""Benchmark → patterns of systems' names; the first that means one is it, and of several the first by name."""

USUAL: Sequence[str] = ("whole-file+bm25-okapi", "*+bm25-okapi")
"""Those of every other benchmark."""
