import itertools
from pathlib import Path

import polars as pl
import pytest

from evaluate.metrics import metrics_of
from evaluate.statistics.boards import characters_of
from evaluate.statistics.means import aggregate
from evaluate.statistics.slices import average_of, slice_of, with_slice
from lake.benchmarks import protocols
from lake.errors import GoldspanError
from lake.store import Lake
from lake.tables import table
from tests.frames import score_rows, write

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
    both = pl.concat([scores, others])
    aggregates = aggregate(RULES, both, items_of(REPOS, ["2k"] * 3)).collect().filter(metric="recall")
    whole = row(aggregates, "all", "all")
    assert (whole["macro"], whole["micro"], whole["by_repo"]) == (1 / 2, 1 / 2, 1 / 2)
    assert (whole["n"], whole["n_items"], whole["n_not_applicable"], whole["n_repos"]) == (1, 3, 2, 1)
    assert whole["n_failed"] == 0
    nothing = row(aggregates, "repo", "q")
    assert (nothing["macro"], nothing["micro"], nothing["by_repo"], nothing["n"]) == (None, None, None, 0)


def test_contexts_of_one_target_are_never_pooled() -> None:
    aggregates = aggregate(RULES, three_scores(), items_of(REPOS, ["1k", "2k", "2k"])).collect()
    slices = {(name, value) for name, value in aggregates.select("slice", "slice_value").iter_rows()}
    assert slices == {
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
    averages = {metric.name: average_of(published, metric) for metric, _ in metrics_of(published)}
    of_steps = {f"{of}_{what}" for of in ("file", "symbol", "span", "line") for what in ("auc", "redundancy")}
    assert {name for name, average in averages.items() if average == "macro"} == {*of_steps, "n_steps"}
    assert {average for name, average in averages.items() if name not in {*of_steps, "n_steps"}} == {"micro"}
    assert {average_of(docs, metric) for metric, _ in metrics_of(docs)} == {"macro"}


Item = dict[str, str | int | None]
COLUMNS = {
    name: pl.String()
    for name in ("subset", "split", "level", "context", "difficulty", "source", "language", "repo")
} | {"n_candidates": pl.Int64()}  # fmt: skip


def item(subset: str = "python_cff", split: str = "test", level: str = "hard", **others: str | int | None) -> Item:
    described: Item = {"subset": subset, "split": split, "level": level, "difficulty": level, "source": "v1"}
    return described | {"language": subset.partition("_")[0], "repo": "a/b", "n_candidates": 12} | others


def sliced(items: list[Item], values: list[float | None] | None = None) -> pl.DataFrame:
    """Aggregates of one metric whose value at item i is i, unless said otherwise."""
    ids = [f"i{n}" for n in range(len(items))]
    values = [float(n) for n in range(len(items))] if values is None else values
    above, below = [value or 0.0 for value in values], [float(value is not None) for value in values]
    scores = score_rows(
        {"item_id": ids, "value": values, "numerator": above, "denominator": below}, metric="accuracy", k=1
    )
    described = pl.LazyFrame(items, schema=COLUMNS).with_columns(item_id=pl.Series(ids))
    aggregates = aggregate(protocols()["repobench-r@official-v1"], scores, described).collect()
    table("aggregates").checked(aggregates)
    return aggregates


def means(aggregates: pl.DataFrame) -> dict[tuple[str, str], float | None]:
    return {(name, value): macro for name, value, macro in aggregates.select("slice", "slice_value", "macro").rows()}


def test_the_headline_is_a_slice_even_of_one_kind_of_items() -> None:
    headlines = {protocol.headline for protocol in protocols().values() if protocol.name.startswith("repobench-r@")}
    assert headlines == {("subset/split/level", "python_cff/test/hard")}
    by_slice = means(sliced([item(), item()]))
    assert by_slice["subset/split/level", "python_cff/test/hard"] == 1 / 2
    # What tells nothing apart is not there: one language, one difficulty, one split, one band.
    assert {name for name, _ in by_slice} == {"all", "subset", "level", "repo", "subset/split/level"}


def test_train_is_never_pooled_with_test() -> None:
    items = [item(split=split, level=level) for split, level in itertools.product(("train", "test"), ("easy", "hard"))]
    by_slice = means(sliced(items))
    assert {name for name, _ in by_slice} == {
        "split", "split/level", "split/difficulty", "split/repo", "subset/split", "subset/split/level",
    }  # fmt: skip
    assert by_slice["split", "train"] == 1 / 2
    assert by_slice["split", "test"] == (2 + 3) / 2
    assert by_slice["split/level", "train/hard"] == 1
    assert by_slice["subset/split", "python_cff/test"] == (2 + 3) / 2
    assert by_slice["subset/split/level", "python_cff/test/easy"] == 2


def test_one_version_is_never_pooled_with_another() -> None:
    by_slice = means(sliced([item(), item(source=None)]))
    assert by_slice == {
        ("source", "v1"): 0,
        ("source", "none"): 1,
        ("source/level", "v1/hard"): 0,
        ("source/level", "none/hard"): 1,
        ("source/repo", "v1/a/b"): 0,
        ("source/repo", "none/a/b"): 1,
    }


@pytest.mark.parametrize(
    ("n_candidates", "band"),
    [(1, "1-4"), (4, "1-4"), (5, "5-9"), (9, "5-9"), (10, "10-14"), (14, "10-14"), (15, "15-19"), (19, "15-19"),
     (20, "20+"), (400, "20+")],
)  # fmt: skip
def test_bands_of_candidates(n_candidates: int, band: str) -> None:
    other = 1 if band != "1-4" else 20
    by_slice = means(sliced([item(n_candidates=n_candidates), item(n_candidates=other)]))
    assert by_slice["band", band] == 0


# run → item → part and rank → its new characters; item c is in another subset, d was not answered
RANKED = {"a": {("ranking", 1): 1_500, ("ranking", 2): 900, ("ranking", 6): 7_000}, "b": {("ranking", 1): 100}}
AGENT = {"a": {("step", 1): 999, ("final", 1): 20_000, ("final", 2): None}, "b": {("final", 1): 400}}
BEST_LINES = {"a": {("ranking", 1): 50, ("ranking", 2): 70, ("lines", 1): 5_000}, "b": {("lines", 1): 3_000}}


def _read(tmp_path: Path, protocol: str, hits: dict[str, dict[tuple[str, int], int | None]]) -> dict[int, float]:
    """By cut-off the characters of the items of the slice."""
    lake, benchmark = Lake(tmp_path), protocol.partition("@")[0]
    other = {"c": {("ranking", 1): 10**6}} if hits else {}
    rows = [
        {"item_id": item, "part": part, "rank": rank, "n_new_nws": n}
        for item, given in (hits | other).items()
        for (part, rank), n in given.items()
    ]
    write(lake, "hits", rows, benchmark=benchmark, run_id="r")
    items = pl.LazyFrame({"item_id": list("abcd"), "subset": ["s", "s", "t", "s"], "scorable": [True] * 4})
    of_slice = {"slice": "subset", "slice_value": "s", "n_items": 3}
    shown = {"run_id": "r", "is_primary": True, "is_headline": True, **of_slice}
    characters = characters_of(protocols()[protocol], pl.DataFrame([shown]), items, [lake.scan("hits")])
    if characters.is_empty():
        return {}
    whole = sum(n or 0 for item in hits.values() for (part, _), n in item.items() if part in ("ranking", "final"))
    assert hits is BEST_LINES or set(characters["returned"]) == {whole / 3}
    return {k: read * 3 for k, read in characters.select("k", "read").iter_rows()}


@pytest.mark.parametrize(
    ("protocol", "hits", "read"),
    [
        # Of a budget what was returned, as far as it goes.
        ("repoeval@chunking-v1", RANKED, {2_000: 2_100, 8_000: 8_100, 32_000: 9_500}),
        ("repoeval@chunking-v1", BEST_LINES, {2_000: 4_000, 8_000: 8_000, 32_000: 8_000}),
        # The first results, the best lines' order aside.
        ("repoeval@code-chunk-v1", RANKED, {5: 2_500, 10: 9_500}),
        ("repobench-r@official-v1", BEST_LINES, {1: 50, 3: 120, 5: 120}),
        # Of a ranking the context that it gives, of an agent its own, however long.
        ("contextbench@official-v1", RANKED, {0: 8_100}),
        ("contextbench@docs-v1", AGENT, {0: 20_400, 2_000: 2_400, 8_000: 8_400, 32_000: 20_400}),
    ],
)
def test_characters_are_read_down_to_each_cut_off_of_the_primary_metric(
    tmp_path: Path, protocol: str, hits: dict[str, dict[tuple[str, int], int | None]], read: dict[int, float]
) -> None:
    assert _read(tmp_path, protocol, hits) == pytest.approx(read)


def test_a_run_that_returned_no_lines_is_not_said_to_be_read_in_no_time(tmp_path: Path) -> None:
    assert _read(tmp_path, "repoeval@completion-v1", {}) == {}


def test_boards_without_the_slice_that_is_asked_for_are_left_out() -> None:
    def read(level: str) -> tuple[str, str]:
        aggregates = pl.LazyFrame({"slice": ["all", "level"], "slice_value": ["all", level]})
        return slice_of(RULES, aggregates, "level=easy")

    assert with_slice(["line", "easy"], read) == [("level", "easy")]
    with pytest.raises(GoldspanError, match="unknown slice of repoeval@target-v1 'level=easy'"):
        with_slice(["line", "hard"], read)
