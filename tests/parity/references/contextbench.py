"""ContextBench's published converter and evaluator: what they made of the runs that are recorded beside the data.

Each run is read twice, from the agents' own files and as the published converter made it. The two readings are compared
view by view; both are evaluated under `contextbench@official-v1`, exported in the evaluator's own form, and compared
with all that it wrote, value by value.
"""

import functools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from lake.errors import Exit, GoldspanError
from tests.parity.references.reference import Reference, Values, Work

_FOLDER = "contextbench/parity"
_RAW = "contextbench/trajectories"
_READING = ["run", "item_id", "part", "step", "path_given", "line_start", "line_end"]
_CONTEXT = ["run", "item_id", "part", "step", "path_given"]


@functools.cache
def import_both(work: Work) -> tuple[dict[str, str], dict[str, str]]:
    """Import every recorded run from the agents' own files, and as the converter made it; run → run id, of each."""
    work.run("ingest", "contextbench", "--source", str(work.source), "--chunkers", "whole-file")
    runs = sorted(path.parent for path in (work.source / _FOLDER).glob("*/official.jsonl"))
    raw = {folder.name: _archive(work.source / _RAW, folder.name) for folder in runs}
    unified = {folder.name: folder / "unified.jsonl" for folder in runs}
    return _imported(work, raw, "raw"), _imported(work, unified, "unified")


def _imported(work: Work, files: Mapping[str, Path], form: str) -> dict[str, str]:
    for run, file in files.items():
        work.run("ingest", "run", str(file), "--benchmark", "contextbench", "--system", f"{run}-{form}")
    runs = work.lake.scan("runs", benchmark="contextbench").select("system", "run_id").collect()
    by_system = dict(runs.iter_rows())
    return {run: by_system[f"{run}-{form}"] for run in files}


def _archive(folder: Path, run: str) -> Path:
    """The archive of a run: `minisweagent_qwen_8b.zip` holds what `qwen_8b` was made from."""
    letters = {file: _letters(file.stem) for file in sorted(folder.glob("*.zip"))}
    fitting = [file for file, name in letters.items() if name.endswith(_letters(run)) or _letters(run).startswith(name)]
    if len(fitting) != 1:
        message = f"{len(fitting)} archives in {folder} could be the run {run}"
        raise GoldspanError(message, examples=[file.name for file in fitting], code=Exit.MISSING)
    return fitting[0]


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


def _read_alike(work: Work) -> Iterator[Values]:
    """The steps and final contexts of every trajectory, from its own file and from the converter's."""
    ours, theirs = (_views(work, run_ids) for run_ids in import_both(work))
    for part, quantity in (("step", "views of a step"), ("final", "views of a final context")):
        here, there = (frame.filter(pl.col("part") == part).with_columns(value=1.0) for frame in (ours, theirs))
        yield Values(quantity, here, there)


def _views(work: Work, run_ids: dict[str, str]) -> pl.DataFrame:
    """Every file and range that a run's contexts hold, by the published reading where there are two."""
    names = pl.DataFrame({"run_id": list(run_ids.values()), "run": list(run_ids)})
    of_runs = pl.col("run_id").is_in(names["run_id"].to_list())
    items = work.lake.scan("run_items", benchmark="contextbench").filter(of_runs)
    is_published = pl.col("part").str.starts_with("published-")
    views = (
        work.lake.scan("hits", benchmark="contextbench")
        .filter(of_runs)
        .join(items.select("run_id", "item_id", "n_steps_published"), on=["run_id", "item_id"])
        .filter(is_published == pl.col("n_steps_published").is_not_null())
        .with_columns(pl.col("part").str.strip_prefix("published-"))
        .join(names.lazy(), on="run_id")
    )
    # A file that is named beside its own ranges says nothing more.
    is_bare = pl.col("line_start").is_null() & pl.col("line_start").is_not_null().any().over(_CONTEXT)
    return views.filter(~is_bare).select(_READING).unique().collect()


def _scored_alike(work: Work) -> Iterator[Values]:
    """Every value of the evaluator's output."""
    forms = import_both(work)
    systems = ",".join(f"{run}-{form}" for form in ("raw", "unified") for run in forms[0])
    work.run("evaluate", "--benchmarks", "contextbench", "--systems", systems)
    for form, run_ids in zip(("from trajectories", "from unified predictions"), forms, strict=True):
        ours, theirs = _both(work, run_ids)
        for quantity in sorted({*ours["quantity"], *theirs["quantity"]}):
            here, there = (frame.filter(pl.col("quantity") == quantity).drop("quantity") for frame in (ours, theirs))
            yield Values(f"{quantity}, {form}", here, there)


def _both(work: Work, run_ids: Mapping[str, str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    pairs = []
    for run, run_id in run_ids.items():
        exported = work.folder / f"{run_id}.jsonl"
        work.run("report", "export", run_id, "--format", "contextbench", "-o", str(exported))
        theirs = _leaves(work.source / _FOLDER / run / "official.jsonl")
        # Of the other instances the evaluator was not asked.
        ours = _leaves(exported).join(theirs, on="instance_id", how="semi")
        pairs.append([frame.with_columns(run=pl.lit(run)) for frame in (ours, theirs)])
    ours, theirs = (pl.concat(frames) for frames in zip(*pairs, strict=True))
    return ours, theirs


def _leaves(file: Path) -> pl.DataFrame:
    """instance_id, place, text, value, quantity of every value in a file of the evaluator's output."""
    rows = []
    with file.open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            rows += [
                (row["instance_id"], path, value if isinstance(value, str) else "", _number(value), _quantity(path))
                for path, value in _walk(row, "")
            ]
    columns = {"instance_id": pl.String, "place": pl.String, "text": pl.String, "value": pl.Float64}
    return pl.DataFrame(rows, schema={**columns, "quantity": pl.String}, orient="row")


def _walk(value: object, path: str) -> Iterator[tuple[str, object]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if inside is None:
        yield path, value
    else:
        for name, inner in inside:
            yield from _walk(inner, f"{path}/{name}")


def _number(value: object) -> float | None:
    """A number; texts are told apart by the key, and so count as equal where the key is."""
    return float(value) if isinstance(value, (int, float)) else None if value is None else 1.0


def _quantity(path: str) -> str:
    """What a value is, by its place in the output: `/final/line/coverage` is of the final context's lines."""
    names = [name for name in path.split("/") if name and not name.isdigit()]
    match names:
        case ["final", granularity, _]:
            return f"final context, {granularity}"
        case ["trajectory", "steps", "coverage", granularity]:
            return f"coverage by step, {granularity}"
        case ["trajectory", "steps", _]:
            return "number of steps"
        case ["trajectory", what, granularity]:
            return f"{what}, {granularity}"
        case ["num_steps"]:
            return "number of steps"
        case [first, *_]:
            return first
    return path


EVALUATOR = Reference(
    name="contextbench-evaluator",
    benchmark="contextbench",
    kind="recorded official output",
    values=_scored_alike,
)

CONVERTER = Reference(
    name="contextbench-converter",
    benchmark="contextbench",
    kind="raw trajectory",
    values=_read_alike,
)
