"""The comparison of two runs by one metric under one protocol over one slice, the items that flipped, and gates.

The first run may be among scores that a report has published. Items are then matched by id; nothing is compared if the
same id stands for other data, or other rules scored it.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from evaluate.metrics import Metric, metrics_of, parse_metric
from evaluate.statistics.comparisons import ScoreMatrix, compare_runs
from evaluate.statistics.means import aggregate
from evaluate.statistics.slices import SLICE, UNSLICED, WHOLE_SLICE, Slice, average_of, in_slice
from lake.averages import Aggregate
from lake.catalog.protocol import Protocol, Task
from lake.errors import Exit, GoldspanError
from lake.store import Lake
from lake.tables import table
from lake.text import counted, listed
from lake.verdict import TOO_FEW, WORSE


class Published:
    """Published tables: `scores.parquet` (or its folder), and the other tables that a report publishes with it."""

    def __init__(self, path: Path) -> None:
        # Tables next to a file of another name may be of another date.
        beside = path.parent if path.name.startswith("scores") else None
        self._folder = path if path.is_dir() else beside
        self._scores = _files(path, "scores") if path.is_dir() else [path]
        hint = "Every site contains it: `python -m report --site before`, then --against before/data/scores.parquet."
        if not self._scores or not all(file.is_file() for file in self._scores):
            raise GoldspanError(f"--against {path}: no such file of scores", hint=hint, code=Exit.MISSING)
        columns = set[str]()
        with suppress(pl.exceptions.PolarsError, OSError):
            columns = {*pl.scan_parquet(self._scores).collect_schema()}
        if missing := [name for name in ("benchmark", "system", *table("scores").columns) if name not in columns]:
            message = f"--against {path}: not a readable scores.parquet: it lacks the columns {listed(missing)}"
            raise GoldspanError(message, hint=hint, code=Exit.INVALID)

    def scan(self, name: str, **folders: str) -> pl.LazyFrame:
        """A table's rows, only from some of its folders if given; no rows if the table is not published."""
        declared = table(name)
        columns = {**declared.columns, **dict.fromkeys(declared.folders, pl.String())}
        if files := self._scores if name == "scores" else _files(self._folder, name):
            frame = pl.scan_parquet(files)
            frame = frame.select(column for column in frame.collect_schema() if column in columns or column == "system")
        elif name == "runs":
            runs = self.scan("scores").select("run_id", "system", "benchmark").unique()
            frame = runs.with_columns(task=pl.lit(None, pl.String), status=pl.lit("complete"))
        else:
            frame = pl.LazyFrame(schema=columns)
        return frame.filter(**folders) if folders else frame


def _files(folder: Path | None, name: str) -> list[Path]:
    """The file of a published table, or its parts if it was split."""
    return [] if folder is None else sorted([*folder.glob(f"{name}.parquet"), *folder.glob(f"{name}-[0-9]*.parquet")])


