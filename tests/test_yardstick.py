import math

import polars as pl

from tests.yardstick import differences


def differing(before: pl.DataFrame, after: pl.DataFrame) -> dict[str, list[str]]:
    """What differs → the keys of its rows."""
    return {
        what: sorted(rows["key"]) for what, rows in differences(before.lazy(), after.lazy(), ["key"]) if rows.height
    }


BEFORE = pl.DataFrame({"key": ["a", "b", "c"], "value": [0.1, None, 0.0], "n": [1, 2, 3]})


def test_the_last_bit_of_a_number_and_a_lost_value_are_differences_and_the_order_is_none() -> None:
    after = BEFORE.with_columns(value=pl.Series([math.nextafter(0.1, 1), 0.0, -0.0]))
    assert differing(BEFORE, after) == {"other value": ["a", "b"]}
    assert differing(BEFORE, BEFORE.reverse().with_columns(new=1)) == {}


def test_rows_that_only_one_side_has_are_named() -> None:
    after = BEFORE.with_columns(key=pl.Series(["a", "b", "d"]))
    assert differing(BEFORE, after) == {"only before": ["c"], "only after": ["d"]}
