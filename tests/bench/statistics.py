"""RepoBench-R at its published size, 192,000 items, 20 systems and 6 metrics: means, intervals, pairs and ranks."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evaluate.statistics.boards import rank_runs
from evaluate.statistics.comparisons import ScoreMatrix, compare_runs, with_places
from evaluate.statistics.intervals import RESAMPLES
from evaluate.statistics.means import aggregate
from lake.benchmarks import protocols
from tests.bench import Bench, Row, Settings
from tests.bench._measure import call, row
from tests.frames import score_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

N_ITEMS, N_SYSTEMS, N_REPOSITORIES = 192_000, 20, 1_600
METRICS = (("accuracy", 1), ("accuracy", 3), ("accuracy", 5), ("mrr", 10), ("precision", 5), ("recall", 5))
PROTOCOL = "repobench-r@chunking-v1"
STRATA = [
    f"{name}/{split}" for name in ("python_cff", "python_cfr", "java_cff", "java_cfr") for split in ("train", "test")
]
ALL = {"seconds": 300, "peak_mb": 6_000}


def run(settings: Settings, folder: Path) -> Iterator[Row]:
    """Both steps over the same scores."""
    del settings
    what = f"{N_ITEMS:,} items × {N_SYSTEMS} systems × {len(METRICS)} metrics"
    call(write, folder)
    yield row(f"means, intervals over repositories and items: {what}", call(everything, folder), target=ALL)
    comparisons = call(compared, folder)
    yield row(f"{comparisons.answer['pairs']} comparisons of {N_SYSTEMS} systems, and ranks", comparisons, target=ALL)


def write(folder: str) -> None:
    """Items, and per system the scores of lists whose first hit is found at some rank, sooner in some repositories."""
    random = np.random.default_rng(9)
    repository = random.choice(N_REPOSITORIES, N_ITEMS, p=random.dirichlet(np.full(N_REPOSITORIES, 0.7)))
    number = np.arange(N_ITEMS)
    items = pl.DataFrame({"item_id": number, "repo": repository, "n_candidates": random.integers(5, 25, N_ITEMS)})
    stratum = pl.Series(STRATA).gather(number % len(STRATA))
    level = pl.when(pl.col("n_candidates") < 10).then(pl.lit("easy")).otherwise(pl.lit("hard"))
    items.select(
        item_id=pl.format("{}/{}", stratum, "item_id"),
        repo=pl.format("somebody/repository{}", "repo"),
        n_candidates=pl.col("n_candidates").cast(pl.Int64),
        subset=stratum,
        split=stratum.str.split("/").list.get(1),
        level=level,
        language=stratum.str.split("_").list.get(0),
        difficulty=level,
    ).write_parquet(Path(folder, "items.parquet"))
    for system in range(N_SYSTEMS):
        chance = random.beta(2, 5 - system / 10, N_REPOSITORIES)[repository]
        _scores(random.geometric(chance), f"system{system}", Path(folder, f"{system}.parquet"))


def _scores(rank: Ints, run_id: str, path: Path) -> None:
    item_id = pl.read_parquet(path.with_name("items.parquet"))["item_id"].to_list()
    of_run = {"run_id": run_id, "protocol": PROTOCOL, "denominator": 1.0}
    frames = []
    for metric, k in METRICS:
        value = _values(metric, k, rank).tolist()
        given = {"item_id": item_id, "value": value, "numerator": value}
        frames.append(score_rows(given, metric=metric, k=k, **of_run))
    pl.concat(frames).sink_parquet(path)


def _values(metric: str, k: int, rank: Ints) -> Floats:
    value = {"precision": np.full(len(rank), 1 / k), "mrr": 1 / rank}.get(metric, np.ones(len(rank)))
    return np.where(rank <= k, value, 0)


def everything(folder: str) -> None:
    """System by system, as the lake is made."""
    protocol, items = protocols()[PROTOCOL], pl.scan_parquet(Path(folder, "items.parquet"))
    for system in range(N_SYSTEMS):
        scores = pl.scan_parquet(Path(folder, f"{system}.parquet"))
        aggregate(protocol, scores, items).collect().write_parquet(Path(folder, f"aggregates{system}.parquet"))


def compared(folder: str) -> dict[str, object]:
    """Comparisons and ranks of everything: scores in Parquet to the two tables."""
    scored, pooled = ([Path(folder, f"{name}{n}.parquet") for n in range(N_SYSTEMS)] for name in ("", "aggregates"))
    aggregates, protocol = pl.read_parquet(pooled), protocols()[PROTOCOL]
    flags = {"is_complete": True, "is_baseline": False, "is_expected": False}
    systems = aggregates.select("run_id").unique().with_columns(**{name: pl.lit(of) for name, of in flags.items()})
    rows = with_places(protocol, aggregates, systems)
    several = rows.filter(pl.col("is_primary") | pl.col("is_headline"), pl.col("n_repos") > 1)
    items = pl.scan_parquet(Path(folder, "items.parquet"))
    pairs = compare_runs(protocol, several, ScoreMatrix(protocol, several, items, map(pl.scan_parquet, scored)))
    return {"pairs": pairs.height, "ranks": rank_runs(protocol, rows, pairs).height}


STATISTICS = Bench(
    name="statistics",
    title="means, intervals and comparisons of all of RepoBench-R",
    method=f"scores in Parquet to aggregates, a system at a time as the lake is made, over every slice; {RESAMPLES:,} "
    "resamples of every slice that a board opens with; then all pairs.",
    run=run,
)
