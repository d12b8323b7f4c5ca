from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import linalg, stats

from evaluate.statistics.intervals import RESAMPLES, item_intervals, korn_graubard
from evaluate.statistics.means import aggregate
from lake.benchmarks import protocols
from report.methods.interval_coverage import MEANS, N_SETS, simulated_coverage
from tests.evaluate.statistics.simulated import Floats, coverage
from tests.frames import score_rows
from tests.tiny import python

RULES = protocols()["repoeval@target-v1"]
SIZES = [9, 4, 4, 2, 1, 5]
UNBOUNDED = "n_steps"
"""A metric whose intervals are t."""


def whole_of(
    values: Sequence[Sequence[float | None]], below: list[list[float]] | None = None, metric: str = UNBOUNDED
) -> dict[str, float]:
    """The aggregates of a slice whose items have these values, a list per repository, by value or over `below`."""
    items = [
        (f"r{repo}", f"{repo}-{n}", value, None if below is None else below[repo][n])
        for repo, mine in enumerate(values)
        for n, value in enumerate(mine)
    ]
    repo, item_id, numerator, denominator = zip(*items, strict=True)
    rows = score_rows({"item_id": item_id, "numerator": numerator, "denominator": denominator}, metric=metric)
    value = pl.col("numerator") / pl.col("denominator").fill_null(1.0)
    aggregates = aggregate(RULES, rows.with_columns(value=value), pl.LazyFrame({"item_id": item_id, "repo": repo}))
    return aggregates.filter(pl.col("slice") == "all").collect().row(0, named=True)


def values_of(sizes: list[int], seed: int = 3) -> list[list[float]]:
    random = np.random.default_rng(seed)
    return [list(random.beta(2, 3) + random.random(size) / 4) for size in sizes]


def by_matrices(values: list[list[float]]) -> tuple[float, float]:
    """Bell and McCaffrey's interval of a mean as their paper has it: hat matrix, adjusted residuals, trace of GΩG'."""
    sizes = [len(mine) for mine in values]
    ends = np.cumsum(sizes)
    y, n = np.concatenate(values), int(ends[-1])
    hat = np.full((n, n), 1 / n)
    spread: Floats = np.empty((n, len(sizes)))
    for column, (begin, end) in enumerate(zip(ends - sizes, ends, strict=True)):
        adjusted = linalg.inv(linalg.sqrtm(np.eye(end - begin) - hat[begin:end, begin:end])).real
        spread[:, column] = (np.eye(n) - hat)[:, begin:end] @ adjusted @ np.full(end - begin, 1 / n)
    variance = ((y @ spread) ** 2).sum()
    roots = linalg.eigvalsh(spread.T @ spread)
    half = stats.t.ppf(0.975, roots.sum() ** 2 / (roots**2).sum()) * np.sqrt(variance)
    return y.mean() - half, y.mean() + half


def test_between_repositories_of_one_size_it_is_t_with_one_degree_fewer_than_repositories() -> None:
    values = values_of([6] * 7)
    means = [float(np.mean(mine)) for mine in values]
    plain = stats.t.interval(0.95, 6, np.mean(means), stats.sem(means))
    whole = whole_of(values)
    assert (whole["low"], whole["high"]) == pytest.approx(plain, abs=1e-9)
    assert (whole["by_repo_low"], whole["by_repo_high"]) == pytest.approx(plain, abs=1e-9)


@pytest.mark.parametrize("sizes", [SIZES, [3, 1, 1, 1, 1, 1, 2], [9, 7, 1, 1, 1, 1]])
def test_between_repositories_of_unequal_size_it_is_that_of_bell_and_mccaffrey(sizes: list[int]) -> None:
    values = values_of(sizes)
    whole = whole_of(values)
    assert (whole["low"], whole["high"]) == pytest.approx(by_matrices(values), abs=1e-9)


