from collections.abc import Mapping

import numpy as np
import polars as pl
import pytest

from evaluate.statistics.comparisons import ScoreMatrix
from evaluate.statistics.effects import effects_of, largest_grid
from lake.benchmarks import TASKS, protocols
from lake.tables import table
from lake.verdict import DIFFERENCE, FACTORS

CHUNKING = protocols()["repoeval@chunking-v1"]
OFFICIAL = protocols()["contextbench@official-v1"]
SIZES = (146, 67, 64, 46, 42, 36, 32, 22)
"""The items of RepoEval's repositories."""

Cells = Mapping[tuple[str, str], list[float]]
"""Chunker and retriever → the value of each item."""


def _effects(cells: Cells, repos: list[str], *, micro: bool = False, of: str = "") -> pl.DataFrame:
    """The table over items in some repositories; a run's scores are halves of their values, over halves, if micro."""
    protocol = OFFICIAL if micro else CHUNKING
    primary, names = protocol.primary, [f"item/{n}" for n in range(len(repos))]
    measure = {"granularity": primary.granularity, "metric": primary.metric, "k": primary.k}
    rows, scores = [], {}
    for number, ((chunker, retriever), values) in enumerate(cells.items()):
        run_id = f"r{number}"
        shown = {"slice": "all", "slice_value": "all", "in_family": retriever != "random", "n_repos": len(set(repos))}
        rows.append({"run_id": run_id, "chunker": chunker, "retriever": retriever, **measure, **shown})
        weights = [float(n + 1) for n in range(len(repos))]
        sums = {"numerator": [w * v for w, v in zip(weights, values, strict=True)], "denominator": weights}
        scores[run_id] = pl.LazyFrame({"item_id": names, "value": values, **sums}).with_columns(
            **{name: pl.lit(value, pl.Int64 if name == "k" else pl.String) for name, value in measure.items()},
            run_id=pl.lit(run_id),
        )
        # What cannot be scored has no row.
        scores[run_id] = scores[run_id].filter(pl.col("value").is_not_nan())
    items = pl.LazyFrame({"item_id": names, "repo": repos})
    places = pl.DataFrame(rows)
    matrix = ScoreMatrix(protocol, places, items, scores.values())
    effects = effects_of(TASKS[protocol.tasks[0]], protocol, places, matrix)
    table("effects").checked(effects)
    return effects.filter(pl.col("repo") == of) if of != "*" else effects


def _levels(effects: pl.DataFrame, name: str) -> dict[tuple[str, str], float]:
    rows = effects.filter(pl.col(name).is_not_null()).select("chunker", "retriever", pl.col(name).round(6))
    return {(chunker, retriever): value for chunker, retriever, value in rows.iter_rows()}


def _shares(effects: pl.DataFrame) -> dict[str, tuple[float | None, float, float]]:
    rows = effects.filter(factor=pl.col("factor"), chunker="", retriever="").filter(pl.col("factor") != "grand mean")
    return {factor: (share, low, high) for factor, share, low, high in rows.select(
        "factor", "share", "low", "high").iter_rows()}  # fmt: skip


def test_a_two_by_two_grid_by_hand() -> None:
    # a+x .5, a+y .3, b+x .4, b+y .4 in one repository, and .1 more everywhere in the other, which has three items.
    base = {("a", "x"): 0.5, ("a", "y"): 0.3, ("b", "x"): 0.4, ("b", "y"): 0.4}
    cells = {cell: [value, *[value + 0.1] * 3] for cell, value in base.items()}
    effects = _effects(cells, ["p", "q", "q", "q"])
    assert _levels(effects, "mean") == {
        ("", ""): 0.475, ("a", ""): 0.475, ("b", ""): 0.475, ("", "x"): 0.525, ("", "y"): 0.425,
        ("a", "x"): 0.575, ("a", "y"): 0.375, ("b", "x"): 0.475, ("b", "y"): 0.475,
    }  # fmt: skip
    assert _levels(effects, "effect") == {
        ("a", ""): 0, ("b", ""): 0, ("", "x"): 0.05, ("", "y"): -0.05,
        ("a", "x"): 0.05, ("a", "y"): -0.05, ("b", "x"): -0.05, ("b", "y"): 0.05,
    }  # fmt: skip
    # The repositories agree, so that there is nothing to be unsure of, but for the grand mean.
    assert effects.filter(pl.col("effect").abs() > 0.01).select((pl.col("high") - pl.col("low")).max()).item() < 1e-9
    assert _shares(effects)["retriever"][0] == pytest.approx(0.5)
    assert _shares(effects)["chunker"][0] == pytest.approx(0)
    of_p = _effects(cells, ["p", "q", "q", "q"], of="p")
    assert _levels(of_p, "mean")["a", "x"] == 0.5
    assert set(of_p["n_items"]) == {1}


