"""Table `repairs`: whether the share of the gold in an agent's final context predicts that it resolves the item."""

from collections.abc import Iterator, Mapping

import dataframely as dy
import numpy as np
import polars as pl
import scipy

from lake.averages import FEWEST_ITEMS, FEWEST_REPOS, ITEM, REPOSITORY
from lake.tables.evaluated import Repairs
from lake.verdict import COVERED


def repairs_of(scores: pl.LazyFrame, usage: pl.LazyFrame, items: pl.LazyFrame) -> dy.DataFrame[Repairs]:
    """The rows of all runs with at least 30 usable items, by coverage of files and of lines."""
    known = (
        scores.filter(pl.col("metric").is_in(list(COVERED)), k=0)
        .join(usage.select("run_id", "item_id", pl.col("resolved").cast(pl.Float64)), on=["run_id", "item_id"])
        .join(items.select("item_id", "repo"), on="item_id")
        .select("run_id", "protocol", "metric", "repo", "item_id", "value", "resolved")
        .drop_nulls(["value", "resolved"])
        .sort("run_id", "metric", "repo", "item_id")
        .collect()
    )
    return Repairs.cast(pl.DataFrame(list(_repairs(known)), Repairs.create_empty().schema))


def _repairs(known: pl.DataFrame) -> Iterator[Mapping[str, object]]:
    of_repo = ["run_id", "protocol", "metric", "repo"]
    # A repository whose items are all resolved, or all unresolved, tells nothing of the difference.
    within = known.filter(pl.col("resolved").n_unique().over(of_repo) == 2).with_columns(
        value=pl.col("value") - pl.col("value").mean().over(of_repo),
        resolved=pl.col("resolved") - pl.col("resolved").mean().over(of_repo),
    )
    for key, rows in within.group_by(of_repo[:-1], maintain_order=True):
        n_repos = rows["repo"].n_unique()
        if rows.height < FEWEST_ITEMS:
            continue
        unit = REPOSITORY if n_repos >= FEWEST_REPOS else ITEM
        x, y = rows["resolved"].to_numpy(), rows["value"].to_numpy()
        delta = float(x @ y / (x @ x))
        # A regression with an effect per repository, and errors clustered by unit.
        pulls = rows.select("repo", pull=pl.Series(x * (y - delta * x)))
        pulls = pulls.group_by("repo").agg(pl.col("pull").sum()) if unit == REPOSITORY else pulls
        n = pulls.height
        free = n - 1 if unit == REPOSITORY else n - n_repos - 1
        error = float(np.sqrt(n / free * (pulls["pull"].to_numpy() ** 2).sum()) / (x @ x))
        half = float(scipy.special.stdtrit(free, 0.975)) * error
        yield {
            **dict(zip(of_repo, key, strict=False)),
            **{"delta": delta, "low": delta - half, "high": delta + half},
            **{"n_items": rows.height, "n_repos": n_repos, "unit": unit},
        }
