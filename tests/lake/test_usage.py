from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from lake.averages import ITEM, REPOSITORY
from lake.exact import exact_mean
from lake.store import Lake
from lake.usage import Repair, _repairs, pareto_front, run_costs
from tests.frames import write


def test_a_runs_parts_are_added_and_their_queries_ordered_together(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    # The run `s` has no queries, and `t` no index.
    parts = [("r", 1.5, 10, [0.1, 0.9]), ("r", 2.5, 30, [0.5]), ("s", 0.25, 2, []), ("t", None, None, [2.0])]
    for number, (run_id, seconds, size, queries) in enumerate(parts):
        row = {"part": str(number), "index_seconds": seconds, "index_bytes": size, "query_seconds": queries}
        write(lake, "costs", [row | {"hardware": "2 cores"}], part=str(number), benchmark="b", run_id=run_id)
    rows = run_costs(lake).collect().with_columns(pl.col("query_p50", "query_p95").round(6)).drop("benchmark").rows()
    assert rows == [
        ("r", 4.0, 0.5, 0.86, 40, 3, "2 cores"),
        ("s", 0.25, None, None, 2, 0, "2 cores"),
        ("t", None, 2.0, 2.0, None, 1, "2 cores"),
    ]


few = st.integers(0, 4)


@given(st.lists(st.tuples(few, few), max_size=8), st.booleans())
def test_on_the_frontier_are_those_that_no_other_beats(offers: list[tuple[int, int]], lower: bool) -> None:
    def beats(other: tuple[int, int], first: tuple[int, int]) -> bool:
        gain = first[1] - other[1] if lower else other[1] - first[1]
        return other[0] <= first[0] and gain >= 0 and (other[0] < first[0] or gain > 0)

    wanted = [not any(beats(other, offer) for other in offers) for offer in offers]
    assert pareto_front([cost for cost, _ in offers], [value for _, value in offers], lower_is_better=lower) == wanted


def rows(n_repos: int, n: int, effect: float, seed: int = 1) -> pl.DataFrame:
    """Items whose coverage depends on their repository and, by `effect`, on whether they were resolved."""
    draw = np.random.default_rng(seed)
    repo = np.repeat(np.arange(n_repos), n)
    resolved = draw.integers(0, 2, n_repos * n)
    value = 0.3 + 0.05 * repo + effect * resolved + draw.normal(0, 0.1, n_repos * n)
    names = [f"r{number:02}" for number in repo]
    items = [f"i{number:04}" for number in range(n_repos * n)]
    frame = {"run_id": "run", "metric": "line_coverage", "repo": names, "item_id": items, "value": value}
    return pl.DataFrame({**frame, "resolved": resolved.astype(float)})


def plain(frame: pl.DataFrame, *, by_repo: bool) -> tuple[float, float, float]:
    """The same by least squares over dummies, and the sandwich of their errors."""
    repos = sorted(set(frame["repo"]))
    dummies = np.array([[float(name == repo) for repo in repos] for name in frame["repo"]])
    x = np.column_stack([frame["resolved"].to_numpy(), dummies])
    y = frame["value"].to_numpy()
    inverse = np.linalg.inv(x.T @ x)
    beta = inverse @ x.T @ y
    scored = x * (y - x @ beta)[:, None]
    groups = [scored[frame["repo"].to_numpy() == repo].sum(axis=0) for repo in repos] if by_repo else list(scored)
    n, free = len(groups), len(groups) - 1 if by_repo else len(y) - len(repos) - 1
    spread = inverse @ sum(np.outer(group, group) for group in groups) @ inverse * n / free
    half = float(t.ppf(0.975, free) * spread[0, 0] ** 0.5)
    return float(beta[0]), float(beta[0] - half), float(beta[0] + half)


@pytest.mark.parametrize(("n_repos", "n", "unit"), [(8, 10, REPOSITORY), (3, 20, ITEM), (1, 40, ITEM)])
def test_it_is_a_regression_within_repositories(n_repos: int, n: int, unit: str) -> None:
    frame = rows(n_repos, n, 0.2)
    (repair,) = _repairs(frame)
    assert (repair.n_items, repair.n_repos, repair.unit) == (n_repos * n, n_repos, unit)
    assert (repair.delta, repair.low, repair.high) == pytest.approx(plain(frame, by_repo=unit == REPOSITORY))
    assert repair.sentence("deep").startswith(
        "deep: context predicts repair. Where it resolved the item, its context has 0."
    )


def test_repositories_that_differ_are_no_effect_of_repair() -> None:
    """Whoever resolves the items of the easy repository alone has covered no more for it."""
    is_easy = pl.col("repo") == "r00"
    frame = rows(8, 10, 0.0).with_columns(
        value=pl.col("value") + pl.when(is_easy).then(0.5).otherwise(0),
        resolved=pl.when(is_easy).then(1.0).otherwise("resolved"),
    )
    (repair,) = _repairs(frame)
    assert (repair.n_items, repair.low < 0 < repair.high) == (70, True)
    assert "it cannot be told whether" in repair.sentence("deep")


def test_nothing_is_said_below_30_items() -> None:
    assert list(_repairs(rows(2, 14, 0.2))) == []
    assert list(_repairs(rows(8, 10, 0.2).with_columns(resolved=pl.lit(1.0)))) == []


def test_the_sentence_says_over_what_and_how_sure() -> None:
    repair = Repair("run", "file_coverage", 40, 2, ITEM, -0.25, -0.5, -0.01)
    assert repair.sentence("deep") == (
        "deep: less context goes with repair. Where it resolved the item, its context has 0.250 less of the gold files "
        "than elsewhere in the same repository (95 % CI -0.500 to -0.010; 40 items; for these repositories only)."
    )


def test_a_mean_does_not_depend_on_the_order_of_rows() -> None:
    numbers = pl.Series("seconds", [0.1, 1e9, 0.3, None, 1470.33] * 7)
    rows = [numbers, numbers.reverse(), numbers.sort(), numbers.shuffle(seed=1)]
    means = {row.to_frame().select(exact_mean(pl.col("seconds"))).item() for row in rows}
    assert len(means) == 1
    assert means.pop() == pytest.approx((1e9 + 1470.73) / 4, rel=1e-9)
    assert numbers.clear().to_frame().select(exact_mean(pl.col("seconds"))).item() is None