def test_of_fewer_than_six_repositories_the_items_are_the_unit() -> None:
    apart = {("a", "x"): 0.4, ("a", "y"): 0.0, ("b", "x"): 0.3, ("b", "y"): 0.1}
    cells = {cell: [step + 0.01 * (n % 3) * (step > 0) for n in range(12)] for cell, step in apart.items()}
    of_x = _effects(cells, ["p"] * 12).filter(chunker="", retriever="x").row(0, named=True)
    assert 0.1 < of_x["low"] < of_x["effect"] < of_x["high"] < 0.2


def test_ratios_of_sums_are_split_as_they_are_pooled() -> None:
    cells = {("a", "x"): [1.0, 0.5], ("a", "y"): [0.5, 0.5], ("b", "x"): [0.0, 0.25], ("b", "y"): [0.0, 0.0]}
    means = _levels(_effects(cells, ["p", "q"], micro=True), "mean")
    assert {cell: means[cell] for cell in cells} == {
        cell: pytest.approx((values[0] + 2 * values[1]) / 3, abs=1e-6) for cell, values in cells.items()
    }


def test_the_largest_grid_is_taken_and_what_is_left_out_is_named() -> None:
    cells = {(chunker, retriever): [0.1, 0.2] for chunker in "abc" for retriever in "xyz"}
    del cells["c", "z"], cells["c", "y"]
    effects = _effects({**cells, ("a", "random"): [0.0, 0.0], ("a", "only"): [0.3, 0.3]}, ["p", "q"])
    assert set(effects["chunker"]) == {"", "a", "b"}
    assert set(effects["retriever"]) == {"", "x", "y", "z"}
    assert {tuple(names) for names in effects["left_out"]} == {("a+only", "c+x")}
    assert largest_grid([("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"), ("c", "x"), ("c", "y")]) == (
        ["a", "b", "c"], ["x", "y"]
    )  # fmt: skip
    assert _effects({("a", "x"): [0.1, 0.2], ("a", "y"): [0.3, 0.3]}, ["p", "q"]).is_empty()
    assert largest_grid([]) == ([], [])


PLANTED = np.array([-0.06, -0.02, 0.02, 0.06])
NOTHING = np.zeros(4)
TOGETHER = np.outer([1, -1, 1, -1], [1, 1, -1, -1]) * 0.04


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chunker", "retriever", "together", "truth"),
    [
        (PLANTED, NOTHING, 0, (1, 0, 0)),
        (NOTHING, PLANTED, 0, (0, 1, 0)),
        (NOTHING, NOTHING, TOGETHER, (0, 0, 1)),
        (NOTHING, NOTHING, 0, None),
    ],
)
def test_planted_effects_are_recovered(
    chunker: np.ndarray, retriever: np.ndarray, together: np.ndarray | int, truth: tuple[float, float, float] | None
) -> None:
    generator = np.random.default_rng(7)
    repos = [f"repo {number}" for number, n in enumerate(SIZES) for _ in range(n)]
    of_repo = np.repeat(np.arange(len(SIZES)), SIZES)
    n_sets, covered, more = 60, np.zeros(3), np.zeros(2)
    for _ in range(n_sets):
        mean = 0.5 + chunker[:, None] + retriever[None, :] + together
        # Repositories differ in how hard they are, and in what chunkers and retrievers do there.
        apart = [generator.normal(0, size, shape) for size, shape in (
            (0.1, (1, 1, 8)), (0.02, (4, 1, 8)), (0.02, (1, 4, 8)), (0.02, (4, 4, 8)))]  # fmt: skip
        values = (mean[..., None] + sum(apart))[..., of_repo] + generator.normal(0, 0.25, (4, 4, len(of_repo)))
        cells = {(f"c{i}", f"r{j}"): values[i, j].tolist() for i in range(4) for j in range(4)}
        shares = _shares(_effects(cells, repos))
        _, low, high = shares[DIFFERENCE]
        more += (low > 0, high < 0)
        if truth is not None:
            ends = [shares[factor][1:] for factor in FACTORS]
            pairs = zip(truth, ends, strict=True)
            covered += [low <= share + 1e-9 and share - 1e-9 <= high for share, (low, high) in pairs]
    if truth is not None:
        assert covered.min() >= 0.9 * n_sets
    expected = (truth == (0, 1, 0), truth == (1, 0, 0))
    for is_expected, n in zip(expected, more, strict=True):
        assert n >= 0.9 * n_sets if is_expected else n <= 0.06 * n_sets
