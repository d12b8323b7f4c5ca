"""What `python -m evaluate score` prints: lines as trec_eval has them, of measure, query and value."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from evaluate.results.trec.scored import Scored
from lake.text import counted

_NAME_WIDTH = 22
"""As wide as trec_eval's."""


def value_lines(values: pl.DataFrame, other: pl.DataFrame | None = None) -> Iterator[str]:
    """A line per query and measure: the value, and then that of a second run; – where one of the two has none."""
    runs = [values] if other is None else [values, other]
    long = [run.unpivot(index="query", variable_name="measure", value_name=f"run {n}") for n, run in enumerate(runs)]
    rows = long[0] if other is None else long[0].join(long[1], on=["query", "measure"], how="full", coalesce=True)
    order = pl.col("measure").cast(pl.Enum(values.columns[1:]))
    for query, name, *found in rows.sort("query", order).iter_rows():
        yield "\t".join((f"{name:{_NAME_WIDTH}}", query, *("–" if one is None else f"{one:.4f}" for one in found)))


def mean_lines(means: pl.DataFrame) -> Iterator[str]:
    """A line per measure: its mean over `all` queries, and the interval's ends."""
    for name, mean, low, high, _ in means.iter_rows():
        ends = "\t".join("–" if end is None else f"{end:.4f}" for end in (low, high))
        yield f"{name:{_NAME_WIDTH}}\tall\t{mean:.4f}\t{ends}"


def notes(scored: Scored) -> Iterator[str]:
    """What the numbers are over, and who was left out."""
    n = scored.values.height
    yield f"means over {counted(n, 'judged query')}, then 95 % t intervals over these: as if queries were independent"
    if missing := n - scored.n_answered:
        without = f"{counted(missing, 'judged query')} without results count 0, as with trec_eval -c"
        yield f"{without}; --answered leaves them out"
    if scored.n_unjudged:
        yield f"{counted(scored.n_unjudged, 'query')} of the run without judgements are left out"


def compared_lines(means: pl.DataFrame, compared: pl.DataFrame) -> Iterator[str]:
    """A line per measure: the first run's mean, the difference with its interval, p, and what is said of the second."""
    first = dict(means.select("measure", "mean").iter_rows())
    yield "measure\tRUN\tRUN2 - RUN\tlow\thigh\tp\tverdict on RUN2\tqueries"
    for name, delta, low, high, p, verdict, n in compared.iter_rows():
        yield f"{name}\t{first[name]:.4f}\t{delta:+.4f}\t{low:+.4f}\t{high:+.4f}\t{p:.4f}\t{verdict}\t{n}"
