"""Two runs on the same queries: by how much the second is better, and whether chance would do as well."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from evaluate.results.trec.measures import Measure
from evaluate.statistics.comparisons import uncertainty, verdict_of
from evaluate.statistics.pairs import Values, differences, flip_tests


def compared(a: pl.DataFrame, b: pl.DataFrame, measures: Sequence[Measure]) -> pl.DataFrame:
    """Per measure the second run less the first, on the queries that both have: delta, interval, p and the verdict.

    p is of a sign-flip test over queries, each measure for itself; the verdict is on the second run.
    """
    queries = a.select("query").join(b.select("query"), on="query").sort("query")
    both = [queries.join(run, on="query", how="left", maintain_order="left") for run in (a, b)]
    rows, first, second = [], np.array([0]), np.array([1])
    for one in measures:
        values = np.stack([run[one.name].to_numpy() for run in both])
        found = differences(Values(values, np.arange(queries.height)), first, second, "macro")
        p, _ = flip_tests(found, np.array([False]))
        said = {name: column[0].item() for name, column in uncertainty(found).items()}
        counts = {"n_items": queries.height, "n_repos": queries.height, "sign": 1, "p_adjusted": None}
        rows.append({"measure": one.name, **said, "p": p[0].item(), **counts})
    frame = pl.DataFrame(rows, schema_overrides={"p_adjusted": pl.Float64}).with_columns(verdict=verdict_of())
    return frame.select("measure", "delta", "low", "high", "p", "verdict", queries="n_items")
