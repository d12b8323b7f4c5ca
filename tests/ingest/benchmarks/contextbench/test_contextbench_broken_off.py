"""ContextBench's ingest broken off at every write: the lake ends as if nothing had happened."""

from __future__ import annotations

import itertools
from pathlib import Path

import polars as pl
import pytest

from lake.store import Lake, Part
from tests.ingest.benchmarks.contextbench.context_cases import OTHER_COMMIT, build, ingested, repo_parquet, row, why_not
from tests.tiny import stored


class BrokenOffError(Exception):
    """What a test breaks a run off with."""


def test_a_run_broken_off_at_any_write_ends_byte_equal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [row("acme__rockets-1"), row("acme__boats-2", repo="boats", base_commit=OTHER_COMMIT)]
    beside = {
        "acme__rockets-1.parquet": repo_parquet(),
        "acme__boats-2.parquet": repo_parquet({"src/engine.py": "x\n" * 5}),
    }
    source = build(tmp_path / "source", rows, files=beside)
    ingested(tmp_path / "whole", source)
    whole = stored(tmp_path / "whole")
    write = Lake.write
    n_writes = 0
    for nth in itertools.count(1):
        left = nth

        def breaks_off(
            lake: Lake, name: str, frame: pl.DataFrame, *, part: str, fingerprint: str, **folders: str
        ) -> Part:
            nonlocal left
            left -= 1
            if not left:
                raise BrokenOffError
            return write(lake, name, frame, part=part, fingerprint=fingerprint, **folders)

        lake = tmp_path / f"lake-{nth}"
        with monkeypatch.context() as patched:
            patched.setattr(Lake, "write", breaks_off)
            try:
                ingested(lake, source)
                break
            except BrokenOffError:
                n_writes = nth
        ingested(lake, source)
        assert stored(lake) == whole
        assert why_not(lake) == {"acme__rockets-1": None, "acme__boats-2": None}
    # Two repositories in two parts each, their contents, and five tables.
    assert n_writes >= 12
