"""ContextBench with four chunkers and four systems: the source's instances, or made-up ones at the published size."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tests.bench import Bench, Row, Settings
from tests.bench._made_contextbench import instances_folder
from tests.bench._measure import Job, Measured, row

N_ITEMS = 1_136
SYSTEMS = ("*+bm25-okapi", "*+jaccard-regex", "*+random", "*+oracle")
WHOLE = {"seconds": 3_600, "peak_mb": 4_000}


def run(settings: Settings, folder: Path) -> Iterator[Row]:
    """Both stages as they are typed, and both together."""
    published = Path(settings.source, "contextbench")
    if not published.is_dir():
        yield Row("ContextBench's own data", failed="SOURCE is to be a folder that holds contextbench")
        return
    what, cloned, n_items = "the source's items", [], 0
    if settings.full:
        n_items = max(1, round(settings.full * N_ITEMS))
        source, repositories = instances_folder(published / "repo_files", n_items)
        what, cloned = f"{n_items:,} made-up items", ["--repositories", repositories.as_uri()]
    else:
        source = _without_trajectories(published, folder / "source")
    job = Job(replace(settings, source=str(source)), folder)
    done: list[Measured] = []
    for stage, arguments in (("ingest", cloned), ("evaluate", ["--systems", ",".join(SYSTEMS)])):
        measured = job.stage(stage, "contextbench", *arguments)
        done.append(measured)
        an_item = f", {1_000 * measured.cpu_seconds / n_items:,.0f} CPU ms an item" if n_items else ""
        yield row(f"{what}: {stage}{an_item}", measured)
    yield row(f"{what}: both", *done, target=WHOLE if n_items == N_ITEMS else {})


def _without_trajectories(published: Path, bare: Path) -> Path:
    """A source with ContextBench's data alone: trajectories beside it would be imported as runs of their own."""
    (bare / "contextbench").mkdir(parents=True)
    for file in published.glob("*.parquet"):
        shutil.copy(file, bare / "contextbench")
    (bare / "contextbench" / "repo_files").symlink_to((published / "repo_files").resolve())
    return bare


CONTEXTBENCH = Bench(
    name="contextbench",
    title="ContextBench with four chunkers and four systems",
    method=f"from an empty lake, whole processes, the items whose repositories are in SOURCE; {', '.join(SYSTEMS)}. "
    f"FULL=1 measures {N_ITEMS:,} made-up items instead, with cloning, over 66 repositories of the sizes of those in "
    "SOURCE; FULL=0.1 a tenth of them.",
    run=run,
)
