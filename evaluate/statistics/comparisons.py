"""Table `comparisons`: every pair of systems on the items that both have, with intervals, tests and verdicts.

The primary metric is compared in every slice of the aggregates, all other metrics in the headline slice. With fewer
than FEWEST_REPOS repositories, the item is the unit of interval and test. The family of pairs that are tested together
is fixed before any number is known: the pairs of complete systems without baselines, by the primary metric in the
headline slice. Only these have an adjusted p; every other row is exploratory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, pairwise

import dataframely as dy
import numpy as np
import numpy.typing as npt
import polars as pl
import scipy

from evaluate.metrics import Metric, metric_named
from evaluate.statistics.detectable import LEVEL, POWER, smallest_detectable
from evaluate.statistics.means import of_nothing
from evaluate.statistics.pairs import Differences, Values, all_pairs, differences, flip_tests
from evaluate.statistics.slices import MEASURE, SLICE, average_of, headline_slice, slice_value
from lake.averages import FEWEST_ITEMS, FEWEST_REPOS, ITEM, REPOSITORY
from lake.catalog.protocol import Protocol
from lake.exact import Floats, Integers, Mask
from lake.tables.evaluated import Comparisons
from lake.verdict import BETTER, EQUIVALENT, INSEPARABLE, TOO_FEW, WORSE

POINT = 0.01
"""Two systems are equivalent if their difference is significantly smaller than this."""


def with_places(protocol: Protocol, aggregates: pl.DataFrame, systems: pl.DataFrame) -> pl.DataFrame:
    """Aggregates with `is_primary`, `is_headline`, `is_ranked` and `in_family` (its pairs are tested together).

    A run is ranked if it is complete, is no baseline, and its mean covers all items that the metric applies to. The
    family is all runs ranked by the primary metric in the headline slice. `aggregates` are of one task and protocol;
    `systems` has run_id, is_complete, is_baseline and is_expected.
    """
    rows = aggregates.lazy().filter(pl.col("n") > 0).join(systems.lazy(), on="run_id")
    slice_, value = headline_slice(protocol, rows.filter(pl.col("is_complete") | ~pl.col("is_complete").any()))
    primary = protocol.primary
    n_asked = (pl.col("n_items") - pl.col("n_not_applicable")).max().over(*MEASURE, *SLICE)
    placed = rows.with_columns(
        is_primary=(pl.col("metric") == primary.metric) & (pl.col("k") == primary.k),
        is_headline=(pl.col("slice") == slice_) & (pl.col("slice_value") == value),
        is_ranked=pl.col("is_complete") & ~pl.col("is_baseline") & (pl.col("n") == n_asked),
    )
    return placed.with_columns(in_family=pl.col("is_primary") & pl.col("is_headline") & pl.col("is_ranked")).collect()


def compare_runs(protocol: Protocol, rows: pl.DataFrame, scores: ScoreMatrix) -> dy.DataFrame[Comparisons]:
    """Every pair of runs that have the same metric over the same slice: rows of table `comparisons`.

    The pair's first run is the one whose id sorts first; the numbers are the second's relative to it. `rows` come from
    :func:`with_places`.
    """
    several = rows.lazy().sort("run_id").group_by(*MEASURE, *SLICE).agg("run_id", *_FLAGS)
    several = several.filter(pl.col("run_id").list.len() > 1).sort(*MEASURE, *SLICE)
    groups = several.with_columns(group=pl.int_range(pl.len())).collect()
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


def _pairs(protocol: Protocol, group: Mapping[str, object], scores: ScoreMatrix) -> Iterator[Columns]:
    """The pairs of one metric in one slice: first those with the item as unit, then those with the repository."""
    metric = metric_named(str(group["metric"]))
    values, average = scores.values(group), average_of(protocol, metric)
    first, second = all_pairs(len(np.array(group["run_id"])))
    whole = differences(values, first, second, average)
    few = (whole.n_repos < FEWEST_REPOS) | protocol.over_items
    if few.any():
        over_items = differences(values, first[few], second[few], average, over_items=True)
        yield _rows(group, metric, over_items, first[few], second[few], ITEM)
    if not few.all():
        over_repos = differences(values, first[~few], second[~few], average) if few.any() else whole
        yield _rows(group, metric, over_repos, first[~few], second[~few], REPOSITORY)


def _rows(
    group: Mapping[str, object], metric: Metric, diffs: Differences, first: Integers, second: Integers, unit: str
) -> Columns:
    """The rows of pairs of one metric in one slice, all with the same unit."""
    run_ids = np.array(group["run_id"])
    in_family, expected = np.array(group["in_family"]), np.array(group["is_expected"])
    family = in_family[first] & in_family[second]
    p, adjusted = flip_tests(diffs, family)
    lowest, highest = metric.bounds
    about = uncertainty(diffs, (lowest - highest, highest - lowest))
    # The family is tested together, so its detectable differences depend on all its pairs; any other pair's on itself.
    about["smallest_detectable"] = np.where(family, smallest_detectable(diffs, family), about["smallest_detectable"])
    sign = {"higher": 1, "lower": -1, "neither": 0}[metric.direction]
    wins, losses = (diffs.losses, diffs.wins) if sign < 0 else (diffs.wins, diffs.losses)
    return {
        "group": np.full(len(first), group["group"]),
        "run_a": run_ids[first],
        "run_b": run_ids[second],
        "sign": np.full(len(first), sign),
        **about,
        "p": p,
        "p_adjusted": adjusted,
        "wins": wins,
        "ties": diffs.n_items - wins - losses,
        "losses": losses,
        "exploratory": ~family,
        "is_expected": expected[first] | expected[second],
        "n_items": diffs.n_items,
        "n_repos": diffs.n_repos,
        "unit": np.full(len(first), unit),
    }


_FLAGS = ("in_family", "is_expected")


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
    """The verdict on the second system; null for a metric that has no better direction.

    Within the family the adjusted p alone decides. Exploratory pairs have no adjusted p, so there the plain p and the
    interval must agree.
    """
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
    """The scores needed for some comparisons, as matrices; items are numbered by repository, then by id.

    `rows` has run_id and the measures to compare: granularity, metric, k, slice, slice_value. Each frame of `scores`
    contains as many runs as fit in memory.
    """

    def __init__(
        self, protocol: Protocol, rows: pl.DataFrame, items: pl.LazyFrame, scores: Iterable[pl.LazyFrame]
    ) -> None:
        self._of_nothing = of_nothing(protocol)
        self._run = {run_id: number for number, run_id in enumerate(sorted({*rows["run_id"]}))}
        numbered = items.sort("repo", "item_id").with_row_index("item").collect()
        self._repo_names, self._repo = np.unique(numbered["repo"].to_numpy(), return_inverse=True)
        wanted = rows.lazy().select(*MEASURE, *SLICE).unique().sort(*MEASURE, *SLICE).collect()
        # The items of each slice.
        self._items = defaultdict[tuple[object, ...], Integers](lambda: np.zeros(0, np.int64))
        slices = {name: slice_value(name) for name in {*wanted["slice"]}}
        numbers = [numbered.lazy().select("item", slice=pl.lit(name), slice_value=of) for name, of in slices.items()]
        of_items = [each.group_by(SLICE).agg("item") for each in numbers]
        for name, value, of_slice in chain.from_iterable(each.iter_rows() for each in pl.collect_all(of_items)):
            self._items[name, value] = np.array(of_slice, np.int64)
        in_order = wanted.lazy().group_by(MEASURE, maintain_order=True).agg(SLICE)
        measures = in_order.with_columns(measure=pl.int_range(pl.len())).collect()
        # Per measure: the column of each item that is in any of its slices (else -1), and matrices of runs × columns.
        self._matrices: dict[tuple[object, ...], tuple[Integers, dict[str, Floats]]] = {}
        for *measure, names, slice_values, _ in measures.iter_rows():
            in_slices = [self._items[where] for where in zip(names, slice_values, strict=True)]
            compared = np.unique(np.concatenate(in_slices))
            column = np.full(len(self._repo), -1)
            column[compared] = np.arange(len(compared))
            metric = metric_named(measure[1])
            sums = ("numerator", "denominator") if average_of(protocol, metric) == "micro" else ()
            shape = (len(self._run), len(compared))
            arrays = {"value": np.full(shape, np.nan), **{name: np.zeros(shape) for name in sums}}
            self._matrices[tuple(measure)] = (column, arrays)
        runs = pl.LazyFrame(
            {"run_id": list(self._run), "run": range(len(self._run))}, {"run_id": pl.String, "run": pl.Int64}
        )
        for frame in scores:
            self._fill(frame.join(runs, on="run_id"), measures.lazy(), numbered.lazy())

    def _fill(self, scores: pl.LazyFrame, measures: pl.LazyFrame, items: pl.LazyFrame) -> None:
        rows = (
            scores.filter(pl.col("value").is_not_null())
            .join(measures, on=MEASURE)
            .join(items, on="item_id")
            .select("measure", "run", "item", "value", pl.col("numerator", "denominator").fill_null(0.0))
            .sort("measure")
            .collect()
        )
        columns = {name: rows[name].to_numpy() for name in rows.columns}
        numbers, matrices = columns["measure"], list(self._matrices.values())
        for begin, end in pairwise([*np.flatnonzero(np.diff(numbers, prepend=-1)), len(numbers)]):
            column_of, arrays = matrices[int(numbers[begin])]
            column = column_of[columns["item"][begin:end]]
            is_compared = column >= 0
            run = columns["run"][begin:end][is_compared]
            for name, array in arrays.items():
                array[run, column[is_compared]] = columns[name][begin:end][is_compared]

    def values(self, key: Mapping[str, object]) -> Values:
        """The values of a group's runs by its metric, over the items of its slice."""
        column_of, of_measure = self._matrices[tuple(key[name] for name in MEASURE)]
        items = self._items[tuple(key[name] for name in SLICE)]
        runs = np.array([self._run[str(run_id)] for run_id in np.array(key["run_id"])])
        arrays = {name: array[np.ix_(runs, column_of[items])] for name, array in of_measure.items()}
        _, repo = np.unique(self._repo[items], return_inverse=True)
        return Values(repo=repo, of_nothing=self._of_nothing.get(str(key["metric"]), 0.0), **arrays)

    def repos(self, key: Mapping[str, object]) -> list[str]:
        """The repositories of a group's items, in the order of their numbers in `values`."""
        numbers = np.unique(self._repo[self._items[tuple(key[name] for name in SLICE)]])
        return [self._repo_names[number] for number in numbers]
