"""A run against relevance judgements: the values of every query, their means with intervals, and two runs compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from scipy.special import stdtrit

from evaluate.results.trec.files import QRELS, RUN, fault, rows_of
from evaluate.results.trec.measures import Measure
from evaluate.score.judgements import score_graded
from lake.errors import Exit, GoldspanError
from lake.exact import exact_sum
from lake.text import counted

LEVEL = 0.05


@dataclass(frozen=True)
class Scored:
    """What a run is worth.

    Attributes:
        values: query and a column per measure, by its name, a row for every judged query; sorted.
        n_answered: How many of those the run has results for.
        n_unjudged: How many queries of the run are not judged, and left out.
    """

    values: pl.DataFrame
    n_answered: int
    n_unjudged: int


def read_qrels(path: Path) -> pl.DataFrame:
    """The judgements of a file: query, document, grade.

    Raises:
        GoldspanError: It cannot be read, holds none, or judges a document twice for a query.
    """
    with rows_of(path, QRELS) as rows:
        judged = rows.collect()
    _check_once(path, judged.lazy(), judged.lazy().group_by("query").agg(_n_twice()).collect())
    if judged.is_empty():
        raise fault(path, QRELS)
    return judged


def score_file(path: Path, judged: pl.DataFrame, measures: Sequence[Measure], *, answered_only: bool = False) -> Scored:
    """Score the run of a file.

    Results are ordered as trec_eval orders them, by score descending and equal scores by document id descending; the
    file's ranks are not read. Documents without a judgement are not relevant.

    Args:
        path: The file.
        judged: As :func:`read_qrels` gives them.
        measures: By what.
        answered_only: Leave out judged queries that the run has no result for; they score 0 otherwise.

    Raises:
        GoldspanError: It cannot be read, or returns a document twice for a query.
    """
    queries = judged.select(pl.col("query").unique())
    with rows_of(path, RUN) as rows:
        requested = [(one.metric, one.k) for one in measures]
        is_nan = pl.col("score").is_nan().any().alias("is_nan")
        lists = rows.group_by("query").agg(_n_twice(), is_nan).collect(engine="streaming")
        if lists.is_empty() or lists["is_nan"].any():
            raise fault(path, RUN)
        _check_once(path, rows, lists)
        values = score_graded(rows, judged.lazy(), requested).collect(engine="streaming")
    answered = queries.join(lists, on="query", how="semi")
    if answered.is_empty():
        message = f"no query of {path} is judged"
        firsts = {"RUN": lists["query"].sort()[0], "QRELS": queries["query"].sort()[0]}
        examples = [f"{name}: {query}" for name, query in firsts.items()]
        raise GoldspanError(message, examples=examples, hint="Are the ids written alike?", code=Exit.INVALID)
    if answered_only:
        values = values.join(answered, on="query", how="semi", maintain_order="left")
    named = values.sort("query").select("query", *(pl.col(one.column).alias(one.name) for one in measures))
    return Scored(named, answered.height, lists.height - answered.height)


def means(values: pl.DataFrame, measures: Sequence[Measure]) -> pl.DataFrame:
    """Per measure its mean over the queries with a 95 % t interval: measure, mean, low, high, queries."""
    n = values.height
    width = stdtrit(n - 1, 1 - LEVEL / 2) / n**0.5 if n > 1 else None
    rows = []
    for one in measures:
        mean, deviation = values.select(exact_sum(pl.col(one.name)) / n, deviation=pl.col(one.name).std()).row(0)
        ends = (None, None) if width is None else (mean - width * deviation, mean + width * deviation)
        rows.append((one.name, mean, *ends, n))
    return pl.DataFrame(rows, schema=MEANS, orient="row")


MEANS = {"measure": pl.String, "mean": pl.Float64, "low": pl.Float64, "high": pl.Float64, "queries": pl.Int64}


def _n_twice() -> pl.Expr:
    # Hashes, as numbers, take far less memory to count; that two documents of a list share one never happens.
    return (pl.len() - pl.col("document").hash().n_unique()).alias("n_twice")


def _check_once(path: Path, rows: pl.LazyFrame, lists: pl.DataFrame) -> None:
    """See that no document stands twice for a query."""
    twice = lists.filter(pl.col("n_twice") > 0)["query"].sort()
    if twice.is_empty():
        return
    of_first = rows.filter(pl.col("query") == twice[0]).group_by("document").len().filter(pl.col("len") > 1).collect()
    message = f"a document stands twice for a query: {counted(len(twice), 'query')}"
    examples = [f"{twice[0]} {document}" for document in of_first["document"].sort()]
    raise GoldspanError(message, where=str(path), examples=examples, hint="Keep one of the two.", code=Exit.INVALID)
