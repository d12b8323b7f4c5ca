import itertools

import polars as pl
import pytest

from evaluate.statistics.means import aggregate
from lake.catalog.protocols import protocols
from lake.tables import table
from tests.frames import score_rows

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
    ids = [f"i{place}" for place in range(len(items))]
    values = [float(place) for place in range(len(items))] if values is None else values
    above, below = [value or 0.0 for value in values], [float(value is not None) for value in values]
    scores = score_rows(
        {"item_id": ids, "value": values, "numerator": above, "denominator": below}, metric="accuracy", k=1
    )
    described = pl.LazyFrame(items, schema=COLUMNS).with_columns(item_id=pl.Series(ids))
    found = aggregate(protocols()["repobench-r@official-v1"], scores, described).collect()
    table("aggregates").checked(found)
    return found


def means(aggregates: pl.DataFrame) -> dict[tuple[str, str], float | None]:
    return {(name, value): macro for name, value, macro in aggregates.select("slice", "slice_value", "macro").rows()}


def test_the_headline_is_a_slice_even_of_one_kind_of_items() -> None:
    named = {protocol.headline for protocol in protocols().values() if protocol.name.startswith("repobench-r@")}
    assert named == {("subset/split/level", "python_cff/test/hard")}
    found = means(sliced([item(), item()]))
    assert found["subset/split/level", "python_cff/test/hard"] == 1 / 2
    # What tells nothing apart is not there: one language, one difficulty, one split, one band.
    assert {name for name, _ in found} == {"all", "subset", "level", "repo", "subset/split/level"}


def test_train_is_never_pooled_with_test() -> None:
    items = [item(split=split, level=level) for split, level in itertools.product(("train", "test"), ("easy", "hard"))]
    found = means(sliced(items))
    assert {name for name, _ in found} == {
        "split", "split/level", "split/difficulty", "split/repo", "subset/split", "subset/split/level",
    }  # fmt: skip
    assert found["split", "train"] == 1 / 2
    assert found["split", "test"] == (2 + 3) / 2
    assert found["split/level", "train/hard"] == 1
    assert found["subset/split", "python_cff/test"] == (2 + 3) / 2
    assert found["subset/split/level", "python_cff/test/easy"] == 2


def test_one_version_is_never_pooled_with_another() -> None:
    found = means(sliced([item(), item(source="v1.1"), item(source=None)]))
    assert found == {
        ("source", "v1"): 0,
        ("source", "v1.1"): 1,
        ("source", "none"): 2,
        ("source/level", "v1/hard"): 0,
        ("source/level", "v1.1/hard"): 1,
        ("source/level", "none/hard"): 2,
        ("source/repo", "v1/a/b"): 0,
        ("source/repo", "v1.1/a/b"): 1,
        ("source/repo", "none/a/b"): 2,
    }


@pytest.mark.parametrize(
    ("n_candidates", "band"),
    [(1, "1-4"), (4, "1-4"), (5, "5-9"), (9, "5-9"), (10, "10-14"), (14, "10-14"), (15, "15-19"), (19, "15-19"),
     (20, "20+"), (400, "20+")],
)  # fmt: skip
def test_bands_of_candidates(n_candidates: int, band: str) -> None:
    other = 1 if band != "1-4" else 20
    found = means(sliced([item(n_candidates=n_candidates), item(n_candidates=other)]))
    assert found["band", band] == 0
