"""Scoring gathered contexts of a made-up benchmark of the full size, under both protocols."""

import shutil
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from evaluate.partition import Partition
from evaluate.score.conformance import protocol_hash
from evaluate.selection import Selection, selected_parts
from evaluate.systems import Run
from lake.catalog.benchmarks.contextbench import CONTEXTBENCH_ISSUE, CONTEXTS, PUBLISHED
from lake.store import Lake
from lake.tables import table
from tests.bench import Bench, Row, Settings
from tests.bench._measure import Measured, call, fastest, row
from tests.frames import filled

N_ITEMS, N_RUNS, N_STEPS = 1_136, 20, 60
FULL = {"seconds": 20, "peak_mb": 4_000}
_WRITTEN = ("scores", "step_scores", "aggregates")


def run(settings: Settings, folder: Path) -> Iterator[Row]:
    """Protocol by protocol, each with nothing scored yet."""
    lake, size = folder / "full", f"{N_ITEMS:,} items x {N_RUNS} runs x {N_STEPS} steps"
    call(write, lake, N_ITEMS, N_RUNS, N_STEPS)
    for protocol in (PUBLISHED.name, CONTEXTS.name):
        measured = fastest(settings.attempts(large=True), partial(_scored, lake, protocol))
        yield row(f"{protocol}: {size}", measured, target=FULL)


def _scored(lake: Path, protocol: str) -> Measured:
    for name in _WRITTEN:
        shutil.rmtree(lake / name, ignore_errors=True)
    return call(score, lake, protocol)


def score(folder: str, protocol: str) -> dict[str, object]:
    """Score and aggregate every imported run of a lake under a protocol."""
    lake = Lake(Path(folder))
    runs = lake.scan("runs", benchmark="contextbench").filter(pl.col("origin") == "imported").collect()["run_id"]
    for part in list(selected_parts(lake, CONTEXTBENCH_ISSUE, Selection())):
        Partition(part).run([Run(run_id, protocol) for run_id in runs.sort()])
    return {"runs": len(runs)}


Integers = npt.NDArray[np.int64]
Column = str | int | bool | Integers | list[str] | pl.Series

BENCHMARK, PART = "contextbench", "full"
N_REPOSITORIES = 400
_LINE = "x" * 34 + "\n"
_N_FILES = 12
_N_VIEWS = 3
_N_FINAL = 6
_LINES_PER_DEFINITION = 15


def write(folder: str, n_items: str, n_runs: str, n_steps: str) -> dict[str, object]:
    """Write such a lake and return the number of views.

    Every repository has twelve files of 30 to 2,000 lines; an agent views three places per step and answers with six.
    """
    lake, draw = Lake(Path(folder)), np.random.default_rng(5)
    size = np.clip(draw.lognormal(5.5, 0.9, (int(n_items), _N_FILES)).astype(np.int64), 30, 2_000)
    repo = [f"owner/repo-{number % N_REPOSITORIES:03}" for number in range(int(n_items))]
    item_id = [f"item-{number:04}" for number in range(int(n_items))]
    pool_id = [f"{BENCHMARK}/{name}@{number}" for number, name in enumerate(repo)]
    items: dict[str, Column] = {"item_id": item_id, "repo": repo, "pool_id": pool_id, "subset": PART}
    items |= {"source": "Verified", "language": "python", "patch": "-", "scorable": True}
    _write(lake, "items", {**items, "benchmark": BENCHMARK})
    _write_files(lake, pool_id, size.ravel())
    _write_gold(lake, draw, item_id, size)
    for run in range(int(n_runs)):
        _write_run(lake, draw, f"contextbench.issue--agent-{run:02}--00000000", item_id, size, int(n_steps))
    return {"views": int(n_runs) * int(n_items) * (int(n_steps) * _N_VIEWS + _N_FINAL)}


