"""Table `effects`: how much of a score is due to the chunker, to the retriever, and to their interaction.

The runs of a grid (every chunker with every retriever) are decomposed within each unit (a repository or an item) into
the mean of all runs, the deviations of each chunker's and of each retriever's mean from it, and each run's remainder. A
factor's share of the variation is its sum of squared effects divided by that of all three. Squares of estimates are too
large because of sampling error, so each square is the product of two different units' effects, summed over all pairs of
units by their weights: unbiased, and maybe below 0. Its interval leaves out one unit at a time (the delete-m jackknife
for unequal groups of Busing, Meijer and Van Der Leeden 1999).
"""

from collections.abc import Collection, Iterator
from itertools import combinations

import dataframely as dy
import numpy as np
import polars as pl
import scipy

from evaluate.metrics import metric_named
from evaluate.statistics.comparisons import ScoreMatrix
from evaluate.statistics.pairs import Values, standard_error
from evaluate.statistics.slices import MEASURE, SLICE, average_of
from lake.averages import FEWEST_REPOS, Aggregate
from lake.catalog.protocol import Protocol, Task
from lake.exact import Floats, Integers
from lake.tables import table
from lake.tables.evaluated import Effects
from lake.verdict import DIFFERENCE, FACTORS


def effects_of(task: Task, protocol: Protocol, rows: pl.DataFrame, scores: ScoreMatrix) -> dy.DataFrame[Effects]:
    """The effects of chunkers and retrievers on the family's primary metric; `rows` come from `with_places`."""
    family = rows.filter("in_family").drop_nulls(["chunker", "retriever"]).sort("run_id", descending=True)
    run_of = {
        (chunker, name): run_id for chunker, name, run_id in family.select("chunker", "retriever", "run_id").iter_rows()
    }
    chunkers, retrievers = largest_grid(run_of)
    if not chunkers:
        return Effects.create_empty()
    run_ids = [run_of[chunker, retriever] for chunker in chunkers for retriever in retrievers]
    # The family is of one measure in one slice.
    where = family.select(*MEASURE, *SLICE).row(0, named=True)
    average = average_of(protocol, metric_named(protocol.primary.metric))
    values = scores.values({**where, "run_id": run_ids})
    means, share, counts, with_values = _by_unit(values, values.repo, average)
    if not len(share):
        return Effects.create_empty()
    grid = (len(chunkers), len(retrievers), -1)
    means = means.reshape(grid)
    of_units, units = means, share
    if len(share) < FEWEST_REPOS or protocol.over_items:
        of_units, units, *_ = _by_unit(values, np.arange(len(values.repo)), average)
        of_units = of_units.reshape(grid)
    levels = [(chunker, retriever) for chunker in ("", *chunkers) for retriever in ("", *retrievers)]
    of_all = {"repo": "", "n_items": int(counts.sum()), "n_repos": len(share)}
    effects = [{**of_all, **row} for row in (*_effects(of_units, units, levels), *_shares(of_units, units))]
    repos = scores.repos(where)
    for number, repo in enumerate(with_values):
        of_repo = {"repo": repos[repo], "n_items": int(counts[number]), "n_repos": 1}
        effects += [{**of_repo, **row} for row in _effects(means[:, :, [number]], np.ones(1), levels)]
    left_out = sorted(
        f"{chunker}+{name}" for chunker, name in run_of if chunker not in chunkers or name not in retrievers
    )
    shared = {"protocol": protocol.name, "task": task.name, **{name: where[name] for name in SLICE}}
    frame = pl.DataFrame([{**row, **shared, "left_out": left_out} for row in effects], table("effects").columns)
    return Effects.cast(frame.with_columns(pl.col(pl.Float64).fill_nan(None)))