def test_the_interval_of_a_ratio_of_repository_totals_is_linearised() -> None:
    above, below = np.array([3.0, 5.0, 2.0, 9.0, 4.0, 6.0]), np.full(6, 12.0)
    whole = whole_of([[number] for number in above], [[number] for number in below])
    ratio = above.sum() / below.sum()
    error = np.sqrt(((above - ratio * below) ** 2).sum() / below.sum() ** 2 * 6 / 5)
    plain = stats.t.interval(0.95, 5, ratio, error)
    assert (whole["micro_low"], whole["micro_high"]) == pytest.approx(plain, abs=1e-9)


ENDS = (("low", "macro", "high"), ("micro_low", "micro", "micro_high"), ("by_repo_low", "by_repo", "by_repo_high"))


@pytest.mark.parametrize("n_repos", [1, 5, 6])
def test_fewer_than_six_repositories_with_a_value_have_intervals_over_items(n_repos: int) -> None:
    values: list[list[float | None]] = [list(mine) for mine in values_of([5] * n_repos)]
    whole = whole_of([*values, [None, None]])
    assert str(whole["unit"]) == ("item" if n_repos < 6 else "repository")
    assert whole["n_repos"] == n_repos
    items = np.array(values).ravel()
    of_items = stats.t.interval(0.95, 5 * n_repos - 1, items.mean(), stats.sem(items))
    is_of_items = whole["low"] == pytest.approx(of_items[0], abs=1e-9)
    assert is_of_items == (n_repos < 6)
    assert is_of_items == (whole["high"] == pytest.approx(of_items[1], abs=1e-9))


def test_over_items_a_ratio_of_sums_and_a_mean_of_repositories_are_weighted_means() -> None:
    values, below = values_of([9, 4, 2]), [[1.0, 2.0, 3.0] * 3, [2.0] * 4, [5.0, 1.0]]
    above = [[v * d for v, d in zip(*both, strict=True)] for both in zip(values, below, strict=True)]
    weights = {"micro": np.concatenate(below), "by_repo": np.repeat([1 / 9, 1 / 4, 1 / 2], [9, 4, 2])}
    whole = whole_of(above, below)
    for average, weight in weights.items():
        share, y = weight / weight.sum(), np.concatenate(values)
        mean, alone = (share * y).sum(), (share**2).sum()
        error = np.sqrt((share**2 * (y - mean) ** 2).sum() / (1 - alone))
        plain = stats.t.interval(0.95, 1 / alone - 1, mean, error)
        assert (whole[f"{average}_low"], whole[f"{average}_high"]) == pytest.approx(plain, abs=1e-9)


@pytest.mark.parametrize(("value", "n_repos"), [(0.0, 8), (0.001, 1), (1.0, 2)])
def test_every_interval_of_a_metric_within_0_and_1_stays_there_and_has_a_width(n_repos: int, value: float) -> None:
    items = [[value] * 4] * (n_repos - 1) + [[value, value, value, min(1, value * 2)]]
    whole = whole_of(items, [[1.0] * 4] * n_repos, "recall")
    for low, mean, high in ENDS:
        assert 0 <= whole[low] <= whole[mean] <= whole[high] <= 1
        assert whole[high] - whole[low] > 0.1


@pytest.mark.parametrize("n_hits", [0, 1, 7, 20])
def test_of_a_simple_random_sample_of_hits_it_is_clopper_and_pearsons(n_hits: int) -> None:
    share, n = np.array([n_hits / 20]), np.array([20.0])
    ends = [end.item() for end in korn_graubard(share, share * (1 - share) / 20, n - 1, n, n)]
    assert ends == pytest.approx(tuple(stats.binomtest(n_hits, 20).proportion_ci()), abs=1e-9)


def test_of_rare_hits_they_cover_what_t_intervals_do_not() -> None:
    for mean, alike in ((0.1, 0.1), (0.02, 0.05), (0.02, 0.2)):
        at_least, by_t = (coverage("hit or miss", mean, 8, alike, 4_000, within=within) for within in (True, False))
        assert at_least > 93.5 > 93 > by_t, (mean, alike)


