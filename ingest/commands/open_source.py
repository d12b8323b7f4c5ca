"""The sources of the benchmarks asked for, and the servers that repositories are cloned from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ingest.benchmarks.config import Configured, read_config
from ingest.benchmarks.declaration import Benchmark
from ingest.clean import CACHE
from ingest.sources.git import GITHUB, Repositories
from ingest.sources.tree import HUB, Progress, Source
from lake.console import Console
from lake.errors import Exit, GoldspanError
from lake.store import Lake
from lake.text import listed


def open_source(
    spec: str, benchmark: str, *, markers: tuple[str, ...] = (), cache: Path, progress: Progress | None = None
) -> Source:
    """The source of a benchmark that `SOURCE=` names: `sample`, `hub`, or a folder (one called so is `./sample`).

    Raises:
        GoldspanError: There is no such folder, it does not hold the benchmark, or the source does not carry it.
    """
    # Imported when needed: who reads a folder waits neither for tree-sitter nor for ssl.
    if spec == "sample":
        from ingest.mining.sample import contextbench_sample, open_sample

        return contextbench_sample(cache) if benchmark == "contextbench" else open_sample(benchmark)
    if spec == "hub":
        from ingest.sources.hub import open_hub

        return open_hub(benchmark, cache, progress=progress)
    from ingest.sources.folder import open_folder

    return open_folder(Path(spec), benchmark, markers=markers)


def configured(
    config: str, config_reads: str, declared: dict[str, Benchmark], requested: Sequence[str], *, names_source: bool
) -> Configured | None:
    """The benchmark and source that `--config` declares; `names_source` where `--source` names data as well.

    Raises:
        GoldspanError: It is no declaration, or something else is asked for as well.
    """
    if config_reads and not config:
        what = f"--config-reads {config_reads} is given without a declaration that could name files in it"
        raise GoldspanError(what, hint="Give the declaration as well: --config FILE.yaml.", code=Exit.USAGE)
    if not config:
        return None
    if names_source:
        what = f"--config {config} names its own data; --source names other data"
        raise GoldspanError(what, hint="Leave one of them out.", code=Exit.USAGE)
    own = read_config(Path(config), declared, Path(config_reads) if config_reads else None)
    if others := [name for name in requested if name != own.benchmark.name]:
        what = f"--config {config} is of {own.benchmark.name}, and {listed(others)} is asked for"
        raise GoldspanError(what, hint="Ingest the others in a run of their own.", code=Exit.USAGE)
    return own


def open_sources(
    spec: str,
    requested: Sequence[str],
    declared: dict[str, Benchmark],
    store: Lake,
    console: Console,
    progress: Progress | None,
) -> list[tuple[str, Source]]:
    """The sources of the benchmarks asked for; of all the source holds when none is."""
    opened, problems = [], []
    cache = store.root / CACHE
    for name in requested or declared:
        try:
            source = open_source(spec, name, markers=declared[name].markers, cache=cache, progress=progress)
            opened.append((name, source))
        except GoldspanError as error:
            if requested or error.code != Exit.MISSING:
                raise
            problems += [error] if not declared[name].is_collection else []
    if not opened and problems:
        raise problems[0]
    for problem in problems:
        console.say(f"left out: {problem.what}")
    return opened


def cloned_repositories(
    benchmark: Benchmark, source: Source, base: str, store: Lake, console: Console
) -> Repositories | None:
    """The repositories that a benchmark's are cloned from: as asked, else from GitHub what a publisher names."""
    if not base and benchmark.names_commits and source.name == HUB:
        base = GITHUB
    wanted = base and benchmark.clones(source)
    return Repositories(store.root / CACHE, base=base, say=console.say) if wanted else None
