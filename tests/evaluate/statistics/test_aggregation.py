import polars as pl
import pytest

from evaluate.metrics import metrics_of
from evaluate.statistics.means import aggregate
from evaluate.statistics.slices import average_of
from lake.catalog.protocols import protocols
from lake.tables import table
from tests.frames import score_rows

# item, repo, numerator, denominator: per item 1/2, 0/4, 3/3; repository p has the first two.
THREE = [("i1", "p", 1.0, 2.0), ("i2", "p", 0.0, 4.0), ("i3", "q", 3.0, 3.0)]


def scores_of(rows: list[tuple[str, float | None, float | None, float | None]], metric: str = "recall") -> pl.LazyFrame:
    names = ("item_id", "value", "numerator", "denominator")
    return score_rows(dict(zip(names, zip(*rows, strict=True), strict=True)), metric=metric)


def three_scores() -> pl.LazyFrame:
    return scores_of([(item, above / below, above, below) for item, _, above, below in THREE])


def items_of(repos: dict[str, str], contexts: list[str], level: str = "function") -> pl.LazyFrame:
    return pl.LazyFrame({"item_id": list(repos), "repo": list(repos.values()), "context": contexts}).with_columns(
        pl.lit(level).alias("level"), (f"{level}-" + pl.col("context")).alias("subset")
    )


RULES = protocols()["repoeval@target-v1"]
REPOS = {item: repo for item, repo, *_ in THREE}


def row(aggregates: pl.DataFrame, name: str, value: str) -> dict[str, float | None]:
    return aggregates.row(by_predicate=(pl.col("slice") == name) & (pl.col("slice_value") == value), named=True)


def test_three_means_by_hand() -> None:
    aggregates = aggregate(RULES, three_scores(), items_of(REPOS, ["2k"] * 3)).collect()
    table("aggregates").checked(aggregates)
    whole = row(aggregates, "all", "all")
    assert whole["macro"] == pytest.approx((1 / 2 + 0 + 1) / 3)
    assert whole["micro"] == pytest.approx((1 + 0 + 3) / (2 + 4 + 3))
    assert whole["by_repo"] == pytest.approx(((1 / 2 + 0) / 2 + 1) / 2)
    assert (whole["n"], whole["n_items"], whole["n_repos"]) == (3, 3, 2)
    assert row(aggregates, "repo", "p")["macro"] == pytest.approx(1 / 4)
    assert row(aggregates, "repo", "p")["micro"] == pytest.approx(1 / 6)
    assert row(aggregates, "repo", "q")["by_repo"] == 1
    alike = {"slice": "subset", "slice_value": "function-2k"}
    assert row(aggregates, "subset", "function-2k") == whole | alike


def test_what_is_not_applicable_leaves_the_mean_and_is_counted() -> None:
    scores = scores_of([("i1", 1 / 2, 1, 2), ("i2", None, None, None), ("i3", None, None, None)])
    others = scores_of([(item, 0.5, None, None) for item in REPOS], metric="ndcg")
    aggregates = (
        aggregate(RULES, pl.concat([scores, others]), items_of(REPOS, ["2k"] * 3)).collect().filter(metric="recall")
    )
    whole = row(aggregates, "all", "all")
    assert (whole["macro"], whole["micro"], whole["by_repo"]) == (1 / 2, 1 / 2, 1 / 2)
    assert (whole["n"], whole["n_items"], whole["n_not_applicable"], whole["n_repos"]) == (1, 3, 2, 1)
    assert whole["n_failed"] == 0
    nothing = row(aggregates, "repo", "q")
    assert (nothing["macro"], nothing["micro"], nothing["by_repo"], nothing["n"]) == (None, None, None, 0)


def test_contexts_of_one_target_are_never_pooled() -> None:
    aggregates = aggregate(RULES, three_scores(), items_of(REPOS, ["1k", "2k", "2k"])).collect()
    found = {(name, value) for name, value in aggregates.select("slice", "slice_value").iter_rows()}
    assert found == {
        ("subset", "function-1k"),
        ("subset", "function-2k"),
        ("context", "1k"),
        ("context", "2k"),
        ("context/level", "1k/function"),
        ("context/level", "2k/function"),
        ("context/repo", "1k/p"),
        ("context/repo", "2k/p"),
        ("context/repo", "2k/q"),
    }
    assert row(aggregates, "context", "2k")["macro"] == pytest.approx((0 + 1) / 2)


def test_items_that_failed_or_were_never_tried_are_counted() -> None:
    run_items = pl.LazyFrame({"run_id": ["run", "run"], "item_id": ["i1", "i2"], "status": ["done", "failed"]})
    aggregates = aggregate(RULES, three_scores(), items_of(REPOS, ["2k"] * 3), run_items).collect()
    assert row(aggregates, "all", "all")["n_failed"] == 2
    assert row(aggregates, "repo", "p")["n_failed"] == 1


def test_an_item_without_any_value_failed_and_is_left_out_of_every_mean() -> None:
    scores = scores_of([("i1", 1 / 2, 1, 2), ("i2", None, None, None), ("i3", None, None, None)])
    others = scores_of([("i1", 0.5, None, None), ("i2", None, None, None), ("i3", 0.5, None, None)], metric="ndcg")
    done = pl.LazyFrame({"run_id": ["run"] * 3, "item_id": list(REPOS), "status": ["done"] * 3})
    aggregates = aggregate(RULES, pl.concat([scores, others]), items_of(REPOS, ["2k"] * 3), done).collect()
    counts = ("n", "n_items", "n_failed", "n_not_applicable")
    recall, ndcg = (row(aggregates.filter(metric=metric), "all", "all") for metric in ("recall", "ndcg"))
    assert [recall[name] for name in counts] == [1, 3, 1, 1]
    assert [ndcg[name] for name in counts] == [2, 3, 1, 0]


def test_published_contexts_are_averaged_as_ratios_of_sums_and_their_steps_over_items() -> None:
    published, docs = (protocols()[f"contextbench@{rules}"] for rules in ("official-v1", "docs-v1"))
    found = {metric.name: average_of(published, metric) for metric, _ in metrics_of(published)}
    of_steps = {f"{of}_{what}" for of in ("file", "symbol", "span", "line") for what in ("auc", "redundancy")}
    assert {name for name, average in found.items() if average == "macro"} == {*of_steps, "n_steps"}
    assert {average for name, average in found.items() if name not in {*of_steps, "n_steps"}} == {"micro"}
    assert {average_of(docs, metric) for metric, _ in metrics_of(docs)} == {"macro"}
