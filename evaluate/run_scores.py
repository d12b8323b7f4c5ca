"""The scores of one run's part under one protocol, whichever kind of run it is."""

from __future__ import annotations

from functools import partial

import polars as pl

from evaluate.asked import Asked
from evaluate.chance import expected_random
from evaluate.lines import LineAxis
from evaluate.protocols import Protocol
from evaluate.ranking import LINES, RANKING
from evaluate.scoring import score


def score_run(
    protocol: Protocol,
    *,
    run_id: str,
    hits: pl.LazyFrame,
    asked: Asked,
    pool: pl.LazyFrame,
    axis: LineAxis,
    is_chance: bool,
) -> pl.DataFrame:
    """Rows of table `scores` for the items of one part.

    Args:
        protocol: The rules.
        run_id: The run.
        hits: Its rows of table `hits`. Where it has a part `lines` beside its ranking (the oracle), metrics at a budget
            are measured on that one.
        asked: The items and their gold.
        pool: The chunks the items' pools hold.
        axis: The lines of the pools' files.
        is_chance: The run stands for every order of the pool, and is scored by expectation.
    """
    rules = {"items": asked.items.lazy(), "gold": asked.gold_of(protocol.gold).lazy(), "pool": pool}
    if is_chance:
        return expected_random(protocol, run_id=run_id, axis=axis, **rules).collect()
    scored = partial(score, protocol, run_id=run_id, axis=axis, **rules)
    scores = scored(hits=hits.filter(pl.col("part") == RANKING)).collect()
    lines = hits.filter(pl.col("part") == LINES)
    if lines.head(1).collect().is_empty():
        return scores
    at_budget = pl.col("metric").is_in([metric.name for metric, _ in protocol.requested() if metric.cut == "budget"])
    return pl.concat([scores.filter(~at_budget), scored(hits=lines).filter(at_budget).collect()])
