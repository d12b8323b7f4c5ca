"""All pairs of the systems that `statistics` made up, a family of 48, and what a world without differences gives."""

from pathlib import Path

import numpy as np
import polars as pl

from evaluate.statistics.boards import rank_runs
from evaluate.statistics.comparisons import ScoreMatrix, compare_runs, with_places
from evaluate.statistics.pairs import Values, all_pairs, differences, flip_tests
from lake.catalog.protocols import protocols
from lake.exact import Floats, Integers
from tests.bench._measure import Stopwatch

N_SYSTEMS, N_NULLS = 48, 2_000
UNEQUAL = (150, 107, 65, 44, 35, 27, 16, 11)
"""Items of eight repositories, as unequal as RepoEval's."""


def compared(folder: str) -> dict[str, object]:
    """Comparisons and ranks of everything: scores in Parquet to the two tables."""
    found = {path.stem: path for path in Path(folder).glob("[0-9]*.parquet")}
    aggregates = pl.concat(pl.read_parquet(Path(folder, f"aggregates{number}.parquet")) for number in sorted(found))
    protocol = protocols()[aggregates["protocol"][0]]
    flags = {"is_complete": True, "is_baseline": False, "is_expected": False}
    systems = aggregates.select("run_id").unique().with_columns(**{name: pl.lit(of) for name, of in flags.items()})
    rows = with_places(protocol, aggregates, systems)
    several = rows.filter(pl.col("is_primary") | pl.col("is_headline"), pl.col("n_repos") > 1)
    items = pl.scan_parquet(Path(folder, "items.parquet"))
    scores = ScoreMatrix(protocol, several, items, [pl.scan_parquet(found[number]) for number in sorted(found)])
    pairs = compare_runs(protocol, several, scores)
    return {"pairs": pairs.height, "ranks": rank_runs(protocol, rows, pairs).height}


def family(n_repos: str, n_items: str) -> dict[str, object]:
    """The 1,128 pairs of 48 systems by one metric, tested together."""
    values, repo = alike(np.random.default_rng(1), _sizes(n_repos, n_items))
    watch = Stopwatch()
    _, _, adjusted = adjudged(values, repo)
    return {**watch.read(), "pairs": len(adjusted)}


def flips(n_repos: str, n_items: str) -> dict[str, object]:
    """The p of the first pairs of the same, and scipy's, one pair after the other."""
    from scipy import stats

    values, repo = alike(np.random.default_rng(1), _sizes(n_repos, n_items))
    few = values[:3]
    watch = Stopwatch()
    ours = adjudged(few, repo)[1]
    mine, theirs = watch.read(), Stopwatch()
    sums = np.add.reduceat(few, np.flatnonzero(np.diff(repo, prepend=-1)), axis=1)
    p = [
        stats.permutation_test(
            (sums[b], sums[a]),
            lambda x, y, axis: np.mean(x - y, axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=10_000,
            batch=500,
            rng=1,
        ).pvalue
        for a, b in zip(*all_pairs(3), strict=True)
    ]
    return {**mine, "theirs": theirs.read()["seconds"], "apart": float(np.abs(ours - p).max())}


def nulls() -> dict[str, object]:
    """In how many of many data sets of 48 systems that are alike any pair is told apart."""
    random = np.random.default_rng(12)
    watch = Stopwatch()
    n_wrong = sum(int((adjudged(*alike(random, UNEQUAL))[2] < 0.05).any()) for _ in range(N_NULLS))
    return {**watch.read(), "wrong": n_wrong / N_NULLS}


def _sizes(n_repos: str, n_items: str) -> tuple[int, ...]:
    """So many items in each repository; a child process is given its arguments as text."""
    return (int(n_items) // int(n_repos),) * int(n_repos)


def alike(random: np.random.Generator, sizes: tuple[int, ...], n_systems: int = N_SYSTEMS) -> tuple[Floats, Integers]:
    """Values of systems that are alike, on items that are alike within a repository."""
    repo = np.repeat(np.arange(len(sizes)), sizes)
    at_repo = random.normal(0, 0.1, (n_systems, len(sizes)))[:, repo]
    return 0.5 + at_repo + random.normal(0, 0.15, len(repo)) + random.normal(0, 0.2, (n_systems, len(repo))), repo


def adjudged(values: Floats, repo: Integers) -> tuple[Floats, Floats, Floats]:
    """Delta, p and adjusted p of all pairs."""
    found = differences(Values(values, repo), *all_pairs(len(values)), "macro")
    return found.delta, *flip_tests(found, np.ones(len(found.delta), bool))