def _write_files(lake: Lake, pool_id: list[str], size: Integers) -> None:
    sha256 = np.array([f"{number:064x}" for number in range(len(size))])
    position = np.tile(np.arange(_N_FILES), len(pool_id))
    files: dict[str, Column] = {"sha256": sha256.tolist(), "position": position, "path": _paths(position)}
    _write(lake, "files", {**files, "pool_id": np.repeat(pool_id, _N_FILES).tolist()}, part="all", kind="searched")
    starts = pl.Series([np.arange(n) * len(_LINE) for n in size], dtype=pl.List(pl.Int64))
    nws = pl.Series([np.full(n, len(_LINE) - 1) for n in size], dtype=pl.List(pl.Int64))
    blobs: dict[str, Column] = {"sha256": sha256.tolist(), "n_bytes": size * len(_LINE), "n_lines": size}
    text = pl.Series([_LINE * int(n) for n in size])
    blobs |= {"text": text, "line_starts": starts, "line_nws": nws, "language": "python"}
    blobs |= {"flags": _empty_lists(len(size), pl.String())}
    _write(lake, "blobs", blobs, part="all")
    row = np.repeat(np.arange(len(size)), size // _LINES_PER_DEFINITION)
    number = np.arange(len(row)) - np.searchsorted(row, row)
    start = number * _LINES_PER_DEFINITION
    # Every eighth is a class around the next seven.
    is_class = number % 8 == 0
    end = np.minimum(start + np.where(is_class, 8 * _LINES_PER_DEFINITION, _LINES_PER_DEFINITION - 1), size[row])
    called = np.char.add("name_", number.astype(str)).tolist()
    kind = np.where(is_class, "class_definition", "function_definition").tolist()
    symbols: dict[str, Column] = {"sha256": sha256[row].tolist(), "kind": kind, "name": called}
    symbols |= {"byte_start": start * len(_LINE), "byte_end": end * len(_LINE), "line_start": start, "line_end": end}
    for rules in ("docs", "official"):
        _write(lake, "symbols", {**symbols, "qualified_name": called, "rules": rules}, part="all", rules=rules)


def _write_gold(lake: Lake, draw: np.random.Generator, item_id: list[str], size: Integers) -> None:
    item, file, start, end = _places(draw, np.repeat(np.arange(len(item_id)), 8), size)
    spans = pl.DataFrame({"item_id": _named(item_id, item), "path": _paths(file), "line_start": start, "line_end": end})
    spans = spans.unique(["item_id", "path", "line_start"], keep="first", maintain_order=True)
    gold: dict[str, Column] = {name: spans[name] for name in spans.columns}
    both = {name: pl.concat([column, column]) for name, column in spans.to_dict().items()}
    rules = ["context"] * spans.height + ["context-official"] * spans.height
    _write(lake, "gold_spans", {**both, "gold": rules, "benchmark": BENCHMARK})
    edits: dict[str, Column] = {"item_id": gold["item_id"], "path": gold["path"], "line": gold["line_start"]}
    _write(lake, "edits", {**edits, "run_id": "gold", "reading": "docs", "kind": "deleted"}, run_id="gold")


def _write_run(
    lake: Lake, draw: np.random.Generator, run_id: str, item_id: list[str], size: Integers, n_steps: int
) -> None:
    of_item = np.concatenate([np.repeat(np.arange(1, n_steps + 1), _N_VIEWS), np.zeros(_N_FINAL, np.int64)])
    ranks = np.concatenate([np.tile(np.arange(1, _N_VIEWS + 1), n_steps), np.arange(1, _N_FINAL + 1)])
    step, rank = np.tile(of_item, len(item_id)), np.tile(ranks, len(item_id))
    item, file, start, end = _places(draw, np.repeat(np.arange(len(item_id)), len(of_item)), size)
    is_whole = draw.random(len(item)) < 0.05
    line_end = pl.Series(end).set(pl.Series(is_whole), None)
    hits: dict[str, Column] = {"item_id": _named(item_id, item), "path": _paths(file), "path_given": _paths(file)}
    hits |= {"part": np.where(step > 0, "step", "final").tolist(), "step": step, "rank": rank, "line_end": line_end}
    _write(lake, "hits", {**hits, "line_start": np.where(is_whole, 0, start), "run_id": run_id}, run_id=run_id)
    answers: dict[str, Column] = {"item_id": item_id, "status": "done", "n_steps": n_steps, "has_patch": False}
    answers |= {"n_returned": _N_FINAL, "n_nws": 0, "ties": _empty_lists(len(item_id), pl.Int64())}
    _write(lake, "run_items", {**answers, "run_id": run_id}, run_id=run_id)
    run: dict[str, Column] = {"run_id": [run_id], "system": run_id, "benchmark": BENCHMARK, "status": "complete"}
    run |= {"task": "contextbench/issue", "origin": "imported", "parameters": "{}", "versions": "{}"}
    _write(lake, "runs", {**run, "n_items": len(item_id), "fingerprint": ""}, part="all", run_id=run_id)


def _places(draw: np.random.Generator, item: Integers, size: Integers) -> tuple[Integers, Integers, Integers, Integers]:
    """Item, file, start and end of a place for every entry; the first files are looked at most."""
    file = np.minimum(draw.geometric(0.3, len(item)) - 1, _N_FILES - 1)
    n_lines = size[item, file]
    start = (draw.random(len(item)) * n_lines).astype(np.int64)
    return item, file, start, np.minimum(n_lines, start + draw.integers(1, 120, len(item)))


def _paths(file: Integers) -> list[str]:
    return _named([f"src/file_{number:02}.py" for number in range(_N_FILES)], file)


def _named(names: list[str], number: Integers) -> list[str]:
    taken: list[str] = np.array(names)[number].tolist()
    return taken


def _empty_lists(n: int, of: pl.DataType) -> pl.Series:
    return pl.Series([[]] * n, dtype=pl.List(of))


def _write(lake: Lake, name: str, columns: Mapping[str, Column], *, part: str = PART, **folders: str) -> None:
    """Rows of a table; a single value stands in every row, and what is not given is null."""
    inside = {"benchmark": BENCHMARK} if "benchmark" in table(name).folders else {}
    lake.write(name, filled(name, pl.DataFrame(columns)), part=part, fingerprint="", **inside, **folders)


# Sealing a protocol belongs to the start, as importing does.
protocol_hash(PUBLISHED)
protocol_hash(CONTEXTS)

CONTEXT_SCORING = Bench(
    name="contexts",
    title="contexts of agents, scored",
    method="from a lake with nothing scored to its tables: scores, steps and aggregates; sealing the protocols is not "
    "timed. That the published rules are computed to the last digit is held by tests/parity.",
    run=run,
)
