from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from evaluate.statistics.boards import rank_runs
from evaluate.statistics.comparisons import ScoreMatrix, compare_runs, verdict_of, with_places
from evaluate.statistics.intervals import over_repositories
from evaluate.statistics.means import aggregate
from evaluate.statistics.pairs import Values as Matrix
from evaluate.statistics.pairs import differences
from lake.averages import ITEM
from lake.benchmarks import protocols
from lake.catalog.protocol import Protocol
from lake.exact import steps
from lake.store import Lake
from lake.tables import table
from lake.verdict import BETTER, INSEPARABLE, TOO_FEW, WORSE
from tests.frames import score_rows

REPOBENCH = protocols()["repobench-r@official-v1"]
CONTEXTS = protocols()["contextbench@official-v1"]
Values = Mapping[str, Sequence[float | None]]


class Made:
    """Comparisons and ranks of made-up runs over so many repositories of so many items."""

    def __init__(self, values: Values, n_repos: int, protocol: Protocol = REPOBENCH) -> None:
        n_items, primary = len(next(iter(values.values()))), protocol.primary
        ids = [f"i{number:03}" for number in range(n_items)]
        self.items = pl.LazyFrame(
            {
                "item_id": ids,
                "repo": [f"r{number % n_repos}" for number in range(n_items)],
                "language": [("python", "java")[number % n_repos % 2] for number in range(n_items)],
            }
        ).with_columns(
            *(pl.lit(value).alias(column) for column, value in (("subset", "s"), ("split", "test"), ("level", "hard"))),
            *(pl.lit(None, pl.String).alias(column) for column in ("context", "source", "difficulty")),
            n_candidates=pl.lit(10, pl.Int64),
        )
        by = {"protocol": protocol.name, "granularity": primary.granularity, "metric": primary.metric, "k": primary.k}
        sizes = [1.0 + number % 3 for number in range(n_items)]
        self.scores = {
            run_id: score_rows({"item_id": ids, "value": of, "denominator": sizes}, **by, run_id=run_id).with_columns(
                numerator=pl.col("value") * pl.col("denominator")
            )
            for run_id, of in values.items()
        }
        aggregates = pl.concat(aggregate(protocol, scores, self.items).collect() for scores in self.scores.values())
        systems = pl.DataFrame({"run_id": list(values)}).with_columns(
            is_complete=pl.col("run_id") != "partial",
            is_baseline=pl.col("run_id") == "baseline",
            is_expected=pl.col("run_id") == "baseline",
        )
        self.rows = with_places(protocol, aggregates, systems)
        several = self.rows.filter((pl.col("n_repos") > 1) | (pl.col("slice") == "all"))
        matrix = ScoreMatrix(protocol, several, self.items, self.scores.values())
        self.comparisons = compare_runs(protocol, several, matrix)
        self.ranks = rank_runs(protocol, self.rows, self.comparisons)
        table("comparisons").checked(self.comparisons)
        table("ranks").checked(self.ranks)

    def ranked(self, slice_: str = "all") -> dict[str, tuple[int | None, ...]]:
        rows = self.ranks.filter(slice=slice_).select("run_id", "rank", "rank_low", "rank_high", "tie_group")
        return {run_id: tuple(numbers) for run_id, *numbers in rows.iter_rows()}


def values_of(n_items: int, n_repos: int) -> dict[str, list[float | None]]:
    rng = np.random.default_rng(1)
    at = {"worst": 0.3, "middling": 0.5, "middling-2": 0.5, "best": 0.7, "baseline": 0.9, "partial": 0.4, "fewer": 0.6}
    values: dict[str, list[float | None]] = {name: list(rng.normal(mean, 0.05, n_items)) for name, mean in at.items()}
    values["fewer"][3] = None
    return values


@pytest.fixture(scope="module")
def made() -> Made:
    return Made(values_of(96, 8), 8)


def test_the_family_is_all_complete_systems_in_the_headline_slice(made: Made) -> None:
    family = made.comparisons.filter(~pl.col("exploratory"))
    assert {*family["run_a"], *family["run_b"]} == {"worst", "middling", "middling-2", "best"}
    assert family.height == 6
    assert family["slice"].unique().to_list() == ["all"]
    assert family["p_adjusted"].null_count() == 0
    assert made.comparisons.filter("exploratory")["p_adjusted"].null_count() == made.comparisons.height - 6
    assert (family["p_adjusted"] >= family["p"]).all()


def test_against_an_expectation_nothing_is_won(made: Made) -> None:
    with_baseline = (pl.col("run_a") == "baseline") | (pl.col("run_b") == "baseline")
    counts = made.comparisons.select("wins", "ties", "losses", with_baseline.alias("expected"))
    assert (counts["wins"].is_null() == counts["expected"]).all()
    rest = made.comparisons.filter(~with_baseline)
    assert (rest["wins"] + rest["ties"] + rest["losses"] == rest["n_items"]).all()


def test_ranks_follow_the_verdicts_and_ties_share_a_group(made: Made) -> None:
    numbers = made.ranked()
    assert numbers["best"] == (1, 1, 1, 1)
    assert {numbers["middling"][1:], numbers["middling-2"][1:]} == {(2, 3, 2)}
    assert {numbers["middling"][0], numbers["middling-2"][0]} == {2, 3}
    assert numbers["worst"] == (4, 4, 4, 3)
    assert set(numbers) == {"best", "middling", "middling-2", "worst"}


def test_a_tie_groups_anchor_is_its_best_and_the_group_may_have_gaps() -> None:
    rng = np.random.default_rng(2)
    noise = rng.normal(0, 0.3, 80)
    # `near` is always just below `best`; `noisy` is lower still, and cannot be told from it.
    values = {"best": [0.5] * 80, "near": [0.457] * 80, "noisy": list(0.455 + noise - noise.mean())}
    made = Made(values, 40)
    assert {name: (rank, group) for name, (rank, _, _, group) in made.ranked().items()} == {
        "best": (1, 1),
        "near": (2, 2),
        "noisy": (3, 1),
    }


