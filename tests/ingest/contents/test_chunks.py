from __future__ import annotations

from pathlib import Path

import ingest.benchmarks
from ingest.benchmarks.declaration import Benchmark
from ingest.commands.open_source import open_source
from ingest.contents.chunkers import Chunker, Cut, Document
from ingest.contents.processes import Workers
from ingest.pipeline import ingest as ingest_benchmark
from lake.declarations import Resolved, discover
from lake.engine import IN_PROCESS
from lake.outcome import Outcome
from lake.store import Lake


def afraid_of_cats(document: Document) -> Cut:
    if "purr" in document.text:
        message = "meow"
        raise RuntimeError(message)
    return Cut([(0, len(document.lines))])


MEOW = "tests/ingest/contents/test_chunks.py:20: RuntimeError: meow"
AFRAID = Resolved("afraid", Chunker("afraid", "Afraid", "Cuts no cats.", afraid_of_cats), {})


def ingested(lake: Lake, source: Path) -> Outcome:
    benchmark = discover(ingest.benchmarks, Benchmark)["repoeval"]
    opened = open_source(str(source), "repoeval", markers=benchmark.markers, cache=lake.root / "cache")
    with Workers(IN_PROCESS) as workers:
        return ingest_benchmark(lake, benchmark, opened, subsets=["function-2k"], chunkers=[AFRAID], workers=workers)()


def test_a_file_that_a_chunker_cannot_cut_is_a_reject_and_the_rest_goes_on(source: Path, tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    first = ingested(lake, source)
    rejects = lake.read("rejects").filter(position="chunker afraid")
    assert rejects["reason"].to_list() == [f"it could not be cut: {MEOW}"]
    assert first.rejected == 1
    assert f"repoeval: afraid failed on 1 file: {MEOW}" in first.warnings
    assert lake.read("chunks", chunker="afraid").height > 0


def test_what_could_not_be_cut_is_told_again_when_nothing_is_new(source: Path, tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    ingested(lake, source)
    again = ingested(Lake(lake.root), source)
    assert (again.rejected, again.tally.counts()["made"]) == (1, 0)