@pytest.mark.parametrize(
    ("kind", "n_repos", "alike"),
    [
        ("hit or miss", 8, 0.2),
        ("hit or miss", 2, 0.0),
        ("spread between 0 and 1", 15, 0.4),
        ("mostly near 0 or 1", 6, 0.05),
    ],
)
def test_the_coverage_that_pages_quote_is_what_the_simulation_gives(kind: str, n_repos: int, alike: float) -> None:
    n_sets = 400
    for mean, kept in zip(MEANS, simulated_coverage()[kind, n_repos, alike], strict=True):
        share = min(max(kept / 100, 0.01), 0.99)
        error = 100 * (share * (1 - share) * (1 / n_sets + 1 / N_SETS)) ** 0.5
        assert coverage(kind, mean, n_repos, alike, n_sets, seed=2) == pytest.approx(kept, abs=4 * error), mean


def test_only_the_slice_that_is_shown_first_and_the_whole_are_resampled_where_both_are_there() -> None:
    items = pl.LazyFrame(
        {"item_id": [f"i{n}" for n in range(12)], "repo": ["a", "b"] * 6, "subset": ["x", "y", "z"] * 4}
    )
    scores = score_rows({"item_id": [f"i{n}" for n in range(12)], "value": [n / 12 for n in range(12)]}, metric="m")
    for first, resampled in ((("subset", "y"), {("all", "all"), ("subset", "y")}), (("level", "no"), None)):
        aggregates = (
            aggregate(replace(RULES, headline=first), scores, items).filter(pl.col("item_low").is_not_null()).collect()
        )
        slices = set(aggregates.select("slice", "slice_value").iter_rows())
        assert slices == (resampled or {("all", "all"), ("subset", "x"), ("subset", "y"), ("subset", "z")})


def interval(values: list[float]) -> tuple[float, float]:
    counted = pl.LazyFrame({"mean": "a", "value": values}).group_by("mean", "value").agg(count=pl.len().cast(pl.Int64))
    return item_intervals(counted, ["mean"]).select("item_low", "item_high").collect().row(0)


def near(values: list[float]) -> float:
    """Four standard errors of an end of the interval, which is a quantile of so many resampled means."""
    density = stats.norm.pdf(stats.norm.ppf(0.025)) / stats.sem(values)
    return float(4 * np.sqrt(0.025 * 0.975 / RESAMPLES) / density)


@pytest.mark.parametrize("n_values", [0, 2, 7])
def test_it_is_scipys_percentile_bootstrap_within_monte_carlo_error(n_values: int) -> None:
    values = np.random.default_rng(4).beta(0.5, 1, 600)
    values = np.round(values * (n_values - 1)) / (n_values - 1) if n_values else values
    theirs = stats.bootstrap(
        [values], np.mean, n_resamples=RESAMPLES, method="percentile", rng=np.random.default_rng(5)
    ).confidence_interval
    # Each has an error of its own.
    assert interval(list(values)) == pytest.approx((theirs.low, theirs.high), abs=1.5 * near(list(values)))


def test_a_mean_over_one_item_has_none_and_equal_items_have_one_of_no_width() -> None:
    estimate = pl.LazyFrame({"mean": ["a"], "value": [0.5], "count": [1]})
    assert item_intervals(estimate, ["mean"]).collect().height == 0
    assert interval([0.25] * 8) == (0.25, 0.25)


MANY = """
import numpy as np, polars as pl
from evaluate.statistics.intervals import item_intervals
values = np.random.default_rng(6).random(7_000) * 100
many = pl.LazyFrame({"mean": np.repeat(np.arange(10), 700), "value": values, "count": np.ones(7_000, np.int64)})
"""


def test_neither_the_number_of_threads_nor_the_order_of_the_rows_changes_a_bit() -> None:
    printed = []
    for n, rows in (("1", "many"), ("3", "many.reverse()")):
        threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS"), n)
        script = f"{MANY}\nprint(item_intervals({rows}, ['mean']).sort('mean').collect().rows())"
        printed.append(python("-c", script, **threads).done().out)
    assert printed[0] == printed[1]
    assert printed[0].count("(") == 10
