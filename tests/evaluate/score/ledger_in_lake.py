"""What holds of every ledger in a lake, whichever benchmark it is of."""

import numpy as np
import polars as pl

from evaluate.score.ledger import GOLD_CLASSES
from lake.store import Lake


def largest(differences: pl.Series) -> float:
    return float(np.abs(differences.to_numpy()).max())


def checked(lake: Lake, metric: str, k: int, protocol: str) -> pl.DataFrame:
    """A protocol's ledger in a lake, that of every run, held against the score and the means."""
    key = ["run_id", "item_id"]
    ledger, scores = (lake.read(name, protocol=protocol) for name in ("ledger", "scores"))
    both = ledger.join(scores.filter(metric=metric, k=k), on=key, how="full", coalesce=True)
    # Whatever run and item has a score has a ledger, and its first class is that score.
    assert both.height
    assert both["n_gold"].null_count() == both["value"].null_count() == 0
    assert largest(both["found"] / both["n_gold"] - both["value"]) < 1e-12
    assert largest(both.select(pl.sum_horizontal(GOLD_CLASSES)).to_series() - both["n_gold"]) < 1e-12
    means = lake.read("ledger_means", protocol=protocol)
    sums = means.group_by("run_id", "slice", "slice_value").agg(pl.col("macro", "micro").sum(), pl.len())
    assert largest(sums["macro"] - 1) < 1e-12
    assert largest(sums["micro"] - 1) < 1e-12
    assert sums["len"].unique().to_list() == [len(GOLD_CLASSES)]
    aggregates = lake.read("aggregates").filter(protocol=protocol).filter(metric=metric, k=k)
    where = ["run_id", "slice", "slice_value"]
    both_means = means.filter(pl.col("class") == "found").join(
        aggregates, on=where, how="full", suffix="_scored", coalesce=True
    )
    assert both_means["macro"].null_count() == both_means["macro_scored"].null_count() == 0
    for average in ("macro", "micro"):
        assert largest(both_means[average] - both_means[f"{average}_scored"]) < 1e-12
    assert (means["n_items"] <= means["n"]).all()
    return means