def test_below_thirty_items_rank_and_verdict_are_withheld() -> None:
    made = Made({name: of for name, of in values_of(29, 8).items() if name != "fewer"}, 8)
    assert made.comparisons["verdict"].unique().to_list() == [TOO_FEW]
    assert made.comparisons["smallest_detectable"].is_null().all()
    assert made.ranks["too_few"].all()
    places = made.ranks.select("rank", "rank_low", "rank_high", "tie_group")
    assert places.null_count().row(0) == (places.height,) * 4


@pytest.mark.parametrize("n_repos", [1, 5])
def test_of_few_repositories_items_decide(n_repos: int) -> None:
    worse = [0.013 + 0.001 * (number % 3) for number in range(200)]
    better = [0.0 if number % 18 == 0 else 0.1 + 0.001 * (number % 5) for number in range(200)]
    made = Made({"a": better, "b": worse}, n_repos)
    pair = made.comparisons.filter(slice="all").row(0, named=True)
    assert (pair["verdict"], pair["unit"], pair["n_repos"]) == (WORSE, ITEM, n_repos)
    assert made.ranked() == {"a": (1, 1, 1, 1), "b": (2, 2, 2, 2)}
    assert made.ranks.filter(slice="all")["unit"].unique().to_list() == [ITEM]


def test_over_items_a_mean_of_repositories_means_keeps_its_difference() -> None:
    rng = np.random.default_rng(5)
    repo = np.repeat([0, 1, 2], [10, 20, 70])
    value = rng.random((2, 100))
    pair = differences(Matrix(value, repo), np.array([0]), np.array([1]), "by_repo", over_items=True)
    apart = [np.mean((value[1] - value[0])[repo == number]) for number in range(3)]
    assert pair.delta[0] == pytest.approx(np.mean(apart))
    assert pair.parts.shape == (1, 100)


def test_two_one_sided_tests_agree_with_the_interval_of_ninety_percent() -> None:
    rng = np.random.default_rng(3)
    for spread, wanted in ((0.01, True), (0.2, False)):
        base = rng.normal(0.5, 0.2, 400)
        made = Made({"a": list(base), "b": list(base + rng.normal(0, spread, 400))}, 20)
        assert made.comparisons.filter(slice="all")["equivalent"].to_list() == [wanted]


def test_a_ratio_of_sums_is_compared_as_the_table_averages_it() -> None:
    made = Made({name: of for name, of in values_of(60, 6).items() if name != "fewer"}, 6, CONTEXTS)
    micro = dict(made.rows.filter(slice="all").select("run_id", "micro").iter_rows())
    for run_a, run_b, delta in made.comparisons.filter(slice="all").select("run_a", "run_b", "delta").iter_rows():
        assert delta == pytest.approx(micro[run_b] - micro[run_a])


def test_against_a_system_that_finds_nothing_the_interval_is_t_over_the_repositories_of_the_mean() -> None:
    made = Made({"a": [0.0] * 110, "b": values_of(110, 8)["best"]}, 8)
    scores = made.scores["b"].join(made.items.select("item_id", "repo"), on="item_id")
    by_repo = scores.group_by("repo").agg(steps(pl.col("value")).sum().alias("numerator"), n=pl.len().cast(pl.Float64))
    mean = over_repositories(by_repo.select(denominator=steps(pl.col("n")), numerator="numerator", of=1), ["of"])
    row = mean.collect().row(0, named=True)
    half = stats.t.ppf(0.975, row["degrees"]) * row["variance"] ** 0.5
    whole = made.comparisons.filter(slice="all").row(0, named=True)
    expected = (row["mean"], row["mean"] - half, row["mean"] + half)
    assert [whole[name] for name in ("delta", "low", "high")] == pytest.approx(expected)


def test_a_comparison_says_what_the_averages_say(lake_folder: Path) -> None:
    lake = Lake(lake_folder)
    averages = {"repoeval@code-chunk-v1": "by_repo"}
    key = ["protocol", "granularity", "metric", "k", "slice", "slice_value"]
    means = lake.read("aggregates")
    comparisons = lake.read("comparisons")
    assert {"repoeval@chunking-v1", "repoeval@code-chunk-v1"} <= set(comparisons["protocol"])
    for protocol, rows in comparisons.partition_by("protocol", as_dict=True).items():
        mean = means.select(*key, "run_id", mean=averages.get(str(protocol[0]), "macro"))
        both = rows.join(mean, left_on=[*key, "run_a"], right_on=[*key, "run_id"]).join(
            mean, left_on=[*key, "run_b"], right_on=[*key, "run_id"], suffix="_b"
        )
        assert both.height == rows.height
        assert both["delta"].to_list() == pytest.approx((both["mean_b"] - both["mean"]).to_list())


@pytest.mark.parametrize(
    ("adjusted", "low", "verdict"),
    [(None, 0.01, BETTER), (None, -0.01, INSEPARABLE), (0.01, -0.01, BETTER), (0.2, 0.01, INSEPARABLE)],
)
def test_exploratory_pairs_differ_if_test_and_interval_agree(adjusted: float | None, low: float, verdict: str) -> None:
    row = {"sign": 1, "n_repos": 9, "n_items": 99, "delta": 0.1, "low": low, "high": 0.2, "p": 0.01}
    frame = pl.DataFrame(
        [{**row, "p_adjusted": adjusted, "equivalent": False}], schema_overrides={"p_adjusted": pl.Float64}
    )
    assert frame.select(verdict_of()).item() == verdict
