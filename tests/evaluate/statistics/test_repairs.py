import numpy as np
import polars as pl
import pytest
from scipy.stats import t

from evaluate.statistics.repairs import _repairs
from lake.averages import ITEM, REPOSITORY
from lake.verdict import repair_sentence


def rows(n_repos: int, n: int, effect: float, seed: int = 1) -> pl.DataFrame:
    """Items whose coverage depends on their repository and, by `effect`, on whether they were resolved."""
    draw = np.random.default_rng(seed)
    repo = np.repeat(np.arange(n_repos), n)
    resolved = draw.integers(0, 2, n_repos * n)
    value = 0.3 + 0.05 * repo + effect * resolved + draw.normal(0, 0.1, n_repos * n)
    names = [f"r{number:02}" for number in repo]
    items = [f"i{number:04}" for number in range(n_repos * n)]
    frame = {
        "run_id": "run",
        "protocol": "p",
        "metric": "line_coverage",
        "repo": names,
        "item_id": items,
        "value": value,
    }
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
    assert (repair["n_items"], repair["n_repos"], repair["unit"]) == (n_repos * n, n_repos, unit)
    ends = repair["delta"], repair["low"], repair["high"]
    assert ends == pytest.approx(plain(frame, by_repo=unit == REPOSITORY))
    assert repair_sentence(repair, "deep").startswith(
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
    assert repair["n_items"] == 70
    assert "it cannot be told whether" in repair_sentence(repair, "deep")


def test_nothing_is_said_below_30_items() -> None:
    assert list(_repairs(rows(2, 14, 0.2))) == []
    assert list(_repairs(rows(8, 10, 0.2).with_columns(resolved=pl.lit(1.0)))) == []


def test_the_sentence_says_over_what_and_how_sure() -> None:
    row = {"metric": "file_coverage", "n_items": 40, "unit": ITEM, "delta": -0.25, "low": -0.5, "high": -0.01}
    assert repair_sentence(row, "deep") == (
        "deep: less context goes with repair. Where it resolved the item, its context has 0.250 less of the gold files "
        "than elsewhere in the same repository (95 % CI -0.500 to -0.010; 40 items; for these repositories only)."
    )
