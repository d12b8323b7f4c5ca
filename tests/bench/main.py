"""The main job, from an empty lake to a site; again with nothing changed; again with one more chunker."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import typer

from evaluate.commands import app
from ingest.contents.chunkers_by_name import default_chunkers
from tests.bench import Bench, Row, Settings, Target
from tests.bench._measure import STAGES, Job, Measured, Parts, call, row

FROM_EMPTY = {"seconds": 30, "peak_mb": 2_000}
UNCHANGED = {"seconds": 3}
ALL_UNCHANGED = {True: {"cpu_seconds": 2}, False: {"cpu_seconds": 4}}
"""Of all benchmarks, of the sample and of other data."""
ADDED = "fixed-nws-1000"
Stages = Mapping[str, Measured]
EVALUATED = {"cpu_seconds": 25, "peak_mb": 700}
"""Of evaluating the sample."""
_ALWAYS = ("bm25-okapi", "jaccard-regex", "oracle", "own-file", "random")
_MORE = ("bm25-code", "bm25-lucene", "identifiers", "symbols", "tfidf")
TWICE_THE_SYSTEMS = ",".join(["whole-file+edit-regex", *(f"*+{name}" for name in (*_ALWAYS, *_MORE))])
"""The retrievers that always run, and as many again."""


def run(settings: Settings, folder: Path) -> Iterator[Row]:
    """Three rounds of RepoEval over the same lake, each stage by stage, then all together; one of all benchmarks."""
    more = ("repoeval", "--chunkers", ",".join([*default_chunkers(), ADDED]))
    rounds = {"from an empty lake": ("repoeval",), "nothing changed": ("repoeval",), f"with {ADDED}": more}
    taken: dict[str, list[Stages]] = {name: [] for name in rounds}
    written = ""
    for attempt in range(settings.attempts()):
        job = Job(settings, folder / str(attempt))
        before: Parts = {}
        for name, arguments in rounds.items():
            before = job.parts()
            taken[name].append(job.stages(*arguments))
        written = _written(before, job.parts())
        shutil.rmtree(job.folder)
    for (name, attempts), target, note in zip(
        taken.items(), (FROM_EMPTY, UNCHANGED, {}), ("", "", written), strict=True
    ):
        yield from _rows(name, attempts, {} if settings.is_sample else target, note)
    job = Job(settings, folder / "all")
    job.stages()
    again = [job.stages() for _ in range(settings.attempts())]
    yield from _rows("nothing changed, all benchmarks", again, ALL_UNCHANGED[settings.is_sample])
    yield from _evaluated(settings, folder / "evaluated")


def _rows(name: str, attempts: Sequence[Stages], target: Target, note: str = "") -> Iterator[Row]:
    """A row per stage and one for all of them: the fastest attempt, and the most memory of any."""
    for stage in STAGES:
        best = min((attempt[stage] for attempt in attempts), key=lambda measured: measured.seconds)
        peak = max(attempt[stage].peak_mb for attempt in attempts)
        # How many parts, or files of the site, the stage left alone.
        current = f", {best.answer['current']:,} current" if best.answer.get("current") else ""
        yield row(f"{name}: {stage}{current}", replace(best, peak_mb=peak))
    fastest = min(attempts, key=lambda attempt: sum(measured.seconds for measured in attempt.values()))
    peak = max(measured.peak_mb for attempt in attempts for measured in attempt.values())
    yield row(f"{name}: all{note}", *(replace(measured, peak_mb=peak) for measured in fastest.values()), target=target)


def _evaluated(settings: Settings, folder: Path) -> Iterator[Row]:
    """Evaluating all benchmarks: what it works, how many parts it writes, and how many query plans it takes."""
    job, twice, counted = (Job(settings, folder / name) for name in ("once", "twice", "counted"))
    job.stage("ingest")
    for other in (twice, counted):
        shutil.copytree(job.lake, other.lake)
    before = len(job.parts())
    measured = job.stage("evaluate")
    plans = [call(count, counted.lake), call(count, twice.lake, "--systems", TWICE_THE_SYSTEMS)]
    n_plans, n_twice = (int(str(plan.answer["n_plans"])) for plan in plans)
    n_runs, n_runs_twice = (len([path for path in job.parts() if path.startswith("runs/")]) for job in (counted, twice))
    what = f"all benchmarks: evaluate, {len(job.parts()) - before:,} parts, {n_plans:,} plans for {n_runs:,} runs"
    yield row(
        f"{what}, {n_twice:,} for {n_runs_twice:,}",
        measured,
        target=EVALUATED if settings.is_sample else {},
    )


def _written(before: Parts, after: Parts) -> str:
    """How much of the lake the last round wrote, and what of it was not the added chunker's."""
    written = [path for path, state in after.items() if before.get(path) != state]
    other = [path for path in written if ADDED not in path]
    others = f", others: {', '.join(other[:3])}" if other else ""
    return f", wrote {len(written)} of {len(after)} parts, {len(written) - len(other)} its own{others}"


def count(lake: str, *arguments: str) -> dict[str, object]:
    """Evaluate a lake in this process; how many plans that took, `collect_all` counting as one for all it is given."""
    counted = [0]

    def counting(function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any, **options: Any) -> Any:  # noqa: ANN401  # as the library has it
            counted[0] += 1
            return function(*given, **options)

        return called

    # Of eager frames as well, which are carried out as plans.
    ways = [(pl.LazyFrame, "collect"), (pl.LazyFrame, "_collect_eager"), (pl, "collect_all")]
    words = ["run", "--lake", lake, "--engine", "local:1", "--quiet", *arguments]
    with ExitStack() as stack, suppress(SystemExit, typer.Exit):
        for owner, name in ways:
            stack.enter_context(patch.object(owner, name, counting(getattr(owner, name))))
        typer.main.get_command(app)(words, standalone_mode=False)
    return {"n_plans": counted[0]}


MAIN = Bench(
    name="main",
    title="the main job on RepoEval: ingest, evaluate, report",
    method="whole processes, start and imports included; of several attempts the fastest time and the most memory. "
    "Current: parts of the lake, of report files of the site.",
    run=run,
)
