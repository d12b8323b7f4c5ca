"""Does context predict repair? What of the gold an agent kept where it resolved the item, against where it did not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl
import scipy

from lake.catalog.unit import FEWEST_ITEMS, FEWEST_REPOS, ITEM, ITEM_NOTE, REPOSITORY
from lake.store import Lake
from lake.text import counted

METRICS = {"file_coverage": "files", "line_coverage": "lines"}
"""Coverage of a final context → what of the gold it is of."""


class Repair(NamedTuple):
    """How much more of the gold a run's context has where the item was resolved, within repositories.

    `delta` is the mean coverage of resolved items less that of the others, each compared with its own repository's,
    with its 95 % interval over the `unit`; of the `n_items` in repositories that have resolved ones and others.
    """

    run_id: str
    metric: str
    n_items: int
    n_repos: int
    unit: str
    delta: float
    low: float
    high: float

    def sentence(self, system: str) -> str:
        """What is to be said of it."""
        more = "more" if self.delta >= 0 else "less"
        verdict = (
            "context predicts repair"
            if self.low > 0
            else "it cannot be told whether context predicts repair"
            if self.high >= 0
            else "less context goes with repair"
        )
        over = f"{counted(self.n_items, 'item')}{f'; {ITEM_NOTE}' if self.unit == ITEM else ''}"
        return (
            f"{system}: {verdict}. Where it resolved the item, its context has {abs(self.delta):.3f} {more} of the "
            f"gold {METRICS[self.metric]} than elsewhere in the same repository "
            f"(95 % CI {self.low:z.3f} to {self.high:z.3f}; {over})."
        )


def repairs(lake: Lake, protocol: str) -> list[Repair]:
    """Of every run whose outcomes are known for 30 items or more, by coverage of files and of lines."""
    outcomes = lake.scan("usage").filter(pl.col("resolved").is_not_null()).select("run_id", "item_id", "resolved")
    scores = lake.scan("scores", protocol=protocol).filter(pl.col("metric").is_in(list(METRICS)), k=0)
    known = (
        scores.join(outcomes, on=["run_id", "item_id"])
        .join(lake.scan("items").select("benchmark", "item_id", "repo"), on=["benchmark", "item_id"])
        .filter(pl.col("value").is_not_null())
        .select("run_id", "metric", "repo", "item_id", "value", pl.col("resolved").cast(pl.Float64))
        .sort("run_id", "metric", "repo", "item_id")
        .collect()
    )
    return list(_repairs(known))


def _repairs(known: pl.DataFrame) -> Iterator[Repair]:
    of_repo = ["run_id", "metric", "repo"]
    # A repository whose items ended alike says nothing of the difference.
    within = known.filter(pl.col("resolved").n_unique().over(of_repo) == 2).with_columns(
        value=pl.col("value") - pl.col("value").mean().over(of_repo),
        resolved=pl.col("resolved") - pl.col("resolved").mean().over(of_repo),
    )
    for (run_id, metric), rows in within.group_by("run_id", "metric", maintain_order=True):
        n_repos = rows["repo"].n_unique()
        if rows.height < FEWEST_ITEMS:
            continue
        unit = REPOSITORY if n_repos >= FEWEST_REPOS else ITEM
        x, y = rows["resolved"].to_numpy(), rows["value"].to_numpy()
        delta = float(x @ y / (x @ x))
        # As a regression with an effect of each repository, whose errors may go together within the unit.
        pulls = rows.select("repo", pull=pl.Series(x * (y - delta * x)))
        pulls = pulls.group_by("repo").agg(pl.col("pull").sum()) if unit == REPOSITORY else pulls
        n = pulls.height
        free = n - 1 if unit == REPOSITORY else n - n_repos - 1
        error = float(np.sqrt(n / free * (pulls["pull"].to_numpy() ** 2).sum()) / (x @ x))
        half = float(scipy.special.stdtrit(free, 0.975)) * error
        yield Repair(str(run_id), str(metric), rows.height, n_repos, unit, delta, delta - half, delta + half)
