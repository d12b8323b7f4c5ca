"""How much of the gold a trajectory has seen by each step: means over items, as numbers for a chart and a table."""

from __future__ import annotations

import polars as pl

from lake.exact import from_steps
from lake.exact import steps as in_steps
from lake.store import Lake
from report.entities import WHOLE

MAX_STEPS = 20
"""So many steps are shown: as many as a retrieval run has."""


def coverage_by_step(lake: Lake, max_steps: int = MAX_STEPS) -> pl.DataFrame:
    """The mean coverage of the cumulative union: run_id, protocol, granularity, step (from 1), coverage, n (items).

    A trajectory that is over keeps what it had, and one without a step has seen nothing: the items are those whose
    area under the same curve (metric `<granularity>_auc`) has a value.
    """
    item = ["run_id", "protocol", "granularity", "item_id"]
    stored = lake.scan("step_scores").filter(pl.col("step") <= max_steps, pl.col("n_gold") > 0)
    seen = stored.select(*item, "step", coverage=pl.col("n_cumulative_hit") / pl.col("n_gold"))
    # A step counts from its own on: what it adds is spread over all that follow as a sum of gains, in whole numbers, so
    # that the order of the items says nothing.
    covered = in_steps(pl.col("coverage"))
    gains = seen.sort(*item, "step").with_columns(gain=covered - covered.shift(1).over(item).fill_null(0))
    is_area = pl.col("metric") == pl.format("{}_auc", "granularity")
    items = lake.scan("aggregates").filter(is_area, pl.col("slice") == WHOLE, pl.col("n") > 0).select(*item[:3], "n")
    # What is a mean over many orders, as chance is, has no steps that could be shown.
    items = items.join(seen.select(item[:3]).unique(), on=item[:3], how="semi")
    steps = pl.LazyFrame({"step": range(1, max_steps + 1)}, schema={"step": pl.Int64})
    by_step = gains.group_by(*item[:3], "step").agg(pl.col("gain").sum())
    return (
        items.join(steps, how="cross")
        .join(by_step, on=[*item[:3], "step"], how="left")
        .sort(*item[:3], "step")
        .with_columns(coverage=from_steps(pl.col("gain").fill_null(0).cum_sum().over(item[:3])) / pl.col("n"))
        .select(*item[:3], "step", "coverage", "n")
        .sort(*item[:3], "step")
        .collect()
    )
