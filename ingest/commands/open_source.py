"""The sources of the benchmarks asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ingest.benchmarks.declaration import Benchmark
from ingest.mining.sample import contextbench_sample, open_sample
from ingest.sources.folder import open_folder
from ingest.sources.tree import CACHE, HUB, Progress, Source
from lake.errors import Exit, GoldspanError
from lake.store import Lake


def open_source(
    spec: str, benchmark: str, *, markers: tuple[str, ...] = (), cache: Path, progress: Progress | None = None
) -> Source:
    """The source of a benchmark that `SOURCE=` names: `sample`, `hub`, or a folder (one called so is `./sample`)."""
    if spec == "sample":
        return contextbench_sample(cache) if benchmark == "contextbench" else open_sample(benchmark)
    if spec == HUB:
        # Imported when needed: who reads a folder does not wait for ssl.
        from ingest.sources.hub import open_hub

        return open_hub(benchmark, cache, progress=progress)
    return open_folder(Path(spec), benchmark, markers=markers)


def open_sources(
    spec: str,
    requested: Sequence[str],
    declared: Mapping[str, Benchmark],
    store: Lake,
    say: Callable[[str], None],
    progress: Progress | None,
) -> dict[str, Source]:
    """The sources of the benchmarks asked for, by name; of all that the source holds when none is."""
    opened, problems = dict[str, Source](), []
    for name in requested or declared:
        try:
            cache = store.root / CACHE
            opened[name] = open_source(spec, name, markers=declared[name].markers, cache=cache, progress=progress)
        except GoldspanError as error:
            if requested or error.code != Exit.MISSING:
                raise
            problems += [error] if not declared[name].is_collection else []
    if not opened and problems:
        raise problems[0]
    for problem in problems:
        say(f"left out: {problem.what}")
    return opened