def largest_grid(cells: Collection[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """The chunkers and retrievers of the largest complete grid in `cells`, at least two of each; else empty lists."""
    of_chunker: dict[str, frozenset[str]] = {}
    for chunker, retriever in sorted(cells):
        of_chunker[chunker] = of_chunker.get(chunker, frozenset()) | {retriever}
    sets = set(of_chunker.values())
    # Every set of retrievers that some chunkers share; usually all have the same.
    while more := {some & others for some, others in combinations(sets, 2)} - sets:
        sets |= more
    grids = [
        (sorted(chunker for chunker, has in of_chunker.items() if retrievers <= has), sorted(retrievers))
        for retrievers in sets
    ]
    several = [grid for grid in grids if min(map(len, grid)) > 1]
    return min(several, key=lambda grid: (-len(grid[0]) * len(grid[1]), -len(grid[0]), grid), default=([], []))


def _by_unit(values: Values, unit: Integers, average: Aggregate) -> tuple[Floats, Floats, Integers, Integers]:
    """Each run's number per unit, (runs, units); per unit its share of the data, its count of items, and its number."""
    # An item without a value for some run cannot be scored, or the metric does not apply to it.
    kept = ~np.isnan(values.value).any(axis=0)
    units, starts, counts = np.unique(unit[kept], return_index=True, return_counts=True)
    if average == "micro" and values.sums:
        above, of_runs = (np.add.reduceat(sums[:, kept], starts, axis=1) for sums in values.sums)
        # All runs get the mean denominator, which equals their own where it is the size of the gold.
        below = of_runs.mean(axis=0)
        has_any = below > 0
        return above[:, has_any] / below[has_any], below[has_any] / below.sum(), counts[has_any], units[has_any]
    means = np.add.reduceat(values.value[:, kept], starts, axis=1) / counts
    _, of_repo, n_of_repo = np.unique(values.repo[kept][starts], return_inverse=True, return_counts=True)
    share = counts / counts.sum() if average == "macro" else 1 / (n_of_repo[of_repo] * max(len(n_of_repo), 1))
    return means, share, counts, units


def _split(means: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """The grand mean; the effects of chunkers, retrievers and both: (chunkers or 1, retrievers or 1, repositories)."""
    grand = means.mean(axis=(0, 1), keepdims=True)
    chunker, retriever = (means.mean(axis=axis, keepdims=True) - grand for axis in (1, 0))
    return grand, chunker, retriever, means - grand - chunker - retriever


def _effects(means: Floats, share: Floats, levels: list[tuple[str, str]]) -> Iterator[dict[str, object]]:
    """The rows of single chunkers, retrievers and systems; without intervals if there is only one unit."""
    n_chunkers, n_retrievers, n_repos = means.shape
    grand, *of = _split(means)
    bordered = np.zeros((n_chunkers + 1, n_retrievers + 1, n_repos))
    shown = np.zeros_like(bordered)
    bordered[0, 0], bordered[1:, :1], bordered[:1, 1:], bordered[1:, 1:] = grand[0, 0], *of
    shown[0, 0], shown[1:, 0], shown[0, 1:], shown[1:, 1:] = grand[0, 0], means.mean(axis=1), means.mean(axis=0), means
    parts = (bordered * share).reshape(-1, n_repos)
    value, mean = parts.sum(axis=1), (shown * share).reshape(-1, n_repos).sum(axis=1)
    half = np.full(len(value), np.nan)
    if n_repos > 1:
        error, degrees = standard_error(parts - value[:, None] * share, share[None, :])
        half = scipy.special.stdtrit(degrees, 0.975) * error
    for number, (chunker, retriever) in enumerate(levels):
        alone = "chunker" if chunker else "retriever" if retriever else "grand mean"
        yield {
            "factor": "interaction" if chunker and retriever else alone,
            "chunker": chunker,
            "retriever": retriever,
            "mean": mean[number],
            "effect": value[number] if chunker or retriever else None,
            "low": value[number] - half[number],
            "high": value[number] + half[number],
        }


def _shares(means: Floats, share: Floats) -> Iterator[dict[str, object]]:
    """The rows of whole factors: each one's share of the variation, and the retriever's share minus the chunker's."""
    whole = _explained(means, share)
    low, high = np.zeros(len(whole)), np.ones(len(whole))
    low[-1] = -1
    # With one unit left out, two must remain.
    if len(share) >= 3 and not np.isnan(whole).any():
        others = [np.delete(np.arange(len(share)), left_out) for left_out in range(len(share))]
        without = np.array([_explained(means[:, :, kept], share[kept] / share[kept].sum()) for kept in others])
        rest = (1 - share)[:, None]
        pseudo = (whole - rest * without) / share[:, None]
        centre = len(share) * whole - (rest * without).sum(axis=0)
        error = np.sqrt(((pseudo - centre) ** 2 * share[:, None] / rest).mean(axis=0))
        _, degrees = standard_error(np.zeros((1, len(share))), share[None, :])
        half = np.nan_to_num(scipy.special.stdtrit(degrees[0], 0.975) * error, nan=np.inf)
        low, high = np.maximum(whole - half, low), np.minimum(whole + half, high)
    for number, factor in enumerate((*FACTORS, DIFFERENCE)):
        point = np.clip(whole[number], -1.0 if factor == DIFFERENCE else 0.0, 1.0)
        yield {
            "factor": factor, "chunker": "", "retriever": "", "share": point,
            "low": min(low[number], point), "high": max(high[number], point),
        }  # fmt: skip


def _explained(means: Floats, share: Floats) -> Floats:
    """The shares of FACTORS, then the second share minus the first; NaN where nothing varies beyond chance."""
    squares = []
    for effect in _split(means)[1:]:
        parts = np.broadcast_to(effect, means.shape) * share
        squares.append((parts.sum(axis=2) ** 2).sum() - (parts**2).sum())
    total = sum(squares)
    # Effects of 0 leave rounding errors.
    if len(share) < 2 or total <= 1e-18:
        return np.full(len(FACTORS) + 1, np.nan)
    shares = np.array(squares) / total
    return np.append(shares, shares[1] - shares[0])