def check_same_data(
    task: Task, protocol: Protocol, sources: tuple[Published, Lake], scores: Sequence[pl.LazyFrame]
) -> Iterator[str]:
    """Check that a published run has the same data and rules as a run here; yield sentences on what is unknown."""
    hashes, scored = (
        [side.select(name).unique().sort(name).collect() for side in scores] for name in ("protocol_hash", "item_id")
    )
    if not hashes[0].equals(hashes[1]):
        there, here = (" ".join(each.to_series().str.head(12)) for each in hashes)
        raise _other(
            f"{protocol.name}: the two were scored by different rules (the protocol hashes differ)",
            "Score both with the same version of this project, or leave the protocol out with --protocol.",
            f"{there} there, {here} here",
        )
    known = (source.scan("benchmarks").filter(name=task.benchmark).select("label").collect() for source in sources)
    labels = ["".join(rows["label"]) if rows.height else None for rows in known]
    if labels[0] not in (None, labels[1]):
        message = f"{task.benchmark}: the two have different data: labelled {labels[1]!r} here, {labels[0]!r} there"
        raise _other(message, "Ingest the same source for both; an empty label is the published data.")
    # A report does not publish the hashes of files.
    unknown = [*(["the benchmark's label"] if labels[0] is None else []), "the searched files"]
    shared = scored[0].join(scored[1], on="item_id")
    of_gold = ["item_id", "path", "line_start", "line_end", "candidate", "times", "grade"]
    for what, name, folders, columns in (
        ("the queries", "queries", {"query": task.query}, ["item_id", "sha256"]),
        ("the gold", "gold_spans", {"gold": protocol.gold}, of_gold),
    ):
        tables = (source.scan(name, benchmark=task.benchmark).filter(**folders).select(columns) for source in sources)
        sides = [rows.join(shared.lazy(), on="item_id", how="semi").unique().collect() for rows in tables]
        if sides[0].is_empty():
            unknown[-1:-1] = [what] if sides[1].height else []
            continue
        apart = [rows.join(other, on=columns, how="anti", nulls_equal=True) for rows, other in (sides, sides[::-1])]
        if wrong := pl.concat(apart)["item_id"].unique().sort().to_list():
            message = f"{protocol.name}: {what} of {len(wrong):,} of {counted(shared.height, 'shared item')} differ"
            hint = "The same ids name different data here and there: ingest the same source and version for both."
            raise _other(message, hint, *wrong)
    for where, mine in zip(("there", "here"), scored, strict=True):
        if n := mine.height - shared.height:
            yield f"{protocol.name}: {counted(n, 'item')} scored {where} only: left out of the difference"
    yield f"{task.benchmark}: not checked against this lake, as not published with the scores: {', '.join(unknown)}"


def _other(what: str, hint: str, *examples: str) -> GoldspanError:
    return GoldspanError(what, examples=examples, hint=hint, code=Exit.INVALID)


Comparison = dict[str, Any]
"""One metric of two runs of a task under one protocol, over one slice, as `compare --json` prints it.

`a` and `b` are the numbers on the leaderboard, over the `n_a` and `n_b` items of the slice with a value of either run;
`a_shared` and `b_shared` are over the `n` shared items. `delta` and the fields after it are the second minus the first
over those, as in table `comparisons` with `run_a` as the first. `repositories` has each repository with its number of
shared items and both numbers; `flips` has the items on which the two differ, with both values.
"""

_OF_TABLE = (
    *("delta", "low", "high", "p", "p_adjusted", "wins", "ties", "losses"),
    *("smallest_detectable", "equivalent", "verdict", "exploratory", "n_repos", "unit"),
)


class RunPair(NamedTuple):
    """Two runs of a task that one protocol scored: the source of each, its id and its system."""

    task: Task
    protocol: Protocol
    sources: Sequence[Lake | Published]
    runs: Sequence[tuple[str, str]]

    @property
    def scores(self) -> list[pl.LazyFrame]:
        """The rows of `scores` of each run."""
        columns, folders = table("scores").columns, {"benchmark": self.task.benchmark, "protocol": self.protocol.name}
        return [
            source.scan("scores", **folders, run_id=run_id).select(*columns)
            for source, (run_id, _) in zip(self.sources, self.runs, strict=True)
        ]


