"""Six chunkers with every lexical retriever and the baselines on RepoEval, from an empty lake."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from evaluate.retrievers import retrievers
from ingest.contents.chunkers_by_name import default_chunkers
from tests.bench import Bench, Row, Settings, Target
from tests.bench._job import Job
from tests.bench._measure import ChildError

CHUNKERS = (*default_chunkers(), "window-20-10", "definition")
RETRIEVERS = ("bm25-okapi", "jaccard-regex")
TARGET = Target(seconds=60, peak_mb=2_000)


def run(settings: Settings, folder: Path) -> Iterator[Row]:
    """Read and cut, then rank, score and aggregate."""
    try:
        yield from from_nothing(
            settings, folder, CHUNKERS, [name for name in RETRIEVERS if name in retrievers()], TARGET
        )
    except ChildError as error:
        yield Row("from an empty lake", failed=error.line)


def from_nothing(
    settings: Settings,
    folder: Path,
    chunkers: Sequence[str],
    names: Sequence[str],
    target: Target,
    *selected: str,
) -> Iterator[Row]:
    """Ingest RepoEval and evaluate retrievers over chunkers, from an empty lake, and both together.

    Raises:
        ChildError: A stage failed.
    """
    systems = ",".join(f"*+{name}" for name in names)
    attempts = []
    for attempt in range(settings.attempts(large=True)):
        job = Job(settings, folder / str(attempt))
        ingest = job.stage("ingest", "--chunkers", ",".join(chunkers), *selected, "repoeval")
        attempts.append((ingest, job.stage("evaluate", "--benchmarks", "repoeval", "--systems", systems)))
    ingest, evaluate = min(attempts, key=lambda pair: pair[0].seconds + pair[1].seconds)
    yield Row(f"ingest, {len(chunkers)} chunkers", ingest.seconds, ingest.peak_mb, ingest.cpu_seconds)
    ranked = f"{evaluate.said['expected']:,} rankings"
    what = f"evaluate, {systems} and baselines, {ranked}"
    yield Row(what, evaluate.seconds, evaluate.peak_mb, evaluate.cpu_seconds)
    yield Row(
        "from an empty lake: both",
        ingest.seconds + evaluate.seconds,
        max(ingest.peak_mb, evaluate.peak_mb),
        ingest.cpu_seconds + evaluate.cpu_seconds,
        target=Target() if settings.is_sample else target,
    )


REPOEVAL = Bench(
    name="repoeval",
    title="RepoEval with six chunkers",
    method=f"whole processes, large; chunkers {', '.join(CHUNKERS)}.",
    run=run,
)
