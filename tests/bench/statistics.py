"""Means and intervals of RepoBench-R at its published size: 192,000 items, 20 systems, 6 metrics."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evaluate.statistics.bootstrap import RESAMPLES, item_intervals
from evaluate.statistics.means import aggregate
from lake.catalog.protocols import protocols
from lake.tables import table
from tests.bench import Bench, Row, Settings, Target
from tests.bench import _pairs as pairs
from tests.bench._measure import Stopwatch, call, row

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

N_ITEMS, N_SYSTEMS, N_REPOSITORIES = 192_000, 20, 1_600
METRICS = (("accuracy", 1), ("accuracy", 3), ("accuracy", 5), ("mrr", 10), ("precision", 5), ("recall", 5))
PROTOCOL = "repobench-r@chunking-v1"
STRATA = [
    f"{name}/{split}" for name in ("python_cff", "python_cfr", "java_cff", "java_cfr") for split in ("train", "test")
]
ALL = Target(seconds=300, peak_mb=6_000)
N_PEER_ITEMS, N_PEER_SYSTEMS = 2_000, 1


def run(settings: Settings, folder: Path) -> Iterator[Row]:
    """Everything, and the item bootstrap of a few means beside scipy's."""
    del settings
    what = f"{N_ITEMS:,} items × {N_SYSTEMS} systems × {len(METRICS)} metrics"
    call(write, folder)
    yield row(f"means, intervals over repositories and items: {what}", call(everything, folder), target=ALL)
    ours, theirs = call(bootstrap, folder), call(scipy_bootstrap, folder)
    yield from _compared(folder)
    means = f"item bootstrap over {N_PEER_ITEMS:,} items of {len(METRICS)} metrics"
    yield row(f"{means} of {N_PEER_SYSTEMS} system, scipy.stats.bootstrap", theirs)
    both = (np.asarray(one.said["ends"])[: N_PEER_SYSTEMS * len(METRICS)] for one in (ours, theirs))
    yield row(
        f"{means} of {N_SYSTEMS} systems, ours; × per mean",
        ours,
        ratio=theirs.seconds / N_PEER_SYSTEMS / (ours.seconds / N_SYSTEMS),
        difference=float(np.abs(np.subtract(*both)).max()),
        against="of scipy, by chance",
        target=Target(ratio=1, difference=0.01),
    )


def _compared(folder: Path) -> Iterator[Row]:
    """Pairs and ranks of everything, a family of 48 systems, scipy's test of three pairs, and many nulls."""
    found = call(pairs.compared, folder)
    yield row(f"{found.said['pairs']} comparisons of {N_SYSTEMS} systems, and ranks", found, target=ALL)
    size = (N_REPOSITORIES, N_ITEMS)
    yield row(f"the 1,128 pairs of 48 systems over {N_REPOSITORIES:,} repositories", call(pairs.family, *size))
    few = call(pairs.flips, *size)
    yield row(
        f"3 pairs beside scipy.stats.permutation_test over {N_REPOSITORIES:,} repositories",
        few,
        ratio=float(str(few.said["theirs"])) / few.seconds,
        difference=float(str(few.said["apart"])),
        against="of scipy, by chance",
        target=Target(ratio=1, difference=0.03),
    )
    null = call(pairs.nulls)
    what = f"of {pairs.N_NULLS:,} times 48 systems that are alike some are told apart"
    wrong = float(str(null.said["wrong"]))
    within = Target(difference=0.06)
    yield row(what, null, difference=wrong, against="of none", target=within)


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
    item_id = pl.read_parquet(path.with_name("items.parquet"))["item_id"]
    texts = {"run_id": run_id, "protocol": PROTOCOL, "granularity": "chunk", "protocol_hash": ""}
    frames = [
        pl.DataFrame({"item_id": item_id, "value": _values(metric, k, rank)}).with_columns(
            metric=pl.lit(metric), k=pl.lit(k, pl.Int64), numerator=pl.col("value"), denominator=pl.lit(1.0)
        )
        for metric, k in METRICS
    ]
    scores = pl.concat(frames).with_columns(**{name: pl.lit(text) for name, text in texts.items()})
    scores.select(*table("scores").columns).write_parquet(path)


def _values(metric: str, k: int, rank: Ints) -> Floats:
    value = {"precision": np.full(len(rank), 1 / k), "mrr": 1 / rank}.get(metric, np.ones(len(rank)))
    return np.where(rank <= k, value, 0)


def everything(folder: str) -> None:
    """System by system, as the lake is made."""
    protocol, items = protocols()[PROTOCOL], pl.scan_parquet(Path(folder, "items.parquet"))
    for system in range(N_SYSTEMS):
        scores = pl.scan_parquet(Path(folder, f"{system}.parquet"))
        aggregate(protocol, scores, items).collect().write_parquet(Path(folder, f"aggregates{system}.parquet"))


def bootstrap(folder: str) -> dict[str, object]:
    """Ours, of every system's means: they share their resamples."""
    means = _means(folder, N_SYSTEMS)
    watch = Stopwatch()
    counted = pl.concat([pl.DataFrame({"value": one}).with_columns(mean=n) for n, one in enumerate(means)])
    counted = counted.group_by("mean", "value").agg(count=pl.len().cast(pl.Int64))
    ends = item_intervals(counted, ["mean"]).sort("mean").select("item_low", "item_high").rows()
    return {**watch.read(), "ends": ends}


def scipy_bootstrap(folder: str) -> dict[str, object]:
    """The peer: one mean after the other, its resamples in blocks as scipy makes them."""
    from scipy import stats

    means = _means(folder, N_PEER_SYSTEMS)
    watch = Stopwatch()
    found = [
        stats.bootstrap([one], np.mean, n_resamples=RESAMPLES, method="percentile", batch=500, rng=1) for one in means
    ]
    ends = [(one.confidence_interval.low, one.confidence_interval.high) for one in found]
    return {**watch.read(), "ends": ends}


def _means(folder: str, n_systems: int) -> list[Floats]:
    """The first items' values, by system and metric."""
    scores = [pl.read_parquet(Path(folder, f"{system}.parquet")) for system in range(n_systems)]
    of_metrics = [(pl.col("metric") == name) & (pl.col("k") == k) for name, k in METRICS]
    return [one.filter(of)["value"].head(N_PEER_ITEMS).to_numpy() for one in scores for of in of_metrics]


STATISTICS = Bench(
    name="statistics",
    title="means and intervals of all of RepoBench-R",
    method=f"scores in Parquet to aggregates, a system at a time as the lake is made, over every slice; {RESAMPLES:,} "
    "resamples of every slice that a board opens with. scipy resamples with a generator of its own.",
    run=run,
)