def compared(
    pair: RunPair,
    metric: Metric,
    k: int,
    where: tuple[str, str],
    scores: Sequence[pl.LazyFrame],
    items: pl.LazyFrame,
    expected: Sequence[bool],
    stored: pl.DataFrame,
) -> Iterator[Comparison]:
    """The comparison of two runs by a metric over a value of a slice; nothing if they share no item.

    `expected` tells for each run whether its scores are expectations; `stored` is the pair's row of table
    `comparisons`, or empty: then the row is computed.
    """
    protocol = pair.protocol
    average, inside = average_of(protocol, metric), in_slice(items, *where)
    # The runs are renamed `a` and `b`, as a run may be compared with itself.
    sides = [
        rows.filter(pl.col("value").is_not_null())
        .join(inside, on="item_id", how="semi")
        .with_columns(run_id=pl.lit(side))
        for side, rows in zip("ab", scores, strict=True)
    ]
    measure = {"metric": metric.name, "k": k, "slice": where[0], "slice_value": where[1]}
    key = {"granularity": metric.granularity, **measure}
    if stored.is_empty():
        # Whatever is not stored is exploratory.
        kinds = {name: table("aggregates").columns[name] for name in key}
        runs = [
            {"run_id": side, "is_expected": by_chance, "in_family": False, **key}
            for side, by_chance in zip("ab", expected, strict=True)
        ]
        rows = pl.DataFrame(runs, schema_overrides=kinds)
        stored = compare_runs(protocol, rows, ScoreMatrix(protocol, rows, items, sides))
    if stored.is_empty():
        return
    row = stored.row(0, named=True)
    own = _numbers(protocol, sides, inside, average)
    (number_a, n_a), (number_b, n_b) = own[WHOLE_SLICE]
    if n_a == n_b == row["n_items"]:
        shared = own
    else:
        both = [rows.join(other, on="item_id", how="semi") for rows, other in (sides, sides[::-1])]
        shared = _numbers(protocol, both, inside, average)
    (shared_a, _), (shared_b, _) = shared[WHOLE_SLICE]
    repositories = [(repo, n, a, b) for (name, repo), ((a, n), (b, _)) in shared.items() if name == "repo"]
    values = [rows.select("item_id", "value") for rows in sides]
    moved = values[0].join(values[1], on="item_id").filter(pl.col("value") != pl.col("value_right"))
    moved = moved.sort(pl.col("value_right") - pl.col("value"), "item_id", descending=[True, False])
    yield {
        "protocol": protocol.name,
        "task": pair.task.name,
        **measure,
        "average": average,
        "run_a": pair.runs[0][0],
        "run_b": pair.runs[1][0],
        "a": number_a,
        "b": number_b,
        "n_a": n_a,
        "n_b": n_b,
        "n": row["n_items"],
        "a_shared": shared_a,
        "b_shared": shared_b,
        **{name: row[name] for name in _OF_TABLE},
        "is_declared": (metric, k) in metrics_of(protocol),
        "repositories": tuple(sorted(repositories, key=lambda of: (-of[1], of[0]))),
        "flips": tuple(moved.collect().iter_rows()),
    }


def _numbers(
    protocol: Protocol, sides: Sequence[pl.LazyFrame], items: pl.LazyFrame, average: Aggregate
) -> dict[tuple[str, str], list[tuple[float, int]]]:
    """Each side's number and count of items: over all items, and over each repository of which both have some."""
    slices = (*UNSLICED, Slice("repo", ("repo",)))
    rows = aggregate(protocol, pl.concat(sides), items, slices=slices).select(*SLICE, average, "n")
    return dict(rows.filter(pl.len().over(SLICE) == len(sides)).collect().rows_by_key(SLICE))


@dataclass(frozen=True)
class Gate:
    """A condition that fails a comparison: the second's number `drops` or `rises` by more than `by`, or `is worse`."""

    metric: Metric
    k: int
    change: str
    by: float

    def is_broken_by(self, row: Comparison) -> bool:
        """Whether a comparison is by the gate's metric and fails it."""
        rise = -row["delta"] if self.change == "drops" else row["delta"]
        is_broken = row["verdict"] == WORSE if self.change == "is worse" else rise > self.by
        return self._is_of(row) and bool(is_broken)

    def is_undecided_by(self, row: Comparison) -> bool:
        """Whether a comparison is by the gate's metric, but has no verdict that the gate needs."""
        return self._is_of(row) and self.change == "is worse" and row["verdict"] in {None, TOO_FEW}

    def _is_of(self, row: Comparison) -> bool:
        return (row["metric"], row["k"]) == (self.metric.name, self.k)


def parse_gate(text: str) -> Gate:
    """The gate in a text such as `ndcg@10 drops > 0.01` or `ndcg@10 is worse`; an error for any other text."""
    match = re.fullmatch(r"\s*(\S+)\s+(?:(drops|rises)\s*>\s*(\d+(?:\.\d+)?)|is\s+worse)\s*", text)
    if match is None:
        message = f"--fail-if {text!r} is not a condition"
        hint = 'Write it as "ndcg@10 drops > 0.01" (or rises), or as "ndcg@10 is worse".'
        raise GoldspanError(message, hint=hint, code=Exit.USAGE)
    metric, k = parse_metric(match[1])
    return Gate(metric, k, match[2] or "is worse", float(match[3] or 0))
