"""The main job, from an empty lake to a site; again with nothing changed; again with one more chunker."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ingest.contents.chunkers_by_name import default_chunkers
from tests.bench import Bench, Row, Settings, Target, _plans
from tests.bench._job import STAGES, Job, Parts
from tests.bench._measure import ChildError, Measured, call

FROM_EMPTY = Target(seconds=30, peak_mb=2_000)
UNCHANGED = Target(seconds=3)
ALL_UNCHANGED = {True: Target(cpu_seconds=2), False: Target(cpu_seconds=4)}
"""Of all benchmarks, of the sample and of other data."""
ADDED = "fixed-nws-1000"
EVALUATED = Target(cpu_seconds=25, peak_mb=700)
"""Of evaluating the sample."""
_ALWAYS = ("bm25-okapi", "jaccard-regex", "oracle", "own-file", "random")
_MORE = ("bm25-code", "bm25-lucene", "identifiers", "symbols", "tfidf")
TWICE_THE_SYSTEMS = ",".join(["whole-file+edit-regex", *(f"*+{name}" for name in (*_ALWAYS, *_MORE))])
"""The retrievers that always run, and as many again."""


def run(settings: Settings, folder: Path) -> Iterator[Row]:
    """Three rounds of RepoEval over the same lake, each stage by stage, then all together; one of all benchmarks."""
    rounds = [_Round("from an empty lake"), _Round("nothing changed"), _Round(f"with {ADDED}")]
    alone = ["repoeval"]
    more = [*alone, "--chunkers", ",".join([*default_chunkers(), ADDED])]
    written = ""
    for attempt in range(settings.attempts()):
        job = Job(settings, folder / str(attempt))
        before: Parts = {}
        for one, arguments in zip(rounds, (alone, alone, more), strict=True):
            before = job.parts()
            one.take(job, arguments)
        written = _written(before, job.parts())
        shutil.rmtree(job.folder)
    targets = [FROM_EMPTY, UNCHANGED, Target()]
    for one, target, note in zip(rounds, targets, ["", "", written], strict=True):
        yield from one.rows(Target() if settings.is_sample else target, note)
    yield from _all_benchmarks(settings, folder / "all")
    yield from _evaluated(settings, folder / "evaluated")


def _evaluated(settings: Settings, folder: Path) -> Iterator[Row]:
    """Evaluating all benchmarks: what it works, how many parts it writes, and how many query plans it takes."""
    job, twice = Job(settings, folder / "once"), Job(settings, folder / "twice")
    job.stage("ingest")
    shutil.copytree(job.lake, twice.lake)
    counted = Job(settings, folder / "counted")
    shutil.copytree(job.lake, counted.lake)
    before = len(job.parts())
    measured = job.stage("evaluate")
    plans = [call(_plans.count, counted.lake), call(_plans.count, twice.lake, "--systems", TWICE_THE_SYSTEMS)]
    n_plans, n_twice = (int(str(one.said["n_plans"])) for one in plans)
    n_runs, n_runs_twice = (len([path for path in one.parts() if path.startswith("runs/")]) for one in (counted, twice))
    what = f"all benchmarks: evaluate, {len(job.parts()) - before:,} parts, {n_plans:,} plans for {n_runs:,} runs"
    yield Row(
        f"{what}, {n_twice:,} for {n_runs_twice:,}",
        measured.seconds,
        measured.peak_mb,
        measured.cpu_seconds,
        target=EVALUATED if settings.is_sample else Target(),
        extra={"said": dict(measured.said), "n_plans": n_plans, "n_plans_twice": n_twice},
    )


def _all_benchmarks(settings: Settings, folder: Path) -> Iterator[Row]:
    """All stages over all benchmarks that the source holds, nothing having changed."""
    job, again = Job(settings, folder), _Round("nothing changed, all benchmarks")
    _Round("first").take(job, [])
    for _ in range(settings.attempts()):
        again.take(job, [])
    yield from again.rows(ALL_UNCHANGED[settings.is_sample], "")


class _Round:
    """The stages one after the other, as often as they are repeated."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.runs: dict[str, list[Measured]] = {stage: [] for stage in STAGES}
        self.failed: dict[str, str] = {}

    def take(self, job: Job, ingest: Sequence[str]) -> None:
        """Measure every stage once; one that fails ends it."""
        for stage in STAGES:
            try:
                self.runs[stage].append(job.stage(stage, *(ingest if stage == "ingest" else [])))
            except ChildError as error:
                self.failed[stage] = error.line
                return

    def rows(self, target: Target, note: str) -> Iterator[Row]:
        """A row per stage, and one for all: the fastest attempt, and the most memory of any."""
        for stage, runs in self.runs.items():
            what = f"{self.name}: {stage}"
            if runs:
                best = min(runs, key=lambda run: run.seconds)
                said, peak = dict(best.said), max(run.peak_mb for run in runs)
                yield Row(f"{what}{_counts(said)}", best.seconds, peak, best.cpu_seconds, extra={"said": said})
            if stage in self.failed:
                yield Row(what, failed=self.failed[stage])
        if self.failed:
            return
        attempts = zip(*self.runs.values(), strict=True)
        fastest = min(attempts, key=lambda attempt: sum(run.seconds for run in attempt))
        yield Row(
            f"{self.name}: all{note}",
            sum(run.seconds for run in fastest),
            max(run.peak_mb for runs in self.runs.values() for run in runs),
            sum(run.cpu_seconds for run in fastest),
            target=target,
        )


def _counts(said: Mapping[str, object]) -> str:
    """How many parts, or files of the site, the stage left alone."""
    return f", {said['current']:,} current" if said.get("current") else ""


def _written(before: Parts, after: Parts) -> str:
    """How much of the lake the last round wrote, and what of it was not the added chunker's."""
    written = [path for path, state in after.items() if before.get(path) != state]
    other = [path for path in written if ADDED not in path]
    named = f", others: {', '.join(other[:3])}" if other else ""
    return f", wrote {len(written)} of {len(after)} parts, {len(written) - len(other)} its own{named}"


MAIN = Bench(
    name="main",
    title="the main job on RepoEval: ingest, evaluate, report",
    method="whole processes, start and imports included; of several attempts the fastest time and the most memory. "
    "Current: parts of the lake, of report files of the site.",
    run=run,
)
