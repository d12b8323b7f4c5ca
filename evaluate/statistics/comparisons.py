"""Table `comparisons`: every pair of systems on the items that both have, with intervals, tests and verdicts.

The family of pairs that are tested together is fixed before any number is known: the pairs of complete systems without
baselines, by the primary metric in the headline slice. Every other row is exploratory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import dataframely as dy
import numpy as np
import numpy.typing as npt
import polars as pl
import scipy

from evaluate.metrics import metric_named
from evaluate.statistics.detectable import LEVEL, POWER, smallest_detectable
from evaluate.statistics.means import of_nothing
from evaluate.statistics.pairs import Differences, Values, differences, flip_tests
from evaluate.statistics.slices import MEASURE, SLICE, average_of, slice_of, slice_value
from lake.averages import FEWEST_ITEMS, FEWEST_REPOS, ITEM, REPOSITORY
from lake.catalog.protocol import Protocol
from lake.exact import Floats, Integers, Mask
from lake.tables.evaluated import Comparisons
from lake.verdict import BETTER, EQUIVALENT, INSEPARABLE, TOO_FEW, WORSE

POINT = 0.01
"""Two systems are equivalent if their difference is significantly smaller than this."""


def with_places(protocol: Protocol, aggregates: pl.DataFrame, systems: pl.DataFrame) -> pl.DataFrame:
    """Aggregates of a task and protocol with `is_primary`, `is_headline`, `is_ranked` and `in_family`.

    A run is ranked if it is complete, is no baseline, and its mean covers all items that the metric applies to.
    """
    rows = aggregates.lazy().filter(pl.col("n") > 0).join(systems.lazy(), on="run_id")
    slice_, value = slice_of(protocol, rows.filter(pl.col("is_complete") | ~pl.col("is_complete").any()))
    primary = protocol.primary
    n_asked = (pl.col("n_items") - pl.col("n_not_applicable")).max().over(*MEASURE, *SLICE)
    placed = rows.with_columns(
        is_primary=(pl.col("metric") == primary.metric) & (pl.col("k") == primary.k),
        is_headline=(pl.col("slice") == slice_) & (pl.col("slice_value") == value),
        is_ranked=pl.col("is_complete") & ~pl.col("is_baseline") & (pl.col("n") == n_asked),
    )
    return placed.with_columns(in_family=pl.col("is_primary") & pl.col("is_headline") & pl.col("is_ranked")).collect()


def compare_runs(protocol: Protocol, rows: pl.DataFrame, scores: ScoreMatrix) -> dy.DataFrame[Comparisons]:
    """Rows of table `comparisons`: every pair of runs with the same metric and slice in `rows`, second minus first."""
    several = rows.lazy().sort("run_id").group_by(*MEASURE, *SLICE).agg("run_id", *_FLAGS)
    groups = several.filter(pl.col("run_id").list.len() > 1).with_row_index("group").collect()
    if groups.is_empty():
        return Comparisons.create_empty()
    # Polars runs once over all groups, as these are many and small.
    pairs = [columns for group in groups.iter_rows(named=True) for columns in _pairs(protocol, group, scores)]
    compared = pl.DataFrame({name: np.concatenate([columns[name] for columns in pairs]) for name in pairs[0]})
    counts = pl.when(~pl.col("is_expected")).then(pl.col("wins", "ties", "losses"))
    # No difference is detectable with fewer items than a verdict needs.
    least = pl.when(pl.col("n_items") >= FEWEST_ITEMS).then("smallest_detectable")
    judged = (
        compared.lazy()
        .filter(pl.col("n_items") > 0)
        .join(groups.lazy().drop("run_id", *_FLAGS), on="group")
        .with_columns(counts, pl.col(pl.Float64).fill_nan(None), protocol=pl.lit(protocol.name))
        .with_columns(verdict=verdict_of(), smallest_detectable=least)
        .sort(Comparisons.primary_key())
    )
    return Comparisons.cast(judged).collect()


Columns = dict[str, npt.NDArray[np.generic]]
_FLAGS = ("in_family", "is_expected")


def _pairs(protocol: Protocol, group: Mapping[str, object], scores: ScoreMatrix) -> Iterator[Columns]:
    """The pairs of one metric in one slice: first those with the item as unit, then those with the repository."""
    metric = metric_named(str(group["metric"]))
    (lowest, highest), sign = metric.bounds, {"higher": 1, "lower": -1, "neither": 0}[metric.direction]
    run_ids, in_family, expected = (np.array(group[name]) for name in ("run_id", *_FLAGS))
    values, average = scores.values(group), average_of(protocol, metric)
    first, second = np.triu_indices(len(run_ids), 1)
    whole, few = None, np.ones(len(first), np.bool_)
    if not protocol.over_items and values.repo.max(initial=-1) + 1 >= FEWEST_REPOS:
        whole = differences(values, first, second, average)
        few = whole.n_repos < FEWEST_REPOS
    for pairs, unit in ((few, ITEM), (~few, REPOSITORY)):
        if not pairs.any():
            continue
        a, b = first[pairs], second[pairs]
        is_whole = unit == REPOSITORY and pairs.all()
        diffs = whole if whole and is_whole else differences(values, a, b, average, over_items=unit == ITEM)
        family = in_family[a] & in_family[b]
        p, adjusted = flip_tests(diffs, family)
        about = uncertainty(diffs, (lowest - highest, highest - lowest))
        # The family is tested together, so its detectable differences depend on all its pairs; any other's on itself.
        least = np.where(family, smallest_detectable(diffs, family), about["smallest_detectable"])
        wins, losses = (diffs.losses, diffs.wins) if sign < 0 else (diffs.wins, diffs.losses)
        yield {
            "group": np.full(len(a), group["group"]),
            "run_a": run_ids[a],
            "run_b": run_ids[b],
            "sign": np.full(len(a), sign),
            **about,
            "smallest_detectable": least,
            "p": p,
            "p_adjusted": adjusted,
            "wins": wins,
            "ties": diffs.n_items - wins - losses,
            "losses": losses,
            "exploratory": ~family,
            "is_expected": expected[a] | expected[b],
            "n_items": diffs.n_items,
            "n_repos": diffs.n_repos,
            "unit": np.full(len(a), unit),
        }


def uncertainty(diffs: Differences, bounds: tuple[float, float]) -> dict[str, Floats | Mask]:
    """Per difference: its 95 % interval (within `bounds`), smallest detectable size, and equivalence (within POINT)."""
    at = {p: scipy.special.stdtrit(diffs.degrees, p) * diffs.error for p in (1 - LEVEL / 2, 1 - LEVEL, POWER)}
    half = at[1 - LEVEL / 2]
    return {
        "delta": diffs.delta,
        "low": np.maximum(diffs.delta - half, bounds[0]),
        "high": np.minimum(diffs.delta + half, bounds[1]),
        "smallest_detectable": half + at[POWER],
        # Two one-sided tests: the difference is above -POINT and below POINT.
        "equivalent": np.abs(diffs.delta) + at[1 - LEVEL] < POINT,
    }


def verdict_of() -> pl.Expr:
    """The verdict on the second system, by the adjusted p; without one, p and interval must agree."""
    few = pl.col("n_items") < FEWEST_ITEMS
    without_0 = (pl.col("low") > 0) | (pl.col("high") < 0)
    better = pl.when(pl.col("delta") * pl.col("sign") > 0).then(pl.lit(BETTER)).otherwise(pl.lit(WORSE))
    return (
        pl.when(pl.col("sign") == 0)
        .then(None)
        .when(few)
        .then(pl.lit(TOO_FEW))
        .when((pl.col("p_adjusted") < LEVEL) | (pl.col("p_adjusted").is_null() & (pl.col("p") < LEVEL) & without_0))
        .then(better)
        .when("equivalent")
        .then(pl.lit(EQUIVALENT))
        .otherwise(pl.lit(INSEPARABLE))
    )


class ScoreMatrix:
    """The scores needed for some comparisons, as matrices; items are numbered by repository, then by id."""

    def __init__(
        self, protocol: Protocol, rows: pl.DataFrame, items: pl.LazyFrame, scores: Iterable[pl.LazyFrame]
    ) -> None:
        self._of_nothing = of_nothing(protocol)
        self._run = {run_id: number for number, run_id in enumerate(sorted({*rows["run_id"]}))}
        numbered = items.sort("repo", "item_id").with_row_index("item").collect()
        self._repo_names, self._repo = np.unique(numbered["repo"].to_numpy(), return_inverse=True)
        wanted = rows.select(*MEASURE, *SLICE).unique()
        self._items = defaultdict[tuple[object, ...], Integers](lambda: np.zeros(0, np.int64))
        for name in wanted["slice"].unique():
            of_values = numbered.select("item", value=slice_value(name)).group_by("value").agg("item")
            self._items.update({(name, value): np.array(of_value) for value, of_value in of_values.iter_rows()})
        # Per measure: the column of each item that is in any of its slices (else -1), and matrices of runs × columns.
        self._matrices: dict[tuple[object, ...], tuple[Integers, dict[str, Floats]]] = {}
        for measure, of_measure in wanted.group_by(MEASURE):
            compared = np.unique(np.concatenate([self._items[where] for where in of_measure[SLICE].iter_rows()]))
            column = np.full(len(self._repo), -1)
            column[compared] = np.arange(len(compared))
            is_ratio = average_of(protocol, metric_named(str(measure[1]))) == "micro"
            shape = (len(self._run), len(compared))
            sums = {name: np.zeros(shape) for name in ("numerator", "denominator") if is_ratio}
            self._matrices[measure] = (column, {"value": np.full(shape, np.nan), **sums})
        runs = pl.LazyFrame(list(self._run.items()), {"run_id": pl.String, "run": pl.Int64}, orient="row")
        for frame in scores:
            known = frame.filter(pl.col("value").is_not_null()).join(wanted.lazy(), on=MEASURE, how="semi")
            filled = known.join(runs, on="run_id").join(numbered.lazy(), on="item_id")
            values = pl.col("value", "numerator", "denominator").fill_null(0.0)
            # Not as a dictionary: polars would run a plan for each key.
            for part in filled.select(*MEASURE, "run", "item", values).collect().partition_by(MEASURE):
                column_of, arrays = self._matrices[part.row(0)[: len(MEASURE)]]
                column = column_of[part["item"].to_numpy()]
                is_compared = column >= 0
                run = part["run"].to_numpy()[is_compared]
                for name, array in arrays.items():
                    array[run, column[is_compared]] = part[name].to_numpy()[is_compared]

    def values(self, key: Mapping[str, object]) -> Values:
        """The values of a group's runs by its metric, over the items of its slice."""
        column_of, of_measure = self._matrices[tuple(key[name] for name in MEASURE)]
        items = self._items[tuple(key[name] for name in SLICE)]
        runs = np.array([self._run[str(run_id)] for run_id in np.array(key["run_id"])])
        value, *sums = (array[np.ix_(runs, column_of[items])] for array in of_measure.values())
        _, repo = np.unique(self._repo[items], return_inverse=True)
        of_nothing = self._of_nothing.get(str(key["metric"]), 0.0)
        return Values(value, repo, (sums[0], sums[1]) if sums else None, of_nothing)

    def repos(self, key: Mapping[str, object]) -> list[str]:
        """The repositories of a group's items, in the order of their numbers in `values`."""
        numbers = np.unique(self._repo[self._items[tuple(key[name] for name in SLICE)]])
        return [self._repo_names[number] for number in numbers]
