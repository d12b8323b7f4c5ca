"""The averages over items, computed from sums per repository, and their units. A new average is a row here."""

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

import polars as pl

from lake.exact import Floats, Integers, from_steps, steps

FEWEST_REPOS = 6  # with five, the smallest p of a two-sided sign-flip test is 0.0625: nothing could be significant
FEWEST_ITEMS = 30  # with fewer items, systems are sorted by score but get no rank and no verdict
REPOSITORY, ITEM = "repository", "item"
"""The unit that intervals, tests, ranks and gate generalise over: the item below FEWEST_REPOS repositories."""
ITEM_NOTE = "for these repositories only"
ITEM_INTERVALS = f"95 % intervals are over items: {ITEM_NOTE}"
NO_INTERVAL = "no interval: a single item shows nothing of how others differ"

Aggregate = Literal["macro", "micro", "by_repo"]

_N, _VALUE = pl.col("n"), pl.col("value")
_OF_REPOSITORY = pl.when(_N > 0).then(1 / _N).otherwise(pl.lit(0.0))
"""The weight of one item in a mean of repository means: 1 / the number of items in its repository."""


class Average(NamedTuple):
    """A ratio of two sums over repositories, in steps of `lake.exact`, with its title and its meaning as a phrase.

    `products` are three sums per repository: numerator², numerator × denominator, denominator². `n` is the column with
    the number of items that count. `share` returns the weight of each unit from the items per unit, the items of its
    repository and the number of repositories; None if the denominators give the weights.
    """

    title: str
    meaning: str
    numerator: pl.Expr
    denominator: pl.Expr
    products: tuple[pl.Expr, pl.Expr, pl.Expr]
    n: str = "n"
    share: Callable[[Integers, Integers, int], Floats] | None = None


AVERAGES: Mapping[Aggregate, Average] = {
    "macro": Average(
        title="Macro",
        meaning="mean over items",
        numerator=_VALUE,
        denominator=steps(_N),
        products=(pl.col("squares"), _VALUE, steps(_N)),
        share=lambda n_of_unit, n_of_repo, n_repos: n_of_unit / n_of_unit.sum(),
    ),
    "micro": Average(
        title="Micro",
        meaning="ratio of sums over items",
        numerator=pl.col("numerator"),
        denominator=pl.col("denominator"),
        products=(pl.col("above_above"), pl.col("above_below"), pl.col("below_below")),
        n="n_sums",
    ),
    "by_repo": Average(
        title="By repository",
        meaning="mean of the repositories' means",
        numerator=steps(pl.col("repo_mean")),
        denominator=steps((_N > 0).cast(pl.Float64)),
        products=(
            steps(from_steps(pl.col("squares")) * _OF_REPOSITORY**2),
            steps(from_steps(_VALUE) * _OF_REPOSITORY**2),
            steps(_OF_REPOSITORY),
        ),
        share=lambda n_of_unit, n_of_repo, n_repos: (1 / (n_repos * n_of_repo)) * n_of_unit,
    ),
}


def average_columns(average: str) -> tuple[str, str, str]:
    """The column names of an average and of the lower and upper end of its interval."""
    prefix = "" if average == "macro" else f"{average}_"
    return average, f"{prefix}low", f"{prefix}high"


def column_meanings() -> Mapping[str, str]:
    """The meaning of each average and interval column, by column name."""
    meanings = dict[str, str]()
    for name, average in AVERAGES.items():
        ends = [f"{end} end of the 95 % interval of {name}." for end in ("Lower", "Upper")]
        meanings |= zip(average_columns(name), [f"{average.meaning.capitalize()}.", *ends], strict=True)
    return meanings
