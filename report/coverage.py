"""The coverage of the gold by step of a trajectory, averaged over items."""

from collections.abc import Mapping

import polars as pl

from lake.exact import from_steps
from lake.exact import steps as as_steps
from lake.store import Lake

MAX_STEPS = 20


def coverage_by_step(lake: Lake, granularities: Mapping[str, str], max_steps: int = MAX_STEPS) -> pl.DataFrame:
    """The mean coverage of all that was seen up to each step: run_id, protocol, granularity, step, coverage, n.

    Steps count from 1. After its last step a trajectory keeps its coverage; one without steps has 0. The mean is over
    the `n` items for which metric `<granularity>_auc`, the area under this curve, has a value.
    """
    of_run = ["run_id", "protocol", "granularity"]
    item, kinds = [*of_run, "item_id"], {"protocol": pl.String(), "granularity": pl.String()}
    ranked_by = pl.LazyFrame(list(granularities.items()), kinds, orient="row")
    stored = lake.scan("step_scores").filter(pl.col("step") <= max_steps, pl.col("n_gold") > 0)
    stored = stored.join(ranked_by, on=["protocol", "granularity"], how="semi")
    # The curve is a cumulative sum of each step's gain in coverage, as whole numbers: the order of items cannot matter.
    covered = as_steps(pl.col("n_cumulative_hit") / pl.col("n_gold"))
    gains = stored.sort(*item, "step").with_columns(gain=covered - covered.shift(1).over(item).fill_null(0))
    by_step = gains.group_by(*of_run, "step").agg(pl.col("gain").sum())
    areas = lake.scan("aggregates").filter(pl.col("metric") == pl.format("{}_auc", "granularity"), slice="all")
    # A mean over many orders, such as the random baseline, has no steps and is left out.
    items = areas.filter(pl.col("n") > 0).select(*of_run, "n").join(stored, on=of_run, how="semi")
    steps = pl.LazyFrame({"step": range(1, max_steps + 1)}, schema={"step": pl.Int64})
    return (
        items.join(steps, how="cross")
        .join(by_step, on=[*of_run, "step"], how="left")
        .sort(*of_run, "step")
        .with_columns(coverage=from_steps(pl.col("gain").fill_null(0).cum_sum().over(of_run)) / pl.col("n"))
        .select(*of_run, "step", "coverage", "n")
        .collect()
    )
