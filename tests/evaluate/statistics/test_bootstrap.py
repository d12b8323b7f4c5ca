import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from evaluate.statistics.bootstrap import RESAMPLES, item_intervals

ROOT = Path(__file__).parents[3]


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
    one = pl.LazyFrame({"mean": ["a"], "value": [0.5], "count": [1]})
    assert item_intervals(one, ["mean"]).collect().height == 0
    assert interval([0.25] * 8) == (0.25, 0.25)


MANY = """
import numpy as np, polars as pl
from evaluate.statistics.bootstrap import item_intervals
values = np.random.default_rng(6).random(7_000) * 100
many = pl.LazyFrame({"mean": np.repeat(np.arange(10), 700), "value": values, "count": np.ones(7_000, np.int64)})
"""


def test_neither_the_number_of_threads_nor_the_order_of_the_rows_changes_a_bit() -> None:
    said = [
        subprocess.run(
            [sys.executable, "-c", f"{MANY}\nprint(item_intervals({rows}, ['mean']).sort('mean').collect().rows())"],
            cwd=ROOT,
            env={**os.environ, **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS"), n)},
            capture_output=True,
            check=True,
        ).stdout
        for n, rows in (("1", "many"), ("3", "many.reverse()"))
    ]
    assert said[0] == said[1]
    assert said[0].count(b"(") == 10
